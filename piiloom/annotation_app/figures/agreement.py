"""Agreement of people who finished the same records: for the project, by pair of types, by type, by day and for each two people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations

import numpy as np

from piiloom.annotation_app.figures.intervals import (
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
    likeness,
    match,
    mention_of,
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
