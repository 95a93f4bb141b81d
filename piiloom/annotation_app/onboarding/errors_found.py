"""Determine which errors each of several people found, to estimate how many errors remain.

An error is a difference between the original record and an accepted version. Two people found the same error if they changed the
same span in the same respect (ends, type or relevance, no matter to what), removed the same span, or added overlapping spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.agreement.finished_records import FinishedRecord
from piiloom.annotation_app.agreement.matching import Matches, match, pair_gains, spans_of
from piiloom.annotation_app.agreement.spans import Integers, SpansTable, spans_table
from piiloom.annotation_app.onboarding.capture_recapture import Estimate, chao, chapman

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEstimate:
    """Estimated errors in the ``records`` records that both of two people have accepted."""

    people: tuple[str, str]
    records: int
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """The estimates: one for each pair of people, and lower bounds by the number of people who accepted a record."""

    pairs: tuple[PairEstimate, ...]
    lower_bounds: Mapping[int, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundErrors:
    """The errors that *people* found.

    ``looked`` (records x people) tells who accepted a record, ``found`` (errors x people) who found an error. ``record`` (errors)
    has the row in ``looked`` of each error's record.
    """

    people: tuple[str, ...]
    looked: Flags
    record: Integers
    found: Flags


def estimate_remaining(finished_records: Sequence[FinishedRecord]) -> Remaining:
    """Estimate the errors in all records that two or more people have accepted so far."""
    errors = errors_found(finished_records)
    return Remaining(pairs=tuple(_pairs(errors)), lower_bounds=_lower_bounds(errors))


def errors_found(finished_records: Sequence[FinishedRecord]) -> FoundErrors:
    """Collect the errors found in those *finished_records* that two or more people have accepted; rejected versions are ignored."""
    shared = [finished_record for finished_record in finished_records if len(finished_record.accepted) > 1]
    versions = [version for finished_record in shared for version in finished_record.accepted]
    people = tuple(sorted({version.annotator for version in versions}))
    number = {name: place for place, name in enumerate(people)}
    person = np.array([number[version.annotator] for version in versions], dtype=np.int64)
    record = np.repeat(np.arange(len(shared)), [len(finished_record.accepted) for finished_record in shared]).astype(np.int64)
    table = spans_table([*(finished_record.spans for finished_record in shared), *(version.spans for version in versions)])
    theirs = len(shared) + np.arange(len(versions))
    matches = match(table, record, theirs)
    ends = np.array([finished_record.base.characters for finished_record in shared], dtype=np.int64)
    looked = np.zeros((len(shared), len(people)), dtype=bool)
    looked[record, person] = True
    changed, added = _changed(table, record, matches), _added(table, theirs, matches, record, ends)
    error = np.concatenate([changed[0], changed[0].max(initial=-1) + 1 + added[0]])
    finder = np.concatenate([changed[1], added[1]])
    _, first, row = np.unique(error, return_index=True, return_inverse=True)
    found = np.zeros((len(first), len(people)), dtype=bool)
    found[row, person[finder]] = True
    return FoundErrors(people=people, looked=looked, record=record[finder[first]], found=found)


def _changed(table: SpansTable, base: Integers, matches: Matches) -> tuple[Integers, Integers]:
    """Return the errors in existing spans (changed or removed): error numbers and comparison indexes, one entry per finder.

    *base* is, for each comparison, the document number of the original record. Equal error numbers mean the same error.
    """
    comparison, row = spans_of(table, base)
    size = len(table.document)
    gone = ~np.isin(comparison * size + row, matches.comparison * size + matches.left)
    gains = pair_gains(table, matches)
    relevance = table.relevance[matches.left] != table.relevance[matches.right]
    errors, finders = [row[gone]], [comparison[gone]]
    for kind, wrong in enumerate((gains["exact"] == 0, gains["typed"] == 0, relevance), 1):
        errors.append(kind * size + matches.left[wrong])
        finders.append(matches.comparison[wrong])
    return np.concatenate(errors), np.concatenate(finders)


def _added(table: SpansTable, theirs: Integers, matches: Matches, record: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Return the errors that consist in a missing span, in the same form as ``_changed``.

    Added spans of one record that overlap are one error. Spans in newly written text correct no error and are left out:
    ``agreement.spans.carried`` places them beyond the end of the text (*ends*).
    """
    comparison, row = spans_of(table, theirs)
    size = len(table.document)
    new = ~np.isin(comparison * size + row, matches.comparison * size + matches.right)
    new &= table.start[row] < ends[record[comparison]]
    comparison, row = comparison[new], row[new]
    # Shift the offsets of each record so that all records share one number line without overlaps.
    line = record[comparison] * (int(table.end.max(initial=0)) + 1)
    order = np.argsort(line + table.start[row], kind="stable")
    start, end = (line + table.start[row])[order], (line + table.end[row])[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = start[1:] >= np.maximum.accumulate(end)[:-1]
    return np.cumsum(begins) - 1, comparison[order]


def _pairs(errors: FoundErrors) -> Iterable[PairEstimate]:
    found, looked = errors.found.astype(np.float64), errors.looked.astype(np.float64)
    together = looked.T @ looked
    by_one = found.T @ looked[errors.record]  # [i, j]: errors that i found in records that j looked at
    by_both = found.T @ found
    for one, other in combinations(range(len(errors.people)), 2):
        if together[one, other]:
            counts = (int(by_one[one, other]), int(by_one[other, one]), int(by_both[one, other]))
            names = (errors.people[one], errors.people[other])
            yield PairEstimate(people=names, records=int(together[one, other]), estimate=chapman(*counts))


def _lower_bounds(errors: FoundErrors) -> dict[int, Estimate]:
    people = errors.looked.sum(axis=1)
    finders, of_people = errors.found.sum(axis=1), people[errors.record]
    return {count: chao(finders[of_people == count].tolist(), count) for count in np.unique(people).tolist()}
