"""Take a step at most once, with a write-ahead ledger.

Before a step the ledger gets an intent, after it the outcome. A refusal (4xx, 429) is an outcome: the step was not taken. Where there is
an intent without an outcome, whoever takes the step first looks, with ``sought``, whether it was taken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_result, wait_fixed

from piiloom.detection.training.openai_tuning.insisting import Insisting, Timing
from piiloom.detection.training.openai_tuning.ledger import Ledger
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable

T = TypeVar("T")


class Once:
    """Takes steps and keeps *ledger*."""

    def __init__(self, ledger: Ledger, insist: Insisting, timing: Timing) -> None:
        self._ledger, self._insist, self._timing = ledger, insist, timing

    async def taken(self, step: str, take: Callable[[], Awaitable[T]], find: Callable[[], Awaitable[T | None]]) -> tuple[T, bool]:
        """Return what *take* gives, or *find* if the step was taken already, and whether it was found. The caller notes it as done."""
        async for attempt in self._insist.tries():
            found = await self.sought(step, find)
            if found is not None:
                return found, True
            self._ledger.intent(step)
            with attempt:
                return await self._tried(step, take), False
        raise AssertionError("the last try returns or raises")

    async def sought(self, step: str, find: Callable[[], Awaitable[T | None]]) -> T | None:
        """Return what *find* gives; if the step may have been taken lately, look again until it would have shown."""

        def unsettled(found: T | None) -> bool:
            since = self._ledger.unsure_since(step)
            return found is None and since is not None and self._timing.clock() - since <= self._timing.settle_s

        looks = AsyncRetrying(retry=retry_if_result(unsettled), wait=wait_fixed(self._timing.settle_step_s), sleep=self._timing.sleep)
        return await looks(self._insist, find)

    async def _tried(self, step: str, take: Callable[[], Awaitable[T]]) -> T:
        try:
            return await take()
        except ProviderError as error:
            note = self._ledger.unknown if isinstance(error, ProviderUnavailable) else self._ledger.refused
            note(step, why=type(error).__name__)
            raise
