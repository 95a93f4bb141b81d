"""Mergeable counts of a survey: how often each pattern occurs in a corpus, with a few examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from piiloom.foundation.repeated_ids import text_hash
from piiloom.surrogates.placeholders.verdicts import Verdict

EXAMPLES: Final = 5
_BESIDE: Final = 30  # characters of context on each side of an example


@dataclass(slots=True)
class Tally:
    """The counts of one pattern.

    By kind of value, ``cues`` counts the documents and ``cued`` the places where the surrounding text suggests that kind. ``looked`` is
    the number of places examined. ``sure`` is the highest confidence seen.
    """

    verdict: Verdict
    grammar: str
    count: int = 0
    documents: int = 0
    sure: float = 0.0
    examples: list[str] = field(default_factory=list)
    cues: Counter[str] = field(default_factory=Counter)
    cued: Counter[str] = field(default_factory=Counter)
    looked: int = 0

    def take(self, seen: Seen) -> None:
        """Add what one later document has."""
        self._add(seen, documents=1, cues=set(seen.cued))

    def absorb(self, later: Tally) -> None:
        """Add the counts of *later* documents."""
        self._add(later, documents=later.documents, cues=later.cues)

    def _add(self, later: Tally | Seen, *, documents: int, cues: Iterable[str]) -> None:
        self.count += later.count
        self.documents += documents
        self.sure = max(self.sure, later.sure)
        self.looked += later.looked
        if later.examples:
            self.examples = [*self.examples, *(e for e in later.examples if e not in self.examples)][:EXAMPLES]
        if later.cued:
            self.cues.update(cues)
            self.cued.update(later.cued)


@dataclass(slots=True)
class Seen:
    """What one document has of one pattern. ``cued`` are the kinds that the surroundings of ``looked`` places suggest."""

    verdict: Verdict
    grammar: str
    sure: float
    wants_examples: bool = True
    count: int = 0
    looked: int = 0
    examples: list[str] = field(default_factory=list)
    cued: list[str] = field(default_factory=list)


class Tallies:
    """Tallies by pattern, limited to *most* patterns.

    If a corpus has more, the patterns with the smallest hashes are kept (bottom-k sampling). So the same ones remain, with exact
    counts, whatever the order of documents and merges. ``total`` counts all places, ``dropped`` those of the other patterns.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = 1 << 64
        self.by_family: dict[str, Tally] = {}
        self.total = 0

    def kept(self) -> dict[str, Tally]:
        """Return the tallies by pattern after cutting them down to the limit; the same for every partition of the corpus."""
        self._shrink()
        return self.by_family

    @property
    def dropped(self) -> int:
        """The number of places whose pattern is not kept."""
        return self.total - sum(tally.count for tally in self.kept().values())

    def wants_examples(self, family: str) -> bool:
        """Whether *family* has fewer examples than are kept."""
        known = self.by_family.get(family)
        return known is None or len(known.examples) < EXAMPLES

    def take(self, family: str, seen: Seen) -> None:
        """Add what one later document has."""
        known = self.by_family.get(family)
        if known is None:
            new = Tally(seen.verdict._replace(original=""), seen.grammar)
            new.take(seen)
            self.add(family, new)
        else:
            self.total += seen.count
            known.take(seen)

    def add(self, family: str, tally: Tally) -> None:
        """Add *tally*, which comes from a survey of later documents."""
        self.total += tally.count
        self._put(family, tally)

    def merge(self, later: Tallies) -> None:
        """Add the tallies of later documents."""
        self.total += later.total
        self._limit = min(self._limit, later._limit)
        for family, tally in later.by_family.items():
            self._put(family, tally)
        self._shrink()

    def _put(self, family: str, tally: Tally) -> None:
        known = self.by_family.get(family)
        if known is not None:
            known.absorb(tally)
        elif self._limit == 1 << 64 or text_hash(family) < self._limit:
            self.by_family[family] = tally
            if len(self.by_family) > 2 * self._most:
                self._shrink()

    def _shrink(self) -> None:
        if len(self.by_family) <= self._most and self._limit == 1 << 64:
            return
        hashed = {family: text_hash(family) for family in self.by_family}
        if len(hashed) > self._most:
            self._limit = min(self._limit, sorted(hashed.values())[self._most])
        self.by_family = {family: tally for family, tally in self.by_family.items() if hashed[family] < self._limit}


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with a little context on both sides, on one line."""
    first, last = max(0, start - _BESIDE), min(len(text), end + _BESIDE)
    return f"{'…' if first else ''}{' '.join(text[first:last].split())}{'…' if last < len(text) else ''}"
