"""A hard limit on what a run spends: money is reserved before a call is sent, and settled when its cost is known.

Reserved is the most that the call can cost. Spent and reserved money together never exceed the limit, as long as no call costs more than
was reserved for it. Sums are kept in whole picodollars (10⁻¹² USD), so that rounding errors do not add up over millions of calls. Amounts
are rounded up and the limit down, so that rounding never lets a call exceed the limit.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from typing import Literal

from piiloom.foundation.errors import UsageError
from piiloom.providers.errors import BudgetExceeded
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import JsonSchema, Message, PromptCall
from piiloom.providers.replies import as_json_types

# Count the schema twice: an API may show it to the model in its own form, besides the one that it enforces.
_SCHEMA_RENDERINGS = 2
# Approximate bytes of prompt per token: 4 in English. Other scripts have shorter tokens, but 2 to 3 bytes per letter.
_BYTES_A_TOKEN = 4
# Approximate tokens of the schema and role markers, and of a typical reply (a few sentences in JSON).
_TYPICAL_OVERHEAD = 60
_TYPICAL_REPLY = 120


def worst_case_usd(call: PromptCall, messages: Sequence[Message], spec: ModelSpec, *, batch: bool = False) -> float | None:
    """Return the most that *call*, sent as *messages*, can cost in USD; None if the model has no price.

    It needs no tokenizer: a text never has more tokens than UTF-8 bytes. The reply counts at ``max_output_tokens``, which every
    request sets.
    """
    given = prompt_bytes(messages) + _SCHEMA_RENDERINGS * schema_bytes(call.schema_name, call.schema)
    if call.settings.extra_body:
        given += len(json.dumps(call.settings.extra_body, ensure_ascii=False, default=as_json_types).encode("utf-8", "surrogatepass"))
    return spec.worst_case_usd(given, call.settings.max_output_tokens, batch=batch)


def estimated_tokens(call: PromptCall, messages: Sequence[Message]) -> int:
    """Estimate the input plus output tokens of *call*. The limiter corrects the estimate by real usage (``rate_buckets``)."""
    return prompt_bytes(messages) // _BYTES_A_TOKEN + _TYPICAL_OVERHEAD + min(_TYPICAL_REPLY, call.settings.max_output_tokens)


def prompt_bytes(messages: Sequence[Message]) -> int:
    """Return the length of *messages* in UTF-8 bytes, without the API's own wrapping."""
    # A lone surrogate cannot be sent, but that error is raised when the request is made.
    return sum(len(message.content.encode("utf-8", "surrogatepass")) for message in messages)


def schema_bytes(name: str, schema: JsonSchema | None) -> int:
    """Return the length in UTF-8 bytes of *schema* as JSON plus its *name*; 0 without one."""
    if schema is None:
        return 0
    return len(name.encode()) + len(json.dumps(schema, ensure_ascii=False, default=as_json_types).encode("utf-8", "surrogatepass"))


_DIGITS = 12
_PER_DOLLAR = 1_000_000_000_000


class BudgetReached(BudgetExceeded):
    """The run's own limit leaves no room for the call. Calls already sent end as usual, and the run can be resumed."""


class Reservation:
    """Money reserved for one try of one call. End it exactly once: ``settle``, ``charge_in_full``, or ``release``.

    *ended* is called with what is booked in USD, None: the whole amount.
    """

    __slots__ = ("_ended", "_open")

    def __init__(self, ended: Callable[[float | None], None]) -> None:
        self._ended, self._open = ended, True

    def settle(self, actual_usd: float) -> None:
        """Book *actual_usd*, the real cost. Raises ``ValueError`` if that is negative or no number, or if the reservation has ended."""
        self._end(actual_usd)

    def charge_in_full(self) -> None:
        """Book the whole amount, as when a call may have been answered and billed. Raises ``ValueError`` if it has ended."""
        self._end(None)

    def release(self) -> None:
        """Return the money, for a call that certainly cost nothing. Does nothing if it has ended, so it is safe in a ``finally``."""
        if self._open:
            self._end(0.0)

    def _end(self, usd: float | None) -> None:
        if not self._open:
            raise ValueError("the reservation has ended already")
        self._ended(usd)
        self._open = False


class Budget:
    """What a run may spend: *limit_usd* in all (None: no limit), of which *spent_usd* is spent already. For one event loop.

    Without a limit, spending is only counted and ``reserve`` never waits. Raises ``UsageError`` for a limit that is not above 0.
    """

    def __init__(self, limit_usd: float | None, *, spent_usd: float = 0.0) -> None:
        self._limit = None if limit_usd is None else _limit(limit_usd)
        self._spent = _picodollars(spent_usd)
        self._reserved = 0
        self._reached = False
        # First come, first served: an expensive call must not wait forever while cheap ones pass it.
        self._waiting: deque[tuple[int, asyncio.Future[Reservation]]] = deque()

    @property
    def limit_usd(self) -> float | None:
        """The limit, or None."""
        return None if self._limit is None else self._limit / _PER_DOLLAR

    @property
    def spent_usd(self) -> float:
        """What has been spent, including charges for calls of unknown outcome."""
        return self._spent / _PER_DOLLAR

    @property
    def reserved_usd(self) -> float:
        """What is reserved for calls in progress."""
        return self._reserved / _PER_DOLLAR

    async def reserve(self, worst_usd: float | None) -> Reservation:
        """Reserve *worst_usd* for a call. Waits for room if calls in progress may leave some; most cost far less than their worst case.

        Raises ``BudgetReached`` if the call would not fit even if the calls in progress cost nothing. After that has happened once, it
        is raised whenever there is no room at once. Raises ``UsageError`` for an unknown price (None) under a limit.
        """
        if self._limit is None:
            return self._granted(0 if worst_usd is None else _picodollars(worst_usd))
        if worst_usd is None:
            raise UsageError(
                "a budget needs prices, and the price of a call is unknown",
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
        # Reserved money may become free again, spent money does not.
        return "later" if self._spent + amount <= self._limit else "never"

    def reserve_sent(self, worst_usd: float | None) -> Reservation:
        """Reserve *worst_usd* for a call that an earlier session has sent. It is owed, so it may exceed the limit."""
        return self._granted(0 if worst_usd is None else _picodollars(worst_usd))

    def _granted(self, amount: int) -> Reservation:
        self._reserved += amount
        return Reservation(lambda usd: self._settled(amount, amount if usd is None else _picodollars(usd)))

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
                self._serve()  # smaller calls behind it may fit now
            elif not future.cancelled() and future.exception() is None:
                future.result().release()  # granted just before the cancellation
            raise

    def _settled(self, reserved: int, spent: int) -> None:
        self._reserved -= reserved
        self._spent += spent
        self._serve()

    def _serve(self) -> None:
        """Go through the waiting calls in order and grant or turn away each, up to the first that must keep waiting."""
        while self._waiting:
            amount, future = self._waiting[0]
            if not future.done():  # else its task is being cancelled and has not left the queue yet
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
    """Return *usd* in whole picodollars, rounded up. Raises ``ValueError`` if it is negative or not finite."""
    try:
        amount = int(Decimal(str(usd)).scaleb(_DIGITS).to_integral_value(ROUND_CEILING))
    except (InvalidOperation, ValueError, OverflowError):
        amount = -1
    if amount < 0:
        raise ValueError(f"{usd!r} is not an amount of money")
    return amount
