"""Convert JSON schemas to the form that the strict modes of the APIs accept, once for each schema object.

OpenAI's strict mode requires every object to be closed (``additionalProperties: false``) and every property to be required.
An optional property is therefore made required but nullable, and ``replies.conform`` drops the null again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from piiloom.providers.protocol import JsonSchema

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
