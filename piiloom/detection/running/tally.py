"""Counts of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import SetAside


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of documents and what was found in them.

    ``failed`` documents, of which nothing could be found out, are none of the ``documents``. ``types`` and ``subtypes`` count spans;
    ``validated`` those whose validator passed. ``overlapping`` were left out in favour of a surer one. ``set_aside`` counts by reason what
    a model or a rule refused. ``catalogues`` has the digests of those used, by locale.
    """

    documents: int = 0
    failed: int = 0
    with_spans: int = 0
    spans: int = 0
    validated: int = 0
    overlapping: int = 0
    types: Counter[str] = field(default_factory=Counter)
    subtypes: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    catalogues: dict[str, str] = field(default_factory=dict)

    def count(self, locale: str, spans: Sequence[ScoredSpan], overlapping: int, set_aside: Iterable[SetAside]) -> None:
        """Count one document."""
        self.documents += 1
        self.with_spans += bool(spans)
        self.spans += len(spans)
        self.validated += sum(span.validated is True for span in spans)
        self.overlapping += overlapping
        self.types.update(span.entity_type for span in spans)
        self.subtypes.update(span.subtype for span in spans if span.subtype is not None)
        self.locales[locale] += 1
        self.set_aside.update(one.reason for one in set_aside)

    def add(self, other: Tally) -> None:
        """Add the counts of other documents."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, int):
                setattr(self, name, mine + theirs)
            else:
                mine.update(theirs)

    def to_json(self) -> dict[str, Any]:
        """Return all counts as JSON values, the most frequent first."""
        return {name: dict(_by_count(value)) if isinstance(value := getattr(self, name), dict) else value for name in self.__slots__}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Tally:
        """Return what ``to_json`` made JSON of."""
        values: dict[str, Any] = {
            name: value if name == "catalogues" or isinstance(value, int) else Counter(value) for name, value in told.items()
        }
        return cls(**values)


def _by_count(counts: dict[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(counts, Counter):
        return sorted(counts.items())
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
