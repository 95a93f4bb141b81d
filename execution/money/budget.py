"""A hard limit on what a run spends: money is set aside before a call leaves, and settled when its cost is known.

At every moment what was spent and what is set aside together stay within the limit, as long as no call costs more than was
reserved for it. Sums are kept in whole picodollars (10⁻¹² USD), so that nothing drifts over millions of calls; amounts
are rounded up and the limit down, so that rounding never lets one through.
"""

from __future__ import annotations

import asyncio
from collections import deque
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from typing import Literal

from piiloom.foundation.errors import UsageError
from piiloom.providers.errors import BudgetExceeded

_DIGITS = 12
_PER_DOLLAR = 1_000_000_000_000


class BudgetReached(BudgetExceeded):
    """The run's own limit leaves no room for the call. Calls under way end as usual; the run can be resumed."""


class Reservation:
    """Money set aside for one try of one call. Ended once: ``settle``, ``charge_in_full``, or ``release``."""

    __slots__ = ("_amount", "_budget", "_open")

    def __init__(self, budget: Budget, amount: int) -> None:
        self._budget, self._amount, self._open = budget, amount, True

    def settle(self, actual_usd: float) -> None:
        """Book what the call really cost. Raises ``ValueError`` for what is no amount, or when it was ended before."""
        self._end(_picodollars(actual_usd))

    def charge_in_full(self) -> None:
        """Book all of it: nobody knows whether the call was answered and billed."""
        self._end(self._amount)

    def release(self) -> None:
        """Give it back: the call certainly cost nothing. After another ending this does nothing, so it may stand in a ``finally``."""
        if self._open:
            self._end(0)

    def _end(self, spent: int) -> None:
        if not self._open:
            raise ValueError("the reservation has ended already")
        self._open = False
        self._budget._settled(self._amount, spent)  # noqa: SLF001 - the two are one thing in two classes


class Budget:
    """What a run may spend: *limit_usd* in all (None: no limit), of which *spent_usd* went before. For one event loop.

    Without a limit spending is counted and ``reserve`` never waits. Raises ``UsageError`` for a limit of nothing.
    """

    def __init__(self, limit_usd: float | None, *, spent_usd: float = 0.0) -> None:
        self._limit = None if limit_usd is None else _limit(limit_usd)
        self._spent = _picodollars(spent_usd)
        self._reserved = 0
        self._reached = False
        # Whoever came first is served first: a dear call must not wait for ever behind cheap ones that slip through.
        self._waiting: deque[tuple[int, asyncio.Future[Reservation]]] = deque()

    @property
    def limit_usd(self) -> float | None:
        """The limit, if there is one."""
        return None if self._limit is None else self._limit / _PER_DOLLAR

    @property
    def spent_usd(self) -> float:
        """What has been spent, calls of unknown outcome included."""
        return self._spent / _PER_DOLLAR

    @property
    def reserved_usd(self) -> float:
        """What is set aside for calls under way."""
        return self._reserved / _PER_DOLLAR

    @property
    def reached(self) -> bool:
        """Whether a call was turned away."""
        return self._reached

    async def reserve(self, worst_usd: float | None) -> Reservation:
        """Set *worst_usd* aside for a call. Waits while calls under way may leave enough; their true cost is mostly far less.

        Raises ``BudgetReached`` when the call could pass the limit even if all of those cost nothing (and, once that has
        happened, whenever there is no room at once), and ``UsageError`` for a call of unknown price under a limit.
        """
        if self._limit is None:
            return self._granted(0 if worst_usd is None else _picodollars(worst_usd))
        if worst_usd is None:
            raise UsageError(
                "a call of unknown price cannot be held to a budget",
                where="--budget-usd",
                remedy='Give the prices of the model, as in --price "input=0.5,output=1.5"',
            )
        amount = _picodollars(worst_usd)
        verdict = self._verdict(amount)
        if verdict == "fits" and (self._reached or not self._waiting):
            return self._granted(amount)
        if verdict == "never" or self._reached:
            raise self._turned_away(amount)
        return await self._wait(amount)

    def _verdict(self, amount: int) -> Literal["fits", "later", "never"]:
        assert self._limit is not None  # noqa: S101 - asked about only under a limit
        if self._spent + self._reserved + amount <= self._limit:
            return "fits"
        # What was spent never comes back, what is reserved may.
        return "later" if self._spent + amount <= self._limit else "never"

    def reserve_sent(self, worst_usd: float | None) -> Reservation:
        """Set money aside for what an earlier sitting has sent: it is owed, whether it fits or not."""
        return self._granted(0 if worst_usd is None else _picodollars(worst_usd))

    def _granted(self, amount: int) -> Reservation:
        self._reserved += amount
        return Reservation(self, amount)

    def _turned_away(self, amount: int) -> BudgetReached:
        self._reached = True
        return BudgetReached(
            f"the budget of ${self.limit_usd:g} is reached: ${self.spent_usd:.6f} is spent, ${self.reserved_usd:.6f} set aside for calls "
            f"under way, and the next call could cost ${amount / _PER_DOLLAR:.6f}",
            remedy="Resume the run with a larger --budget-usd; nothing that was paid for is lost",
        )

    async def _wait(self, amount: int) -> Reservation:
        future: asyncio.Future[Reservation] = asyncio.get_running_loop().create_future()
        place = (amount, future)
        self._waiting.append(place)
        try:
            return await future
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
                self._serve()  # those behind may fit where this one did not
            elif not future.cancelled() and future.exception() is None:
                future.result().release()  # it was granted in the very moment of the cancellation
            raise

    def _settled(self, reserved: int, spent: int) -> None:
        self._reserved -= reserved
        self._spent += spent
        self._serve()

    def _serve(self) -> None:
        """Grant or turn away, in order, whoever need not wait any longer."""
        while self._waiting:
            amount, future = self._waiting[0]
            if not future.done():  # else its task is being cancelled, and has yet to take its place out
                verdict = self._verdict(amount)
                if verdict == "later":
                    return
                if verdict == "fits":
                    future.set_result(self._granted(amount))
                else:
                    future.set_exception(self._turned_away(amount))
            self._waiting.popleft()


def _limit(usd: float) -> int:
    try:
        limit = int(Decimal(str(usd)).scaleb(_DIGITS).to_integral_value(ROUND_FLOOR))
    except (InvalidOperation, ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise UsageError("a budget must be a finite number above 0", where="--budget-usd", remedy="Give it in USD, as in --budget-usd 5")
    return limit


def _picodollars(usd: float) -> int:
    """*usd* in whole picodollars, rounded up; ``ValueError`` for what is no amount of money."""
    try:
        amount = int(Decimal(str(usd)).scaleb(_DIGITS).to_integral_value(ROUND_CEILING))
    except (InvalidOperation, ValueError, OverflowError):
        amount = -1
    if amount < 0:
        raise ValueError(f"{usd!r} is no amount of money")
    return amount
