"""The provider that a run's settings name, opened and checked, and how it is to be called."""

from __future__ import annotations

from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.money.budget import Budget
from piiloom.foundation.errors import UsageError
from piiloom.generation.composer.provider import ComposerProvider
from piiloom.generation.composer.story_provider import StoryProvider
from piiloom.generation.settings.configuration import RunConfig
from piiloom.providers.factory import choose_model, make_batch_api, make_provider
from piiloom.providers.price_checks import check_priced
from piiloom.providers.prices import parse_prices
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.bank_loading import limited, load_bank
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.scenarios import Bank


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
