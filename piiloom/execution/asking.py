"""The loop for every model request: ask, check the reply, and ask again naming the fault."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from piiloom.execution.call_entries import reply_code
from piiloom.execution.calls import Answer, Calls
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ENDS_RUN, InvalidRequest, RateLimited, ReplyRejected
from piiloom.providers.protocol import PromptCall

R = TypeVar("R")
AGAIN: Final = "Give the same command again: what was paid for is kept, and is not asked again"  # the remedy where asking has stopped
# A single prompt may be refused for its content; three refused in a row mean that the model or the endpoint is wrong.
_REFUSED_PROMPTS: Final = 3
_FAILURES: Final = 20


class Fault(Exception):
    """What is wrong with a reply; raised by validators. ``str()`` goes into the next prompt, ``code`` into the statistics."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Wish(Fault):
    """A reply that is usable but not ideal. It is asked again once for each code; then *result* is accepted as it is."""

    def __init__(self, code: str, message: str, result: Any) -> None:
        super().__init__(code, message)
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """No usable reply was obtained: the last fault, the number of attempts, and the last reply's text.

    ``error`` is set if a call failed. ``known`` means that the last reply came from the journal.
    """

    code: str
    message: str
    attempts: int
    last_reply: str | None
    error: ProviderError | None = None
    known: bool = False


async def ask_model(  # noqa: C901 - one loop, whose exits belong together
    calls: Calls,
    make: Callable[[int, str | None], PromptCall],
    judge: Callable[[Any, int], Awaitable[R]],
    *,
    attempts: int,
    failure_limit: FailureLimit,
    hopeless: Collection[str] = (),
) -> tuple[R, int] | Lost:
    """Ask until *judge* raises no ``Fault``, at most *attempts* times. Return its result and the number of rejected replies, or ``Lost``.

    *make* builds the call from the attempt number (from 0) and the previous fault's text (None at first). *judge* gets the reply's
    data and the attempt number. After a reply that was rejected before it came to *judge*, with a code that is *hopeless*, nothing is
    asked again. If a ``Wish`` is unmet a second time, or the attempts run out, or the next call fails, its result is accepted and the
    journal records the unmet wish. Raises the ``ProviderError`` of a call if *failure_limit* decides that the run must end.
    """
    wished: dict[str, tuple[Answer, Wish]] = {}
    fault: Fault | None = None
    last_reply: str | None = None
    known = False
    for attempt in range(attempts):
        try:
            answer = await calls.complete(make(attempt, str(fault) if fault else None))
        except ReplyRejected as error:
            fault, last_reply, known = Fault(reply_code(error), str(error)), error.completion.text, error.replayed
            if fault.code in hopeless:
                break
            continue
        except ProviderError as error:
            if failure_limit.ends_with(error):
                raise
            if wished:
                return _first_usable(calls, wished), attempt - 1
            return Lost(code=_code(error), message=str(error), attempts=attempt + 1, last_reply=last_reply, error=error)
        last_reply, known = answer.completion.text, answer.replayed
        try:
            result = await judge(answer.completion.data, attempt)
        except Fault as found:
            if isinstance(found, Wish):
                if found.code in wished or attempt == attempts - 1:
                    return _taken(calls, answer, found), attempt
                wished[found.code] = answer, found
            fault = found
            calls.judge(answer, f"{found.code}: {found}")
            continue
        calls.judge(answer, None)
        return result, attempt
    if wished:
        return _first_usable(calls, wished), attempt
    assert fault is not None  # noqa: S101 - there is at least one attempt
    return Lost(code=fault.code, message=str(fault), attempts=attempt + 1, last_reply=last_reply, known=known)


def _first_usable(calls: Calls, wished: Mapping[str, tuple[Answer, Wish]]) -> Any:
    answer, wish = next(iter(wished.values()))
    return _taken(calls, answer, wish)


def _taken(calls: Calls, answer: Answer, wish: Wish) -> Any:
    calls.judge(answer, None, unmet=f"{wish.code}: {wish}")
    return wish.result


class FailureLimit:
    """Decides after which failed calls the run should end, because every further request would fail as well."""

    def __init__(self, calls: Calls, concurrency: int) -> None:
        self._calls = calls
        self._most = max(_FAILURES, 2 * concurrency)
        self._failures = 0
        self._answered = 0

    def ends_with(self, error: ProviderError) -> bool:
        """Whether *error*, of a call that has just failed, should end the run.

        Counts failures since the last live answer; replies from the journal do not reset the count. The run ends at once for an
        ``ENDS_RUN`` error. Before the first answer, any failure ends it except ``InvalidRequest``, of which three in a row do.
        After that it takes ``max(20, 2 * concurrency)`` failures in a row.
        """
        answered = self._calls.totals.answered_now
        self._failures = self._failures + 1 if answered == self._answered else 1
        self._answered = answered
        if isinstance(error, ENDS_RUN):
            return True
        if not answered:
            return not isinstance(error, InvalidRequest) or self._failures >= _REFUSED_PROMPTS
        return self._failures >= self._most


def _code(error: ProviderError) -> str:
    if isinstance(error, InvalidRequest):
        return "invalid_request"
    return "rate_limited" if isinstance(error, RateLimited) else "provider_unavailable"
