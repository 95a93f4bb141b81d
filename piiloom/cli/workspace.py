"""Opening the store for a command: a new run, one to go on with, or whatever writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.cli.preflight import check_provider
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import RunRow, find_run, get_run, list_runs
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.generation.configuration import RunConfig
from piiloom.generation.lifting import lift_named
from piiloom.generation.session import open_provider, resume_run, resumed_config, settle, start_run
from piiloom.generation.sitting import begin, or_forgotten, take_up
from piiloom.providers.protocol import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRun:
    """A run ready to be worked on; what ``piiloom.generation.sitting.sit`` takes."""

    store: Store
    run: RunRow
    config: RunConfig
    provider: Provider


@contextmanager
def store_for_writing(path: Path) -> Iterator[Store]:
    """Open the store at *path*, made if needed; one that was made here and is still empty goes again after an error."""
    existed = path.exists()
    with Store.open(path) as store:
        try:
            yield store
        except PiiloomError:
            if not existed and _is_empty(store):
                store.close()
                path.unlink(missing_ok=True)
            raise


def _is_empty(store: Store) -> bool:
    with suppress(PiiloomError):
        return not list_runs(store) and not count_records(store)
    return False


Refuse = Callable[[RunConfig], object]


@contextmanager
def new_run(path: Path, config: RunConfig, *, refuse: Refuse = lambda _config: None) -> Iterator[OpenedRun]:
    """Start a run of *config* in the store at *path*, having seen that its provider works and that *refuse* raises nothing.

    A run that is refused before anything of it is kept is none.
    """
    refuse(config)
    check_provider(config)
    with store_for_writing(path) as store:
        run, settled, provider = begin(store, config)
        with or_forgotten(store, run):
            yield OpenedRun(store=store, run=run, config=settled, provider=provider)


@contextmanager
def resumed_run(
    path: Path,
    run_id: str,
    *,
    samples: int | None = None,
    retry: str | None = None,
    refuse: Refuse = lambda _config: None,
    **changes: Any,
) -> Iterator[OpenedRun]:
    """Go on with run *run_id* ("last" works), with its own settings; *samples* may only grow (``UsageError``).

    *changes* are of how its calls are made. *retry* names rejected items to try again, by plan index or reason code. Whatever is
    refused, by *refuse* or else, is refused before anything in the store changes.
    """
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        if samples is not None and samples < run.samples:
            raise UsageError(
                f"run {run.id} is asked for {run.samples} samples already, and a run only grows",
                where="--samples",
                remedy="Ask for more, or start another run",
            )
        config = resumed_config(store, run, samples=samples, **changes)
        refuse(config)
        check_provider(config)
        if retry is not None:
            lift_named(store, run, retry)
        taken = take_up(store, run, samples=samples, **changes)
        yield OpenedRun(store=store, run=taken[0], config=taken[1], provider=taken[2])


@contextmanager
def new_or_known_run(path: Path, config: RunConfig) -> Iterator[OpenedRun]:
    """As ``new_run``; but where the store has a run of the same settings and seed, go on with that.

    Its samples grow to those of *config* where that asks for more.
    """
    check_provider(config)
    with store_for_writing(path) as store:
        provider = open_provider(config)
        settled = settle(config, provider)
        known = find_run(store, settled.digest(), settled.seed)
        if known is None:
            run = start_run(store, settled)
        else:
            samples = max(config.samples, known.samples)
            run, settled = resume_run(store, known, samples=samples, concurrency=config.concurrency)
        yield OpenedRun(store=store, run=run, config=settled, provider=provider)
