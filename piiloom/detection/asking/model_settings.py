"""Which model to ask, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.detection.detector_settings import traces
from piiloom.foundation.errors import UsageError
from piiloom.providers.factory import KINDS, LOCAL, choose_model, make_local_provider, make_provider
from piiloom.providers.price_checks import check_priced
from piiloom.providers.prices import FREE, ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import Provider

_LEAST: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The model that is asked, where its replies are kept, and how calls are made.

    ``store`` is the DuckDB file of replies. ``run`` names what is worked on (a digest of the input, say): sessions with the same ``run``
    and settings are one run, whose budget they share. ``price`` has the form of --price, in USD per million tokens. ``rpm`` and ``tpm``
    limit requests and tokens a minute. ``attempts`` is the number of tries for one usable reply. ``unpriced`` accepts calls of unknown
    cost. ``prompts`` is a folder with templates that replace ours. ``batch`` sends calls through the provider's batch API. ``base`` and
    ``adapter`` are the folders of a model on this machine (provider "local"), which runs on ``device`` and reads ``batch_size`` prompts at
    once. *seed* makes other draws: equal seeds find each other's replies. Raises ``UsageError`` for numbers below 1, and for a base without
    that provider or the other way round.
    """

    provider: str
    store: Path
    model: str | None = None
    base_url: str | None = None
    price: str | None = None
    run: str = ""
    seed: int = 7
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    budget_usd: float | None = None
    unpriced: bool = False
    timeout_s: float = 60.0
    attempts: int = 3
    batch: bool = False
    prompts: Path | None = None
    base: Path | None = None
    adapter: Path | None = None
    device: str = "auto"
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.attempts < _LEAST or self.concurrency < _LEAST:
            raise UsageError("attempts and concurrency must be at least 1", where="--concurrency")
        if self.batch_size < _LEAST:
            raise UsageError("a batch has at least one prompt", where="--batch-size")
        if self.provider == LOCAL and self.base is None:
            raise UsageError("the provider 'local' needs a model", where="--provider", remedy="Name its folder with --base")
        if self.provider != LOCAL and self.base is not None:
            remedy = "Leave --provider or --base out"
            raise UsageError(f"the provider {self.provider!r} has models of its own", where="--base", remedy=remedy)

    @property
    def name(self) -> str:
        """The model's name, the provider's default one if none is given. Raises ``UsageError`` if there is neither."""
        if self.base is not None:
            adapter = "" if self.adapter is None else f"+{self.adapter.resolve().name}"
            return f"{self.base.resolve().name}{adapter}"
        return choose_model(self.provider, self.model)

    def spec(self) -> ModelSpec:
        """What is known of the model; no key is needed. Raises ``UsageError`` for an unknown provider."""
        if self.provider == LOCAL:
            return FREE
        if self.provider not in KINDS:
            remedy = f"Choose one of {', '.join([*KINDS, LOCAL])}; without a model there are --detector patterns and hybrid-offline"
            raise UsageError(f"there is no LLM provider {self.provider!r}", where="--provider", remedy=remedy)
        return load_models().resolve(self.provider, self.name, self._prices)

    def connect(self) -> Provider:
        """Return the provider. Raises ``AuthFailed`` without a key, ``UsageError`` without a price that is needed."""
        if self.base is not None:
            return make_local_provider(self.base, self.adapter, device=self.device, batch_size=self.batch_size)
        spec = self.spec()
        provider = make_provider(self.provider, model=self.model, base_url=self.base_url, timeout_s=self.timeout_s, prices=self._prices)
        check_priced(self.provider, self.name, self.base_url, spec, unpriced=self.unpriced, budget=self.budget_usd is not None)
        return provider

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the replies, for digests."""
        shaping = {"provider": self.provider, "model": self.name, "base_url": self.base_url, "seed": self.seed, "attempts": self.attempts}
        folders = [one for one in (self.base, self.adapter) if one is not None]
        return shaping | ({"files": [traces(one) for one in folders]} if folders else {})

    @property
    def _prices(self) -> ModelSpec | None:
        return parse_prices(self.price) if self.price else None
