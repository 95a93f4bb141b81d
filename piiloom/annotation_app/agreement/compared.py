"""Compare people's versions of the same records: the counts from which all agreement figures are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from piiloom.annotation_app.agreement.coefficients import character_counts, unit_sums, value_counts
from piiloom.annotation_app.agreement.finished_records import FinishedRecord
from piiloom.annotation_app.agreement.matching import Floats, Matches, likeness, match, mention_of
from piiloom.annotation_app.agreement.spans import RELEVANCES, Integers, SpansTable, spans_table

People = tuple[str, str]
_VERDICTS = ("accepted", "rejected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Counts over all *finished_records* that two or more people have finished.

    A comparison is one pair of people who both accepted one record; ``people`` and ``record`` (a position in ``finished_records``) have one
    entry for each. ``by_comparison`` (comparisons, counts) and ``by_record`` (records, types, counts) are counts of
    ``agreement.matching``. ``types``, ``relevance``, ``characters`` and ``verdicts`` are sums of ``coefficients.unit_sums`` by record;
    ``type_counts`` and ``relevance_counts`` (units, classes) are the units themselves.
    """

    finished_records: tuple[FinishedRecord, ...]
    table: SpansTable
    matches: Matches
    people: tuple[People, ...]
    record: Integers
    by_comparison: Floats
    by_record: Floats
    types: Floats
    relevance: Floats
    characters: Floats
    verdicts: Floats
    type_counts: Floats
    relevance_counts: Floats

    def said(self, what: str, pairs: Integers) -> tuple[list[int], list[int]]:
        """Return the labels of the left and of the right side for *pairs* (rows of ``matches``).

        *what* is "type" or "relevance"; pairs for which a side has no relevance are left out.
        """
        values = self.table.type if what == "type" else self.table.relevance
        ones, others = values[self.matches.left[pairs]], values[self.matches.right[pairs]]
        both = (ones >= 0) & (others >= 0)
        return ones[both].tolist(), others[both].tolist()


def compare_people(finished_records: Sequence[FinishedRecord]) -> Compared:
    """Compare the versions of each record that two or more people have finished."""
    shared = tuple(finished_record for finished_record in finished_records if len(finished_record.versions) > 1)
    documents = [version.spans for finished_record in shared for version in finished_record.accepted]
    record = np.repeat(np.arange(len(shared)), [len(finished_record.accepted) for finished_record in shared]).astype(np.int64)
    left, right, people = _comparisons(shared)
    table = spans_table(documents)
    matches = match(table, left, right)
    owners = record[left] if left else np.zeros(0, dtype=np.int64)
    size = len(shared)
    mentions = mention_of(table, matches)
    type_counts, type_at = value_counts(table, mentions, table.type, len(table.types))
    relevance_counts, relevance_at = value_counts(table, mentions, table.relevance, len(RELEVANCES))
    verdicts = np.array([[sum(v.verdict == name for v in r.versions) for name in _VERDICTS] for r in shared], dtype=float).reshape(-1, 2)
    return Compared(
        finished_records=shared,
        table=table,
        matches=matches,
        people=tuple(people),
        record=owners,
        by_comparison=likeness(table, left, right, matches, np.arange(len(left)), len(left)).sum(axis=1),
        by_record=likeness(table, left, right, matches, owners, size),
        types=unit_sums(type_counts, record[table.document[type_at]], size),
        relevance=unit_sums(relevance_counts, record[table.document[relevance_at]], size),
        characters=_characters(table, record, shared),
        verdicts=unit_sums(verdicts, np.arange(size), size),
        type_counts=type_counts,
        relevance_counts=relevance_counts,
    )


def _comparisons(finished_records: Sequence[FinishedRecord]) -> tuple[list[int], list[int], list[People]]:
    left: list[int] = []
    right: list[int] = []
    people: list[People] = []
    document = 0
    for finished_record in finished_records:
        names = [version.annotator for version in finished_record.accepted]
        for one, other in combinations(range(len(names)), 2):
            left.append(document + one)
            right.append(document + other)
            people.append((names[one], names[other]))
        document += len(names)
    return left, right, people


def _characters(table: SpansTable, record: Integers, finished_records: Sequence[FinishedRecord]) -> Floats:
    people = np.bincount(record, minlength=len(finished_records))
    lengths = np.array([finished_record.base.characters for finished_record in finished_records], dtype=np.int64)
    counts, owners, times = character_counts(table, record, people, lengths)
    return unit_sums(counts, owners, len(finished_records), times)
