"""What a run will cost, as a table or as JSON, before anything is sent (``piiloom generate --estimate``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from piiloom.cli.pace import count_text, dollars
from piiloom.cli.reading import store_for_reading
from piiloom.cli.terminal import say, say_json, say_table
from piiloom.corpus.store.progress import load_shared_results, plan_indexes
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.words import counted
from piiloom.generation.estimate.estimate_sizes import THINKING, Range
from piiloom.generation.estimate.estimating import RunEstimate, StageEstimate, estimate_run
from piiloom.generation.running.opening import changed_config
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages import subtopics, topics
from piiloom.providers.prices import ModelSpec, load_models, parse_prices

_DASH = "–"


def say_estimate(config: RunConfig, *, as_json: bool) -> None:
    """Print what a run of *config* will take."""
    _say(estimate_run(config, spec_of(config), judge_spec=judge_spec_of(config), batch=config.batch), config, as_json=as_json)


def say_estimate_of_rest(store: Path, run: str, changes: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what is left of *run*, gone on with under *changes*."""
    estimate, config = _rest_of(store, run, changes)
    _say(estimate, config, as_json=as_json)


def _say(estimate: RunEstimate, config: RunConfig, *, as_json: bool) -> None:
    if as_json:
        say_json(estimate_to_json(estimate))
    else:
        print_estimate(estimate, config)


def spec_of(config: RunConfig) -> ModelSpec:
    """Give what is known of the model that *config* names; no key is needed."""
    book = load_models()
    model = config.model or book.defaults.get(config.provider, "")
    return book.resolve(config.provider, model, parse_prices(config.price) if config.price else None)


def judge_spec_of(config: RunConfig) -> ModelSpec | None:
    """Give what is known of the model of the run's own judge; None where the model that writes judges, too."""
    judge = config.of_judge()
    return None if judge is None else spec_of(judge)


def _rest_of(path: Path, run_id: str, changes: Mapping[str, Any]) -> tuple[RunEstimate, RunConfig]:
    with store_for_reading(path) as store:
        run = get_run(store, run_id)
        accepted = len(plan_indexes(store, run.id))
        known = {stage: len(load_shared_results(store, run.id, stage)) for stage in (topics.NAME, subtopics.NAME)}
    settled = changed_config(run, changes)
    estimate = estimate_run(
        settled,
        spec_of(settled),
        judge_spec=judge_spec_of(settled),
        batch=settled.batch,
        accepted=accepted,
        topics_known=known[topics.NAME],
        subtopics_known=known[subtopics.NAME],
    )
    return estimate, settled


def estimate_to_json(estimate: RunEstimate) -> dict[str, Any]:
    """Give *estimate* as JSON values: each range as [low, high], costs in USD or null."""
    return {
        "provider": estimate.provider,
        "model": estimate.model,
        "records": estimate.records,
        "batch": estimate.batch,
        "thinking_guessed": estimate.thinks,
        **_figures(estimate.total),
        "stages": [{"stage": stage.stage, **_figures(stage)} for stage in estimate.stages],
    }


def _figures(stage: StageEstimate) -> dict[str, Any]:
    figures = asdict(stage)
    del figures["stage"]
    whole = {name: [round(held["low"]), round(held["high"])] for name, held in figures.items() if name != "cost_usd"}
    held = stage.cost_usd
    return whole | {"cost_usd": None if held is None else [round(held.low, 6), round(held.high, 6)]}


def print_estimate(estimate: RunEstimate, config: RunConfig) -> None:
    """Print a table with a row a stage, and what it rests on; a run that costs nothing is told in one line."""
    if estimate.free:
        say("the composer costs nothing: it sends no calls")
        return
    if not estimate.records:
        say("all wanted records are there; nothing would be sent")
        return
    say_table(_table(estimate))
    for line in _remarks(estimate, config):
        say(line)


def _table(estimate: RunEstimate) -> Table:
    named = f"{counted(estimate.records, 'record')} from {estimate.provider} {estimate.model}{', by batch' if estimate.batch else ''}"
    cached = estimate.total.cached_tokens.high >= 1
    table = Table(title=f"estimate: {named}")
    for name in ("stage", "calls", "input\ntokens", *(["of these\ncached"] if cached else []), "output\ntokens", "USD"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for stage in (*estimate.stages, estimate.total):
        if stage.stage == "total":
            table.add_section()
        tokens = [stage.input_tokens, *([stage.cached_tokens] if cached else []), stage.output_tokens]
        table.add_row(stage.stage, _counts(stage.calls), *map(_counts, tokens), _money(stage.cost_usd))
    return table


def _counts(held: Range) -> str:
    low, high = count_text(round(held.low)), count_text(round(held.high))
    return low if low == high else f"{low}{_DASH}{high}"


def _money(held: Range | None) -> str:
    return "unknown" if held is None else f"{dollars(held.low)}{_DASH}{dollars(held.high)}"


def _remarks(estimate: RunEstimate, config: RunConfig) -> list[str]:
    total = estimate.total
    cost = "an unknown amount" if total.cost_usd is None else f"{dollars(total.cost_usd.low)} to {dollars(total.cost_usd.high)}"
    lines = [f"{counted(estimate.records, 'record')} will cost {cost}, in {total.calls.low:,.0f} to {total.calls.high:,.0f} calls."]
    lines += ["Nothing was sent. The low end is a run without a refused reply; the high end has refusals, long replies and short tokens."]
    if estimate.thinks:
        guess = f"{THINKING.low:.0f} to {THINKING.high:.0f} tokens a call"
        lines.append(f"The model thinks before it answers, and for how long is unknown: {guess} are counted for it.")
    if total.cost_usd is None:
        lines.append('No price is known for this model: give one with --price "input=…,output=…" (USD per million tokens).')
    else:
        source = "as given by --price" if config.price else f"as of {load_models().dated}"
        lines.append(f"Prices {source}; check them before you rely on them.")
        if config.budget_usd is not None and config.budget_usd < total.cost_usd.high:
            reach = "is not enough" if config.budget_usd < total.cost_usd.low else "may not be enough"
            lines.append(f"The budget of {dollars(config.budget_usd)} {reach}; a run that reaches it can be resumed with a larger one.")
    return lines
