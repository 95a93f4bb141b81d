"""``piiloom generate``: records from plan to screened, in one go."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from piiloom.cli.options import WORKERS, config_setting, json_setting, store_for_reading
from piiloom.cli.terminal import (
    console,
    count_text,
    dollars,
    examples,
    say,
    say_aside,
    say_json,
    say_result,
    store_option,
    table_of,
)
from piiloom.corpus.store import store_setting
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import Interrupted, ProviderError, UsageError
from piiloom.foundation.settings import Settings, names_that_count, setting
from piiloom.foundation.words import counted
from piiloom.generation.settings.configuration import RunConfig
from piiloom.providers.model_calls import CALLS
from piiloom.providers.prices import load_models

if TYPE_CHECKING:
    from rich.table import Table

    from piiloom.cli.live_view import Traffic
    from piiloom.execution.call_channel import CallChannel
    from piiloom.generation.estimate.estimating import Range, RunEstimate
    from piiloom.generation.running.progress import RunProgress
    from piiloom.generation.running.session import OpenedRun

GENERATE_EXAMPLES = examples(
    "piiloom generate --samples 200 --seed 7 --preview 5",
    "piiloom generate --pairs health+occupation,age+belief --locale en_GB",
    "piiloom generate --provider openai --samples 50 --max-attempts 5",
    "piiloom generate --provider compatible --base-url http://localhost:11434/v1 --model MODEL",
    "piiloom generate --provider openai --samples 2307 --estimate",
    "piiloom generate --provider openai --samples 2307 --budget-usd 25 --concurrency 64",
    "piiloom generate --provider anthropic --samples 2307 --batch --judge relevance",
    "piiloom generate --provider openai --judge-provider anthropic --samples 500",
    "piiloom generate --recipe staged --samples 500",
    "piiloom generate --types my_types.yaml --bank my_bank",
    "piiloom generate --config run.yaml",
    "piiloom generate --resume last --budget-usd 40",
    "piiloom generate --resume last --retry question.content_word,17",
)


class GenerateOptions(Settings):
    """The options of ``piiloom generate`` besides the settings of the run."""

    store: Path = store_setting()
    config: Path | None = config_setting()
    resume: str | None = setting(
        None,
        'Resume a run, by its id or "last". Its settings stay; only --samples (more), --budget-usd and other settings of calls and '
        "cost may change.",
        metavar="RUN",
    )
    retry: str | None = setting(
        None,
        "With --resume: try rejected items again, by plan index or reason code: 17,23 or off_length.",
        metavar="ITEMS",
        advanced=True,
    )
    estimate: bool = setting(False, "Estimate calls and cost, stage by stage, as a range; send and store nothing.")
    preview: int = setting(0, "Print a table of the first N records, with coloured spans.", metavar="N", ge=0)
    as_json: bool = json_setting()
    ray: bool = setting(False, "Work on the items with Ray workers (extra ray); same records.", panel=WORKERS, advanced=True)
    workers: int | None = setting(None, "With --ray: number of workers.", metavar="N", panel=WORKERS, ge=1, advanced=True)
    ray_address: str | None = setting(None, "With --ray: address of the cluster.", metavar="HOST:PORT", panel=WORKERS, advanced=True)
    ray_folder: Path | None = setting(
        None, "With --ray: a folder that all nodes of the cluster share.", metavar="DIR", panel=WORKERS, advanced=True
    )
    otel: bool = setting(
        False, "Send OpenTelemetry spans (extra otel) to the exporter named by OTEL_TRACES_EXPORTER.", panel=CALLS, advanced=True
    )


@takes(GenerateOptions, RunConfig)
def generate(asked: GenerateOptions, settings: dict[str, Any]) -> None:
    """Generate records: plan, compose, repair and screen until the wanted number is accepted.

    The default provider is the composer, a template-based generator that needs no key, no network and no model.
    Ctrl-C stops cleanly; the run can be resumed.
    """
    _check(asked, settings)
    if asked.estimate:
        _estimate(asked, settings)
    elif not _generated(asked, settings):
        raise typer.Exit(1)


def _generated(options: GenerateOptions, settings: Mapping[str, Any]) -> bool:
    """Run to the end and print the result; whether all wanted records are there."""
    from piiloom.cli.run_summary import say_unfinished
    from piiloom.execution.money.budget import BudgetReached
    from piiloom.generation.plan.supply import supply_of
    from piiloom.generation.settings.setting_checks import notes_on_locale

    started = time.monotonic()
    with _opened(options, settings) as opened:
        if (supply := supply_of(opened.config)) is not None and not options.as_json:
            say_aside(f"draws on {supply}")
        for line in notes_on_locale(opened.config):
            say_aside(line)
        again = f"piiloom generate --resume {opened.run.id}{store_option(options.store)}"
        try:
            progress = _worked(options, opened)
        except KeyboardInterrupt:
            raise Interrupted("stopped at once", remedy=f"Go on with: {again}") from None
        except BudgetReached as error:
            error.remedy = f"All that was paid is kept. Go on with a larger one: {again} --budget-usd USD"
            raise
        except ProviderError as error:
            error.remedy = f"{error.remedy.rstrip('.')}. Then go on with: {again}" if error.remedy else f"Go on with: {again}"
            raise
        _say_result(options, opened, progress, time.monotonic() - started)
    say_unfinished(progress, options.store)
    return progress.status == "finished"


def _check(options: GenerateOptions, settings: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if options.retry is not None and options.resume is None:
        raise UsageError("--retry needs --resume", remedy="Name the run whose rejected items should be tried again")
    if options.ray != (options.workers is not None) or (not options.ray and (options.ray_address or options.ray_folder)):
        raise UsageError("--ray and --workers go together", remedy="Give both, as in --ray --workers 8; --ray-address needs them, too")
    if options.resume is None:
        return
    changeable = names_that_count(RunConfig, "no", "content")
    refused = [RunConfig.option_name(name) for name in settings if name not in changeable]
    if options.config is not None:
        raise UsageError("--config cannot go with --resume", remedy="Leave --resume out: --config goes on with the run of its settings")
    if refused:
        raise UsageError(
            f"{', '.join(refused)} cannot go with --resume: a run keeps its settings",
            remedy="Only --samples and how calls are made may change; for other settings start a run without --resume",
        )


def _estimate(options: GenerateOptions, settings: Mapping[str, Any]) -> None:
    from piiloom.generation.running.opening import changes_of, known_run
    from piiloom.generation.settings.setting_checks import read_config

    run, changes = options.resume, settings
    if run is None:
        config = read_config(options.config, settings)
        known = None
        if options.config is not None and options.store.exists():
            with store_for_reading(options.store) as store:
                known = known_run(store, config)
        if known is None:
            say_estimate(config, as_json=options.as_json)
            return
        run, changes = known.id, changes_of(config, known)
    say_estimate_of_rest(options.store, run, changes, as_json=options.as_json)


def _worked(options: GenerateOptions, opened: OpenedRun) -> RunProgress:
    """Run to the end, shown as the options ask."""
    from piiloom.cli.live_view import BATCH_LINE_EVERY_S, LINE_EVERY_S, chosen_mode, shown_run
    from piiloom.cli.run_summary import shown_progress
    from piiloom.execution.batches.batch_scheduler import how_to_go_on
    from piiloom.execution.watching.events import fan_out
    from piiloom.execution.watching.telemetry import telemetry
    from piiloom.generation.run_session import RayOptions, run_to_end
    from piiloom.generation.running.session import call_policy
    from piiloom.generation.stages.pipeline import stage_names

    ray = None
    if options.workers is not None:
        ray = RayOptions(workers=options.workers, address=options.ray_address, folder=options.ray_folder)
    if not opened.provider.paid:
        with shown_progress(opened.run.id, wanted=not options.as_json) as watch:
            return run_to_end(opened, watch=watch, ray=ray)
    channels: list[CallChannel] = []
    mode = chosen_mode(as_json=options.as_json)

    def traffic() -> Traffic | None:
        return channels[0].snapshot() if channels else None

    with ExitStack() as stack:
        watch, sink = stack.enter_context(
            shown_run(
                opened.run.id,
                mode=mode,
                traffic=traffic,
                budget_usd=opened.config.budget_usd,
                stages=stage_names(opened.config.recipe, opened.config.judges),
                line_every_s=BATCH_LINE_EVERY_S if opened.config.batch else LINE_EVERY_S,
            )
        )
        if options.otel:
            spans = stack.enter_context(telemetry(opened.run.id, provider=opened.provider.name, model=opened.provider.model))
            sink = fan_out(sink, spans)
        policy = replace(call_policy(opened.config), sink=sink, on_open=channels.append)
        progress = run_to_end(opened, watch=watch, policy=policy, ray=ray)
    for channel in channels:
        if channel.batches is not None and (left := how_to_go_on(channel.batches.out, opened.run.id)):
            say_aside(left)
    return progress


def _opened(options: GenerateOptions, settings: Mapping[str, Any]) -> AbstractContextManager[OpenedRun]:
    from piiloom.generation.running.opening import new_or_known_run, new_run, resumed_run
    from piiloom.generation.settings.setting_checks import read_config

    def refuse(config: RunConfig) -> None:
        if options.otel and config.provider == "composer":
            raise UsageError("the composer makes no calls", where="--otel", remedy="Leave --otel out, or name another --provider")
        if options.otel:
            from piiloom.execution.watching.telemetry import check_telemetry

            check_telemetry()
        if options.workers is not None:
            from piiloom.generation.distributed.partitioned import check_partitioned, check_ray

            check_ray(options.workers, options.ray_address)
            check_partitioned(config, returned=options.ray_address is not None and options.ray_folder is None)

    if options.resume is None:
        opens = new_run if options.config is None else new_or_known_run
        return opens(options.store, read_config(options.config, settings), refuse=refuse)
    return resumed_run(options.store, options.resume, retry=options.retry, refuse=refuse, **settings)


def _say_result(options: GenerateOptions, opened: OpenedRun, progress: RunProgress, seconds: float) -> None:
    from piiloom.cli.records import print_samples
    from piiloom.cli.run_summary import say_summary
    from piiloom.corpus.store.judgements import unlisted_in
    from piiloom.corpus.store.records import drawn_on, iter_records

    drawn = drawn_on(opened.store, opened.run.id)
    flagged = None if opened.config.screen_model is None else unlisted_in(opened.store, opened.run.id)
    if options.as_json:
        beside: dict[str, Any] = {} if flagged is None else {"flagged": {"values": flagged.judged, "records": flagged.records}}
        beside["drawn_on"] = dict(zip(("stories", "texts", "questions"), drawn, strict=True))
        say_json(progress.to_json() | {"store": str(options.store)} | beside)
        return
    if options.preview:
        records = islice(iter_records(opened.store, run_id=opened.run.id, status="generated"), options.preview)
        print_samples(console(), records, opened.config.taxonomy())
    nouns = ("story" if opened.config.recipe == "story" else "scenario", "text", "wording")
    told = ", ".join(counted(number, noun) for number, noun in zip(drawn, nouns, strict=True) if number) + " of questions"
    say_summary(progress, options.store, provider=opened.config.provider, seconds=seconds, drawn=told, flagged=flagged)


_DASH = "–"


def say_estimate(config: RunConfig, *, as_json: bool) -> None:
    """Print the estimate of a run of *config*."""
    from piiloom.generation.estimate.estimating import estimate_run, judge_spec_of, spec_of

    _say(estimate_run(config, spec_of(config), judge_spec=judge_spec_of(config), batch=config.batch), config, as_json=as_json)


def say_estimate_of_rest(store: Path, run: str, changes: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the estimate of the rest of *run*, continued under *changes*."""
    from piiloom.generation.estimate.estimating import estimate_rest

    with store_for_reading(store) as opened:
        estimate, config = estimate_rest(opened, run, changes)
    _say(estimate, config, as_json=as_json)


def _say(estimate: RunEstimate, config: RunConfig, *, as_json: bool) -> None:
    """Print a table with a row a stage, and what it rests on; a run that costs nothing is told in one line."""
    from piiloom.generation.plan.supply import check_supply, supply_of

    supply = supply_of(config)
    if supply is not None and not as_json:
        say(f"draws on {supply}")
    check_supply(config)
    parts: list[str | Table] = []
    if estimate.free:
        parts.append("the composer costs nothing: it sends no calls")
    elif not estimate.records:
        parts.append("all wanted records are there; nothing would be sent")
    elif not as_json:
        parts = [_table(estimate), *_remarks(estimate, config)]
    say_result(estimate.to_json() | ({} if supply is None else {"draws_on": asdict(supply)}), *parts, as_json=as_json)


def _table(estimate: RunEstimate) -> Table:
    named = f"{counted(estimate.records, 'record')} from {estimate.provider} {estimate.model}{', by batch' if estimate.batch else ''}"
    cached = estimate.total.cached_tokens.high >= 1
    columns = ("stage", "calls", "input\ntokens", *(["of these\ncached"] if cached else []), "output\ntokens", "USD")
    rows = []
    for stage in (*estimate.stages, estimate.total):
        tokens = [stage.input_tokens, *([stage.cached_tokens] if cached else []), stage.output_tokens]
        rows.append((stage.stage, _counts(stage.calls), *map(_counts, tokens), _money(stage.cost_usd)))
    table = table_of(f"estimate: {named}", columns, rows, right=range(1, len(columns)))
    table.rows[-2].end_section = True
    return table


def _counts(held: Range) -> str:

    low, high = count_text(round(held.low)), count_text(round(held.high))
    return low if low == high else f"{low}{_DASH}{high}"


def _money(held: Range | None) -> str:

    return "unknown" if held is None else f"{dollars(held.low)}{_DASH}{dollars(held.high)}"


def _remarks(estimate: RunEstimate, config: RunConfig) -> list[str]:
    from piiloom.generation.estimate.estimating import THINKING
    from piiloom.generation.settings.setting_checks import notes_on_locale

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
    return [*lines, *notes_on_locale(config)]
