"""Requests to a service: limits, retries, and what ends a run."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from tenacity import RetryCallState

from piiloom.execution.call_totals import CallTotals
from piiloom.execution.limits.limiter import Limiter, Slot
from piiloom.execution.retrying import RetryPolicy, Sleep
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ENDS_RUN, ProviderUnavailable, RateLimited

T = TypeVar("T")
REQUEST_S: Final = 60.0  # longest duration of a request where none is given
_FAILURES: Final = 20


class TextRefused(Exception):
    """The service has nothing to say about one text; ``str()`` is the reason. Others are not concerned."""


class ServiceCaller:
    """Makes requests within *limiter*, and tries again by *policy*. ``totals`` counts them.

    A text whose requests failed for good is refused with that reason, and the run goes on, unless the next ones would fail as well: for a
    wrong key, before the first answer, and after ``max(20, 2 * concurrency)`` failures in a row the error is raised.
    """

    def __init__(self, limiter: Limiter, policy: RetryPolicy, totals: CallTotals, *, concurrency: int, sleep: Sleep) -> None:
        self._limiter, self._policy, self.totals, self._sleep = limiter, policy, totals, sleep
        self._rng = random.Random()
        self._most = max(_FAILURES, 2 * concurrency)
        self._in_a_row = 0

    async def send(self, request: Callable[[], Awaitable[T]], *, counted: bool = True) -> T:
        """Return what *request* returns.

        It raises ``ProviderError``; those worth it are tried again. *counted*: its answer counts as one that was paid for. Raises
        ``TextRefused``, or the error if the run must end.
        """

        async def once() -> T:
            return await self._once(request)

        try:
            answer: T = await self._policy.tries(self._rng, sleep=self._sleep, before_sleep=self._count_retry)(once)
        except ProviderError as error:
            raise self._given_up(self._policy.settled(error)) from error
        self._in_a_row = 0
        if counted:
            self.totals.answered += 1
            self.totals.answered_now += 1
            self.totals.unpriced += 1  # prices of services are by contract and volume
        return answer

    def _count_retry(self, _: RetryCallState) -> None:
        self.totals.retries += 1

    async def _once(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self._limiter.slot(0) as slot:
            began = time.monotonic()
            try:
                answer = await request()
            except RateLimited as error:
                slot.refused(retry_after=error.retry_after)
                raise
            except ProviderUnavailable as error:
                _report(slot, error)
                raise
            slot.answered(tokens=None, latency_s=time.monotonic() - began, stage="")
            return answer

    def _given_up(self, error: ProviderError) -> Exception:
        self.totals.failed += 1
        self._in_a_row += 1
        if isinstance(error, ENDS_RUN) or self._in_a_row >= self._most:
            return error
        if not self.totals.answered_now and isinstance(error, RateLimited | ProviderUnavailable):
            return error
        return TextRefused(error.message)


def _report(slot: Slot, error: ProviderUnavailable) -> None:
    if error.overloaded:
        slot.refused(retry_after=error.retry_after)
    else:
        slot.failed(timed_out=error.timed_out)
