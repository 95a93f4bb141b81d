"""Opening the store for a command: a new run, one to go on with, or whatever writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.cli.preflight import check_provider
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.progress import lift_rejects, load_rejects
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import RunRow, find_run, get_run, list_runs
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.generation.configuration import RunConfig, make_config
from piiloom.generation.session import open_provider, resume_run, settle, start_run
from piiloom.generation.sitting import begin, take_up
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.own_types import differences
from piiloom.taxonomy.own_types_file import read_types_file


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


@contextmanager
def new_run(path: Path, config: RunConfig) -> Iterator[OpenedRun]:
    """Start a run of *config* in the store at *path*, having seen that its provider works."""
    check_provider(config)
    with store_for_writing(path) as store:
        run, settled, provider = begin(store, config)
        yield OpenedRun(store=store, run=run, config=settled, provider=provider)


@contextmanager
def resumed_run(
    path: Path, run_id: str, *, samples: int | None = None, retry: str | None = None, types: Path | None = None, **changes: Any
) -> Iterator[OpenedRun]:
    """Go on with run *run_id* ("last" works), with its own settings; *samples* may only grow (``UsageError``).

    *changes* are of how its calls are made. *retry* names rejected items to try again, by plan index or reason code. A run has
    its own types with it: a types file is not needed, and refused where it says something else (``UsageError``).
    """
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        if samples is not None and samples < run.samples:
            raise UsageError(
                f"run {run.id} is asked for {run.samples} samples already, and a run only grows",
                where="--samples",
                remedy="Ask for more, or start another run",
            )
        config = make_config(run.config)
        if types is not None and (changed := differences(config.types, read_types_file(types))):
            raise UsageError(
                f"run {run.id} was started with other types; what differs: {', '.join(changed)}",
                where="--types",
                remedy="Leave --types out, the run has its types with it; for other types start a run in another --store",
            )
        check_provider(config)
        if retry is not None:
            lift_named(store, run, retry)
        taken = take_up(store, run, samples=samples, **changes)
        yield OpenedRun(store=store, run=taken[0], config=taken[1], provider=taken[2])


def lift_named(store: Store, run: RunRow, names: str) -> int:
    """Let the rejected items that *names* lists (plan indexes and reason codes) be tried again; gives how many.

    Raises ``UsageError`` when no reject of the run is meant, listing the codes there are.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    indexes = [int(name) for name in wanted if name.isdecimal()]
    lifted = lift_rejects(store, run.id, codes=[name for name in wanted if not name.isdecimal()], indexes=indexes)
    if not lifted:
        known = sorted({row.reason_code for row in load_rejects(store, run.id)})
        there = f"Its reason codes: {', '.join(known)}" if known else "It has no rejects"
        raise UsageError(f"run {run.id} has no rejected item {names!r}", where="--retry", remedy=there)
    return lifted


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
