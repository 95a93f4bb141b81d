"""The work behind ``piiloom generate``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from piiloom.cli.estimate_view import say_estimate, say_estimate_of_rest
from piiloom.cli.live_view import BATCH_LINE_EVERY_S, LINE_EVERY_S, chosen_mode, shown_run
from piiloom.cli.progress_view import shown_progress
from piiloom.cli.run_picture import Traffic
from piiloom.cli.run_summary import progress_to_json, say_summary, say_unfinished, store_option
from piiloom.cli.sample_table import print_samples
from piiloom.cli.terminal import console, say_aside, say_json
from piiloom.cli.workspace import OpenedRun, new_run, resumed_run
from piiloom.corpus.store.records import iter_records
from piiloom.execution.batches.batch_status import how_to_go_on
from piiloom.execution.call_channel import CallChannel
from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.watching.events import fan_out
from piiloom.execution.watching.telemetry import check_telemetry, telemetry
from piiloom.foundation.errors import Interrupted, ProviderError, UsageError
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import call_policy
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CONDUCT, PLACES
from piiloom.generation.settings.setting_checks import make_config, read_config
from piiloom.generation.sitting import RayWish, sit
from piiloom.generation.stages.pipeline import stage_names

# Options that are not called as their setting is.
_OPTIONS = {"judges": "--judge", "timeout_s": "--timeout"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line asks for; ``settings`` are those of the run that were given."""

    store: Path
    settings: dict[str, Any]
    config: Path | None
    resume: str | None
    retry: str | None
    show: int
    estimate: bool
    ray: int | None
    ray_address: str | None
    ray_folder: Path | None
    otel: bool
    as_json: bool
    quiet: bool


def generate_records(wishes: Wishes) -> bool:
    """Run to the end and print the result; whether all wanted records are there."""
    _check(wishes)
    if wishes.estimate:
        _estimate(wishes)
        return True
    started = time.monotonic()
    with _opened(wishes) as opened:
        again = f"piiloom generate --resume {opened.run.id}{store_option(wishes.store)}"
        try:
            progress = _worked(wishes, opened)
        except KeyboardInterrupt:
            raise Interrupted("stopped at once", remedy=f"Go on with: {again}") from None
        except BudgetReached as error:
            error.remedy = f"All that was paid is kept. Go on with a larger one: {again} --budget-usd USD"
            raise
        except ProviderError as error:
            error.remedy = f"{error.remedy.rstrip('.')}. Then go on with: {again}" if error.remedy else f"Go on with: {again}"
            raise
        _say_result(wishes, opened, progress, time.monotonic() - started)
    say_unfinished(progress, wishes.store)
    return progress.status == "finished"


def _check(wishes: Wishes) -> None:
    """Refuse options that do not go together."""
    if wishes.retry is not None and wishes.resume is None:
        raise UsageError("--retry goes with --resume", remedy="Name the run whose rejected items are to be tried again")
    if (wishes.ray_address or wishes.ray_folder) and wishes.ray is None:
        raise UsageError("--ray-address and --ray-folder go with --ray", remedy="Say how many tasks are to work, as in --ray 8")
    if wishes.resume is not None:
        _check_changes(wishes)


def _estimate(wishes: Wishes) -> None:
    if wishes.resume is None:
        say_estimate(configuration(wishes.settings, wishes.config), as_json=wishes.as_json)
    else:
        say_estimate_of_rest(wishes.store, wishes.resume, wishes.settings, as_json=wishes.as_json)


def _worked(wishes: Wishes, opened: OpenedRun) -> RunProgress:
    """Run to the end, shown as the options ask."""
    if not opened.provider.paid:
        with shown_progress(opened.run.id, wanted=not (wishes.as_json or wishes.quiet)) as watch:
            return sit(opened.store, opened.run, opened.config, opened.provider, watch=watch, ray=_ray(wishes))
    channels: list[CallChannel] = []
    mode = chosen_mode(as_json=wishes.as_json, quiet=wishes.quiet)

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
        if wishes.otel:
            spans = stack.enter_context(telemetry(opened.run.id, provider=opened.provider.name, model=opened.provider.model))
            sink = fan_out(sink, spans)
        policy = replace(call_policy(opened.config), sink=sink, on_open=channels.append)
        progress = sit(opened.store, opened.run, opened.config, opened.provider, watch=watch, policy=policy, ray=_ray(wishes))
    for channel in channels:
        if channel.batches is not None and (left := how_to_go_on(channel.batches.out, opened.run.id)):
            say_aside(left)
    return progress


def _ray(wishes: Wishes) -> RayWish | None:
    return RayWish(partitions=wishes.ray, address=wishes.ray_address, folder=wishes.ray_folder) if wishes.ray is not None else None


def configuration(settings: dict[str, Any], path: Path | None) -> RunConfig:
    """Make the settings of a new run from the run file *path*, if any, and from options, which win."""
    return read_config(path, settings) if path else make_config(settings)


def _opened(wishes: Wishes) -> AbstractContextManager[OpenedRun]:
    def refuse(config: RunConfig) -> None:
        if wishes.otel and config.provider == "composer":
            raise UsageError("the composer makes no calls", where="--otel", remedy="Leave --otel out, or name another --provider")
        if wishes.otel:
            check_telemetry()
        if wishes.ray is not None:
            from piiloom.generation.distributed.partition_checks import check_partitioned, check_ray  # noqa: PLC0415 - few runs want it

            check_ray(wishes.ray, wishes.ray_address)
            check_partitioned(config, returned=wishes.ray_address is not None and wishes.ray_folder is None)

    if wishes.resume is None:
        return new_run(wishes.store, configuration(wishes.settings, wishes.config), refuse=refuse)
    return resumed_run(wishes.store, wishes.resume, retry=wishes.retry, refuse=refuse, **wishes.settings)


def _check_changes(wishes: Wishes) -> None:
    """Refuse what a run that goes on cannot be given: all that would make other records."""
    refused = [_OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in wishes.settings if name not in CONDUCT | PLACES]
    refused += ["--config"] if wishes.config else []
    if refused:
        raise UsageError(
            f"{', '.join(refused)} cannot go with --resume: a run keeps its settings",
            remedy="Only --samples and how calls are made may change; for other settings start a run without --resume",
        )


def _say_result(wishes: Wishes, opened: OpenedRun, progress: RunProgress, seconds: float) -> None:
    if wishes.as_json:
        say_json(progress_to_json(progress, wishes.store))
        return
    if wishes.quiet:
        return
    if wishes.show:
        with opened.config.types_in_force():
            print_samples(console(), islice(iter_records(opened.store, run_id=opened.run.id, status="generated"), wishes.show))
    say_summary(progress, wishes.store, provider=opened.config.provider, seconds=seconds)
