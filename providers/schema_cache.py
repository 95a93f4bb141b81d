"""What an API wants instead of a stage's schema, made once: a stage hands the same schema over with every call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from piiloom.providers.protocol import JsonSchema

Put = Callable[[str, JsonSchema], Mapping[str, Any]]
# More schemas than a run has stages; one made anew for every call must not pile up.
_MOST = 256


class SchemaCache:
    """*put* (from a name and a schema to what is sent for it), remembered for as long as the same objects come."""

    def __init__(self, put: Put) -> None:
        self._put = put
        # The schema is kept beside what was made of it, so that its id stays its own.
        self._made: dict[tuple[str, int], tuple[JsonSchema, Mapping[str, Any]]] = {}

    def __call__(self, name: str, schema: JsonSchema) -> Mapping[str, Any]:
        """What to send for *schema*; shared between calls, so not to be changed."""
        known = self._made.get((name, id(schema)))
        if known is not None:
            return known[1]
        if len(self._made) >= _MOST:
            self._made.clear()
        made = self._put(name, schema)
        self._made[name, id(schema)] = (schema, made)
        return made
