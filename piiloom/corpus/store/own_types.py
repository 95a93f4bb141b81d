"""User-defined entity types kept in the store: those of its runs, and those given with imports or for annotation.

A type name has exactly one definition in a store. Later readers of its records (the app, a release, a report) therefore need no
types file.
"""

from __future__ import annotations

import json

from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import StoreError
from piiloom.taxonomy.own_types import OwnTypes, differences, extended, from_json, to_json


def types_of(store: Store) -> OwnTypes:
    """Return the user-defined types of *store*, in the order they were added."""
    rows = store.rows("SELECT definition FROM own_types ORDER BY position")
    return from_json([json.loads(definition) for (definition,) in rows]) if rows else ()


def keep_types(store: Store, own: OwnTypes) -> int:
    """Add the types in *own* that *store* does not have yet. Return how many were added.

    Raises ``StoreError`` if the store has a different definition under the same name, and ``ConfigError`` if a new type uses a
    name or spelling of another type in the store.
    """
    known = types_of(store)
    names = {one.name for one in known}
    changed = differences(tuple(one for one in known if one.name in {given.name for given in own}), own)
    told = [difference for difference in changed if not difference.endswith("(not there before)")]
    if told:
        raise StoreError(
            f"the store has another definition of an own type; what differs: {', '.join(told)}",
            where=str(store.path),
            remedy="Its records were made by the one it has: give the type a new name, or use another --store",
        )
    new = tuple(one for one in own if one.name not in names)
    if new:
        extended((*known, *new))
        texts = [json.dumps(entry, ensure_ascii=False) for entry in to_json(new)]
        rows = [(len(known) + place, one.name, text) for place, (one, text) in enumerate(zip(new, texts, strict=True))]
        store.append("own_types", ("position", "name", "definition"), rows)
    return len(new)
