"""The figures: who wins how often, how complete answers are, and beside that what is given away for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from operator import eq
from statistics import fmean
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.freezing import cohen_kappa
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings, percentiles, resampled_totals
from piiloom.evaluation.utility.options import UtilityCase
from piiloom.evaluation.utility.tasks import (
    ANSWER,
    COMPLETENESS,
    DISCLOSURE,
    PAIR,
    TIES,
    PairResult,
    UtilityOutcomes,
    kept_share,
    told_share,
    usable,
    word_overlap,
)
from piiloom.execution.calls import Lost
from piiloom.foundation.words import count_words

PairOf = Callable[[UtilityCase, str, str], PairResult | None]
# Figures of a variant, in the order of tables.
WIN_RATE: Final = "win_rate"
VARIANT_FIGURES: Final = (
    WIN_RATE,
    "completeness",
    "violation_answer_judge",
    "violation_answer_exact",
    "violation_context_judge",
    "violation_context_exact",
    "kept_relevant",
    "word_overlap",
    "answer_words",
)
_FOLLOWED: Final = "followed"
_FIRST: Final = "first"
ALL_PAIRS: Final = "all"
_OUTCOMES: Final[Mapping[PairResult, int]] = {"win": 1, "loss": -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanFigure:
    """A mean with its interval, and ``of`` how many values. The mean is None without any, the interval also with one document."""

    value: float | None
    interval: Interval | None
    of: int

    def to_json(self) -> dict[str, float | None]:
        """Return the mean, the ends of the interval and the number of values."""
        low, high = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        return {"value": self.value, "low": low, "high": high, "of": self.of}


class MeanTable:
    """Sums and counts of values by name, a row for each document. The order of documents changes nothing: rows are drawn from sorted."""

    def __init__(self) -> None:
        self._names: dict[Hashable, int] = {}
        self._rows: dict[str, dict[int, list[float]]] = {}

    def add(self, document: str, name: Hashable, value: float | None) -> None:
        """Add *value* to the mean *name*; None adds nothing, but has the mean in the result."""
        column = self._names.setdefault(name, len(self._names))
        row = self._rows.setdefault(document, {})
        if value is not None:
            sums = row.setdefault(column, [0.0, 0.0])
            sums[0] += value
            sums[1] += 1.0

    def figures(self, resampling: ResamplingSettings) -> dict[Hashable, MeanFigure]:
        """Return all means by name."""
        sums = self._sums()
        totals = sums.sum(axis=0)
        means = np.full((0, len(self._names)), np.nan)
        if len(sums) > 1:
            means = _means(resampled_totals(sums, rounds=resampling.resamples, seed=resampling.seed))
        return {
            name: MeanFigure(
                value=float(totals[2 * column] / totals[2 * column + 1]) if totals[2 * column + 1] else None,
                interval=percentiles(means[:, column], resampling.confidence),
                of=int(totals[2 * column + 1]),
            )
            for name, column in self._names.items()
        }

    def _sums(self) -> NDArray[np.float64]:
        """Return the sum and the count of each mean, of shape (documents, 2 × means), documents sorted by name."""
        sums = np.zeros((len(self._rows), len(self._names), 2))
        for number, document in enumerate(sorted(self._rows)):
            for column, pair in self._rows[document].items():
                sums[number, column] = pair
        return sums.reshape(len(self._rows), 2 * len(self._names))


def _means(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of each round, shape (rounds, means): NaN where there is nothing to count."""
    values, counts = totals[:, 0::2], totals[:, 1::2]
    means: NDArray[np.float64] = np.divide(values, counts, out=np.full(values.shape, np.nan), where=counts > 0)
    return means


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """How often *one* won, lost and tied against *other*; ``missing`` pairs were not decided."""

    one: str
    other: str
    results: Mapping[PairResult, int]
    missing: int

    @property
    def wins(self) -> int:
        """Pairs that *one* won."""
        return self.results["win"]

    @property
    def losses(self) -> int:
        """Pairs that *other* won."""
        return self.results["loss"]

    @property
    def ties(self) -> int:
        """All other decided pairs."""
        return sum(self.results[kind] for kind in TIES)

    @property
    def preferred(self) -> float | None:
        """The share of the decided pairs that *one* won; None without a decided pair."""
        decided = sum(self.results.values())
        return self.wins / decided if decided else None

    def to_json(self) -> dict[str, Any]:
        """Return the counts, ties also by kind."""
        ties = {kind: self.results[kind] for kind in TIES}
        told = {"one": self.one, "other": self.other, "wins": self.wins, "ties": self.ties, "losses": self.losses}
        return told | {"tied": ties, "missing": self.missing, "preferred": self.preferred}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """The agreement of two judges on the pairs (of *one* and *other*) that both decided: win, tie or loss.

    ``pairs`` is the number of these pairs, ``same`` the share with equal results. ``kappa`` is Cohen's, None if all results are equal.
    """

    one: str
    other: str
    pairs: int
    same: float | None
    kappa: float | None

    @classmethod
    def of(cls, one: str, other: str, results: Sequence[tuple[PairResult, PairResult]]) -> JudgeAgreement:
        """Return the agreement of *results*, those of the first and the second judge."""
        first, second = ([_OUTCOMES.get(each[judge], 0) for each in results] for judge in (0, 1))
        same = fmean(map(eq, first, second)) if results else None
        return cls(one=one, other=other, pairs=len(results), same=same, kappa=cohen_kappa(first, second))


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityFigures:
    """All figures of one evaluation.

    ``variants``: by variant, those of ``VARIANT_FIGURES``. ``followed``: share of the pairs judged in both orders of which both verdicts
    name the same position. ``second_pairs`` are those of a second judge, ``agreement`` is that of both judges by pair, and of all pairs
    (``ALL_PAIRS``). ``first``: share of the first answer among the verdicts that name one; 0.5 without bias. ``lost``: requests
    without a usable reply, by kind and reason.
    """

    records: int
    documents: int
    variants: Mapping[str, Mapping[str, MeanFigure]]
    pairs: tuple[PairCounts, ...]
    followed: MeanFigure
    first: MeanFigure
    lost: Mapping[str, Mapping[str, int]]
    second_pairs: tuple[PairCounts, ...] = ()
    agreement: tuple[JudgeAgreement, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "records": self.records,
            "documents": self.documents,
            "variants": {name: {key: one.to_json() for key, one in figures.items()} for name, figures in self.variants.items()},
            "pairs": [pair.to_json() for pair in self.pairs],
            "position_bias": {"followed": self.followed.to_json(), "first": self.first.to_json()},
            "lost": {kind: dict(reasons) for kind, reasons in self.lost.items()},
            "second_pairs": [pair.to_json() for pair in self.second_pairs],
            "agreement": [asdict(one) for one in self.agreement],
        }


def utility_figures(
    cases: Sequence[UtilityCase],
    variants: Sequence[str],
    pair_of: PairOf,
    outcomes: UtilityOutcomes,
    *,
    seed: int,
    second_pair_of: PairOf | None = None,
) -> UtilityFigures:
    """Compute the figures. *outcomes* are empty where no model was asked; *second_pair_of* returns the results of a second judge."""
    table = MeanTable()
    for case in cases:
        _add_variants(table, case, variants, outcomes)
        _add_positions(table, case, outcomes)
    pairs = list(combinations(variants, 2))
    results = {pair: [_decided(table, case, pair, pair_of) for case in cases] for pair in pairs}
    second = {pair: [second_pair_of(case, *pair) for case in cases] for pair in pairs} if second_pair_of is not None else {}
    found = table.figures(ResamplingSettings(seed=seed))
    nothing = MeanFigure(value=None, interval=None, of=0)

    def figure(name: Hashable) -> MeanFigure:
        return found.get(name, nothing)

    return UtilityFigures(
        records=len(cases),
        documents=len({case.cluster for case in cases}),
        variants={variant: {name: figure((name, variant)) for name in VARIANT_FIGURES} for variant in variants},
        pairs=_pair_counts(results),
        followed=figure(_FOLLOWED),
        first=figure(_FIRST),
        lost=_lost(outcomes),
        second_pairs=_pair_counts(second),
        agreement=_agreement(results, second),
    )


def _pair_counts(results: Mapping[tuple[str, str], Sequence[PairResult | None]]) -> tuple[PairCounts, ...]:
    counted = {pair: Counter(ended) for pair, ended in results.items()}
    return tuple(
        PairCounts(one=one, other=other, results={kind: counts[kind] for kind in get_args(PairResult)}, missing=counts[None])
        for (one, other), counts in counted.items()
    )


def _agreement(
    first: Mapping[tuple[str, str], Sequence[PairResult | None]], second: Mapping[tuple[str, str], Sequence[PairResult | None]]
) -> tuple[JudgeAgreement, ...]:
    """Return the agreement on each pair that was asked about, and on all of them. Equal answers were not asked about."""
    both = {
        pair: [(one, other) for one, other in zip(first[pair], second[pair], strict=True) if one and other and one != "identical"]
        for pair in second
    }
    everything = [each for results in both.values() for each in results]
    rows = [JudgeAgreement.of(*pair, results) for pair, results in both.items()]
    return (*rows, JudgeAgreement.of(ALL_PAIRS, ALL_PAIRS, everything)) if both else ()


def _add_variants(table: MeanTable, case: UtilityCase, variants: Sequence[str], outcomes: UtilityOutcomes) -> None:
    protected = [fact.value for fact in case.protected]
    for variant in variants:
        key = (case.id, case.first_alike(variant))
        shown, answer, grade = case.shown[variant], usable(outcomes.answers, key), usable(outcomes.grades, key)
        disclosed = usable(outcomes.disclosures, key)
        of_variant = {
            "completeness": None if grade is None else grade.score,
            "violation_answer_judge": None if disclosed is None else fmean(fact.answer for fact in disclosed),
            "violation_answer_exact": None if answer is None else told_share(answer, protected),
            "violation_context_judge": None if disclosed is None else fmean(fact.context for fact in disclosed),
            "violation_context_exact": told_share(shown.whole, protected),
            "kept_relevant": kept_share(case, variant),
            "word_overlap": word_overlap(shown.whole, case.original.whole),
            "answer_words": None if answer is None else float(count_words(answer)),
        }
        for name, value in of_variant.items():
            table.add(case.cluster, (name, variant), value)


def _add_positions(table: MeanTable, case: UtilityCase, outcomes: UtilityOutcomes) -> None:
    """Count where verdicts follow the position."""
    for one, other in combinations(case.distinct, 2):
        verdicts = [usable(outcomes.verdicts, (case.id, *order)) for order in ((one, other), (other, one))]
        for verdict in verdicts:
            if verdict is not None and verdict.better != "tie":
                table.add(case.cluster, _FIRST, float(verdict.better == "first"))
        if None not in verdicts:
            table.add(case.cluster, _FOLLOWED, float(outcomes.pair(case.id, one, other) == "position"))


def _decided(table: MeanTable, case: UtilityCase, pair: tuple[str, str], pair_of: PairOf) -> PairResult | None:
    result = pair_of(case, *pair)
    if result is not None:
        points = {"win": 1.0, "loss": 0.0}.get(result, 0.5)
        table.add(case.cluster, (WIN_RATE, pair[0]), points)
        table.add(case.cluster, (WIN_RATE, pair[1]), 1.0 - points)
    return result


def _lost(outcomes: UtilityOutcomes) -> dict[str, dict[str, int]]:
    said: dict[str, Iterable[object]] = {
        ANSWER: outcomes.answers.values(),
        PAIR: [*outcomes.verdicts.values(), *outcomes.second_verdicts.values()],
        COMPLETENESS: outcomes.grades.values(),
        DISCLOSURE: outcomes.disclosures.values(),
    }
    reasons = {kind: Counter(one.code for one in values if isinstance(one, Lost)) for kind, values in said.items()}
    return {kind: dict(sorted(counts.items())) for kind, counts in reasons.items() if counts}
