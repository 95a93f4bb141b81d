"""Checks of the types named in bank files: pairs that cannot be paired, unknown types and subtypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy

Fault = tuple[KeyPath, str]


def pair_faults(pair: Sequence[str], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield why *pair* is not a valid pair."""
    for name in pair:
        if name not in taxonomy.types:
            yield f"unknown type {name!r}"
        elif not taxonomy.types[name].pairable:
            yield f"type {name!r} cannot be part of a pair"
    if len(set(pair)) != 2:
        yield "a pair is two different types"
    elif all(name in taxonomy.types and taxonomy.types[name].pairable for name in pair) and (min(pair), max(pair)) not in taxonomy.pairs:
        yield f"the types file does not pair {pair[0]!r} with {pair[1]!r}"


def subtype_faults(name: str, subtypes: Iterable[str], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield a message for each of *subtypes* that the type *name* does not have, or one if the type is unknown.

    The ids of catalogue entities of the type are subtypes too.
    """
    if name not in taxonomy.types:
        yield f"unknown type {name!r}"
        return
    known = {subtype.name for subtype in taxonomy.types[name].subtypes}
    for subtype in subtypes:
        entity = None if subtype in known else find_shipped(subtype)
        if subtype not in known and (entity is None or entity.entity_type != name):
            close = get_close_matches(subtype, sorted(known), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            yield f"type {name!r} has no subtype {subtype!r}{hint}"
