"""Which errors are retried, and after how long. This is the only retry layer: the SDKs' own retries are off.

Only ``RateLimited`` and ``ProviderUnavailable`` are retried. Not retried are invalid requests, replies that came but cannot be
used (they were paid for, and the stage decides what to do), and an account without credit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to retry.

    ``attempts`` includes the first try. The n-th wait is drawn uniformly between half and all of ``base_s`` · 2ⁿ⁻¹, capped at ``cap_s``
    (exponential back-off with "equal jitter"). If the server asks for a wait of more than ``patience_s`` seconds, the call fails.
    A rate limit shows that the server is alive, so it is retried for ``limited_s`` seconds even beyond ``attempts``.
    """

    attempts: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 120.0
    limited_s: float = 600.0

    def worth_retrying(self, error: ProviderError, attempt: int, elapsed_s: float) -> bool:
        """Whether to retry after try number *attempt* (from 1), *elapsed_s* seconds after the first try began."""
        if not isinstance(error, RateLimited | ProviderUnavailable):
            return False
        if error.retry_after is not None and error.retry_after > self.patience_s:
            return False
        return attempt < self.attempts or (isinstance(error, RateLimited) and elapsed_s < self.limited_s)

    def backoff(self, attempt: int, rng: random.Random) -> float:
        """Return the seconds to wait after try number *attempt* (from 1)."""
        longest: float = min(self.cap_s, self.base_s * 2 ** min(attempt - 1, 30))
        return longest * (0.5 + rng.random() / 2)
