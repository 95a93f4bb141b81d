"""The settings of every command that calls a model: which model, how calls are made, and what they may cost."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator

from piiloom.foundation.settings import OptionalPath, Settings, setting

MODEL: Final = "Model"
JUDGES: Final = "Judges"
CALLS: Final = "Calls"
MONEY: Final = "Cost"
LOCAL: Final = "local"  # the provider of a model in a folder, which needs no key and no address


def _priced(price: str | None) -> str | None:
    """Return *price*. Raises ``UsageError`` for a text that names no prices."""
    if price is not None:
        from piiloom.providers.prices import parse_prices  # noqa: PLC0415 - it loads the reader of YAML

        parse_prices(price)
    return price


def _without_credentials(url: str | None) -> str | None:
    """Return *url*. Raises ``ValueError`` for one with credentials: settings are stored with runs, so they must not hold secrets."""
    if url and "@" in url.split("://", 1)[-1].split("/", 1)[0]:
        raise ValueError("holds credentials, which would be stored; give a key as PIILOOM_COMPATIBLE_API_KEY instead")
    if url and re.search(r"[?&][^=]*(?:key|token|secret|sig|password)=", url, re.IGNORECASE):
        raise ValueError("holds a key in its query, which would be stored; give it as PIILOOM_COMPATIBLE_API_KEY instead")
    return url


Address = Annotated[str | None, AfterValidator(_without_credentials)]
Prices = Annotated[str | None, AfterValidator(_priced)]


class ModelCalls(Settings):
    """The model that is asked, how calls are made, and what they may cost. ``provider`` None: no model is asked."""

    panels: ClassVar[tuple[str, ...]] = (MODEL, CALLS, MONEY)

    provider: str | None = setting(
        None,
        "Provider of the model: openai, anthropic or compatible. Keys come from the environment (docs/troubleshooting.md).",
        panel=MODEL,
    )
    model: str | None = setting(None, "The provider's model, as the provider spells it.", panel=MODEL)
    base_url: Address = setting(None, "Address of a compatible server: http://localhost:11434/v1.", metavar="URL", panel=MODEL, counts="no")
    prompts: OptionalPath = setting(
        None,
        "Your own prompt templates, which replace shipped ones by name (docs/prompts.md).",
        metavar="DIR",
        panel=MODEL,
        counts="content",
    )
    concurrency: int = setting(16, "Calls in flight at once; never changes a result.", panel=CALLS, counts="no", ge=1, le=4096)
    rpm: float | None = setting(
        None,
        "Requests per minute that the account allows; learnt from the server if it says so.",
        panel=CALLS,
        counts="no",
        gt=0,
        advanced=True,
    )
    tpm: float | None = setting(
        None,
        "Tokens per minute that the account allows; learnt from the server if it says so.",
        panel=CALLS,
        counts="no",
        gt=0,
        advanced=True,
    )
    timeout_s: float | None = setting(
        None,
        "Longest duration of one request (default: a minute, and a second for every 20 tokens that the reply may have).",
        flags="--timeout",
        metavar="SECONDS",
        panel=CALLS,
        counts="no",
        gt=0,
        le=3600,
        advanced=True,
    )
    max_output_tokens: int | None = setting(
        None,
        "Most tokens of a reply, a model's thoughts included (default: what the reply needs, and room for thoughts).",
        panel=CALLS,
        counts="no",
        ge=1,
        advanced=True,
    )
    max_attempts: int = setting(
        3, "Calls for one usable reply before the item is rejected or rules decide.", panel=CALLS, ge=1, le=20, advanced=True
    )
    batch: bool = setting(False, "Use the provider's batch API (half the price, up to a day). Ctrl-C is safe.", panel=CALLS, counts="no")
    budget_usd: float | None = setting(
        None,
        "Hard limit for all sessions: no call starts that could exceed it. Resume with a larger one.",
        metavar="USD",
        panel=MONEY,
        counts="no",
        gt=0,
    )
    price: Prices = setting(
        None,
        "USD per million tokens of a model that is not listed (one on a server of your own is free); also cached=…, cache_write=….",
        metavar="input=X,output=Y",
        panel=MONEY,
        counts="no",
        advanced=True,
    )
    unpriced: bool = setting(
        False, "Continue although the model's price is unknown: costs are not counted.", panel=MONEY, counts="no", advanced=True
    )


class JudgeCalls(Settings):
    """The separate judge, if it is not the model that writes: its provider, model, address and prices."""

    judge_provider: str | None = setting(
        None, "Provider of a separate judge: openai, anthropic or compatible.", panel=JUDGES, counts="apart", advanced=True
    )
    judge_model: str | None = setting(
        None, "Model of the judge; alone: another model of the same provider.", panel=JUDGES, counts="apart", advanced=True
    )
    judge_base_url: Address = setting(
        None, "Address of the judge's compatible server.", metavar="URL", panel=JUDGES, counts="no", advanced=True
    )
    judge_price: Prices = setting(None, "Prices of the judge, in the form of --price.", panel=JUDGES, counts="no", advanced=True)
