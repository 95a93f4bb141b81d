"""The model that a detector asks, and how calls are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self

from pydantic import model_validator

from piiloom.detection.detector_settings import OnDevice, traces
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, OptionalPath, setting
from piiloom.providers.factory import KINDS, LOCAL, choose_model, make_local_provider, make_provider
from piiloom.providers.model_calls import CALLS, MODEL, ModelCalls
from piiloom.providers.price_checks import check_priced
from piiloom.providers.prices import FREE, ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import Provider

DEFAULT_REPLIES: Final = Path("outputs/detection.duckdb")


class ModelSettings(OnDevice, ModelCalls):
    """The model that is asked, the file of its replies, and how calls are made.

    With the provider "local", ``model`` is the folder of a language model, and ``adapter`` that of an adapter to it. ``run`` names the work
    (a digest of the input, say): sessions with the same ``run`` and settings are one run, which has one budget. ``seed`` makes other draws:
    equal seeds find each other's replies.
    """

    provider: str | None = setting(None, f"Provider of the model that is asked: {', '.join([*KINDS, LOCAL])}.", panel=MODEL)
    model: str | None = setting(None, "The provider's model, or the folder of a local one.", metavar="NAME", panel=MODEL)
    adapter: OptionalPath = setting(
        None, "With --provider local: adapter of piiloom train lora.", metavar="DIR", panel=MODEL, advanced=True
    )
    replies: AnyPath = setting(
        DEFAULT_REPLIES, "The DuckDB file in which replies are kept, so that none is paid for twice.", metavar="FILE", panel=CALLS
    )
    run: str = setting("", "Name of the run that shares a budget.", flags="-")
    seed: int = setting(7, "Other draws for another seed; equal ones find the replies that are kept.", flags="-")

    @model_validator(mode="after")
    def _with_a_model(self) -> Self:
        if self.provider == LOCAL and self.model is None:
            raise UsageError("the provider 'local' needs a model", where="--provider", remedy="Name its folder with --model")
        return self

    @property
    def base(self) -> Path | None:
        """The folder of a model on this machine; None if the provider is another one."""
        return Path(self.model) if self.provider == LOCAL and self.model is not None else None

    @property
    def name(self) -> str:
        """The model's name, the provider's default one if none is given. Raises ``UsageError`` if there is neither."""
        if self.base is not None:
            adapter = "" if self.adapter is None else f"+{self.adapter.resolve().name}"
            return f"{self.base.resolve().name}{adapter}"
        return choose_model(self.provider or "", self.model)

    @property
    def recipient(self) -> str:
        """The provider, address and model to which texts are sent, for people."""
        return f"{self.provider}{f' at {self.base_url}' if self.base_url else ''}, model {self.name}"

    def spec(self) -> ModelSpec:
        """Return the prices and limits of the model; no key is needed. Raises ``UsageError`` for an unknown provider."""
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
        spec, name = self.spec(), self.provider or ""
        provider = make_provider(name, model=self.model, base_url=self.base_url, timeout_s=self.timeout_s, prices=self._prices)
        check_priced(name, self.name, self.base_url, spec, unpriced=self.unpriced, budget=self.budget_usd is not None)
        return provider

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the replies, for digests."""
        shaping = {"provider": self.provider, "model": self.name, "base_url": self.base_url, "seed": self.seed}
        shaping["attempts"] = self.max_attempts
        folders = [one for one in (self.base, self.adapter) if one is not None] if self.provider == LOCAL else []
        return shaping | ({"files": [traces(one) for one in folders]} if folders else {})

    @property
    def _prices(self) -> ModelSpec | None:
        return parse_prices(self.price) if self.price else None
