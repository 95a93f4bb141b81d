"""Evaluate the utility of records: by models, or by the stand-in where none is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.evaluation.utility.asking import Watch
from piiloom.evaluation.utility.cases import Case, cases_of
from piiloom.evaluation.utility.figures import UtilityFigures, utility_figures
from piiloom.evaluation.utility.model_run import Asked, ask_models
from piiloom.evaluation.utility.options import UtilityOptions
from piiloom.evaluation.utility.outcomes import Outcomes, PairResult
from piiloom.evaluation.utility.stand_in import LABEL, stand_in_pair
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import DataError
from piiloom.foundation.noop import noop
from piiloom.providers.prices import load_models
from piiloom.taxonomy.entity_types import Taxonomy

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityResult:
    """The cases, what was said about them, and the figures. ``asked`` is None for the stand-in; ``left_out`` counts records by reason."""

    cases: Sequence[Case]
    left_out: dict[str, int]
    variants: tuple[str, ...]
    seed: int
    asked: Asked | None
    figures: UtilityFigures

    @property
    def outcomes(self) -> Outcomes:
        """What models said: nothing, for the stand-in."""
        return Outcomes() if self.asked is None else self.asked.outcomes

    @property
    def method(self) -> str:
        """How it was judged, in words; a stand-in is never called a judge."""
        if self.asked is None:
            return LABEL
        author, judge = (" ".join(one) for one in (self.asked.author, self.asked.judge))
        return f"answers by {author}, judged by {judge}"

    def pair(self, case: Case, one: str, other: str) -> PairResult | None:
        """Return how a pair of variants ended for *one*; None if it was not decided."""
        return _pair_of(self.asked)(case, one, other)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values. Equal replies give an equal result: costs are in ``cost_json``."""
        asked = self.asked
        return {
            "schema": SCHEMA,
            "piiloom": piiloom_version(),
            "method": self.method,
            "stand_in": asked is None,
            "author": None if asked is None else {"provider": asked.author[0], "model": asked.author[1]},
            "judge": None if asked is None else {"provider": asked.judge[0], "model": asked.judge[1]},
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


def prepared(records: Iterable[Record], taxonomy: Taxonomy, variants: Sequence[str]) -> tuple[list[Case], dict[str, int]]:
    """Return the cases of *records*, and how many records were left out for which reason. Raises ``DataError`` if no case is left."""
    cases, left_out = cases_of(records, taxonomy, variants)
    if not cases:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items()) or "there are no records"
        raise DataError(f"nothing can be compared ({reasons})", remedy="Give records with a question and spans of known relevance")
    return cases, dict(sorted(left_out.items()))


def judged_by_models(
    cases: Sequence[Case],
    left_out: dict[str, int],
    options: UtilityOptions,
    *,
    store: Path,
    watch: Watch = noop,
    retry: RetryPolicy | None = None,
    agree: Callable[[], object] = noop,
) -> UtilityResult:
    """Ask the models of *options* about *cases*; see ``ask_models``."""
    asked = ask_models(cases, options, store=store, watch=watch, retry=retry, agree=agree)
    return _result(cases, left_out, options.variants, options.seed, asked)


def judged_by_rule(cases: Sequence[Case], left_out: dict[str, int], variants: tuple[str, ...], *, seed: int) -> UtilityResult:
    """Compare the variants of *cases* by the stand-in."""
    return _result(cases, left_out, variants, seed, None)


def _result(cases: Sequence[Case], left_out: dict[str, int], variants: tuple[str, ...], seed: int, asked: Asked | None) -> UtilityResult:
    outcomes = Outcomes() if asked is None else asked.outcomes
    figures = utility_figures(cases, variants, _pair_of(asked), outcomes, seed=seed)
    return UtilityResult(cases=cases, left_out=left_out, variants=variants, seed=seed, asked=asked, figures=figures)


def _pair_of(asked: Asked | None) -> Callable[[Case, str, str], PairResult | None]:
    if asked is None:
        return stand_in_pair
    return lambda case, one, other: asked.outcomes.pair(case.id, case.first_alike(one), case.first_alike(other))
