"""Estimate how many errors remain, from the errors that several people found independently (capture-recapture).

An error is a difference between the original record and an accepted version. Two people found the same error if they changed the
same span in the same respect (ends, type or relevance, no matter to what), removed the same span, or added overlapping spans.
If two people found mostly the same errors, few are left.

Assumptions: people work independently; each counted correction is a real error, and two people's corrections of one error are
recognized as the same; nothing is corrected between their passes; all errors are equally easy to find. The last one never quite
holds (a dropped span is harder to see than a wrong type), which makes the estimates too low. So read them as "at least".
``chao`` does not need the last assumption and gives only a lower bound.

Sources: Chapman, "Some properties of the hypergeometric distribution with applications to zoological sample censuses",
Univ. Calif. Publ. Stat. 1 (1951) 131-160. Seber, "The effects of trap response on tag recapture estimates", Biometrics 26
(1970) 13-22 (the variance of Chapman's estimate). Chao, "Estimating the population size for capture-recapture data with unequal
catchability", Biometrics 43 (1987) 783-791 (the lower bound, and the interval, which is log-normal in the number not found).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.figures.intervals import Z95
from piiloom.annotation_app.figures.spans import (
    FinishedRecord,
    Integers,
    Matches,
    SpansTable,
    match,
    pair_gains,
    rows_of_spans,
    spans_table,
)

ASSUMPTIONS = (
    "People found errors independently of each other.",
    "Every correction counted is a real error, and two corrections of one error are recognised as one.",
    "All errors are equally easy to find; where they are not, the true number is higher.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Number of errors: ``found`` by at least one person, and the estimated ``total`` with its 95% interval."""

    found: int
    total: float
    low: float
    high: float

    @property
    def left(self) -> float:
        """The estimated number that nobody found."""
        return self.total - self.found


def chapman(first: int, second: int, both: int) -> Estimate:
    """Return Chapman's estimate from two people's results.

    *first* and *second* are the numbers of errors that each found, *both* the number found by both. Raises ``ValueError`` if
    *both* is negative or greater than either.
    """
    if not 0 <= both <= min(first, second):
        raise ValueError("more were found by both than by one")
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    return _estimate(first + second - both, total, variance)


def chao(counts: Sequence[int], people: int) -> Estimate:
    """Return Chao's lower bound for the total number of errors, in its bias-corrected form.

    *people* is the number of people who looked; *counts* has, for each error found, how many of them found it. Only the numbers
    of errors found by exactly one and exactly two people are used. Raises ``ValueError`` if *people* is below 2 or a count is not
    from 1 to *people*.
    """
    if people < 2 or any(not 1 <= count <= people for count in counts):
        raise ValueError("each error was found by one person at least, and by all at most; there are two people at least")
    once, twice = sum(count == 1 for count in counts), sum(count == 2 for count in counts)
    part = (people - 1) / people
    missed = part * once * (once - 1) / (2 * (twice + 1))
    variance = (
        missed
        + part**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + part**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return _estimate(len(counts), len(counts) + missed, variance)


def _estimate(found: int, total: float, variance: float) -> Estimate:
    missed = total - found
    if missed <= 0 or variance <= 0:
        return Estimate(found=found, total=total, low=total, high=total)
    spread = exp(Z95 * sqrt(log(1 + variance / missed**2)))
    return Estimate(found=found, total=total, low=found + missed / spread, high=found + missed * spread)


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
    comparison, row = rows_of_spans(table, base)
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
    comparison, row = rows_of_spans(table, theirs)
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
