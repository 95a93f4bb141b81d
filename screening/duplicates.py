"""Duplicates: no context and no question repeats, or nearly repeats, one accepted before.

Near means a Jaccard similarity of 5-word shingles at or above the threshold (``piiloom.corpus.near_duplicates``). The gate
remembers what it lets pass, so records must come in plan order; it stands last in a screen, because a record that another
gate refuses must not be remembered. A record is never its own duplicate: an id seen before passes.
"""

from __future__ import annotations

from types import MappingProxyType

from piiloom.corpus.near_duplicates import NearDuplicateIndex, shingle_hashes
from piiloom.corpus.record import Record
from piiloom.screening.gate import Expectations, Verdict


class DuplicatesGate:
    """Refuses contexts and questions that an earlier record has nearly; one gate object a run."""

    name = "duplicate"
    codes = MappingProxyType(
        {
            "duplicate.near": "an earlier record has the same or nearly the same context",
            "duplicate.question": "an earlier record has the same or nearly the same question",
        }
    )

    def __init__(self, *, threshold: float = 0.5) -> None:
        self._contexts = NearDuplicateIndex(threshold=threshold)
        self._questions = NearDuplicateIndex(threshold=threshold)
        self._seen: set[str] = set()

    def check(self, record: Record, expected: Expectations) -> Verdict | None:  # noqa: ARG002  the protocol's signature
        """Compare with all earlier records and remember this one if it is new."""
        if record.id in self._seen:
            return None
        asked = shingle_hashes(record.question) if record.question else None
        earlier = None if asked is None else self._questions.nearest(asked)
        if earlier is not None:
            return Verdict(code="duplicate.question", detail=f"of record {earlier}")
        earlier = self._contexts.add(record.id, record.context)
        if earlier is not None:
            return Verdict(code="duplicate.near", detail=f"of record {earlier}")
        self._seen.add(record.id)
        if asked is not None:
            self._questions.put(record.id, asked)
        return None

    def prime(self, record: Record) -> None:
        """Remember a record accepted earlier, without judging it."""
        if record.id not in self._seen:
            self._contexts.put(record.id, shingle_hashes(record.context))
            self._seen.add(record.id)
            if record.question:
                self._questions.put(record.id, shingle_hashes(record.question))
