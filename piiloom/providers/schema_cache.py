"""Cache for converted schemas: a stage passes the same schema object with every call, so it is converted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from piiloom.providers.protocol import JsonSchema

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
