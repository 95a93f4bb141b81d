"""Counts for the report. They are added in input order, so the report is the same for any chunk size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from piiloom.surrogates.documents import Document, Replaced

# Most distinct literals that are counted separately, and most characters of each.
_MOST: Final = 10_000
_LONGEST: Final = 80
OTHERS: Final = "(others)"
PutIn = tuple[str, str, str | None]
_PUT_IN: Final = itemgetter(4, 5, 6)  # kind, entity type and subtype of a place


@dataclass(slots=True)
class Tally:
    """Counts of documents, replaced ranges, unknown placeholders, and brackets left alone.

    ``put_in`` counts surrogates by (kind, entity type, subtype). ``engine`` sums the tallies of the documents.
    ``first`` is the first place of those that belong to no document.
    """

    documents: int = 0
    replaced: int = 0
    put_in: Counter[PutIn] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    engine: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, tallies: Mapping[str, int], where: str) -> None:
        """Add counts that belong to no document; *where* is their file and line."""
        self.engine.update(tallies)
        for name in tallies:
            self.first.setdefault(name, where)

    def take(self, document: Document, replaced: Replaced) -> None:
        """Count one document."""
        self.documents += 1
        self.replaced += len(replaced.placed)
        self.put_in.update(map(_PUT_IN, replaced.placed))
        for counter, ranges in ((self.unknown, replaced.unknown), (self.left, replaced.left)):
            for start, end in ranges:
                literal = document.text[start:end]
                counter[literal if len(literal) <= _LONGEST else literal[: _LONGEST - 1] + "…"] += 1
        if replaced.tallies:
            self.engine.update(replaced.tallies)

    def add(self, other: Tally) -> None:
        """Add the counts of later documents. Literals after the first 10,000 distinct ones are counted together as ``OTHERS``."""
        self.documents += other.documents
        self.replaced += other.replaced
        self.put_in.update(other.put_in)
        self.engine.update(other.engine)
        self.first = {**other.first, **self.first}
        for ours, theirs in ((self.unknown, other.unknown), (self.left, other.left)):
            for literal, count in theirs.items():
                ours[literal if literal in ours or len(ours) < _MOST else OTHERS] += count

    def by_kind(self) -> dict[str, int]:
        """Return the number of surrogates of each kind, most frequent first."""
        kinds: Counter[str] = Counter()
        for (kind, _, _), count in self.put_in.items():
            kinds[kind] += count
        return most_common(kinds)

    def by_type(self) -> dict[str, int]:
        """Return the number of surrogates of each "type.subtype" (or "type"), most frequent first."""
        types: Counter[str] = Counter()
        for (_, entity_type, subtype), count in self.put_in.items():
            types[f"{entity_type}.{subtype}" if subtype else entity_type] += count
        return most_common(types)


def most_common(counts: Mapping[str, int]) -> dict[str, int]:
    """Return *counts* sorted by count, highest first, then by name."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
