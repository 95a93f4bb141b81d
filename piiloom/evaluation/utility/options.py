"""What the user may set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from piiloom.evaluation.utility.cases import VARIANTS
from piiloom.foundation.errors import UsageError
from piiloom.providers.errors import AuthFailed
from piiloom.providers.factory import KINDS, choose_model, make_provider
from piiloom.providers.price_checks import check_priced
from piiloom.providers.prices import ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import Provider

OFFLINE: Final = "offline"
_NO_KEY: Final = "Set the key, or leave --provider out: then a rule stands in for the judge, and is labelled so"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model: ``price`` has the form of --price, in USD per million tokens."""

    provider: str
    model: str | None = None
    base_url: str | None = None
    price: str | None = None

    @property
    def name(self) -> str:
        """The model's name, the provider's default one if none is given. Raises ``UsageError`` if there is neither."""
        return choose_model(self.provider, self.model)

    def spec(self) -> ModelSpec:
        """Return what is known of the model; no key is needed. Raises ``UsageError`` for an unknown provider."""
        if self.provider not in KINDS:
            remedy = f"Choose one of {', '.join(KINDS)}, or {OFFLINE} (a rule in place of a judge)"
            raise UsageError(f"there is no LLM provider {self.provider!r}", where="--provider", remedy=remedy)
        return load_models().resolve(self.provider, self.name, parse_prices(self.price) if self.price else None)

    def connect(self, options: UtilityOptions) -> Provider:
        """Return the provider. Raises ``AuthFailed`` without a key, ``UsageError`` without a price that is needed."""
        spec = self.spec()
        prices = parse_prices(self.price) if self.price else None
        try:
            provider = make_provider(self.provider, model=self.model, base_url=self.base_url, timeout_s=options.timeout_s, prices=prices)
        except AuthFailed as error:
            error.remedy = _NO_KEY
            raise
        check_priced(self.provider, self.name, self.base_url, spec, unpriced=options.unpriced, budget=options.budget_usd is not None)
        return provider


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityOptions:
    """The model that answers, the one that judges (None: the same), what is compared, and how calls are made.

    ``rpm`` and ``tpm`` limit requests and tokens per minute. ``attempts`` is the number of tries for one usable reply. ``unpriced`` accepts
    calls of unknown cost. ``prompts`` is a folder with templates that replace ours. *seed* makes other draws: equal seeds find each
    other's replies in the store. Raises ``UsageError`` if ``attempts`` or ``concurrency`` is below 1.
    """

    author: ModelChoice
    judge: ModelChoice | None = None
    variants: tuple[str, ...] = VARIANTS
    seed: int = 7
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    budget_usd: float | None = None
    unpriced: bool = False
    timeout_s: float = 60.0
    attempts: int = 3
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.concurrency < 1:
            raise UsageError("attempts and concurrency must be at least 1", where="--concurrency")
