"""Agreement of people who finished the same records, and the errors that remain.

Agreement is measured for the project, by pair of types, by type, by day and for each two people.

How many errors remain is estimated from those that several people found independently (capture-recapture). An error is a difference
between the original record and an accepted version. Two people found the same error if they changed the same span in the same respect
(ends, type or relevance, no matter to what), removed the same span, or added overlapping spans. If two people found mostly the same errors,
few are left.

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

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.figures.intervals import (
    Z95,
    AgreementFigure,
    RecordResampling,
    alpha_of_sums,
    character_counts,
    f1,
    figure,
    krippendorff_alpha,
    ratio_formula,
    unit_sums,
    value_counts,
)
from piiloom.annotation_app.figures.spans import (
    AT,
    RELEVANCE_LEVELS,
    FinishedRecord,
    FinishedRecords,
    Floats,
    Integers,
    Matches,
    SpansTable,
    likeness,
    match,
    mention_of,
    pair_gains,
    rows_of_spans,
    spans_table,
)
from piiloom.corpus.releases.freezing import cohen_kappa
from piiloom.corpus.store.database import Store

TwoPeople = tuple[str, str]
_VERDICTS = ("accepted", "rejected")


_FORMULAS = {
    "exact_f1": (f1(AT["exact"], AT["left"], AT["right"]), ("left", "right")),
    "overlap_f1": (f1(AT["overlap"], AT["left"], AT["right"]), ("left", "right")),
    "whole_f1": (f1(AT["whole"], AT["left"], AT["right"]), ("left", "right")),
    "boundaries": (ratio_formula(AT["shared"], AT["overlap"]), ("overlap",)),
    "types": (ratio_formula(AT["typed"], AT["overlap"]), ("overlap",)),
    "relevance": (ratio_formula(AT["related"], AT["judged"]), ("judged",)),
}


# Names of the figures in a report on a data set.
_REPORTED = {
    "exact_f1": "spans with equal ends (F1)",
    "overlap_f1": "spans that overlap (F1)",
    "whole_f1": "spans with equal ends, type and relevance (F1)",
    "types": "same type, of matched spans",
    "relevance": "same relevance, of matched spans",
    "boundary_alpha": "boundaries (Krippendorff's alpha)",
    "type_alpha": "types (Krippendorff's alpha)",
    "relevance_alpha": "relevance (Krippendorff's alpha)",
    "verdict_alpha": "accepted or rejected (Krippendorff's alpha)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigures:
    """Agreement on a set of records, by name of the figure.

    ``exact_f1``: F1 of spans with the same ends; ``overlap_f1``: of spans that overlap; both ignore labels. ``whole_f1``: of spans
    with the same ends, type and relevance. ``boundaries``: mean intersection over union of matched spans. ``types``, ``relevance``:
    share of matched spans with the same label; for relevance, of those where both sides have one. The alphas of sets of records and the
    kappas of two people are corrected for chance; ``figures.intervals`` says over which units.
    """

    records: int
    comparisons: int
    values: Mapping[str, AgreementFigure]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInDispute:
    """A record that people disagree on.

    ``disagreement`` is the share of spans without an equal partner (same ends, type and relevance), over all pairs of people, or 1
    if some accepted the record and others rejected it.
    """

    record_id: str
    pair: str | None
    people: tuple[str, ...]
    disagreement: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """All figures, over the records that two or more people have finished. ``disputed`` starts with the greatest disagreement."""

    overall: AgreementFigures
    by: Mapping[str, Mapping[str, AgreementFigures]]
    by_people: Mapping[TwoPeople, AgreementFigures]
    disputed: tuple[RecordInDispute, ...]


def measure_agreement(finished_records: Sequence[FinishedRecord], *, seed: int = 0, disputed: int = 50) -> AgreementReport:
    """Compute all figures of *finished_records* (from ``FinishedRecords.load``), and the *disputed* most disputed records.

    Spans are compared between people who accepted a record. Groups are by pair, type and day; the day of a record is that of the last
    change to a finished version. *seed* is for the bootstrap intervals.
    """
    shared = [one for one in finished_records if len(one.versions) > 1]
    measure = _Measure(shared, seed)
    by = {
        "type": measure.by_type(),
        "pair": measure.grouped([one.base.pair for one in shared]),
        "day": measure.grouped([max(version.changed_at for version in one.versions)[:10] for one in shared]),
    }
    return AgreementReport(overall=measure.overall(), by=by, by_people=measure.by_people(), disputed=measure.most_disputed(disputed))


class _Measure:
    """Counts over all *shared* records, which two or more people have finished.

    A comparison is one pair of people who both accepted one record; ``_people`` and ``_record`` (a position in *shared*) have one
    entry for each. ``_by_comparison`` (comparisons, counts) and ``_by_record`` (records, types, counts) are counts of
    ``figures.spans.likeness``. ``_sums`` has the sums of alphas by record; ``_units`` (units, classes) the units themselves.
    """

    def __init__(self, shared: Sequence[FinishedRecord], seed: int) -> None:
        size = len(shared)
        self._shared = shared
        self._draws = RecordResampling(size, seed)
        counts = [len(one.accepted) for one in shared]
        owner = np.repeat(np.arange(size), counts).astype(np.int64)
        names = [version.annotator for one in shared for version in one.accepted]
        pairs = [pair for end, count in zip(accumulate(counts), counts, strict=True) for pair in combinations(range(end - count, end), 2)]
        left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self._people = [(names[a], names[b]) for a, b in pairs]
        self._record = owner[left]
        self._made = np.bincount(self._record, minlength=size)
        self._table = table = spans_table([version.spans for one in shared for version in one.accepted])
        self._matches = match(table, left, right)
        self._by_comparison = likeness(table, left, right, self._matches, np.arange(len(left)), len(left)).sum(axis=1)
        self._by_record = likeness(table, left, right, self._matches, self._record, size)
        self._units: dict[str, Floats] = {}
        self._sums: dict[str, Floats] = {}
        lengths = np.array([one.base.characters for one in shared], dtype=np.int64)
        characters, owners, times = character_counts(table, owner, np.bincount(owner, minlength=size), lengths)
        self._sums["boundary_alpha"] = unit_sums(characters, owners, size, times)
        mentions = mention_of(table, self._matches)
        for name, values, classes in (("type", table.type, len(table.types)), ("relevance", table.relevance, len(RELEVANCE_LEVELS))):
            units, at = value_counts(table, mentions, values, classes)
            self._units[f"{name}_alpha"] = units
            self._sums[f"{name}_alpha"] = unit_sums(units, owner[table.document[at]], size)
        verdicts = [[sum(v.verdict == name for v in one.versions) for name in _VERDICTS] for one in shared]
        self._sums["verdict_alpha"] = unit_sums(np.array(verdicts, dtype=float).reshape(-1, 2), np.arange(size), size)
        self._wide = np.concatenate([self._by_record.sum(axis=1), *self._sums.values()], axis=1)

    def overall(self) -> AgreementFigures:
        """Return the figures of all records; type and relevance alpha come from ``krippendorff_alpha``."""
        return self._of_records(np.arange(len(self._shared)), {name: krippendorff_alpha(units) for name, units in self._units.items()})

    def grouped(self, names: Sequence[str | None]) -> dict[str, AgreementFigures]:
        """Return the figures of each group of records with the same name; *names* has that of each record, None for no group."""
        groups: dict[str, list[int]] = {}
        for record, name in enumerate(names):
            if name is not None:
                groups.setdefault(name, []).append(record)
        return {name: self._of_records(np.array(groups[name])) for name in sorted(groups)}

    def by_type(self) -> dict[str, AgreementFigures]:
        """Return the figures of each type's spans."""
        found = {}
        for place, name in enumerate(self._table.types):
            rows = self._by_record[:, place]
            records = np.flatnonzero(rows.any(axis=1))
            if len(records):
                found[name] = self._figures(rows[records], records, int(self._made[records].sum()), {})
        return found

    def by_people(self) -> dict[TwoPeople, AgreementFigures]:
        """Return the figures of each pair of people, with kappas instead of alphas."""
        groups: dict[TwoPeople, list[int]] = {}
        for comparison, people in enumerate(self._people):
            groups.setdefault(people, []).append(comparison)
        found = {}
        for people in sorted(groups):
            chosen = groups[people]
            pairs = np.flatnonzero(np.isin(self._matches.comparison, chosen))
            figures = self._figures(self._by_comparison[chosen], self._record[chosen], len(chosen), {})
            kappas = {"type_kappa": self._kappa(self._table.type, pairs), "relevance_kappa": self._kappa(self._table.relevance, pairs)}
            found[people] = replace(figures, values={**figures.values, **kappas})
        return found

    def most_disputed(self, limit: int) -> tuple[RecordInDispute, ...]:
        """Return the *limit* records on which people disagree most, and at all."""
        sums = self._by_record.sum(axis=1)
        spans = sums[:, AT["left"]] + sums[:, AT["right"]]
        apart = np.where(spans > 0, 1 - 2 * sums[:, AT["whole"]] / np.maximum(spans, 1), 0.0)
        apart = np.where((self._sums["verdict_alpha"][:, 1:] > 0).sum(axis=1) > 1, 1.0, apart)
        order = [record for record in np.argsort(-apart, kind="stable")[:limit] if apart[record] > 0]
        return tuple(
            RecordInDispute(
                record_id=(one := self._shared[record]).record_id,
                pair=one.base.pair,
                people=tuple(version.annotator for version in one.versions),
                disagreement=float(apart[record]),
            )
            for record in order
        )

    def _kappa(self, values: Integers, pairs: Integers) -> AgreementFigure:
        """Return Cohen's kappa for *pairs* (rows of ``_matches``); pairs for which a side has no label are left out."""
        ones, others = values[self._matches.left[pairs]], values[self._matches.right[pairs]]
        both = (ones >= 0) & (others >= 0)
        return AgreementFigure(value=cohen_kappa(ones[both].tolist(), others[both].tolist()))

    def _of_records(self, records: Integers, exact: Mapping[str, float | None] | None = None) -> AgreementFigures:
        """Return the figures of *records*, with alphas; *exact* has values of alphas that replace those from sums."""
        return self._figures(self._wide[records], records, int(self._made[records].sum()), exact or {})

    def _figures(self, rows: Floats, records: Integers, comparisons: int, exact: Mapping[str, float | None]) -> AgreementFigures:
        """Return the figures of *rows*, which belong to *records*: counts of likeness, and then, if there are any, sums of alphas."""
        sums, drawn = rows.sum(axis=0), self._draws.sums(rows, records)
        values = {
            name: figure(formula, sums, drawn, float(sum(sums[AT[column]] for column in over)))
            for name, (formula, over) in _FORMULAS.items()
        }
        at = len(AT)
        for name, table in self._sums.items() if rows.shape[1] > at else ():
            part = slice(at, at := at + table.shape[1])
            made = figure(alpha_of_sums, sums[part], drawn[:, part], float(sums[part][1:].sum()))
            values[name] = replace(made, value=exact[name]) if name in exact else made
        return AgreementFigures(records=len(np.unique(records)), comparisons=comparisons, values=values)


def agreement_among(
    store: Store, record_ids: Collection[str]
) -> tuple[int, list[tuple[str, float, float | None, float | None, int]]] | None:
    """Measure the agreement on those of *record_ids* that two or more people have finished; None if there are none.

    Returns the number of these records, and figures for a report: name, value, the ends of the interval, and the number of units.
    """
    finished = [each for each in FinishedRecords().load(store) if each.record_id in record_ids and len(each.versions) > 1]
    if not finished:
        return None
    overall = measure_agreement(finished, disputed=0).overall
    named = {name: overall.values[field] for field, name in _REPORTED.items()}
    return overall.records, [(name, one.value, one.low, one.high, int(one.over)) for name, one in named.items() if one.value is not None]


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
    ``figures.spans.carried`` places them beyond the end of the text (*ends*).
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
