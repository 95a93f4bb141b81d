"""Extract the JSON from a model's reply and validate it against the requested schema.

The JSON may be bare or fenced, with prose or a model's thoughts around it (``foundation.lenient_json``). Of several values, the last one
that matches the schema counts. Anything else raises ``BadReply``, whose message names the fault and the place in the schema but does not
quote the reply's values.

Schemas are converted to the form that the strict modes of the APIs accept, once for each schema object. OpenAI's strict mode requires every
object to be closed (``additionalProperties: false``) and every property to be required. An optional property is therefore made required but
nullable, and ``conform`` drops the null again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from piiloom.foundation.lenient_json import read_leniently, without_thoughts
from piiloom.providers.errors import InvalidReply
from piiloom.providers.protocol import Completion, JsonSchema

# A value from ``json.loads``; its structure is checked where it is used.
Json = Any

# Keywords whose value is a mapping of names to schemas, a single schema, or a list of schemas.
_MAPS = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "allOf")
# Strict mode refuses these on strings; validators check lengths anyway.
_DROPPED = frozenset({"minLength", "maxLength", "default"})
_NULL = {"type": "null"}


def as_json_types(value: Json) -> Json:
    """Return *value* with mappings converted to dicts and sequences to lists, recursively, for JSON encoders."""
    if isinstance(value, Mapping):
        return {str(key): as_json_types(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json_types(item) for item in value]
    return value


def strict_schema(schema: JsonSchema) -> dict[str, Any]:
    """Return a copy of *schema* with closed objects, all properties required, and without keywords that strict mode refuses."""
    node: dict[str, Any] = {key: as_json_types(value) for key, value in schema.items() if key not in _DROPPED}
    for key in _MAPS:
        if key in node:
            node[key] = {name: strict_schema(part) for name, part in node[key].items()}
    for key in _LISTS:
        if key in node:
            node[key] = [strict_schema(part) for part in node[key]]
    if isinstance(node.get("items"), dict):
        node["items"] = strict_schema(node["items"])
    if "properties" in node:
        required = set(node.get("required", ()))
        node["properties"] = {name: part if name in required else _or_null(part) for name, part in node["properties"].items()}
        node["required"] = list(node["properties"])
        node["additionalProperties"] = False
    return node


def _or_null(part: dict[str, Any]) -> dict[str, Any]:
    """Return *part*, made nullable if it is not yet."""
    return part if admits_null(part) else {"anyOf": [part, dict(_NULL)]}


def admits_null(part: JsonSchema) -> bool:
    """Whether *part* allows null by its type or by an ``anyOf``/``oneOf`` alternative (references are not followed)."""
    kinds = part.get("type")
    if kinds == "null" or (isinstance(kinds, list | tuple) and "null" in kinds):
        return True
    return any(admits_null(option) for key in ("anyOf", "oneOf") for option in part.get(key, ()))


def format_name(name: str) -> str:
    """Return *name* as a schema name that the APIs accept: letters, digits, ``_`` and ``-``, at most 64 characters."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "reply"


def schema_instruction(name: str, schema: JsonSchema) -> str:
    """Return the prompt text that asks for one JSON object matching *schema*."""
    wanted = json.dumps(as_json_types(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must match this JSON schema ({format_name(name)}):\n{wanted}"


Put = Callable[[str, JsonSchema], Mapping[str, Any]]
# Maximum number of entries, more than a run has stages. Bounds memory if a schema object is created for every call.
_MOST = 256


class SchemaCache:
    """Memoize *put*, which converts a name and a schema to the part of the request that is sent for them.

    Keyed by name and identity of the schema object.
    """

    def __init__(self, put: Put) -> None:
        self._put = put
        # The schema is stored with the result to keep it alive, so that its id() is not reused.
        self._made: dict[tuple[str, int], tuple[JsonSchema, Mapping[str, Any]]] = {}

    def __call__(self, name: str, schema: JsonSchema) -> Mapping[str, Any]:
        """Return what to send for *schema*. The result is shared between calls and must not be modified."""
        known = self._made.get((name, id(schema)))
        if known is not None:
            return known[1]
        if len(self._made) >= _MOST:
            self._made.clear()
        made = self._put(name, schema)
        self._made[name, id(schema)] = (schema, made)
        return made


# Lone surrogates cannot be encoded as UTF-8, and NUL terminates strings in other programs.
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
    """The text is not the requested JSON. The message may be shown to the model and to users."""


def read_reply(text: str, schema: JsonSchema) -> Json:
    """Return the JSON value in *text*, conformed to *schema*; raises ``BadReply`` if there is none or it does not match."""
    fault = BadReply("the reply is empty")
    for value in reversed(extract_json(text)):
        try:
            return conform(value, schema)
        except BadReply as found:
            fault = found
    raise fault


def with_data(completion: Completion, schema: JsonSchema | None, *, provider: str) -> Completion:
    """Return *completion* with ``data`` parsed from its text; raises ``InvalidReply`` if that does not conform to *schema*.

    Without a *schema* the data is the text itself, which must not be blank.

    A reply is read when it arrives, or later from the journal by a resumed run. The error message must be the same in both cases:
    it becomes part of the next prompt, and a different prompt would be paid for again.
    """
    try:
        text = completion.text
        return replace(completion, data=plain_text(text) if schema is None else read_reply(text, schema))
    except BadReply as fault:
        fault_text = str(fault)
    raise InvalidReply(f"{provider}: {fault_text}", completion=completion)


def plain_text(text: str) -> str:
    """Return *text* without what a model thought before it; raises ``BadReply`` if nothing is left, or it cannot be stored."""
    body = _answer(text)
    if _UNSTORABLE.search(body):
        raise BadReply("the reply holds characters that cannot be stored")
    return body


def extract_json(text: str) -> list[Json]:
    """Return the JSON values in *text*; raises ``BadReply`` if there is none, it ends in the middle of one, or one cannot be stored."""
    body = _answer(text)
    try:
        # Strictly first: what is JSON as a whole must not be guessed at.
        return [_load(body.strip())]
    except RecursionError:
        raise BadReply("the reply is nested too deeply") from None
    except BadReply:
        raise
    except ValueError as error:
        place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        fault = f"the reply is not valid JSON{place}"
    found = read_leniently(body)
    if not found.values or found.cut_off or found.broken:
        raise BadReply(fault)
    _check_storable(found.values)
    return found.values


def _answer(text: str) -> str:
    """Return *text* without a byte order mark and thoughts; raises ``BadReply`` if nothing is left."""
    body = without_thoughts(text.removeprefix("\ufeff"))
    if not body.strip():
        raise BadReply("the reply has thoughts but no answer" if text.strip() else "the reply is empty")
    return body


def _load(body: str) -> Json:
    """Parse strict JSON; raises ``BadReply`` for NaN, Infinity and strings that cannot be stored."""
    value = json.loads(body, parse_constant=_refuse_constant)
    if "\\u" in body or _UNSTORABLE.search(body):
        _check_storable(value)
    return value


def _refuse_constant(name: str) -> None:
    raise BadReply(f"the reply holds {name}, which is not JSON")


def _check_storable(value: Json) -> None:
    """Raise ``BadReply`` if any string in *value* contains a lone surrogate or a NUL."""
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
    """Validate *value* against *schema*: types, required keys, enumerations, items, references and alternatives.

    Returns a copy without keys that a closed object does not define and without nulls for optional keys. Lengths, patterns
    and ranges are checked by the stages' validators, whose faults are sent to the model. Raises ``BadReply`` naming the place.
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
    """Conform *value* to the first of *options* that accepts it; raises ``BadReply`` if none does."""
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
    """Return the schema to which the local *reference* (``#/$defs/Name``) points."""
    node: Json = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        node = node[step]
    found: JsonSchema = node
    return found
