"""The work behind ``piiloom generate``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import islice

from piiloom.cli.estimate_view import say_estimate, say_estimate_of_rest
from piiloom.cli.generate_options import GenerateOptions
from piiloom.cli.live_view import BATCH_LINE_EVERY_S, LINE_EVERY_S, chosen_mode, shown_run
from piiloom.cli.progress_view import shown_progress
from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_picture import Traffic
from piiloom.cli.run_summary import progress_to_json, say_summary, say_unfinished, store_option
from piiloom.cli.sample_table import print_samples
from piiloom.cli.terminal import console, say_aside, say_json
from piiloom.corpus.store.judgements import unlisted_in
from piiloom.corpus.store.records import iter_records
from piiloom.execution.batches.batch_status import how_to_go_on
from piiloom.execution.call_channel import CallChannel
from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.watching.events import fan_out
from piiloom.execution.watching.telemetry import check_telemetry, telemetry
from piiloom.foundation.errors import Interrupted, ProviderError, UsageError
from piiloom.generation.run_session import RayOptions, run_to_end
from piiloom.generation.running.opening import changes_of, known_run, new_or_known_run, new_run, resumed_run
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CHANGEABLE_SETTINGS, PLACES
from piiloom.generation.settings.setting_checks import read_config
from piiloom.generation.stages.pipeline import stage_names

# Options that are not called as their setting is.
_OPTIONS = {"judges": "--judge", "timeout_s": "--timeout"}


def generate_records(options: GenerateOptions) -> bool:
    """Run to the end and print the result; whether all wanted records are there."""
    _check(options)
    if options.estimate:
        _estimate(options)
        return True
    started = time.monotonic()
    with _opened(options) as opened:
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


def _check(options: GenerateOptions) -> None:
    """Refuse options that do not go together."""
    if options.retry is not None and options.resume is None:
        raise UsageError("--retry needs --resume", remedy="Name the run whose rejected items should be tried again")
    if (options.ray_address or options.ray_folder) and options.ray is None:
        raise UsageError("--ray-address and --ray-folder need --ray", remedy="Give the number of workers, as in --ray 8")
    if options.resume is not None:
        _check_changes(options)


def _estimate(options: GenerateOptions) -> None:
    run, changes = options.resume, options.settings
    if run is None:
        config = read_config(options.config, options.settings)
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
    if not opened.provider.paid:
        with shown_progress(opened.run.id, wanted=not (options.as_json or options.quiet)) as watch:
            return run_to_end(opened, watch=watch, ray=_ray(options))
    channels: list[CallChannel] = []
    mode = chosen_mode(as_json=options.as_json, quiet=options.quiet)

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
        progress = run_to_end(opened, watch=watch, policy=policy, ray=_ray(options))
    for channel in channels:
        if channel.batches is not None and (left := how_to_go_on(channel.batches.out, opened.run.id)):
            say_aside(left)
    return progress


def _ray(options: GenerateOptions) -> RayOptions | None:
    return RayOptions(workers=options.ray, address=options.ray_address, folder=options.ray_folder) if options.ray is not None else None


def _opened(options: GenerateOptions) -> AbstractContextManager[OpenedRun]:
    def refuse(config: RunConfig) -> None:
        if options.otel and config.provider == "composer":
            raise UsageError("the composer makes no calls", where="--otel", remedy="Leave --otel out, or name another --provider")
        if options.otel:
            check_telemetry()
        if options.ray is not None:
            from piiloom.generation.distributed.partition_checks import check_partitioned, check_ray  # noqa: PLC0415 - few runs want it

            check_ray(options.ray, options.ray_address)
            check_partitioned(config, returned=options.ray_address is not None and options.ray_folder is None)

    if options.resume is None:
        opens = new_run if options.config is None else new_or_known_run
        return opens(options.store, read_config(options.config, options.settings), refuse=refuse)
    return resumed_run(options.store, options.resume, retry=options.retry, refuse=refuse, **options.settings)


def _check_changes(options: GenerateOptions) -> None:
    """Refuse what a run that goes on cannot be given: all that would make other records."""
    refused = [_OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in options.settings if name not in CHANGEABLE_SETTINGS | PLACES]
    if options.config is not None:
        raise UsageError("--config cannot go with --resume", remedy="Leave --resume out: --config goes on with the run of its settings")
    if refused:
        raise UsageError(
            f"{', '.join(refused)} cannot go with --resume: a run keeps its settings",
            remedy="Only --samples and how calls are made may change; for other settings start a run without --resume",
        )


def _say_result(options: GenerateOptions, opened: OpenedRun, progress: RunProgress, seconds: float) -> None:
    flagged = None if opened.config.screen_model is None else unlisted_in(opened.store, opened.run.id)
    if options.as_json:
        beside = {} if flagged is None else {"flagged": {"values": flagged.judged, "records": flagged.records}}
        say_json(progress_to_json(progress, options.store) | beside)
        return
    if options.quiet:
        return
    if options.show:
        records = islice(iter_records(opened.store, run_id=opened.run.id, status="generated"), options.show)
        print_samples(console(), records, opened.config.taxonomy())
    say_summary(progress, options.store, provider=opened.config.provider, seconds=seconds, flagged=flagged)
