"""When a call is tried again, and after which wait. There is one such layer: the SDKs' own retries are off.

Tried again are ``RateLimited`` and ``ProviderUnavailable``. A request that the server will never answer is not, nor is an
answer that came but cannot be used (it was paid for and is the stage's business); money that has run out does not come
back by waiting.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to keep asking.

    ``attempts`` counts the first one. The n-th wait is drawn between half and all of ``base_s`` · 2ⁿ⁻¹, at most ``cap_s``
    (exponential back-off with "equal jitter"). A server that asks for more than ``patience_s`` seconds is not waited for.
    A server that only says "too many requests" is alive, so it is asked again for ``limited_s`` seconds, however often.
    """

    attempts: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 120.0
    limited_s: float = 600.0

    def worth_retrying(self, error: ProviderError, attempt: int, elapsed_s: float) -> bool:
        """Whether to go on after attempt number *attempt* (from 1), *elapsed_s* seconds after the first one began."""
        if not isinstance(error, RateLimited | ProviderUnavailable):
            return False
        if error.retry_after is not None and error.retry_after > self.patience_s:
            return False
        return attempt < self.attempts or (isinstance(error, RateLimited) and elapsed_s < self.limited_s)

    def backoff(self, attempt: int, rng: random.Random) -> float:
        """Seconds to wait after attempt number *attempt* (from 1)."""
        longest: float = min(self.cap_s, self.base_s * 2 ** min(attempt - 1, 30))
        return longest * (0.5 + rng.random() / 2)
