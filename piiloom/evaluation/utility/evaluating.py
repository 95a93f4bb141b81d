"""Evaluate the utility of records: by models, or by the stand-in where none is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.record import Record
from piiloom.evaluation.report.sources import Corpus, Tell, corpus_of_file, corpus_of_release
from piiloom.evaluation.utility.asking import AskedModels, RequestWatch, ask_models
from piiloom.evaluation.utility.cases import UtilityCase, utility_cases
from piiloom.evaluation.utility.figures import UtilityFigures, utility_figures
from piiloom.evaluation.utility.options import OFFLINE, UtilitySettings
from piiloom.evaluation.utility.outcomes import LABEL, PairResult, UtilityOutcomes, stand_in_pair
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import check_folder
from piiloom.providers.prices import load_models
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types_file import read_types_file

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
    return _result(read, settings, asked)


def _result(read: ReadCases, settings: UtilitySettings, asked: AskedModels | None) -> UtilityResult:
    outcomes = UtilityOutcomes() if asked is None else asked.outcomes
    variants, seed = settings.variants, settings.seed
    second = None if asked is None or asked.second is None else _pair_of(asked, second=True)
    figures = utility_figures(read.cases, variants, _pair_of(asked), outcomes, seed=seed, second_pair_of=second)
    return UtilityResult(cases=read.cases, left_out=read.left_out, variants=variants, seed=seed, asked=asked, figures=figures)


def _pair_of(asked: AskedModels | None, *, second: bool = False) -> Callable[[UtilityCase, str, str], PairResult | None]:
    if asked is None:
        return stand_in_pair
    return lambda case, one, other: asked.outcomes.pair(case.id, case.first_alike(one), case.first_alike(other), second=second)
