"""Counts that become the report. They add up in input order, so that the report is the same for any size of chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from piiloom.surrogates.documents import Document, Filled

# Distinct literals that are told apart, and so many signs of each.
_MOST: Final = 10_000
_LONGEST: Final = 80
OTHERS: Final = "(others)"
PutIn = tuple[str, str, str | None]


@dataclass(slots=True)
class Tally:
    """What was replaced, left, and not understood; ``put_in`` counts surrogates by kind, type and subtype."""

    documents: int = 0
    replaced: int = 0
    put_in: Counter[PutIn] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    engine: Counter[str] = field(default_factory=Counter)

    def take(self, document: Document, filled: Filled) -> None:
        """Count one document."""
        self.documents += 1
        self.replaced += len(filled.placed)
        self.put_in.update([(place.kind, place.entity_type, place.subtype) for place in filled.placed])
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
        self.put_in.update(other.put_in)
        self.engine.update(other.engine)
        for ours, theirs in ((self.unknown, other.unknown), (self.left, other.left)):
            for literal, count in theirs.items():
                ours[literal if literal in ours or len(ours) < _MOST else OTHERS] += count

    def by_kind(self) -> dict[str, int]:
        """Surrogates of each kind, the most frequent first."""
        kinds: Counter[str] = Counter()
        for (kind, _, _), count in self.put_in.items():
            kinds[kind] += count
        return most_common(kinds)

    def by_type(self) -> dict[str, int]:
        """The same for each type, with its subtype behind a full stop."""
        types: Counter[str] = Counter()
        for (_, entity_type, subtype), count in self.put_in.items():
            types[f"{entity_type}.{subtype}" if subtype else entity_type] += count
        return most_common(types)


def most_common(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, highest first, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
