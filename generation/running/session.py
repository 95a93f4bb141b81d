"""Start, resume and open a run: its row in the store, its provider, the committer's thread, and the queue of calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import keep_types
from piiloom.corpus.store.progress import lift_rejects
from piiloom.corpus.store.runs import RunRow, create_run, find_run, set_run_config, set_run_samples, set_run_status
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.money.budget import Budget
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation.composer.provider import ComposerProvider
from piiloom.generation.composer.story_provider import StoryProvider
from piiloom.generation.running.crash_recovery import merge_leftover_partitions
from piiloom.generation.running.resume_state import TRANSIENT_CODES
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CONDUCT, PLACES, run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stage import StageContext
from piiloom.prompts.library import open_library
from piiloom.providers.factory import choose_model, make_batch_api, make_provider
from piiloom.providers.price_checks import check_priced
from piiloom.providers.prices import parse_prices
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.bank_loading import limited, load_bank
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.scenarios import Bank

# Shortest time between commits. Rows of an unpaid provider can be recomputed, so they are gathered into fewer, larger commits.
UNPAID_PACE_S = 0.5
# Paid replies are committed soon. A commit takes 1 to 3 ms of CPU time, with one row or with thirty.
PAID_PACE_S = 0.01
# In batch mode this many items wait at once; each takes some tens of kB of memory.
BATCH_WINDOW = 4096


@dataclass(slots=True, kw_only=True)
class Session:
    """An open run with all that is needed to work on it; made by ``open_session``."""

    run: RunRow
    store: Store
    ctx: StageContext
    committer: GroupCommitter
    book: TopicCatalog
    channel: CallChannel

    @property
    def items_at_once(self) -> int:
        """How many items to work on at once.

        With a paid provider it is 1.5 times the concurrency, so that all call slots stay busy while some items wait for a commit.
        """
        wanted = self.ctx.config.concurrency
        if self.ctx.config.batch:
            return BATCH_WINDOW
        return wanted + wanted // 2 if self.ctx.calls.provider.paid else wanted

    def start_committing(self) -> None:
        """Hand the store over to the committer's thread; nothing else may use it until the session ends."""
        self.committer.start()


def model_of(config: RunConfig) -> str:
    """Return the model of *config*, or its provider's default.

    Raises ``UsageError`` if no model is known, or if the composer is given a model or a base URL.
    """
    if config.provider != "composer":
        return choose_model(config.provider, config.model)
    own = StoryProvider.model if config.recipe == "story" else ComposerProvider.model
    if config.base_url or config.model not in (None, own):
        raise UsageError("the composer takes neither --model nor --base-url", remedy="Name a provider with --provider")
    return own


def open_provider(config: RunConfig) -> Provider:
    """Create the provider that *config* names; raises ``UsageError`` or ``AuthFailed`` naming the missing or wrong setting."""
    if config.provider == "composer":
        model_of(config)
        if config.recipe == "story":
            return StoryProvider(config.stories())
        return ComposerProvider(bank_of(config), distractors=config.composer.distractors, locale=config.locale)
    prices = parse_prices(config.price) if config.price else None
    Budget(config.budget_usd)  # raises if the budget is not a valid amount
    provider = make_provider(
        config.provider,
        model=config.model,
        base_url=config.base_url,
        timeout_s=config.timeout_s,
        prices=prices,
        response_format=config.response_format,
    )
    check_priced(
        config.provider,
        provider.model,
        config.base_url,
        provider.spec,
        unpriced=config.unpriced,
        budget=config.budget_usd is not None,
    )
    if config.batch:
        make_batch_api(provider)  # raises if the provider has no batch API
    return provider


def call_policy(config: RunConfig) -> CallPolicy:
    """Return the call settings of *config*: concurrency, rate limits, budget, batch mode."""
    return CallPolicy(concurrency=config.concurrency, rpm=config.rpm, tpm=config.tpm, budget_usd=config.budget_usd, batch=config.batch)


def bank_of(config: RunConfig) -> Bank:
    """Load the scenario bank for the composer of *config*, cut to ``composer.scenarios_per_pair`` if that is set."""
    with config.types_in_force():
        bank = load_bank(get_locale(config.locale).language, config.bank)
    most = config.composer.scenarios_per_pair
    return limited(bank, most) if most else bank


def settle(config: RunConfig, provider: Provider) -> RunConfig:
    """Write the models in use into *config*, so that a later change of a default does not mix two models in one run."""
    judge = config.of_judge()
    named = {} if judge is None else {"judge_model": choose_model(judge.provider, judge.model)}
    return config.model_copy(update={"model": provider.model, **named})


def start_run(store: Store, config: RunConfig) -> RunRow:
    """Add a run for *config*, which ``settle`` has completed.

    Raises ``RunError`` if the store has a run with the same configuration and seed.
    """
    known = find_run(store, run_digest(config), config.seed)
    if known is not None:
        raise RunError(
            f"run {known.id} has the same configuration and seed ({known.status})",
            where=str(store.path),
            remedy=f"Go on with it by --resume {known.id}, or choose another --seed or --store",
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


def changed_config(run: RunRow, changes: Mapping[str, Any]) -> RunConfig:
    """Return the configuration of *run* with *changes* applied.

    None resets a setting whose default is None (a limit, price or URL); for other settings it means no change. Raises ``UsageError``
    for a change that would alter the records, and for whatever ``make_config`` refuses.
    """
    fixed = sorted(changes.keys() - CONDUCT - PLACES)
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
    """Return the configuration with which ``resume_run`` would resume *run*; raises the same errors, and changes nothing."""
    config = changed_config(run, changes)
    if run_digest(config) != run.config_digest:
        raise RunError(
            f"run {run.id} was started with other templates, taxonomy or scenario bank",
            where=str(store.path),
            remedy="Finish it with the piiloom that started it, or start a new run: it uses the paid replies of this one that still fit",
        )
    return config


def resume_run(store: Store, run: RunRow, **changes: Any) -> tuple[RunRow, RunConfig]:
    """Resume *run* with its stored configuration and *changes* (see ``changed_config``).

    Merges partition stores that were left behind, and lifts rejects that were due to an unavailable provider, so that those items are
    tried again. Raises ``RunError`` if templates, taxonomy, bank or code have changed since the run was started.
    """
    config = resumed_config(store, run, **changes)
    merge_leftover_partitions(store, run.id)
    lift_rejects(store, run.id, codes=TRANSIENT_CODES)
    if config.model_dump(mode="json") != run.config:
        set_run_config(store, run.id, config.model_dump(mode="json"))
    if config.samples != run.samples:
        set_run_samples(store, run.id, config.samples)
    return run, config


@asynccontextmanager
async def open_session(
    store: Store, run: RunRow, config: RunConfig, provider: Provider, *, policy: CallPolicy | None = None
) -> AsyncIterator[Session]:
    """Open a session on *run* and set its status to "running".

    The caller reads what it needs from the store, then calls ``start_committing``. On exit, replies in flight are waited for, all rows
    are on disk, and the providers are closed. The caller sets the final status.
    """
    set_run_status(store, run.id, "running")
    committer = GroupCommitter(store, run.id, pace_s=PAID_PACE_S if provider.paid else UNPAID_PACE_S)
    how = policy or call_policy(config)
    channel = open_channel(store, run.id, provider, committer, how, seed=config.seed)
    judge_config = config.of_judge()
    judge = open_provider(judge_config) if judge_config is not None else None
    judge_channel = open_channel(store, run.id, judge, committer, how, seed=config.seed, beside=channel) if judge is not None else None
    bank = provider.bank if isinstance(provider, ComposerProvider) else None
    stories = provider.stories if isinstance(provider, StoryProvider) else None
    ctx = StageContext(
        config=config,
        calls=channel.calls,
        bank=bank,
        stories=stories,
        prompts=open_library(config.prompts),
        judge=judge_channel.calls if judge_channel is not None else None,
    )
    book = TopicCatalog(ctx, committer, store, run.id, gauge=channel.items, at_once=BATCH_WINDOW if config.batch else None)
    try:
        with closing(committer):
            try:
                yield Session(run=run, store=store, ctx=ctx, committer=committer, book=book, channel=channel)
            finally:
                await channel.calls.drain()
                if judge_channel is not None:
                    await judge_channel.calls.drain()
    finally:
        await provider.aclose()
        if judge is not None:
            await judge.aclose()
