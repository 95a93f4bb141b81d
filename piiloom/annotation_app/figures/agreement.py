"""Agreement of people who finished the same records: for the project, by pair of types, by type, by day and for each two people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from piiloom.annotation_app.figures.finished_records import FinishedRecord, FinishedRecords
from piiloom.annotation_app.figures.intervals import (
    AgreementFigure,
    RecordResampling,
    alpha_of_sums,
    character_counts,
    f1,
    figure,
    krippendorff_alpha,
    ratio,
    unit_sums,
    value_counts,
)
from piiloom.annotation_app.figures.spans import (
    AT,
    RELEVANCE_LEVELS,
    Floats,
    Integers,
    Matches,
    SpansTable,
    likeness,
    match,
    mention_of,
    spans_table,
)
from piiloom.corpus.releases.agreement import cohen_kappa
from piiloom.corpus.store.database import Store

TwoPeople = tuple[str, str]
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
    people: tuple[TwoPeople, ...]
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
    relevance_counts, relevance_at = value_counts(table, mentions, table.relevance, len(RELEVANCE_LEVELS))
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


def _comparisons(finished_records: Sequence[FinishedRecord]) -> tuple[list[int], list[int], list[TwoPeople]]:
    left: list[int] = []
    right: list[int] = []
    people: list[TwoPeople] = []
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


_FORMULAS = {
    "exact_f1": (f1(AT["exact"], AT["left"], AT["right"]), ("left", "right")),
    "overlap_f1": (f1(AT["overlap"], AT["left"], AT["right"]), ("left", "right")),
    "whole_f1": (f1(AT["whole"], AT["left"], AT["right"]), ("left", "right")),
    "boundaries": (ratio(AT["shared"], AT["overlap"]), ("overlap",)),
    "types": (ratio(AT["typed"], AT["overlap"]), ("overlap",)),
    "relevance": (ratio(AT["related"], AT["judged"]), ("judged",)),
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
    """Agreement on a set of records.

    ``exact_f1``: F1 of spans with the same ends; ``overlap_f1``: of spans that overlap; both ignore labels. ``whole_f1``: of spans
    with the same ends, type and relevance. ``boundaries``: mean intersection over union of matched spans. ``types``, ``relevance``:
    share of matched spans with the same label; for relevance, of those where both sides have one. The alphas and kappas are
    corrected for chance; ``agreement.coefficients`` says over which units.
    """

    records: int
    comparisons: int
    exact_f1: AgreementFigure
    overlap_f1: AgreementFigure
    whole_f1: AgreementFigure
    boundaries: AgreementFigure
    types: AgreementFigure
    relevance: AgreementFigure
    boundary_alpha: AgreementFigure | None = None
    type_alpha: AgreementFigure | None = None
    relevance_alpha: AgreementFigure | None = None
    verdict_alpha: AgreementFigure | None = None
    type_kappa: float | None = None
    relevance_kappa: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedRecord:
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
    by_pair: dict[str, AgreementFigures]
    by_type: dict[str, AgreementFigures]
    by_day: dict[str, AgreementFigures]
    by_people: dict[TwoPeople, AgreementFigures]
    disputed: tuple[DisputedRecord, ...]


def measure_agreement(finished_records: Sequence[FinishedRecord], *, seed: int = 0, disputed: int = 50) -> AgreementReport:
    """Compute all figures of *finished_records* (from ``FinishedRecords.load``), and the *disputed* most disputed records.

    Spans are compared between people who accepted a record. The day of a record is that of the last change to a finished version.
    *seed* is for the bootstrap intervals.
    """
    compared = compare_people(finished_records)
    measure = _Measure(compared, seed)
    return AgreementReport(
        overall=measure.overall(),
        by_pair=measure.grouped(lambda finished_record: finished_record.base.pair),
        by_type=measure.by_type(),
        by_day=measure.grouped(lambda finished_record: max(version.changed_at for version in finished_record.versions)[:10]),
        by_people=measure.by_people(),
        disputed=_most_disputed(compared, disputed),
    )


class _Measure:
    def __init__(self, compared: Compared, seed: int) -> None:
        self._compared = compared
        self._draws = RecordResampling(len(compared.finished_records), seed)
        self._made = np.bincount(compared.record, minlength=len(compared.finished_records))
        self._sums = compared.by_record.sum(axis=1)
        self._tables = {
            "boundary_alpha": compared.characters,
            "type_alpha": compared.types,
            "relevance_alpha": compared.relevance,
            "verdict_alpha": compared.verdicts,
        }
        self._wide = np.concatenate([self._sums, *self._tables.values()], axis=1)

    def overall(self) -> AgreementFigures:
        """Return the figures of all records; type and relevance alpha come from ``krippendorff_alpha``."""
        alphas = {
            "type_alpha": krippendorff_alpha(self._compared.type_counts),
            "relevance_alpha": krippendorff_alpha(self._compared.relevance_counts),
        }
        return self._of_records(np.arange(len(self._compared.finished_records)), alphas)

    def grouped(self, key: Callable[[FinishedRecord], str | None]) -> dict[str, AgreementFigures]:
        """Return the figures of each group of records with the same *key*; records with key None are left out."""
        groups: dict[str, list[int]] = {}
        for record, finished_record in enumerate(self._compared.finished_records):
            if (name := key(finished_record)) is not None:
                groups.setdefault(name, []).append(record)
        return {name: self._of_records(np.array(groups[name])) for name in sorted(groups)}

    def by_type(self) -> dict[str, AgreementFigures]:
        """Return the figures of each type's spans."""
        found = {}
        for place, name in enumerate(self._compared.table.types):
            rows = self._compared.by_record[:, place]
            records = np.flatnonzero(rows.any(axis=1))
            if len(records):
                drawn = self._draws.sums(rows[records], records)
                found[name] = self._figures(rows[records].sum(axis=0), drawn, records, int(self._made[records].sum()))
        return found

    def by_people(self) -> dict[TwoPeople, AgreementFigures]:
        """Return the figures of each pair of people, with kappas instead of alphas."""
        compared = self._compared
        groups: dict[TwoPeople, list[int]] = {}
        for comparison, people in enumerate(compared.people):
            groups.setdefault(people, []).append(comparison)
        place = {people: number for number, people in enumerate(sorted(groups))}
        of_pair = np.array([place[people] for people in compared.people], dtype=np.int64)[compared.matches.comparison]
        found = {}
        for people in sorted(groups):
            rows, records = compared.by_comparison[groups[people]], compared.record[groups[people]]
            pairs = np.flatnonzero(of_pair == place[people])
            figures = self._figures(rows.sum(axis=0), self._draws.sums(rows, records), records, len(rows))
            types, relevance = (cohen_kappa(*compared.said(name, pairs)) for name in ("type", "relevance"))
            found[people] = replace(figures, type_kappa=types, relevance_kappa=relevance)
        return found

    def _of_records(self, records: Integers, alphas: dict[str, float | None] | None = None) -> AgreementFigures:
        sums, drawn = self._wide[records].sum(axis=0), self._draws.sums(self._wide[records], records)
        at = self._sums.shape[1]
        found: dict[str, AgreementFigure] = {}
        for name, table in self._tables.items():
            part = slice(at, at + table.shape[1])
            at += table.shape[1]
            made = figure(alpha_of_sums, sums[part], drawn[:, part], float(sums[part][1:].sum()))
            if alphas is not None and name in alphas:
                made = AgreementFigure(value=alphas[name], low=made.low, high=made.high, over=made.over)
            found[name] = made
        return replace(
            self._figures(sums, drawn, records, int(self._made[records].sum())),
            boundary_alpha=found["boundary_alpha"],
            type_alpha=found["type_alpha"],
            relevance_alpha=found["relevance_alpha"],
            verdict_alpha=found["verdict_alpha"],
        )

    def _figures(self, sums: Floats, drawn: Floats, records: Integers, comparisons: int) -> AgreementFigures:
        known = {
            name: figure(formula, sums, drawn, float(sum(sums[AT[column]] for column in over)))
            for name, (formula, over) in _FORMULAS.items()
        }
        return AgreementFigures(
            records=len(np.unique(records)),
            comparisons=comparisons,
            exact_f1=known["exact_f1"],
            overlap_f1=known["overlap_f1"],
            whole_f1=known["whole_f1"],
            boundaries=known["boundaries"],
            types=known["types"],
            relevance=known["relevance"],
        )


def _most_disputed(compared: Compared, limit: int) -> tuple[DisputedRecord, ...]:
    sums = compared.by_record.sum(axis=1)
    spans = sums[:, AT["left"]] + sums[:, AT["right"]]
    apart = np.where(spans > 0, 1 - 2 * sums[:, AT["whole"]] / np.maximum(spans, 1), 0.0)
    apart = np.where((compared.verdicts[:, 1:] > 0).sum(axis=1) > 1, 1.0, apart)
    order = [record for record in np.lexsort((np.arange(len(apart)), -apart))[:limit] if apart[record] > 0]
    return tuple(
        DisputedRecord(
            record_id=(finished_record := compared.finished_records[record]).record_id,
            pair=finished_record.base.pair,
            people=tuple(version.annotator for version in finished_record.versions),
            disagreement=float(apart[record]),
        )
        for record in order
    )


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
    named: dict[str, AgreementFigure | None] = {name: getattr(overall, field) for field, name in _REPORTED.items()}
    rows = [(name, one.value, one.low, one.high, int(one.over)) for name, one in named.items() if one is not None and one.value is not None]
    return overall.records, rows
