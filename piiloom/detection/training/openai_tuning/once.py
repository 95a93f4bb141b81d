"""Take a step at most once, with a write-ahead ledger.

Before a step the ledger gets an intent, after it the outcome. A refusal (4xx, 429) is an outcome: the step was not taken. Where there is
an intent without an outcome, whoever takes the step first looks, with ``sought``, whether it was taken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

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
        while True:
            found = await self._insist(find)
            since = self._ledger.unsure_since(step)
            if found is not None or since is None or self._timing.clock() - since > self._timing.settle_s:
                return found
            await self._timing.sleep(self._timing.settle_step_s)

    async def _tried(self, step: str, take: Callable[[], Awaitable[T]]) -> T:
        try:
            return await take()
        except ProviderError as error:
            note = self._ledger.unknown if isinstance(error, ProviderUnavailable) else self._ledger.refused
            note(step, why=type(error).__name__)
            raise
