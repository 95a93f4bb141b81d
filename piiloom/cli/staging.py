"""The work behind ``piiloom stages``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.table import Table

from piiloom.cli.progress_view import shown_progress
from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import progress_to_json, say_stopped, store_option
from piiloom.cli.terminal import say, say_aside, say_json, say_table
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.words import counted
from piiloom.generation.running.opening import resumed_config
from piiloom.generation.running.preflight import check_provider
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.single_stage import check_stage, check_stage_of
from piiloom.generation.running.stage_report import StageLine, report_stages
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import read_config
from piiloom.generation.stage_command import MAY_CHANGE, run_stage_command
from piiloom.generation.stages.pipeline import FIRST_STAGE


def print_stages(path: Path, run_id: str, *, as_json: bool) -> None:
    """Print how far each stage of run *run_id* has come."""
    with store_for_reading(path) as store:
        run = get_run(store, run_id)
        lines = report_stages(store, run)
    if as_json:
        say_json({"run": run.id, "status": run.status, "samples": run.samples, "stages": [stage_to_json(line) for line in lines]})
    else:
        say_table(stages_table(run, lines))


def run_all(stages: Sequence[str], path: Path, *, run: str | None, settings: dict[str, Any], config: Path | None, as_json: bool) -> bool:
    """Run *stages* one after the other on one run; whether all went to their end."""
    for stage in stages:
        check_stage(stage)
    if run is None and stages[0] == FIRST_STAGE:
        _check(stages, read_config(config, settings))
    elif not settings.keys() - MAY_CHANGE and config is None:  # else run_stage_command says what is wrong
        _check(stages, *_known_run(path, run or "last", settings))
    results: list[tuple[str, RunProgress]] = []
    for stage in stages:
        with shown_progress(stage, wanted=not as_json) as watch, _told_how_to_go_on(stage, path):
            progress = run_stage_command(stage, path, run_id=run, overrides=settings, config_path=config, watch=watch)
        results.append((stage, progress))
        if not as_json:
            say(_sentence(stage, progress))
        if progress.status == "interrupted":
            break
        # The run that the first stage has started, or taken, is that of all others; its settings are fixed by now.
        run, config = progress.run_id, None
        settings = {key: value for key, value in settings.items() if key in MAY_CHANGE}
    if as_json:
        say_json([{"stage": stage, **progress_to_json(progress, path)} for stage, progress in results])
    stage, last = results[-1]
    if last.status == "interrupted":
        again = f"piiloom stages run {stage} … --run {last.run_id}"
        if last.stopped is not None:
            say_stopped(last.stopped, path, resume=again)
        else:
            say_aside(f"interrupted. Go on with: {again}{store_option(path)}")
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


def stage_to_json(line: StageLine) -> dict[str, Any]:
    """Give one line of the table as JSON values."""
    return {"stage": line.stage, "done": line.done, "rejected": line.rejected, "reasons": line.reasons, "replies": line.replies}


def stages_table(run: RunRow, lines: Sequence[StageLine]) -> Table:
    """Make the table of the stages of *run*."""
    table = Table(title=f"run {run.id}: {run.status}, {counted(run.samples, 'sample')} wanted, {run.provider}, seed {run.seed}")
    for name, justify in (("stage", "left"), ("done", "right"), ("rejected", "right"), ("reasons", "left"), ("replies kept", "left")):
        table.add_column(name, justify="right" if justify == "right" else "left")
    for line in lines:
        table.add_row(line.stage, f"{line.done:,}", f"{line.rejected:,}", _counts(line.reasons), _counts(line.replies))
    return table


def _counts(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered)
