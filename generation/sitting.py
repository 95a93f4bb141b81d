"""Run a session (one process working on a run, until it ends or is interrupted) from synchronous code.

Opens the provider, runs the event loop, and turns Ctrl-C into a clean stop.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, forget_untouched_run
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.errors import PiiloomError, RunError, UsageError
from piiloom.foundation.noop import noop
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.run import generate_records
from piiloom.generation.running.session import open_provider, resume_run, resumed_config, settle, start_run
from piiloom.generation.running.stage_run import run_stage
from piiloom.generation.settings.configuration import RunConfig
from piiloom.providers.protocol import Provider

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class RayWish:
    """Ray settings: how many workers there are, the cluster's address (None: this machine), the folder its nodes share (None: none)."""

    partitions: int
    address: str | None = None
    folder: Path | None = None


def begin(store: Store, config: RunConfig) -> tuple[RunRow, RunConfig, Provider]:
    """Start a new run of *config*. Returns its row, the configuration with the models filled in, and the open provider.

    Raises ``UsageError`` or ``AuthFailed`` if a provider cannot be opened, ``RunError`` if the store has the same run already.
    """
    _check_judge(config)
    provider = open_provider(config)
    try:
        settled = settle(config, provider)
        return start_run(store, settled), settled, provider
    except PiiloomError:
        _run(provider.aclose)
        raise


def take_up(store: Store, run: RunRow, **changes: Any) -> tuple[RunRow, RunConfig, Provider]:
    """Resume *run* with *changes* (see ``resume_run``); returns the same as ``begin``. A refusal leaves the store unchanged."""
    changed = resumed_config(store, run, **changes)
    _check_judge(changed)
    provider = open_provider(changed)
    try:
        run, config = resume_run(store, run, **changes)
    except PiiloomError:
        _run(provider.aclose)
        raise
    return run, config, provider


def _check_judge(config: RunConfig) -> None:
    """Raise the error that opening the run's separate judge would raise, such as a missing key or price."""
    if (judge := config.of_judge()) is not None:
        _run(open_provider(judge).aclose)


@contextmanager
def or_forgotten(store: Store, run: RunRow) -> Iterator[None]:
    """Delete the new *run* if the block raises before any of its work is stored, so that the same run can be started again."""
    try:
        yield
    except (UsageError, RunError):
        forget_untouched_run(store, run.id)
        raise


def sit(
    store: Store,
    run: RunRow,
    config: RunConfig,
    provider: Provider,
    *,
    stage: str | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
    ray: RayWish | None = None,
) -> RunProgress:
    """Work on *run* to its end, or run only *stage*. The first Ctrl-C stops cleanly (status "interrupted"), the second at once.

    With *ray*, Ray workers process the items (needs the extra ``ray``).
    """
    stop = StopSignal()

    async def work() -> RunProgress:
        with _ctrl_c(stop):
            if ray is not None:
                from piiloom.generation.distributed.partitioned import generate_partitioned  # noqa: PLC0415 - few runs want it, all would load it

                await provider.aclose()  # each partition has its own
                return await generate_partitioned(
                    store,
                    run,
                    config,
                    partitions=ray.partitions,
                    address=ray.address,
                    folder=ray.folder,
                    stop=stop,
                    watch=watch,
                    policy=policy,
                )
            if stage is None:
                return await generate_records(store, run, config, provider, stop=stop, watch=watch, policy=policy)
            return await run_stage(stage, store, run, config, provider, stop=stop, watch=watch, policy=policy)

    with config.types_in_force():
        return _run(work, stop)


def _run(work: Callable[[], Coroutine[Any, Any, R]], stop: StopSignal | None = None) -> R:
    """Run a coroutine to its end. If an event loop is running already (in a notebook), run it in a separate thread."""
    if not _in_a_loop():
        return asyncio.run(work())
    loops: list[asyncio.AbstractEventLoop] = []

    async def noted() -> R:
        loops.append(asyncio.get_running_loop())
        return await work()

    with ThreadPoolExecutor(max_workers=1) as thread:
        future = thread.submit(copy_context().run, lambda: asyncio.run(noted()))  # keeps the active entity types
        try:
            return future.result()
        except KeyboardInterrupt:  # a notebook's stop button reaches its own thread, not the one that works
            for loop in loops:
                loop.call_soon_threadsafe(stop.request if stop else lambda: None)
            return future.result()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _ctrl_c(stop: StopSignal) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a stop request, then restore the former handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def as_before() -> None:
        for number, handler in former.items():
            loop.remove_signal_handler(number)  # which puts Python's own in its place
            signal.signal(number, handler)

    def first() -> None:
        as_before()
        stop.request()

    for number in former:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        as_before()
