"""Which errors are retried, and after how long. This is the only retry layer: the SDKs' own retries are off.

Only ``RateLimited`` and ``ProviderUnavailable`` are retried. Not retried are invalid requests, replies that came but cannot be
used (they were paid for, and the stage decides what to do), and an account without credit.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState

from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited, ServerPaused

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to retry.

    ``attempts`` includes the first try. The n-th wait is drawn uniformly between half and all of ``base_s`` · 2ⁿ⁻¹, capped at ``cap_s``
    (exponential back-off with "equal jitter"). If the server asks for a wait of more than ``patience_s`` seconds, the run should end.
    A rate limit shows that the server is alive, so it is retried for ``limited_s`` seconds even beyond ``attempts``.
    """

    attempts: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 120.0
    limited_s: float = 600.0

    def settled(self, error: ProviderError) -> ProviderError:
        """Return *error*, or ``ServerPaused`` instead of one whose Retry-After is above ``patience_s``."""
        wait_s = getattr(error, "retry_after", None)
        if wait_s is None or wait_s <= self.patience_s:
            return error
        return ServerPaused(f"{error.message}; it asks for a wait of {timedelta(seconds=round(wait_s))}", where=error.where)

    def worth_retrying(self, error: ProviderError, attempt: int, elapsed_s: float) -> bool:
        """Whether to retry after try number *attempt* (from 1), *elapsed_s* seconds after the first try began."""
        if not isinstance(error, RateLimited | ProviderUnavailable) or self.settled(error) is not error:
            return False
        return attempt < self.attempts or (isinstance(error, RateLimited) and elapsed_s < self.limited_s)

    def backoff(self, attempt: int, rng: random.Random) -> float:
        """Return the seconds to wait after try number *attempt* (from 1)."""
        longest: float = min(self.cap_s, self.base_s * 2 ** min(attempt - 1, 30))
        return longest * (0.5 + rng.random() / 2)

    def tries(
        self, rng: random.Random, *, sleep: Sleep = asyncio.sleep, before_sleep: Callable[[RetryCallState], None] | None = None
    ) -> AsyncRetrying:
        """Return the tries at one request: calls a coroutine function until it returns, or raises its last error with the retries in it.

        Each wait is a back-off drawn with *rng*, and at least the server's Retry-After. *before_sleep* is called before each.
        """

        def again(state: RetryCallState) -> bool:
            error = error_of(state)
            if not isinstance(error, ProviderError):
                return False
            worth_it = self.worth_retrying(error, state.attempt_number, state.seconds_since_start or 0.0)
            if not worth_it:
                error.retries = state.attempt_number - 1
            return worth_it

        def wait(state: RetryCallState) -> float:
            return max(self.backoff(state.attempt_number, rng), getattr(error_of(state), "retry_after", None) or 0.0)

        return AsyncRetrying(retry=again, wait=wait, sleep=sleep, before_sleep=before_sleep, reraise=True)


async def awaited(work: Callable[[], Awaitable[T]]) -> T:
    """Return the result of *work*, which may be a lambda: tenacity awaits coroutine functions only."""
    return await work()


def error_of(state: RetryCallState) -> BaseException | None:
    """Return the error of the last try; None if it succeeded."""
    return state.outcome.exception() if state.outcome is not None else None


def last_result(state: RetryCallState) -> Any:
    """Return the result of the last try; raises its error if it failed."""
    return state.outcome.result() if state.outcome is not None else None
