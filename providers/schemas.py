"""JSON schemas as the strict modes of the APIs take them.

OpenAI's strict mode wants every object closed (``additionalProperties: false``) and every property required. A property
that a stage leaves optional is therefore asked for as "or null", and ``replies.conform`` drops the null again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from piiloom.providers.protocol import JsonSchema

# What ``json.loads`` may give; its shape is checked where it is read.
Json = Any

# Keywords whose value is a mapping of names to schemas, a single schema, or a list of schemas.
_MAPS = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "allOf")
# Strict mode refuses these on strings; validators check lengths anyway.
_DROPPED = frozenset({"minLength", "maxLength", "default"})
_NULL = {"type": "null"}


def plain(value: Json) -> Json:
    """*value* with every mapping a dict and every sequence a list, as JSON encoders want it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def strict_schema(schema: JsonSchema) -> dict[str, Any]:
    """A copy of *schema* with closed objects, all properties required, and without keywords that strict mode refuses."""
    node: dict[str, Any] = {key: plain(value) for key, value in schema.items() if key not in _DROPPED}
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
    """*part* with null allowed beside what it allows."""
    return part if admits_null(part) else {"anyOf": [part, dict(_NULL)]}


def admits_null(part: JsonSchema) -> bool:
    """Whether *part* names null among its types, constants or alternatives (references are not followed)."""
    kinds = part.get("type")
    if kinds == "null" or (isinstance(kinds, list | tuple) and "null" in kinds):
        return True
    return any(admits_null(option) for key in ("anyOf", "oneOf") for option in part.get(key, ()))


def format_name(name: str) -> str:
    """*name* as the APIs allow it: letters, digits, ``_`` and ``-``, at most 64 of them."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "reply"
