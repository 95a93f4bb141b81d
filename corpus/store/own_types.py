"""The entity types of a store's own: those of its runs, and those that were given with imports or for annotation.

A name means one thing in a store. So whoever reads its records later (the app, a release, a report) needs no types file.
"""

from __future__ import annotations

import json

from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import StoreError
from piiloom.taxonomy.own_types import OwnTypes, differences, extended, from_json, to_json


def types_of(store: Store) -> OwnTypes:
    """The own types of *store*, in the order in which they came."""
    rows = store.rows("SELECT definition FROM own_types ORDER BY position")
    return from_json([json.loads(definition) for (definition,) in rows]) if rows else ()


def keep_types(store: Store, own: OwnTypes) -> int:
    """Add those of *own* that *store* does not have yet; gives how many.

    Raises ``StoreError`` where the store defines a type of that name otherwise, ``ConfigError`` where a new type takes a name
    or spelling that another type of the store has.
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
