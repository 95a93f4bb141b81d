"""Prices and limits of models: ``data/models.yaml`` (dated), overlaid by the user's own file and by ``--price``.

A model without a known price can be used on the user's own hardware, or with ``--unpriced``. Its cost is then None, never a guess.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import math
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import load_yaml
from piiloom.providers.protocol import TokenUsage

MODELS_VARIABLE = "PIILOOM_MODELS"
# Extra output tokens for an unknown model: newer models think by default, and thinking counts as output.
UNKNOWN_THINKING_TOKENS = 4096
PRICES = ("input", "cached", "output", "cache_write")
_PER_MILLION = 1e-6
# Vendors append the date to the name of a snapshot: gpt-6-luna-2026-09-22, claude-haiku-4-5-20251001.
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})\Z")
# A tuned model: ft:gpt-4.1-mini-2025-04-14:organisation:suffix:id. Its prices are listed as those of ft:gpt-4.1-mini.
TUNED = "ft:"

# Strict, since YAML reads "yes" as true, and true would be a price of one dollar.
Price = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class ModelSpec(BaseModel):
    """One model: prices in USD per million tokens (None: unknown), limits, and settings sent with every call.

    ``batch_discount`` is the factor on all prices in batch mode (None: the usual prices apply). ``overhead_tokens`` is an upper
    bound on the input tokens that the API adds to a prompt and its schema. ``thinking_tokens`` are added to each output limit, unless
    ``reply_tokens`` is given, which is the limit of all calls then.
    ``training``: the price of a million trained tokens, of a tuned model (``ft:…``). ``shuts_down``: the day announced by its maker.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Price | None = None
    cached: Price | None = None
    output: Price | None = None
    cache_write: Price | None = None
    batch_discount: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)] | None = None
    max_output_tokens: int | None = Field(default=None, gt=0)
    overhead_tokens: int = Field(default=512, ge=0)
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    thinking: Literal["disabled", "between_tools", "adaptive"] | None = None
    thinking_tokens: int = Field(default=0, ge=0)
    reply_tokens: int | None = Field(default=None, gt=0)
    training: Price | None = None
    shuts_down: dt.date | None = None

    @property
    def priced(self) -> bool:
        """Whether the cost of a call can be computed: input and output prices are known."""
        return self.input is not None and self.output is not None

    def cost_usd(self, usage: TokenUsage, *, batch: bool = False) -> float | None:
        """Return the cost of *usage* in USD; None if a price is unknown or the server reported no usage.

        (input − cached − written) · input price + cached · cached price + written · write price + output · output price,
        times the batch discount if *batch*. Cached and written tokens without a price of their own cost the input price.
        """
        if self.input is None or self.output is None or not (usage.input or usage.output):
            return None
        cached_price = self.input if self.cached is None else self.cached
        write_price = self.input if self.cache_write is None else self.cache_write
        fresh = max(0, usage.input - usage.cached - usage.cache_write)
        dollars = fresh * self.input + usage.cached * cached_price + usage.cache_write * write_price + usage.output * self.output
        return self._dollars(dollars, batch=batch)

    def worst_case_usd(self, input_bytes: int, max_output_tokens: int, *, batch: bool = False) -> float | None:
        """Return an upper bound in USD on the cost of one call; None if the model has no prices.

        *input_bytes* is the size of prompt and schema in UTF-8. A text has at most as many tokens as bytes; each is charged at
        the highest input rate. The output is charged at the full limit that is sent for *max_output_tokens*.
        """
        if self.input is None or self.output is None:
            return None
        dearest = max(price for price in (self.input, self.cached, self.cache_write) if price is not None)
        tokens = input_bytes + self.overhead_tokens
        return self._dollars(tokens * dearest + self.output_limit(max_output_tokens) * self.output, batch=batch)

    def output_limit(self, wanted: int) -> int:
        """Return the output limit to send for a reply of *wanted* tokens: plus ``thinking_tokens``, capped at the model's limit."""
        limit = self.reply_tokens or wanted + self.thinking_tokens
        return limit if self.max_output_tokens is None else min(limit, self.max_output_tokens)

    def with_prices(self, prices: ModelSpec) -> ModelSpec:
        """Return a copy with all prices taken from *prices*. Its own are dropped, even if unset there: price lists must not mix."""
        return self.model_copy(update={name: getattr(prices, name) for name in PRICES})

    def _dollars(self, millionths: float, *, batch: bool) -> float:
        factor = self.batch_discount if batch and self.batch_discount is not None else 1.0
        return round(millionths * factor * _PER_MILLION, 12)


def tuned_family(model: str) -> str:
    """Return the name by which models tuned from *model* are listed: ``ft:gpt-4.1-mini``. *model* may be tuned itself."""
    base = model.removeprefix(TUNED).partition(":")[0]
    return TUNED + _SNAPSHOT.sub("", base)


UNKNOWN = ModelSpec(thinking_tokens=UNKNOWN_THINKING_TOKENS)
FREE = ModelSpec(input=0.0, output=0.0)


class TuningTerms(BaseModel):
    """A provider's fine-tuning: the default base model, the date and source of the training prices, and what users should know first.

    ``ends``: the day from which the provider takes no new jobs, if it has announced one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    dated: dt.date
    source: str
    ends: dt.date | None = None
    notice: str = ""


class ModelBook(BaseModel):
    """All known models by provider and name, with the date of the prices and each provider's default model.

    ``every`` holds, by provider, values that apply to all its models unless the model's own entry sets them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dated: dt.date
    defaults: Mapping[str, str] = Field(default={})
    every: Mapping[str, ModelSpec] = Field(default={})
    tuning: Mapping[str, TuningTerms] = Field(default={})
    models: Mapping[str, Mapping[str, ModelSpec]]

    def find(self, provider: str, model: str) -> ModelSpec | None:
        """Return the entry for *model*, or for the model of which it is a dated snapshot or a tuned one; None if unknown."""
        known = self.models.get(provider, {})
        family = tuned_family(model) if model.startswith(TUNED) else _SNAPSHOT.sub("", model)
        found = known.get(model) or known.get(family)
        return None if found is None else self._completed(provider, found)

    def resolve(self, provider: str, model: str, prices: ModelSpec | None = None) -> ModelSpec:
        """Return the spec of *model*, or defaults if it is unknown, with *prices* if they are given."""
        found = self.find(provider, model) or self._completed(provider, UNKNOWN)
        return found if prices is None else found.with_prices(prices)

    def overlaid(self, other: ModelBook) -> ModelBook:
        """Return a book with the entries of both; those of *other* win."""
        names = list(dict.fromkeys([*self.models, *other.models]))
        merged = {name: {**self.models.get(name, {}), **other.models.get(name, {})} for name in names}
        every, tuning = {**self.every, **other.every}, {**self.tuning, **other.tuning}
        return ModelBook(dated=other.dated, defaults={**self.defaults, **other.defaults}, every=every, tuning=tuning, models=merged)

    def _completed(self, provider: str, spec: ModelSpec) -> ModelSpec:
        common = self.every.get(provider)
        if common is None:
            return spec
        missing = common.model_fields_set - spec.model_fields_set
        return spec.model_copy(update={name: getattr(common, name) for name in missing})


@lru_cache(maxsize=1)
def shipped_models() -> ModelBook:
    """The book that comes with piiloom."""
    return load_yaml(resources.files("piiloom.providers") / "data" / "models.yaml", ModelBook)


def load_models(extra: Path | None = None) -> ModelBook:
    """Return the shipped book, overlaid by the file *extra* or, if None, the file named by ``PIILOOM_MODELS``.

    Raises ``ConfigError``, naming file, line and key, if the file does not exist or cannot be read.
    """
    named = os.environ.get(MODELS_VARIABLE, "").strip()
    path = extra or (Path(named) if named else None)
    if path is None:
        return shipped_models()
    if not path.is_file():
        source = f" (named by {MODELS_VARIABLE})" if extra is None else ""
        raise ConfigError(f"there is no such models file{source}", where=str(path), remedy="Create it or correct the path")
    return shipped_models().overlaid(load_yaml(path, ModelBook))


def parse_prices(text: str) -> ModelSpec:
    """Parse ``input=0.5,output=1.5`` (USD per million tokens; optionally ``cached`` and ``cache_write``).

    Raises ``UsageError`` for anything else.
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or name not in PRICES:
            raise _bad_prices(f"{name or 'nothing'!r} is not one of {', '.join(PRICES)}")
        if name in found:
            raise _bad_prices(f"{name} is given twice")
        found[name] = _dollars_per_million(name, value)
    missing = [name for name in ("input", "output") if name not in found]
    if missing:
        raise _bad_prices(f"{' and '.join(missing)} missing")
    return ModelSpec.model_validate(found)


def _dollars_per_million(name: str, value: str) -> float:
    try:
        price = float(value)
    except ValueError:
        raise _bad_prices(f"{name} is not a number") from None
    if not 0 <= price < math.inf:  # also false for NaN
        raise _bad_prices(f"{name} must be a finite number, 0 or more")
    return price


def _bad_prices(fault: str) -> UsageError:
    example = "--price input=0.5,output=1.5 or, in full, --price input=0.5,cached=0.05,cache_write=0.6,output=1.5"
    return UsageError(fault, where="--price", remedy=f"Give USD per million tokens as {example}")


# Domains that resolve only on one host or in a local network (RFC 6761, 6762, 8375, and .internal).
_PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa", ".lan")


def needs_prices(provider: str, base_url: str | None, spec: ModelSpec) -> bool:
    """Whether prices are missing for calls that will be charged. A compatible server at a private address does not charge."""
    return not spec.priced and not (provider == "compatible" and is_private(base_url))


def check_priced(provider: str, model: str, base_url: str | None, spec: ModelSpec, *, unpriced: bool, budget: bool = False) -> None:
    """Raise ``UsageError`` if the model has no known price, unless *unpriced* accepts calls of unknown cost.

    With a *budget*, prices are always required, because it could not be enforced without them.
    """
    if spec.priced or not (budget or (not unpriced and needs_prices(provider, base_url, spec))):
        return
    remedy = 'Give its prices, as in --price "input=0.5,output=1.5" (USD per million tokens)'
    if budget:
        raise UsageError(f"a budget needs prices, and those of the model {model!r} are unknown", where="--budget-usd", remedy=remedy)
    accept = ", or accept calls of unknown cost with --unpriced"
    raise UsageError(f"the price of the model {model!r} is unknown", where=provider, remedy=remedy + accept)


def is_private(base_url: str | None) -> bool:
    """Whether *base_url* points to this machine or the local network, judged by the text alone, without a DNS lookup."""
    try:
        host = (urlsplit(base_url or "").hostname or "").rstrip(".").casefold()
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        # A host name without a dot, for example of a container, is not on the public internet.
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_ENDINGS))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return not mapped.is_global
