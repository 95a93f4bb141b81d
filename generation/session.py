"""What a run needs to work: its row in the store, the provider, the committer's thread, the ledger of calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from corpus.store.completions import load_replies
from corpus.store.database import Store
from corpus.store.runs import RunRow, create_run, find_run, set_run_samples, set_run_status
from execution.calls import Calls
from execution.committing import GroupCommitter
from foundation.errors import RunError, UsageError
from generation.composer.provider import ComposerProvider
from generation.configuration import RunConfig, make_config
from generation.stage import StageContext
from generation.triplet_book import TripletBook
from providers.factory import make_provider
from providers.protocol import Provider
from taxonomy.bank_loading import limited, load_bank
from taxonomy.locales import get_locale
from taxonomy.scenarios import Bank

# Rows of an unpaid provider can be recomputed, so they may gather: fewer, larger commits.
UNPAID_LINGER_S = 0.5


@dataclass(slots=True, kw_only=True)
class Session:
    """An open run."""

    run: RunRow
    store: Store
    ctx: StageContext
    committer: GroupCommitter
    book: TripletBook

    def start_committing(self) -> None:
        """Hand the store to the committer's thread; nothing else may read it until the session ends."""
        self.committer.start()


def open_provider(config: RunConfig) -> Provider:
    """Make the provider that *config* names; raises ``UsageError`` or ``AuthFailed`` naming what is missing."""
    if config.provider == "composer":
        if config.base_url or config.model not in (None, ComposerProvider.model):
            raise UsageError("the composer takes neither --model nor --base-url", remedy="Name a provider with --provider")
        return ComposerProvider(bank_of(config), distractors=config.composer.distractors)
    return make_provider(config.provider, model=config.model, base_url=config.base_url)


def bank_of(config: RunConfig) -> Bank:
    """The bank that the composer of *config* composes from."""
    bank = load_bank(get_locale(config.locale).language, config.bank)
    most = config.composer.scenarios_per_pair
    return limited(bank, most) if most else bank


def settle(config: RunConfig, provider: Provider) -> RunConfig:
    """Write the model that is really used into *config*, so that a changed default never mixes two models in a run."""
    return config.model_copy(update={"model": provider.model})


def start_run(store: Store, config: RunConfig) -> RunRow:
    """Add a run for a settled *config*; raises ``RunError`` when the store has one of the same configuration and seed."""
    known = find_run(store, config.digest(), config.seed)
    if known is not None:
        raise RunError(
            f"run {known.id} has the same configuration and seed ({known.status})",
            where=str(store.path),
            remedy=f"Go on with it by --resume {known.id}, or choose another --seed or --store",
        )
    return create_run(
        store,
        provider=config.provider,
        model=config.model,
        seed=config.seed,
        samples=config.samples,
        config=config.model_dump(mode="json"),
        config_digest=config.digest(),
    )


def resume_run(store: Store, run: RunRow, *, samples: int | None = None, concurrency: int | None = None) -> tuple[RunRow, RunConfig]:
    """Take *run* up again with its own configuration, or with more samples.

    Raises ``RunError`` when what shapes its records (templates, taxonomy, bank, code) has changed since.
    """
    changes = {key: value for key, value in (("samples", samples), ("concurrency", concurrency)) if value is not None}
    config = make_config({**run.config, **changes})
    if config.digest() != run.config_digest:
        raise RunError(
            f"run {run.id} was started with other templates, taxonomy or scenario bank",
            where=str(store.path),
            remedy="Finish it with the piiloom that started it, or start a new run with another --store",
        )
    if samples is not None and samples != run.samples:
        set_run_samples(store, run.id, samples)
    return run, config


@asynccontextmanager
async def open_session(store: Store, run: RunRow, config: RunConfig, provider: Provider) -> AsyncIterator[Session]:
    """Work on *run*: its status is "running" meanwhile; the provider is closed and all rows are on disk afterwards.

    The caller reads what it needs from the store, then calls ``start_committing``.
    """
    set_run_status(store, run.id, "running")
    journal = load_replies(store, run.id) if provider.paid else {}
    committer = GroupCommitter(store, run.id, linger_s=0.0 if provider.paid else UNPAID_LINGER_S)
    calls = Calls(provider, committer, run.id, journal)
    bank = provider.bank if isinstance(provider, ComposerProvider) else None
    ctx = StageContext(config=config, calls=calls, bank=bank)
    book = TripletBook(ctx, committer, store, run.id)
    try:
        with closing(committer):
            yield Session(run=run, store=store, ctx=ctx, committer=committer, book=book)
    finally:
        await provider.aclose()
