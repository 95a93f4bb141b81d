"""Does the provider of a run work at all? Asked before anything is written, so that a typo costs seconds, not retries."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from piiloom.foundation.errors import ProviderError
from piiloom.generation.configuration import RunConfig
from piiloom.generation.session import open_provider
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.sdk_provider import Ping, SdkProvider

PING_TIMEOUT_S = 10.0


def ping(provider: SdkProvider[Any]) -> Ping:
    """Reach *provider* once, without paying for tokens, and close it; raises what its ``ping`` raises."""

    async def work() -> Ping:
        try:
            return await provider.ping()
        finally:
            await provider.aclose()

    # In a thread of its own: a notebook's thread has an event loop running already.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def check_provider(config: RunConfig) -> None:
    """Refuse a *config* whose provider is unknown, has no price or key (``AuthFailed``), or cannot be reached (``ProviderUnavailable``).

    Any other answer to the ping proves nothing (a key may be good for completions only): the run itself finds out.
    """
    provider = open_provider(config.model_copy(update={"timeout_s": PING_TIMEOUT_S}))
    if not isinstance(provider, SdkProvider):
        return
    try:
        ping(provider)
    except ProviderUnavailable:
        raise
    except ProviderError:
        return
