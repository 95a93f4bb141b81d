"""Does the provider of a run work at all? Asked before anything is written, so that a typo costs seconds, not retries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from piiloom.foundation.errors import ProviderError
from piiloom.generation.plan.supply import check_supply
from piiloom.generation.running.session import open_provider
from piiloom.generation.settings.configuration import RunConfig
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.format_probe import FormatReport, probe_formats
from piiloom.providers.sdk_provider import Ping, SdkProvider

T = TypeVar("T")

PING_TIMEOUT_S = 10.0


def ping(provider: SdkProvider[Any]) -> Ping:
    """Reach *provider* once, without paying for tokens, and close it; raises what its ``ping`` raises."""
    return _asked(provider, provider.ping)


def probe_format(provider: SdkProvider[Any], *, every: bool = False) -> FormatReport | None:
    """Find which response format a compatible server takes, for the rest of the process too, and close the provider.

    None for other providers, and where the process knows already, unless *every* format is to be tried.
    """
    from piiloom.providers.compatible_api import CompatibleProvider  # noqa: PLC0415 - imports an SDK, which takes most of a second

    if not isinstance(provider, CompatibleProvider) or (provider.probed and not every):
        return None
    return _asked(provider, lambda: probe_formats(provider, every=every))


def _asked(provider: SdkProvider[Any], ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def work() -> T:
        try:
            return await ask()
        finally:
            await provider.aclose()

    # In a thread of its own: a notebook's thread has an event loop running already.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def check_provider(config: RunConfig) -> None:
    """Refuse a *config* whose provider is unknown, has no price or key (``AuthFailed``), or cannot be reached (``ProviderUnavailable``).

    It also refuses a composer with too few stories (``UsageError``).
    Any other answer to the ping proves nothing (a key may be good for completions only): the run itself finds out.
    A compatible server is asked which response format it takes, once a process, unless the *config* says it.
    """
    check_supply(config)
    provider = open_provider(config.model_copy(update={"timeout_s": PING_TIMEOUT_S}))
    if not isinstance(provider, SdkProvider):
        return
    try:
        ping(provider)
    except ProviderUnavailable:
        raise
    except ProviderError:
        return
    if config.provider == "compatible" and config.response_format == "auto" and not config.batch:
        found = open_provider(config)  # with the time-out of the run: a server may have to load its model first
        if isinstance(found, SdkProvider):
            probe_format(found)
