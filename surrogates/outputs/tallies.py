"""Counts that become the report. They add up in input order, so that the report is the same for any size of chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from surrogates.documents import Document, Filled

# Distinct literals that are told apart, and so many signs of each.
_MOST: Final = 10_000
_LONGEST: Final = 80
OTHERS: Final = "(others)"


@dataclass(slots=True)
class Tally:
    """What was replaced, left, and not understood."""

    documents: int = 0
    replaced: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    engine: Counter[str] = field(default_factory=Counter)

    def take(self, document: Document, filled: Filled) -> None:
        """Count one document."""
        self.documents += 1
        self.replaced += len(filled.placed)
        for place in filled.placed:
            self.kinds[place.kind] += 1
            self.types[f"{place.entity_type}.{place.subtype}" if place.subtype else place.entity_type] += 1
        for counter, ranges in ((self.unknown, filled.unknown), (self.left, filled.left)):
            for start, end in ranges:
                literal = document.text[start:end]
                counter[literal if len(literal) <= _LONGEST else literal[: _LONGEST - 1] + "…"] += 1
        if filled.tallies:
            self.engine.update(filled.tallies)

    def add(self, other: Tally) -> None:
        """Add the counts of the documents that follow. Literals beyond the first ten thousand are counted together."""
        self.documents += other.documents
        self.replaced += other.replaced
        self.kinds.update(other.kinds)
        self.types.update(other.types)
        self.engine.update(other.engine)
        for ours, theirs in ((self.unknown, other.unknown), (self.left, other.left)):
            for literal, count in theirs.items():
                ours[literal if literal in ours or len(ours) < _MOST else OTHERS] += count


def most_common(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, highest first, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
