"""The subtypes of every type: how often each is drawn when any will do, and by which drawer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.drawers import (
    ages,
    ailments,
    appearances,
    codes,
    convictions,
    demographics,
    locations,
    moments,
    money,
    naming,
    organizations,
    studies,
    ties,
    work,
)
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.sampling import Weighted, weighted

__all__ = ["KINDS", "Kind", "kinds_for"]

KINDS: Final[Mapping[str, tuple[Kind, ...]]] = MappingProxyType(
    {
        "occupation": work.KINDS,
        "health": ailments.KINDS,
        "demographic": demographics.KINDS,
        "finance": money.KINDS,
        "age": ages.KINDS,
        "education": studies.KINDS,
        "location": locations.KINDS,
        "organization": organizations.KINDS,
        "relationship": ties.RELATIONSHIP,
        "sexual orientation": ties.ORIENTATION,
        "belief": convictions.KINDS,
        "name": naming.KINDS,
        "code": codes.KINDS,
        "datetime": moments.KINDS,
        "appearance": appearances.KINDS,
    }
)


@cache
def kinds_for(entity_type: str, subtypes: tuple[str, ...] | None) -> Weighted[Kind]:
    """The kinds of a type (None: all, else the named ones), weighted; raises ``UsageError`` for unknown names."""
    known = KINDS.get(entity_type)
    if known is None:
        raise UsageError(f"no values for type {entity_type!r}", remedy=f"Known: {', '.join(KINDS)}.")
    names = [kind.subtype for kind in known]
    unknown = [name for name in subtypes or () if name not in names]
    if unknown:
        raise UsageError(f"type {entity_type!r} has no subtype {unknown[0]!r}", remedy=f"Known: {', '.join(names)}.")
    wanted = [kind for kind in known if (kind.subtype in subtypes if subtypes else kind.share > 0)]
    # What is drawn only by name has no share of its own.
    return weighted((kind, kind.share or 1.0) for kind in wanted)
