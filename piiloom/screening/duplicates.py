"""Duplicates gate: refuse contexts and questions that repeat, exactly or nearly, those of an accepted record.

Texts are near-duplicates if the Jaccard similarity of their 5-word shingles reaches the threshold
(``piiloom.corpus.near_duplicates``). Records of one contrast group share their context, which is no duplicate. The gate stores
the records that pass, so records must come in plan order, and it must be the last gate of a screen, because a record that
another gate refuses must not be stored. A record id that was seen before passes.
"""

from __future__ import annotations

from types import MappingProxyType

from piiloom.corpus.near_duplicates import NearDuplicateIndex, shingle_hashes
from piiloom.corpus.record import Record
from piiloom.screening.gate import Expectations, Verdict


class DuplicatesGate:
    """Refuses near-duplicates of earlier records; use one gate object per run.

    *threshold* is the Jaccard similarity in (0, 1]. With *questions* false, questions are not compared.
    """

    name = "duplicate"
    codes = MappingProxyType(
        {
            "duplicate.near": "an earlier record has the same or nearly the same context",
            "duplicate.question": "an earlier record has the same or nearly the same question",
        }
    )

    def __init__(self, *, threshold: float = 0.5, questions: bool = True) -> None:
        self._question_counts = questions
        self._texts: dict[str, str] = {}
        self._contexts = NearDuplicateIndex(threshold=threshold)
        self._questions = NearDuplicateIndex(threshold=threshold)
        self._seen: set[str] = set()

    def check(self, record: Record, expected: Expectations) -> Verdict | None:  # noqa: ARG002  the protocol's signature
        """Compare *record* with all earlier ones and store it if it is new."""
        if record.id in self._seen:
            return None
        asked = shingle_hashes(record.question) if record.question and self._question_counts else None
        earlier = None if asked is None else self._questions.nearest(asked)
        if earlier is not None:
            return Verdict(code="duplicate.question", detail=f"of record {earlier}")
        if not self._is_known(record):
            earlier = self._contexts.add(record.id, record.context)
            if earlier is not None:
                return Verdict(code="duplicate.near", detail=f"of record {earlier}")
            self._remember_text(record)
        self._seen.add(record.id)
        if asked is not None:
            self._questions.put(record.id, asked)
        return None

    def prime(self, record: Record) -> None:
        """Store a record that was accepted earlier, without checking it."""
        if record.id not in self._seen:
            if not self._is_known(record):
                self._contexts.put(record.id, shingle_hashes(record.context))
                self._remember_text(record)
            self._seen.add(record.id)
            if record.question and self._question_counts:
                self._questions.put(record.id, shingle_hashes(record.question))

    def _is_known(self, record: Record) -> bool:
        """Whether an accepted record of the same contrast group has the same context."""
        group = record.contrast_group
        return group is not None and self._texts.get(group) == record.context

    def _remember_text(self, record: Record) -> None:
        if record.contrast_group is not None:
            self._texts[record.contrast_group] = record.context
