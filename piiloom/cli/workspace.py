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
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.generation.plan.lifting import lift_named
from piiloom.generation.running.session import changed_config, model_of, resumed_config
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CONDUCT, PLACES, run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.sitting import begin, or_forgotten, take_up
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

    *changes* are those of ``changed_config``. *retry* names rejected items to try again, by plan index or reason code. Whatever is
    refused, by *refuse* or else, is refused before anything in the store changes. A run has
    its own types with it: a types file is not needed, and refused where it says something else (``UsageError``).
    """
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        if samples is not None and samples < run.samples:
            raise UsageError(
                f"run {run.id} is asked for {counted(run.samples, 'sample')} already, and a run only grows",
                where="--samples",
                remedy="Ask for more, or start another run",
            )
        changes["samples"] = samples
        _refuse_other_types(run, changes.pop("types", None))
        config = resumed_config(store, run, **changes)
        refuse(config)
        check_provider(config)
        if retry is not None:
            lift_named(store, run, retry)
        taken = take_up(store, run, **changes)
        yield OpenedRun(store=store, run=taken[0], config=taken[1], provider=taken[2])


def _refuse_other_types(run: RunRow, types: Path | None) -> None:
    if types is not None and (changed := differences(make_config(run.config).types, read_types_file(types))):
        raise UsageError(
            f"run {run.id} was started with other types; what differs: {', '.join(changed)}",
            where="--types",
            remedy="Leave --types out, the run has its types with it; for other types start a run in another --store",
        )


@contextmanager
def new_or_known_run(path: Path, config: RunConfig) -> Iterator[OpenedRun]:
    """As ``new_run``; but where the store has a run of the same settings and seed, go on with that.

    Its samples grow to those of *config* where that asks for more. What else *config* was given of how calls are made holds,
    also a lower budget, or None for no limit; what it was not given stays as the run has it.
    """
    with store_for_writing(path) as store:
        settled = config.model_copy(update={"model": model_of(config)})
        known = find_run(store, run_digest(settled), settled.seed)
        if known is None:
            check_provider(config)
            run, settled, provider = begin(store, config)
        else:
            changes = {name: getattr(config, name) for name in config.model_fields_set & (CONDUCT | PLACES - {"types"})}
            changes["samples"] = max(config.samples, known.samples)
            check_provider(changed_config(known, changes))
            run, settled, provider = take_up(store, known, **changes)
        yield OpenedRun(store=store, run=run, config=settled, provider=provider)
