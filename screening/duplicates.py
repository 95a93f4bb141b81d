"""Duplicates: no context repeats, or nearly repeats, one accepted before.

Near means a Jaccard similarity of 5-word shingles at or above the threshold (``corpus.near_duplicates``). The gate
remembers what it lets pass, so records must come in plan order; it stands last in a screen, because a record that another
gate refuses must not be remembered. A record is never its own duplicate: an id seen before passes.
"""

from __future__ import annotations

from types import MappingProxyType

from corpus.near_duplicates import NearDuplicateIndex
from corpus.record import Record
from foundation.seeding import digest
from screening.gate import Expectations, Verdict


class DuplicatesGate:
    """Refuses contexts that an earlier record has, to the letter or nearly; one gate object a run."""

    name = "duplicate"
    codes = MappingProxyType(
        {
            "duplicate.exact": "an earlier record has the same context",
            "duplicate.near": "an earlier record has nearly the same context",
        }
    )

    def __init__(self, *, threshold: float = 0.5) -> None:
        self._index = NearDuplicateIndex(threshold=threshold)
        self._digests: dict[str, str] = {}  # of the context -> id of the record that had it first
        self._seen: set[str] = set()

    def check(self, record: Record, expected: Expectations) -> Verdict | None:  # noqa: ARG002  the protocol's signature
        """Compare with all earlier records and remember this one if it is new."""
        if record.id in self._seen:
            return None
        fingerprint = digest(record.context)
        if fingerprint in self._digests:
            return Verdict(code="duplicate.exact", detail=f"of record {self._digests[fingerprint]}")
        earlier = self._index.add(record.id, record.context)
        if earlier is not None:
            return Verdict(code="duplicate.near", detail=f"of record {earlier}")
        self._remember(record.id, fingerprint)
        return None

    def prime(self, record: Record) -> None:
        """Remember a record accepted earlier, without judging it."""
        if record.id not in self._seen:
            self._index.insert(record.id, record.context)
            self._remember(record.id, digest(record.context))

    def _remember(self, record_id: str, fingerprint: str) -> None:
        self._seen.add(record_id)
        self._digests.setdefault(fingerprint, record_id)
