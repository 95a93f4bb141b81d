"""What a model costs and takes: ``data/models.yaml`` (dated), overlaid by the user's own file.

A model that neither file lists can be used all the same; its cost is then None, never a guess.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from foundation.errors import ConfigError
from foundation.yaml_files import load_yaml
from providers.protocol import TokenUsage

MODELS_VARIABLE = "PIILOOM_MODELS"
# Room for thinking when nothing is known of a model: newer models think unless told not to, and it counts as output.
UNKNOWN_THINKING_TOKENS = 4096
_PER_MILLION = 1e-6
# Makers name a snapshot after its date: gpt-6-luna-2026-09-22, claude-haiku-4-5-20251001.
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})\Z")

Price = float


class ModelSpec(BaseModel):
    """One model: prices in USD per million tokens (None: unknown), limits, and what is sent with every call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Price | None = Field(default=None, ge=0)
    cached: Price | None = Field(default=None, ge=0)
    output: Price | None = Field(default=None, ge=0)
    cache_write: Price | None = Field(default=None, ge=0)
    max_output_tokens: int | None = Field(default=None, gt=0)
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    thinking: Literal["disabled", "between_tools", "adaptive"] | None = None
    thinking_tokens: int = Field(default=0, ge=0)

    def cost_usd(self, usage: TokenUsage, *, cache_write: int = 0) -> float | None:
        """USD for *usage*, of whose input *cache_write* tokens went to the cache; None where a price is unknown.

        (input − cached − written) · input price + cached · cached price + written · write price + output · output price.
        Without a price of their own, cached and written tokens cost what other input tokens cost.
        """
        if self.input is None or self.output is None:
            return None
        cached_price = self.input if self.cached is None else self.cached
        write_price = self.input if self.cache_write is None else self.cache_write
        fresh = max(0, usage.input - usage.cached - cache_write)
        dollars = fresh * self.input + usage.cached * cached_price + cache_write * write_price + usage.output * self.output
        return round(dollars * _PER_MILLION, 12)

    def output_limit(self, wanted: int) -> int:
        """The output limit to send for an answer of *wanted* tokens: room for thinking added, the model's own limit kept."""
        limit = wanted + self.thinking_tokens
        return limit if self.max_output_tokens is None else min(limit, self.max_output_tokens)


UNKNOWN = ModelSpec(thinking_tokens=UNKNOWN_THINKING_TOKENS)


class ModelBook(BaseModel):
    """All known models by provider and name, the date the prices are from, and the model used when none is named."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dated: dt.date
    defaults: Mapping[str, str] = Field(default_factory=dict)
    models: Mapping[str, Mapping[str, ModelSpec]]

    def find(self, provider: str, model: str) -> ModelSpec | None:
        """The entry for *model*, or for the model it is a dated snapshot of; None when unknown."""
        known = self.models.get(provider, {})
        return known.get(model) or known.get(_SNAPSHOT.sub("", model))

    def overlaid(self, other: ModelBook) -> ModelBook:
        """A book of this one with the entries of *other* added; those of *other* win."""
        names = list(dict.fromkeys([*self.models, *other.models]))
        merged = {name: {**self.models.get(name, {}), **other.models.get(name, {})} for name in names}
        return ModelBook(dated=other.dated, defaults={**self.defaults, **other.defaults}, models=merged)


@lru_cache(maxsize=1)
def shipped_models() -> ModelBook:
    """The book that comes with piiloom."""
    return load_yaml(resources.files("providers") / "data" / "models.yaml", ModelBook)


def load_models(extra: Path | None = None) -> ModelBook:
    """The shipped book, overlaid by *extra* or else by the file that ``PIILOOM_MODELS`` names.

    ``ConfigError`` names file, line and key of what cannot be read there.
    """
    named = os.environ.get(MODELS_VARIABLE, "").strip()
    path = extra or (Path(named) if named else None)
    if path is None:
        return shipped_models()
    if not path.is_file():
        source = f" (named by {MODELS_VARIABLE})" if extra is None else ""
        raise ConfigError(f"there is no such models file{source}", where=str(path), remedy="Create it or correct the path")
    return shipped_models().overlaid(load_yaml(path, ModelBook))
