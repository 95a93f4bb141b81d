"""An opened run with its provider, and a session on it: channels, the committer's thread, the topics, and the plan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import cached_property

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, set_run_status
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.money.budget import Budget
from piiloom.foundation.errors import UsageError
from piiloom.generation.composer.provider import ComposerProvider, StoryProvider
from piiloom.generation.item import Item
from piiloom.generation.plan.planning import make_case_item, make_plan_item, make_told_item, text_of, without_pii
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest
from piiloom.generation.stage import StageContext
from piiloom.prompts.library import open_library
from piiloom.providers.factory import choose_model, make_batch_api, make_priced_provider
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.bank_loading import limited
from piiloom.taxonomy.scenarios import Bank

# Shortest time between commits. Rows of an unpaid provider can be recomputed, so they are gathered into fewer, larger commits.
UNPAID_PACE_S = 0.5
# Paid replies are committed soon. A commit takes 1 to 3 ms of CPU time, with one row or with thirty.
PAID_PACE_S = 0.01
# In batch mode this many items wait at once; each takes some tens of kB of memory.
BATCH_WINDOW = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRun:
    """A run ready to be worked on: its store and row, its settings with the models filled in, and its open provider.

    ``opening`` makes it of a new run or of one that is resumed.
    """

    store: Store
    run: RunRow
    config: RunConfig
    provider: Provider

    @property
    def bank(self) -> Bank | None:
        """The scenario bank, if the provider composes from one."""
        return self.provider.bank if isinstance(self.provider, ComposerProvider) else None

    def reopened(self) -> OpenedRun:
        """Return the run with a provider opened anew, for a further session: each closes its provider."""
        return replace(self, provider=open_provider(self.config))

    @asynccontextmanager
    async def session(self, policy: CallPolicy | None = None) -> AsyncIterator[Session]:
        """Open a session and set the run's status to "running"; *policy* None: the call settings of the run.

        The caller reads what it needs from the store, then calls ``start_committing``. On exit, replies in flight are waited for, all
        rows are on disk, and the providers are closed. The caller sets the final status.
        """
        store, run_id, config, provider = self.store, self.run.id, self.config, self.provider
        set_run_status(store, run_id, "running")
        committer = GroupCommitter(store, run_id, pace_s=PAID_PACE_S if provider.paid else UNPAID_PACE_S)
        how = policy or call_policy(config)
        channel = open_channel(store, run_id, provider, committer, how, seed=config.seed)
        judge_config = config.of_judge()
        judge = open_provider(judge_config) if judge_config is not None else None
        judge_channel = open_channel(store, run_id, judge, committer, how, seed=config.seed, beside=channel) if judge is not None else None
        ctx = StageContext(
            config=config,
            calls=channel.calls,
            bank=self.bank,
            stories=provider.stories if isinstance(provider, StoryProvider) else None,
            aside_types=config.aside_types(),
            prompts=open_library(config.prompts),
            judge=judge_channel.calls if judge_channel is not None else None,
        )
        catalog = TopicCatalog(ctx, committer, store, run_id, gauge=channel.items, at_once=BATCH_WINDOW if config.batch else None)
        try:
            with closing(committer):
                try:
                    yield Session(run=self.run, ctx=ctx, committer=committer, catalog=catalog, channel=channel)
                finally:
                    await channel.calls.drain()
                    if judge_channel is not None:
                        await judge_channel.calls.drain()
        finally:
            await provider.aclose()
            if judge is not None:
                await judge.aclose()


@dataclass(kw_only=True)
class Session:
    """What is needed to work on an opened run; made by ``OpenedRun.session``."""

    run: RunRow
    ctx: StageContext
    committer: GroupCommitter
    catalog: TopicCatalog
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

    def planned(self, index: int) -> Item:
        """Plan item *index*, whose topics must be known; raises ``ItemRejected`` if its pair has no triplet."""
        ctx, digest = self.ctx, self._plan_digest
        text = text_of(index, ctx.config)
        if ctx.stories is not None:
            plain, before = without_pii(text, ctx.config) if ctx.stories.plain else (False, 0)
            pair, triplet = self.catalog.triplet(text - before)
            earlier = before if plain else self.catalog.texts_before(text - before)
            about = None if plain else triplet
            return Item(plan=make_told_item(index, pair, about, earlier, config=ctx.config, digest=digest, stories=ctx.stories))
        pair, triplet = self.catalog.triplet(text)
        if ctx.config.recipe == "case":
            return Item(plan=make_case_item(index, pair, triplet, config=ctx.config, digest=digest))
        return Item(plan=make_plan_item(index, pair, triplet, config=ctx.config, digest=digest, bank=ctx.bank))

    @cached_property
    def _plan_digest(self) -> str:
        return plan_digest(self.ctx.config)


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
        return ComposerProvider(bank_of(config), config.taxonomy(), distractors=config.composer.distractors, locale=config.locale)
    Budget(config.budget_usd)  # raises if the budget is not a valid amount
    provider = make_priced_provider(
        config.provider,
        config,
        model=config.model,
        base_url=config.base_url,
        price=config.price,
        response_format=config.response_format,
    )
    if config.batch:
        make_batch_api(provider)  # raises if the provider has no batch API
    return provider


def call_policy(config: RunConfig) -> CallPolicy:
    """Return the call settings of *config*: concurrency, rate limits, budget, batch mode."""
    return CallPolicy(concurrency=config.concurrency, rpm=config.rpm, tpm=config.tpm, budget_usd=config.budget_usd, batch=config.batch)


def bank_of(config: RunConfig) -> Bank:
    """Load the scenario bank for the composer of *config*, cut to ``composer.scenarios_per_pair`` if that is set."""
    bank = config.composed_from()
    most = config.composer.scenarios_per_pair
    return limited(bank, most) if most else bank
