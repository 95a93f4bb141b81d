"""``python -m generation.<stage>``: run one stage from the shell, on the items in the store that are ready for it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from piiloom.corpus.store import StoreSettings
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.interrupts import interrupted, noted_interrupts
from piiloom.foundation.noop import noop
from piiloom.foundation.settings import setting
from piiloom.foundation.startup import collect_less_often
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, started_or_known_run
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.single_stage import check_stage
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CHANGEABLE_SETTINGS
from piiloom.generation.settings.setting_checks import read_config
from piiloom.generation.stages.pipeline import FIRST_STAGE

# Settings that every stage accepts: those that say how calls are made.
MAY_CHANGE = CHANGEABLE_SETTINGS - {"samples", "margin", "base_url"}


def run_stage_command(
    stage: str,
    store_path: Path,
    *,
    run_id: str | None = None,
    overrides: dict[str, Any] | None = None,
    config_path: Path | None = None,
    watch: Watch = noop,
) -> RunProgress:
    """Run *stage* on run *run_id* ("last" when None). Without one, the first stage starts a run, or goes on with that of these settings.

    Raises ``UsageError`` for an unknown stage, and for settings that shape records given to any other stage than the first.
    """
    check_stage(stage)
    overrides = overrides or {}
    fresh = run_id is None and stage == FIRST_STAGE
    if not fresh and (config_path or overrides.keys() - MAY_CHANGE):
        raise UsageError("settings belong to the start of a run", remedy=f"Give them to the stage {FIRST_STAGE}, without a run id")
    config = read_config(config_path, overrides) if fresh else None
    with Store.open(store_path, create=fresh) as store:
        if config is not None:
            with started_or_known_run(store, config) as opened:
                return run_to_end(opened, stage=stage, watch=watch)
        opened = resume_run(store, get_run(store, run_id or "last"), **overrides)
        return run_to_end(opened, stage=stage, watch=watch)


class StageOptions(StoreSettings):
    """The options of a stage besides the settings of the run."""

    run: str | None = setting(None, "The run to work on; the newest when not given.", metavar="RUN")


class FirstStageOptions(StageOptions):
    """The options of the first stage, which starts runs."""

    config: Path | None = setting(None, "A YAML run file; command-line options override it.", metavar="YAML")


def main(stage: str, about: str | None) -> None:
    """Run the command line of *stage*; *about* is its help text. Errors are printed as one line on stderr, without a traceback."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    example = f"Example:\n\n  python -m generation.{stage} --store outputs/piiloom.duckdb"
    first = stage == FIRST_STAGE

    @app.command(help=about, epilog=f"{example} --samples 100 --seed 7\n\n(the first stage starts the run)" if first else example)
    @takes(FirstStageOptions if first else StageOptions, RunConfig, None if first else MAY_CHANGE)
    def command(asked: StageOptions, settings: dict[str, Any]) -> None:
        config = asked.config if isinstance(asked, FirstStageOptions) else None
        progress = run_stage_command(stage, asked.store, run_id=asked.run, overrides=settings, config_path=config)
        _report(stage, asked.store, progress)

    collect_less_often()
    with noted_interrupts():
        try:
            app()
        except PiiloomError as error:
            typer.echo(f"error: {'interrupted' if interrupted() else error}", err=True)
            raise SystemExit(error.exit_code) from None


def _report(stage: str, store: Path, progress: RunProgress) -> None:
    reasons = "; ".join(f"{reason} {number}" for reason, number in progress.reasons.most_common())
    typer.echo(f"{progress.run_id} {stage}: {progress.accepted} done, {progress.rejected} rejected" + (f" ({reasons})" if reasons else ""))
    if progress.status == "interrupted":
        again, option = f"python -m generation.{stage} --run {progress.run_id}", f" --store {shlex.quote(str(store))}"
        stopped = progress.stopped
        why = f"error: {stopped.message}. {stopped.ways_on(again, option)}" if stopped else f"interrupted; go on with: {again}{option}"
        typer.echo(why, err=True)
        raise SystemExit(1)
