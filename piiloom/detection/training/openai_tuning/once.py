"""Take a step at most once, with a write-ahead ledger.

Before a step the ledger gets an intent, after it the outcome. A refusal (4xx, 429) is an outcome: the step was not taken. Where there is
an intent without an outcome, whoever takes the step first looks, with ``sought``, whether it was taken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from piiloom.detection.training.openai_tuning.insisting import Insisting, Timing, Tries
from piiloom.detection.training.openai_tuning.ledger import Ledger
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited

T = TypeVar("T")


class Once:
    """Takes steps and keeps *ledger*."""

    def __init__(self, ledger: Ledger, insist: Insisting, timing: Timing) -> None:
        self._ledger, self._insist, self._timing = ledger, insist, timing

    async def taken(self, step: str, take: Callable[[], Awaitable[T]], find: Callable[[], Awaitable[T | None]]) -> tuple[T, bool]:
        """Return what *take* gives, or *find* if the step was taken already, and whether it was found. The caller notes it as done."""
        tries = self._insist.tries()
        while True:
            found = await self.sought(step, find)
            if found is not None:
                return found, True
            self._ledger.intent(step)
            made = await self._tried(step, take, tries)
            if made is not None:
                return made, False

    async def sought(self, step: str, find: Callable[[], Awaitable[T | None]]) -> T | None:
        """Return what *find* gives; if the step may have been taken lately, look again until it would have shown."""
        while True:
            found = await self._insist(find)
            since = self._ledger.unsure_since(step)
            if found is not None or since is None or self._timing.clock() - since > self._timing.settle_s:
                return found
            await self._timing.sleep(self._timing.settle_step_s)

    async def _tried(self, step: str, take: Callable[[], Awaitable[T]], tries: Tries) -> T | None:
        """Return what *take* gives, or None after a fault for which to try again."""
        try:
            return await take()
        except RateLimited as error:
            self._ledger.refused(step, why=type(error).__name__)
            await tries.wait(error)
        except ProviderUnavailable as error:
            self._ledger.unknown(step, why=type(error).__name__)
            await tries.wait(error)
        except ProviderError as error:
            self._ledger.refused(step, why=type(error).__name__)
            raise
        return None
