"""``piiloom stages``: how far each stage of a run has come, and single stages run alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from piiloom.cli.options import config_setting, json_setting, run_setting, store_for_reading
from piiloom.cli.run_summary import say_stopped, shown_progress
from piiloom.cli.terminal import command_group, examples, say, say_aside, say_json, say_result, store_option, table_of
from piiloom.corpus.store import store_setting
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import Settings, setting
from piiloom.foundation.words import counted
from piiloom.generation.running.opening import check_provider, resumed_config
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.single_stage import check_stage, check_stage_of
from piiloom.generation.running.tracing import StageLine, report_stages
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import read_config
from piiloom.generation.stage_command import MAY_CHANGE, run_stage_command
from piiloom.generation.stages.pipeline import FIRST_STAGE

_LIST = ("piiloom stages list", "piiloom stages list --run last --json")
_RUN = (
    "piiloom stages run topics subtopics --samples 100 --seed 7",
    "piiloom stages run topics subtopics --provider openai --samples 20 --judge relevance --budget-usd 1",
    "piiloom stages run values situation peripheral question paraphrase spans screen",
)

stages_app = command_group("See how far the stages of a run have come, or run single ones.", *_LIST, *_RUN)


class ListStages(Settings):
    """The options of ``stages list``."""

    store: Path = store_setting()
    run: str = run_setting()
    as_json: bool = json_setting()


class RunOptions(Settings):
    """The options of ``stages run`` besides the settings of the run."""

    stages: list[str] = setting(..., "Stages to run, in the order given; stages list names them.", metavar="STAGE...", argument=True)
    store: Path = store_setting()
    run: str | None = setting(None, 'Run to work on, by its id or "last"; the stage topics starts a run without it.', metavar="RUN")
    config: Path | None = config_setting()
    as_json: bool = json_setting()


@stages_app.command("list", epilog=examples(*_LIST))
@takes(ListStages)
def list_stages(asked: ListStages) -> None:
    """List the stages of a run in order, with items done and rejected, and the reasons."""
    with store_for_reading(asked.store) as store:
        run = get_run(store, asked.run)
        lines = report_stages(store, run)
    data = {"run": run.id, "status": run.status, "samples": run.samples, "stages": [asdict(line) for line in lines]}
    say_result(data, stages_table(run, lines), as_json=asked.as_json)


@stages_app.command("run", epilog=examples(*_RUN))
@takes(RunOptions, RunConfig)
def run_stages(asked: RunOptions, settings: dict[str, Any]) -> None:
    """Run single stages over all items that wait for them, as python -m generation.STAGE does.

    The stage topics without --run starts a new run; only then can the settings of a run be given, except those of paid calls, which
    each stage takes. A stage replaces what it rejects by new items, which go through the stages before it. All stages in order give
    what piiloom generate gives.
    """
    if not _run_all(asked, settings):
        raise typer.Exit(1)


def _run_all(asked: RunOptions, settings: dict[str, Any]) -> bool:
    """Run the stages one after the other on one run; whether all went to their end."""
    stages, path, run, config = asked.stages, asked.store, asked.run, asked.config
    for stage in stages:
        check_stage(stage)
    if run is None and stages[0] == FIRST_STAGE:
        _check(stages, read_config(config, settings))
    elif not settings.keys() - MAY_CHANGE and config is None:  # else run_stage_command says what is wrong
        _check(stages, *_known_run(path, run or "last", settings))
    results: list[tuple[str, RunProgress]] = []
    for stage in stages:
        with shown_progress(stage, wanted=not asked.as_json) as watch, _told_how_to_go_on(stage, path):
            progress = run_stage_command(stage, path, run_id=run, overrides=settings, config_path=config, watch=watch)
        results.append((stage, progress))
        if not asked.as_json:
            say(_sentence(stage, progress))
        if progress.status == "interrupted":
            break
        # The run that the first stage has started, or taken, is that of all others; its settings are fixed by now.
        run, config = progress.run_id, None
        settings = {key: value for key, value in settings.items() if key in MAY_CHANGE}
    if asked.as_json:
        say_json([{"stage": stage, **progress.to_json(), "store": str(path)} for stage, progress in results])
    stage, last = results[-1]
    if last.status == "interrupted":
        again = f"piiloom stages run {stage} … --run {last.run_id}"
        if last.stopped is not None:
            say_stopped(last.stopped, path, resume=again)
        else:
            say_aside(f"interrupted. Go on with: {again}{store_option(path)}", always=True)
    return last.status != "interrupted"


@contextmanager
def _told_how_to_go_on(stage: str, path: Path) -> Iterator[None]:
    try:
        yield
    except BudgetReached as error:
        again = f"piiloom stages run {stage} … --run last{store_option(path)} --budget-usd USD"
        error.remedy = f"All that was paid is kept. Go on with a larger one: {again}"
        raise


def _known_run(path: Path, run_id: str, changes: dict[str, Any]) -> tuple[RunConfig, str]:
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        return resumed_config(store, run, **changes), run.id


def _check(stages: Sequence[str], config: RunConfig, run_id: str | None = None) -> None:
    """Refuse what cannot be run to the end before any of it is."""
    for stage in stages:
        check_stage_of(stage, config, where=run_id)
    check_provider(config)


def _sentence(stage: str, progress: RunProgress) -> str:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in progress.reasons.most_common())
    return f"{progress.run_id} {stage}: {progress.accepted:,} done, {progress.rejected:,} rejected{f' ({reasons})' if reasons else ''}"


def stages_table(run: RunRow, lines: Sequence[StageLine]) -> Table:
    """Make the table of the stages of *run*."""
    title = f"run {run.id}: {run.status}, {counted(run.samples, 'sample')} wanted, {run.provider}, seed {run.seed}"
    rows = [(line.stage, f"{line.done:,}", f"{line.rejected:,}", _counts(line.reasons), _counts(line.replies)) for line in lines]
    return table_of(title, ("stage", "done", "rejected", "reasons", "replies kept"), rows, right=(1, 2))


def _counts(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered)
