"""Agreement figures: for the whole project, by pair of types, by type, by day and for each pair of people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from piiloom.annotation_app.agreement.coefficients import alpha_of_sums, krippendorff_alpha
from piiloom.annotation_app.agreement.compared import Compared, People, compare_people
from piiloom.annotation_app.agreement.finished_records import FinishedRecord, FinishedRecords
from piiloom.annotation_app.agreement.matching import AT, Floats
from piiloom.annotation_app.agreement.resampling import Figure, Resampling, f1, figure, share
from piiloom.annotation_app.agreement.spans import Integers
from piiloom.corpus.releases.selecting import cohen_kappa
from piiloom.corpus.store.database import Store

_FORMULAS = {
    "exact_f1": (f1(AT["exact"], AT["left"], AT["right"]), ("left", "right")),
    "overlap_f1": (f1(AT["overlap"], AT["left"], AT["right"]), ("left", "right")),
    "whole_f1": (f1(AT["whole"], AT["left"], AT["right"]), ("left", "right")),
    "boundaries": (share(AT["shared"], AT["overlap"]), ("overlap",)),
    "types": (share(AT["typed"], AT["overlap"]), ("overlap",)),
    "relevance": (share(AT["related"], AT["judged"]), ("judged",)),
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
    exact_f1: Figure
    overlap_f1: Figure
    whole_f1: Figure
    boundaries: Figure
    types: Figure
    relevance: Figure
    boundary_alpha: Figure | None = None
    type_alpha: Figure | None = None
    relevance_alpha: Figure | None = None
    verdict_alpha: Figure | None = None
    type_kappa: float | None = None
    relevance_kappa: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed:
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
    by_people: dict[People, AgreementFigures]
    disputed: tuple[Disputed, ...]


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
        self._draws = Resampling(len(compared.finished_records), seed)
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

    def by_people(self) -> dict[People, AgreementFigures]:
        """Return the figures of each pair of people, with kappas instead of alphas."""
        compared = self._compared
        groups: dict[People, list[int]] = {}
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
        found: dict[str, Figure] = {}
        for name, table in self._tables.items():
            part = slice(at, at + table.shape[1])
            at += table.shape[1]
            made = figure(alpha_of_sums, sums[part], drawn[:, part], float(sums[part][1:].sum()))
            if alphas is not None and name in alphas:
                made = Figure(value=alphas[name], low=made.low, high=made.high, over=made.over)
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


def _most_disputed(compared: Compared, limit: int) -> tuple[Disputed, ...]:
    sums = compared.by_record.sum(axis=1)
    spans = sums[:, AT["left"]] + sums[:, AT["right"]]
    apart = np.where(spans > 0, 1 - 2 * sums[:, AT["whole"]] / np.maximum(spans, 1), 0.0)
    apart = np.where((compared.verdicts[:, 1:] > 0).sum(axis=1) > 1, 1.0, apart)
    order = [record for record in np.lexsort((np.arange(len(apart)), -apart))[:limit] if apart[record] > 0]
    return tuple(
        Disputed(
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
    named: dict[str, Figure | None] = {name: getattr(overall, field) for field, name in _REPORTED.items()}
    rows = [(name, one.value, one.low, one.high, int(one.over)) for name, one in named.items() if one is not None and one.value is not None]
    return overall.records, rows
