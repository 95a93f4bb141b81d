"""Evaluate the utility of records: by models, or by the stand-in where none is asked.

The figures say who wins how often, how complete answers are, and beside that what is given away for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from operator import eq
from pathlib import Path
from statistics import fmean
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.record import Record
from piiloom.corpus.releases.freezing import cohen_kappa
from piiloom.evaluation.report.sources import Corpus, Tell, corpus_of_file, corpus_of_release
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings, percentiles, resampled_totals
from piiloom.evaluation.utility.asking import AskedModels, RequestWatch, ask_models
from piiloom.evaluation.utility.options import OFFLINE, UtilityCase, UtilitySettings, utility_cases
from piiloom.evaluation.utility.tasks import (
    ANSWER,
    COMPLETENESS,
    DISCLOSURE,
    LABEL,
    PAIR,
    TIES,
    PairResult,
    UtilityOutcomes,
    kept_share,
    stand_in_pair,
    told_share,
    usable,
    word_overlap,
)
from piiloom.execution.calls import Lost
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import check_folder
from piiloom.foundation.words import count_words
from piiloom.providers.prices import load_models
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types_file import read_types_file

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
            drawn = resampled_totals(sums, rounds=resampling.resamples, seed=resampling.seed)
            values, counts = drawn[:, 0::2], drawn[:, 1::2]
            means = np.divide(values, counts, out=np.full(values.shape, np.nan), where=counts > 0)
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


SCHEMA: Final = 1
_REFUSED: Final = "a row that is no record"


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityResult:
    """The cases, what was said about them, and the figures. ``asked`` is None for the stand-in; ``left_out`` counts records by reason."""

    cases: Sequence[UtilityCase]
    left_out: dict[str, int]
    variants: tuple[str, ...]
    seed: int
    asked: AskedModels | None
    figures: UtilityFigures

    @property
    def outcomes(self) -> UtilityOutcomes:
        """What models said: nothing, for the stand-in."""
        return UtilityOutcomes() if self.asked is None else self.asked.outcomes

    @property
    def method(self) -> str:
        """How it was judged, in words; a stand-in is never called a judge."""
        if self.asked is None:
            return LABEL
        author, judge = (" ".join(one) for one in (self.asked.author, self.asked.judge))
        return f"answers by {author}, judged by {judge}"

    @property
    def second_method(self) -> str:
        """The second judge, in words; "" if there is none."""
        return "" if self.asked is None or self.asked.second is None else f"judged by {' '.join(self.asked.second)}"

    def pair(self, case: UtilityCase, one: str, other: str, *, second: bool = False) -> PairResult | None:
        """Return how a pair of variants ended for *one*, by the *second* judge if asked for; None if it was not decided."""
        return _pair_of(self.asked, second=second)(case, one, other)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values. Equal replies give an equal result: costs are in ``cost_json``."""
        asked = self.asked
        return {
            "schema": SCHEMA,
            "piiloom": __version__,
            "method": self.method,
            "stand_in": asked is None,
            "author": None if asked is None else {"provider": asked.author[0], "model": asked.author[1]},
            "judge": None if asked is None else {"provider": asked.judge[0], "model": asked.judge[1]},
            "second_judge": None if asked is None or asked.second is None else dict(zip(("provider", "model"), asked.second, strict=True)),
            "prompts": {} if asked is None else {name: {"template": one, "sha256": sha} for name, (one, sha) in asked.templates.items()},
            "seed": self.seed,
            "left_out": self.left_out,
            "asked_again": self.outcomes.asked_again,
            **self.figures.to_json(),
        }

    def cost_json(self) -> dict[str, Any] | None:
        """Return what the run has cost in all its sessions; None for the stand-in. ``usd`` is None if a price is unknown."""
        if self.asked is None:
            return None
        totals = self.asked.totals
        return {
            "run": self.asked.run_id,
            "answered": totals.answered,
            "replayed": totals.replayed,
            "input_tokens": totals.input_tokens,
            "cached_tokens": totals.cached_tokens,
            "output_tokens": totals.output_tokens,
            "usd": None if totals.unpriced else totals.cost_usd,
            "set_aside_usd": totals.charged_usd,
            "usd_per_record": None if totals.unpriced else totals.spent_usd / len(self.cases),
            "prices_dated": load_models().dated.isoformat(),
        }


def prepared(records: Iterable[Record], taxonomy: Taxonomy, variants: Sequence[str]) -> tuple[list[UtilityCase], dict[str, int]]:
    """Return the cases of *records*, and how many records were left out for which reason. Raises ``DataError`` if no case is left."""
    cases, left_out = utility_cases(records, taxonomy, variants)
    if not cases:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items()) or "there are no records"
        raise DataError(f"nothing can be compared ({reasons})", remedy="Give records with a question and spans of known relevance")
    return cases, dict(sorted(left_out.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCases:
    """The cases of a file or a release, with the number of records left out by reason, and the title of the source."""

    cases: Sequence[UtilityCase]
    left_out: dict[str, int]
    title: str


def read_cases(source: str, settings: UtilitySettings, tell: Tell | None = None) -> ReadCases:
    """Return the cases of *source*, a file or the name of a release of ``settings.store``; *tell* reports a copy of the store.

    Raises ``UsageError``, ``DataError``, ``StoreError`` and ``ReleaseError``; also if the folder of the settings cannot be used.
    """
    if settings.out is not None:
        check_folder(settings.out, force=settings.force)
    corpus = _corpus(source, settings, tell)
    records = _sample(corpus, settings)
    cases, left_out = prepared(records, corpus.taxonomy, settings.variants)
    reading = corpus.source.reading
    if reading is not None and reading.refused:
        left_out[_REFUSED] = reading.refused
    return ReadCases(cases=cases, left_out=left_out, title=corpus.source.title())


def _corpus(source: str, settings: UtilitySettings, tell: Tell | None) -> Corpus:
    path = Path(source)
    if path.exists():
        if settings.split is not None:
            raise UsageError("a file has no splits", where="--split", remedy="Name a release, or the file of the split")
        return corpus_of_file(path, settings.input_format, None if settings.types is None else read_types_file(settings.types))
    if path.suffix or len(path.parts) > 1:
        raise DataError("there is no such file", where=source, remedy="Check the path, or give the name of a release")
    if settings.input_format is not None or settings.types is not None:
        remedy = "Leave them out, or name a file"
        raise UsageError("a release has its own format and types", where="--input-format, --types", remedy=remedy)
    return corpus_of_release(settings.store, source, tell=tell)


def _sample(corpus: Corpus, settings: UtilitySettings) -> list[Record]:
    """Return the records that are wanted, in the order of the source."""
    split, limit = settings.split, settings.limit
    if split is not None and split not in corpus.splits:
        raise UsageError(f"there is no split {split!r}", where="--split", remedy=f"It has: {', '.join(corpus.splits)}")
    records = [one for name, of_split in corpus.splits.items() if split in (None, name) for one in of_split]
    if limit is None or limit >= len(records):
        return records
    chosen = derive_rng("utility", "sample", settings.seed).sample(range(len(records)), limit)
    return [records[number] for number in sorted(chosen)]


def judge_utility(
    read: ReadCases,
    settings: UtilitySettings,
    *,
    watch: RequestWatch = noop,
    retry: RetryPolicy | None = None,
    agree: Callable[[], object] = noop,
) -> UtilityResult:
    """Have the models of *settings* answer and judge (``ask_models``); without a provider, a rule stands in for them."""
    asked = None if settings.provider == OFFLINE else ask_models(read.cases, settings, watch=watch, retry=retry, agree=agree)
    outcomes = UtilityOutcomes() if asked is None else asked.outcomes
    variants, seed = settings.variants, settings.seed
    second = None if asked is None or asked.second is None else _pair_of(asked, second=True)
    figures = utility_figures(read.cases, variants, _pair_of(asked), outcomes, seed=seed, second_pair_of=second)
    return UtilityResult(cases=read.cases, left_out=read.left_out, variants=variants, seed=seed, asked=asked, figures=figures)


def _pair_of(asked: AskedModels | None, *, second: bool = False) -> Callable[[UtilityCase, str, str], PairResult | None]:
    if asked is None:
        return stand_in_pair
    return lambda case, one, other: asked.outcomes.pair(case.id, case.first_alike(one), case.first_alike(other), second=second)
