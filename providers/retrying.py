"""Asking again: exponential back-off with jitter, and the server's own wish where it states one.

Retried are ``RateLimited`` and ``ProviderUnavailable``. An answer that came but cannot be used was paid for and is the
stage's business; money that has run out does not come back by waiting.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from foundation.errors import ProviderError
from foundation.seeding import derive_rng
from providers.errors import ProviderUnavailable, RateLimited, ReplyRejected
from providers.protocol import Completion, PromptCall, Provider

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to keep asking.

    ``attempts`` counts the first one. The n-th wait is drawn between half and all of ``base_s`` · 2ⁿ⁻¹, at most ``cap_s``.
    A server that asks for more than ``patience_s`` seconds is not waited for.
    """

    attempts: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 120.0

    def backoff(self, attempt: int, rng: random.Random) -> float:
        """Seconds to wait after attempt number *attempt* (from 1)."""
        longest: float = min(self.cap_s, self.base_s * 2 ** (attempt - 1))
        return longest * (0.5 + rng.random() / 2)


class RetryingProvider:
    """A provider that asks *inner* again as *policy* says, and counts how often in ``Completion.retries``."""

    def __init__(
        self, inner: Provider, policy: RetryPolicy | None = None, *, rng: random.Random | None = None, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.inner = inner
        self.policy = policy or RetryPolicy()
        self.name = inner.name
        self.model = inner.model
        self.endpoint = inner.endpoint
        self.paid = inner.paid
        # Jitter only spreads requests in time; no result depends on it.
        self._rng = rng or derive_rng("retry jitter", inner.name, inner.endpoint)
        self._retrying = AsyncRetrying(
            stop=stop_after_attempt(self.policy.attempts),
            retry=retry_if_exception(self._worth_retrying),
            wait=self._wait,
            sleep=sleep,
            retry_error_callback=_give_up,
        )

    def __repr__(self) -> str:
        return f"RetryingProvider({self.inner!r})"

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*; when all attempts fail, raise the last one's error."""
        attempts = 0

        async def ask() -> Completion:
            nonlocal attempts
            attempts += 1
            return await self.inner.complete(call)

        try:
            # A copy for each call: tenacity keeps the state of a retry in the object.
            completion: Completion = await self._retrying.copy()(ask)
        except ProviderError as error:
            error.retries = attempts - 1
            if isinstance(error, ReplyRejected):
                error.completion = replace(error.completion, retries=attempts - 1)
            raise
        return completion if attempts == 1 else replace(completion, retries=attempts - 1)

    async def aclose(self) -> None:
        """Close the inner provider."""
        await self.inner.aclose()

    def _worth_retrying(self, error: BaseException) -> bool:
        if not isinstance(error, RateLimited | ProviderUnavailable):
            return False
        return error.retry_after is None or error.retry_after <= self.policy.patience_s

    def _wait(self, state: RetryCallState) -> float:
        """The server's wish plus a little jitter, so that callers do not return all at once; else the back-off."""
        error = state.outcome.exception() if state.outcome else None
        wish = getattr(error, "retry_after", None)
        backoff = self.policy.backoff(state.attempt_number, self._rng)
        return backoff if wish is None else float(wish) + min(backoff, self.policy.base_s) * 0.1


def _give_up(state: RetryCallState) -> Completion:
    """Raise the last attempt's error, which then says how often was asked."""
    error = state.outcome.exception() if state.outcome else None
    if error is None:
        raise RuntimeError("a retry ended without an outcome")
    if isinstance(error, RateLimited | ProviderUnavailable) and state.attempt_number > 1:
        error.message = f"{error.message} (asked {state.attempt_number} times)"
    raise error
