"""The JSON in a model's reply: taken out of its wrapping and held against the schema that was asked for.

Tolerated around the JSON: white space, a byte order mark, a fenced block (with prose around the fence), and a leading
``<think>`` block as local reasoning models send it. Anything else is a ``BadReply``, whose text names the fault and the
place in the schema but never the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from piiloom.providers.errors import InvalidReply
from piiloom.providers.protocol import Completion, JsonSchema
from piiloom.providers.schemas import Json, admits_null

_THINK = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[ \t]*(?:json|JSON|json5)?[ \t]*\r?\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_ONE_LINE_FENCE = re.compile(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.DOTALL)
# Lone surrogates cannot be written as UTF-8, and NUL ends strings elsewhere.
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")

_KINDS: dict[str, Callable[[Json], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer()),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
}


class BadReply(ValueError):
    """The text is not the JSON that was asked for; the message may be shown to the model and to people."""


def read_reply(text: str, schema: JsonSchema) -> Json:
    """The JSON value in *text*, conforming to *schema*; ``BadReply`` otherwise."""
    return conform(extract_json(text), schema)


def with_data(completion: Completion, schema: JsonSchema, *, provider: str) -> Completion:
    """*completion* with the data in its text; raises ``InvalidReply`` where it does not conform to *schema*.

    A reply may be read when it comes, or by a later sitting out of the journal: the fault has the same words, since the model is
    told them, and a prompt in other words would be paid for once more.
    """
    try:
        return replace(completion, data=read_reply(completion.text, schema))
    except BadReply as fault:
        fault_text = str(fault)
    raise InvalidReply(f"{provider}: {fault_text}", completion=completion)


def extract_json(text: str) -> Json:
    """The JSON value in *text*, bare or fenced; ``BadReply`` when there is none, or it cannot be stored."""
    body = _THINK.sub("", text.removeprefix("\ufeff"), count=1).strip()
    if not body:
        raise BadReply("the reply is empty")
    found = _FENCE.search(body) or _ONE_LINE_FENCE.match(body)
    try:
        # A reply that is bare JSON may hold fences inside its strings, so it goes first.
        return _load(body) if found is None or body[0] in "{[" else _load(found.group(1))
    except RecursionError:
        raise BadReply("the reply is nested too deeply") from None
    except BadReply:
        raise
    except ValueError as error:
        place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadReply(f"the reply is not valid JSON{place}") from None


def _load(body: str) -> Json:
    """Parse strict JSON (no NaN or Infinity) whose strings can be stored."""
    value = json.loads(body, parse_constant=_refuse_constant)
    if "\\u" in body or _UNSTORABLE.search(body):
        _check_storable(value)
    return value


def _refuse_constant(name: str) -> None:
    raise BadReply(f"the reply holds {name}, which is not JSON")


def _check_storable(value: Json) -> None:
    """``BadReply`` when a string anywhere in *value* has a lone surrogate or a NUL."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise BadReply("the reply holds characters that cannot be stored (a lone surrogate or NUL)")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_storable(key)
            _check_storable(item)
    elif isinstance(value, list):
        for item in value:
            _check_storable(item)


def conform(value: Json, schema: JsonSchema) -> Json:
    """*value* held against *schema*: types, required keys, enumerations and items, through references and alternatives.

    Returned is a copy without the keys that a closed object does not know and without nulls for optional keys. Lengths,
    patterns and ranges are left to the stages' validators, whose faults the model is told. ``BadReply`` names the place.
    """
    return _conform(value, schema, schema, "reply")


def _conform(value: Json, part: JsonSchema, root: JsonSchema, place: str) -> Json:
    if "$ref" in part:
        part = _resolve(str(part["$ref"]), root)
    options = part.get("anyOf") or part.get("oneOf")
    if options:
        return _first_fit(value, options, root, place)
    _check_kind(value, part, place)
    if isinstance(value, dict):
        return _conform_object(value, part, root, place)
    if isinstance(value, list) and isinstance(part.get("items"), dict):
        return [_conform(item, part["items"], root, f"{place}[{index}]") for index, item in enumerate(value)]
    return value


def _first_fit(value: Json, options: Json, root: JsonSchema, place: str) -> Json:
    """*value* as the first of *options* takes it."""
    faults = []
    for option in options:
        try:
            return _conform(value, option, root, place)
        except BadReply as fault:
            faults.append(str(fault))
    raise BadReply(faults[0] if len(set(faults)) == 1 else f"{place} fits none of the allowed alternatives")


def _check_kind(value: Json, part: JsonSchema, place: str) -> None:
    """Check type, enumeration and constant."""
    kinds = part.get("type")
    wanted = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if wanted and not any(_KINDS[kind](value) for kind in wanted if kind in _KINDS):
        raise BadReply(f"{place} must be of type {' or '.join(wanted)}")
    if "enum" in part and value not in part["enum"]:
        raise BadReply(f"{place} must be one of {', '.join(map(str, part['enum']))}")
    if "const" in part and value != part["const"]:
        raise BadReply(f"{place} must be {part['const']}")


def _conform_object(value: dict[str, Json], part: JsonSchema, root: JsonSchema, place: str) -> dict[str, Json]:
    properties = part.get("properties", {})
    required = part.get("required", ())
    missing = [key for key in required if key not in value]
    if missing:
        raise BadReply(f"{place} lacks {', '.join(repr(key) for key in missing)}")
    kept: dict[str, Json] = {}
    for key, item in value.items():
        if key not in properties:
            if part.get("additionalProperties", True) is not False:
                kept[key] = item
        elif not (item is None and key not in required and not admits_null(properties[key])):
            kept[key] = _conform(item, properties[key], root, f"{place}.{key}")
    return kept


def _resolve(reference: str, root: JsonSchema) -> JsonSchema:
    """The schema that a local *reference* (``#/$defs/Name``) points at."""
    node: Json = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        node = node[step]
    found: JsonSchema = node
    return found
