"""Open a run to work on it: a new one, one that is resumed, or whichever of both a configuration asks for.

Whatever is refused, is refused before anything is stored; so is a provider that does not work, by a ping, so that a typo costs seconds, not
retries. Partition stores that a killed driver left behind are merged first, and rejects are lifted so that their items are tried again; if
their pair was given up, it is asked about again, too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from piiloom.corpus.store.call_events import CallEvent, save_call_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import Partition, left_over, merge_partition, missing, note_lost
from piiloom.corpus.store.opening import store_for_writing
from piiloom.corpus.store.releases import keep_types
from piiloom.corpus.store.runs import (
    RejectRow,
    RunRow,
    create_run,
    drop_shared_results,
    find_run,
    forget_untouched_run,
    get_run,
    lift_rejects,
    load_rejects,
    load_shared_results,
    set_run_config,
    set_run_samples,
)
from piiloom.execution.call_entries import failure_entry
from piiloom.foundation.errors import ProviderError, RunError, StoreLocked, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.generation.plan.planning import pair_order, text_of
from piiloom.generation.plan.supply import check_supply
from piiloom.generation.running.progress import TRANSIENT_CODES
from piiloom.generation.running.session import OpenedRun, model_of, open_provider
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CHANGEABLE_SETTINGS, PLACES, run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages import subtopics, topics
from piiloom.generation.stages.subtopics import topic_key
from piiloom.generation.stages.topics import pair_key
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.factory import choose_model
from piiloom.providers.format_probe import FormatReport, probe_formats
from piiloom.providers.sdk_provider import Ping, SdkProvider
from piiloom.taxonomy.entity_types import Pair
from piiloom.taxonomy.own_types import differences
from piiloom.taxonomy.own_types_file import read_types_file


def lift_named(store: Store, run: RunRow, names: str) -> int:
    """Lift the rejects that *names* lists, so that they are tried again; returns how many items, pairs and topics were lifted.

    *names*: plan indexes and reason codes, separated by commas. Raises ``UsageError`` listing the run's reason codes if none matches.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    indexes, codes = {int(name) for name in wanted if name.isdecimal()}, {name for name in wanted if not name.isdecimal()}
    config = make_config(run.config)
    rejects, lost, pairs = load_rejects(store, run.id), lost_pairs(store, run), pair_order(config)
    items = [row for row in rejects if row.plan_index is not None and (row.plan_index in indexes or row.reason_code in codes)]
    keys = _keys_named(rejects, codes, lost)
    for row in items:
        if row.stage in (topics.NAME, subtopics.NAME) and row.plan_index is not None:
            keys.update(lost.get(pairs[text_of(row.plan_index, config) % len(pairs)], ()))
    if not items and not keys:
        known = sorted({row.reason_code for row in rejects if row.plan_index is not None or row.key in _all_keys(lost)})
        there = f"Its reason codes: {', '.join(known)}" if known else "It has no rejects"
        raise UsageError(f"run {run.id} has no rejected item {names!r}", where="--retry", remedy=there)
    with store.transaction():
        drop_shared_results(store, run.id, sorted(keys))
        lift_rejects(store, run.id, keys=sorted(keys), indexes=[row.plan_index for row in items if row.plan_index is not None])
    return len(items) + len(keys)


def lost_pairs(store: Store, run: RunRow) -> dict[Pair, tuple[str, ...]]:
    """Return the pairs for which no item can be planned, each with the keys that were given up: its own, or those of all its topics."""
    listed = {key: json.loads(text) for key, text in load_shared_results(store, run.id, topics.NAME).items()}
    threads = {key: json.loads(text) for key, text in load_shared_results(store, run.id, subtopics.NAME).items()}
    lost: dict[Pair, tuple[str, ...]] = {}
    for pair in pair_order(make_config(run.config)):
        names = listed.get(pair_key(pair))
        if names is None:
            continue
        keys = [topic_key(pair, name) for name in names]
        if not any(threads.get(key, ["not asked yet"]) for key in keys):
            lost[pair] = tuple(keys) or (pair_key(pair),)
    return lost


def _keys_named(rejects: list[RejectRow], codes: set[str], lost: dict[Pair, tuple[str, ...]]) -> set[str]:
    known = _all_keys(lost)
    return {row.key for row in rejects if row.key in known and row.key is not None and row.reason_code in codes}


def _all_keys(lost: dict[Pair, tuple[str, ...]]) -> set[str]:
    return {key for keys in lost.values() for key in keys}


# After a driver is killed, its worker processes end by themselves, but not at once.
_PATIENCE_S = 20.0


def merge_leftover_partitions(store: Store, run_id: str, *, patience_s: float = _PATIENCE_S) -> int:
    """Merge all partition stores of *run_id* that exist; returns how many there were.

    Requests that were in flight are merged, too; the next ``open_channel`` then charges their worst-case cost, as after any kill.
    Partitions whose store is missing are noted as lost. Raises ``RunError`` if a process still holds a partition after *patience_s*
    seconds.
    """
    found = left_over(store, run_id)
    deadline = time.monotonic() + patience_s
    for path in found:
        while True:
            try:
                merge_partition(store, run_id, path)
                break
            except StoreLocked as error:
                if time.monotonic() > deadline:
                    raise RunError(
                        "a partition of the run is still being worked on",
                        where=str(path),
                        remedy="Wait for its process to end, or end it: ray stop",
                    ) from error
                time.sleep(0.2)
    for partition in missing(store, run_id):
        note_lost(store, partition)
    return len(found)


def charge_lost(store: Store, partition: Partition, spent_usd: float) -> None:
    """Note that *partition* is lost, and charge the *spent_usd* that it had spent to the run."""
    message = "its node and the replies on it are lost; what the partition had spent is set aside"
    entry = failure_entry(1, "interrupted", message, charge_usd=spent_usd, maybe_billed=True, final=False)
    event = CallEvent(key=partition.id, kind="failed", stage="partition", item_id=str(partition.number), attempt=0, entry=entry)
    with store.transaction():
        save_call_events(store, partition.run_id, [event])
        note_lost(store, partition)


T = TypeVar("T")

PING_TIMEOUT_S = 10.0


def ping(provider: SdkProvider[Any]) -> Ping:
    """Reach *provider* once, without paying for tokens, and close it; raises what its ``ping`` raises."""
    return _asked(provider, provider.ping)


def probe_format(provider: SdkProvider[Any], *, every: bool = False) -> FormatReport | None:
    """Find which response format a compatible server takes, for the rest of the process too, and close the provider.

    None for other providers, and where the process knows already, unless *every* format is to be tried.
    """
    from piiloom.providers.compatible_api import CompatibleProvider  # noqa: PLC0415 - imports an SDK, which takes most of a second

    if not isinstance(provider, CompatibleProvider) or (provider.probed and not every):
        return None
    return _asked(provider, lambda: probe_formats(provider, every=every))


def _asked(provider: SdkProvider[Any], ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def work() -> T:
        try:
            return await ask()
        finally:
            await provider.aclose()

    # In a thread of its own: a notebook's thread has an event loop running already.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def check_provider(config: RunConfig) -> None:
    """Refuse a *config* whose provider is unknown, has no price or key (``AuthFailed``), or cannot be reached (``ProviderUnavailable``).

    It also refuses a composer with too few stories (``UsageError``).
    Any other answer to the ping proves nothing (a key may be good for completions only): the run itself finds out.
    A compatible server is asked which response format it takes, once a process, unless the *config* says it.
    """
    check_supply(config)
    provider = open_provider(config.model_copy(update={"timeout_s": PING_TIMEOUT_S}))
    if not isinstance(provider, SdkProvider):
        return
    try:
        ping(provider)
    except ProviderUnavailable:
        raise
    except ProviderError:
        return
    if config.provider == "compatible" and config.response_format == "auto" and not config.batch:
        found = open_provider(config)  # with the time-out of the run: a server may have to load its model first
        if isinstance(found, SdkProvider):
            probe_format(found)


Refuse = Callable[[RunConfig], object]


@contextmanager
def new_run(path: Path, config: RunConfig, *, refuse: Refuse = noop) -> Iterator[OpenedRun]:
    """Start a run of *config* in the store at *path*, having seen that its provider works and that *refuse* raises nothing.

    A run that is refused before anything of it is kept is none.
    """
    refuse(config)
    check_provider(config)
    with store_for_writing(path) as store, forgotten_if_refused(start_run(store, config)) as opened:
        yield opened


@contextmanager
def resumed_run(
    path: Path, run_id: str, *, samples: int | None = None, retry: str | None = None, refuse: Refuse = noop, **changes: Any
) -> Iterator[OpenedRun]:
    """Go on with run *run_id* ("last" works), with its own settings; *samples* may only grow (``UsageError``).

    *changes* are those of ``changed_config``. *retry* names rejected items to try again, by plan index or reason code. A run has its own
    types with it: a types file is not needed, and refused where it says something else (``UsageError``).
    """
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        if samples is not None and samples < run.samples:
            raise UsageError(
                f"run {run.id} is asked for {counted(run.samples, 'sample')} already, and the number can only grow",
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
        yield resume_run(store, run, **changes)


@contextmanager
def new_or_known_run(path: Path, config: RunConfig, *, refuse: Refuse = noop) -> Iterator[OpenedRun]:
    """As ``new_run``; but where the store has a run of the same settings and seed, go on with that.

    Its samples grow to those of *config* where that asks for more. What else *config* was given of how calls are made holds,
    also a lower budget, or None for no limit; what it was not given stays as the run has it.
    """
    refuse(config)
    with store_for_writing(path) as store, started_or_known_run(store, config, refuse=check_provider) as opened:
        yield opened


@contextmanager
def started_or_known_run(store: Store, config: RunConfig, *, refuse: Refuse = noop) -> Iterator[OpenedRun]:
    """Resume the run that *store* has of the settings and the seed of *config*, or start it; raises as ``start_run``.

    *refuse* is called with the settings of the run before anything is changed.
    """
    known = known_run(store, config)
    if known is not None:
        changes = changes_of(config, known)
        refuse(changed_config(known, changes))
        yield resume_run(store, known, **changes)
        return
    refuse(config)
    with forgotten_if_refused(start_run(store, config)) as opened:
        yield opened


def known_run(store: Store, config: RunConfig) -> RunRow | None:
    """Return the run that *store* has of the settings and the seed of *config*, if there is one."""
    settled = _settled(config)
    return find_run(store, run_digest(settled), settled.seed)


def changes_of(config: RunConfig, known: RunRow) -> dict[str, Any]:
    """Return what *config* changes of the *known* run: how calls are made, as far as it says, and the samples if it asks for more."""
    changes = {name: getattr(config, name) for name in config.model_fields_set & (CHANGEABLE_SETTINGS | PLACES - {"types"})}
    return changes | {"samples": max(config.samples, known.samples)}


def start_run(store: Store, config: RunConfig) -> OpenedRun:
    """Add a run of *config* to *store*, with the models in use filled in, so that a later default does not mix two models in one run.

    Raises ``UsageError`` or ``AuthFailed`` if a provider cannot be opened, ``RunError`` if the store has the same run already.
    """
    _check_judge(config)
    provider = open_provider(config)
    settled = _settled(config)
    return OpenedRun(store=store, run=_add_run(store, settled), config=settled, provider=provider)


def resume_run(store: Store, run: RunRow, **changes: Any) -> OpenedRun:
    """Resume *run* with its stored settings and *changes* (see ``changed_config``); raises as ``resumed_config`` and ``start_run``.

    Merges partition stores that were left behind, and lifts rejects that were due to an unavailable provider, so that those items are
    tried again.
    """
    config = resumed_config(store, run, **changes)
    _check_judge(config)
    provider = open_provider(config)
    merge_leftover_partitions(store, run.id)
    lift_rejects(store, run.id, codes=TRANSIENT_CODES)
    if config.model_dump(mode="json") != run.config:
        set_run_config(store, run.id, config.model_dump(mode="json"))
    if config.samples != run.samples:
        set_run_samples(store, run.id, config.samples)
    return OpenedRun(store=store, run=run, config=config, provider=provider)


@contextmanager
def forgotten_if_refused(opened: OpenedRun) -> Iterator[OpenedRun]:
    """Delete the new run if the block raises before any of its work is stored, so that the same run can be started again."""
    try:
        yield opened
    except (UsageError, RunError):
        forget_untouched_run(opened.store, opened.run.id)
        raise


def changed_config(run: RunRow, changes: Mapping[str, Any]) -> RunConfig:
    """Return the configuration of *run* with *changes* applied.

    None resets a setting whose default is None (a limit, price or URL); for other settings it means no change. Raises ``UsageError``
    for a change that would alter the records, and for whatever ``make_config`` refuses.
    """
    fixed = sorted(changes.keys() - CHANGEABLE_SETTINGS - PLACES)
    if fixed:
        remedy = "Leave it out, or start another run"
        raise UsageError(f"a run keeps its {', '.join(fixed)}", where=run.id, remedy=remedy)
    fields = RunConfig.model_fields
    # Runs from before there were recipes have no such setting; they used the one now called "staged".
    return make_config(
        {
            "recipe": "staged",
            **run.config,
            **{key: value for key, value in changes.items() if value is not None or fields[key].default is None},
        }
    )


def resumed_config(store: Store, run: RunRow, **changes: Any) -> RunConfig:
    """Return the configuration with which ``resume_run`` would resume *run*, and change nothing.

    Raises ``RunError`` if templates, taxonomy, bank or code have changed since the run was started; else as ``changed_config``.
    """
    config = changed_config(run, changes)
    if run_digest(config) != run.config_digest:
        raise RunError(
            f"run {run.id} was started with other templates, taxonomy or scenario bank",
            where=str(store.path),
            remedy="Finish it with the version that started it, or start a new run, which reuses the paid replies that still fit",
        )
    return config


def _add_run(store: Store, config: RunConfig) -> RunRow:
    if (known := known_run(store, config)) is not None:
        raise RunError(
            f"run {known.id} has the same configuration and seed ({known.status})",
            where=str(store.path),
            remedy=f"Resume it with --resume {known.id} (--samples may grow), or choose another --seed or --store",
        )
    keep_types(store, config.types)
    return create_run(
        store,
        provider=config.provider,
        model=config.model,
        seed=config.seed,
        samples=config.samples,
        config=config.model_dump(mode="json"),
        config_digest=run_digest(config),
    )


def _settled(config: RunConfig) -> RunConfig:
    """Fill in the models in use."""
    judge = config.of_judge()
    named = {} if judge is None else {"judge_model": choose_model(judge.provider, judge.model)}
    return config.model_copy(update={"model": model_of(config), **named})


def _check_judge(config: RunConfig) -> None:
    """Raise the error that opening the run's separate judge would raise, such as a missing key or price."""
    if (judge := config.of_judge()) is not None:
        open_provider(judge)  # it connects with its first request, so there is nothing to close


def _refuse_other_types(run: RunRow, types: Path | None) -> None:
    if types is not None and (changed := differences(make_config(run.config).types, read_types_file(types))):
        raise UsageError(
            f"run {run.id} was started with other types; what differs: {', '.join(changed)}",
            where="--types",
            remedy="Leave --types out: the run keeps its types. For other types start a run in another --store",
        )
