"""The work behind ``piiloom generate``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from corpus.store.records import iter_records
from foundation.errors import UsageError
from generation.configuration import RunConfig, make_config, read_config
from generation.progress import RunProgress
from generation.sitting import sit
from piiloom.progress_view import shown_progress
from piiloom.run_summary import progress_to_json, say_summary, say_unfinished, store_option
from piiloom.sample_table import print_samples
from piiloom.terminal import console, say_aside, say_json
from piiloom.workspace import OpenedRun, new_run, resumed_run

# What may be changed when a run goes on; all else would make other records.
_RESUMABLE = {"samples", "concurrency"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line asks for; ``settings`` are those of the run that were given."""

    store: Path
    settings: dict[str, Any]
    config: Path | None
    resume: str | None
    show: int
    as_json: bool
    quiet: bool


def generate_records(wishes: Wishes) -> bool:
    """Run to the end and print the result; whether all wanted records are there."""
    started = time.monotonic()
    with _opened(wishes) as opened:
        try:
            with shown_progress(opened.run.id, wanted=not (wishes.as_json or wishes.quiet)) as watch:
                progress = sit(opened.store, opened.run, opened.config, opened.provider, watch=watch)
        except KeyboardInterrupt:
            say_aside(f"stopped at once. Go on with: piiloom generate --resume {opened.run.id}{store_option(wishes.store)}")
            return False
        _say_result(wishes, opened, progress, time.monotonic() - started)
    say_unfinished(progress, wishes.store)
    return progress.status == "finished"


def configuration(settings: dict[str, Any], path: Path | None) -> RunConfig:
    """Make the settings of a new run from the run file *path*, if any, and from options, which win."""
    return read_config(path, settings) if path else make_config(settings)


def _opened(wishes: Wishes) -> AbstractContextManager[OpenedRun]:
    if wishes.resume is None:
        return new_run(wishes.store, configuration(wishes.settings, wishes.config))
    refused = [f"--{name.replace('_', '-')}" for name in wishes.settings if name not in _RESUMABLE]
    refused += ["--config"] if wishes.config else []
    if refused:
        raise UsageError(
            f"{', '.join(refused)} cannot go with --resume: a run keeps its settings",
            remedy="Only --samples and --concurrency may change; for other settings start a run without --resume",
        )
    return resumed_run(wishes.store, wishes.resume, **wishes.settings)


def _say_result(wishes: Wishes, opened: OpenedRun, progress: RunProgress, seconds: float) -> None:
    if wishes.as_json:
        say_json(progress_to_json(progress, wishes.store))
        return
    if wishes.quiet:
        return
    if wishes.show:
        print_samples(console(), islice(iter_records(opened.store, run_id=opened.run.id), wishes.show))
    say_summary(progress, wishes.store, provider=opened.config.provider, seconds=seconds)
