"""Ask, judge, ask again with the fault named: the loop that everything that needs a model goes through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from piiloom.execution.call_entries import reply_code
from piiloom.execution.calls import Answer, Calls
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ENDS_RUN, InvalidRequest, RateLimited, ReplyRejected
from piiloom.providers.protocol import PromptCall

R = TypeVar("R")
# One prompt may be refused as such; three different ones mean that the model or the endpoint is wrong.
_REFUSED_PROMPTS: Final = 3
_FAILURES: Final = 20


class Fault(Exception):
    """What is wrong with a reply (no error of the program): ``str()`` is told to the model, ``code`` is counted."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Wish(Fault):
    """A reply that can be used, but is not quite what was wished for: asked again once, then *result* is taken as it is."""

    def __init__(self, code: str, message: str, result: Any) -> None:
        super().__init__(code, message)
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Nothing could be had: the last fault, how often it was asked for and the text that came last.

    ``error`` is of a call that failed; ``known``: the last reply was in the journal.
    """

    code: str
    message: str
    attempts: int
    last_reply: str | None
    error: ProviderError | None = None
    known: bool = False


async def ask_model(
    calls: Calls,
    make: Callable[[int, str | None], PromptCall],
    judge: Callable[[Any, int], Awaitable[R]],
    *,
    attempts: int,
    patience: Patience,
) -> tuple[R, int] | Lost:
    """Ask until *judge* raises no ``Fault``, at most *attempts* times; gives its result and the number of refused replies.

    *make* gives the call of an attempt (from 0) with the fault of the one before; *judge* is given the reply's data and the attempt.
    A ``Wish`` is told once; when it is unmet again, or nothing better comes, its result is taken, and the journal says what was
    wished for. An error that ends *patience* is raised.
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
            continue
        except ProviderError as error:
            if patience.ends_with(error):
                raise
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
    for answer, wish in wished.values():
        return _taken(calls, answer, wish), attempts - 1
    assert fault is not None  # noqa: S101 - there is at least one attempt
    return Lost(code=fault.code, message=str(fault), attempts=attempts, last_reply=last_reply, known=known)


def _taken(calls: Calls, answer: Answer, wish: Wish) -> Any:
    calls.judge(answer, None, unmet=f"{wish.code}: {wish}")
    return wish.result


class Patience:
    """Knows when going on would only turn all that is left into rejects: no other request would fare better."""

    def __init__(self, calls: Calls, concurrency: int) -> None:
        self._calls = calls
        self._most = max(_FAILURES, 2 * concurrency)
        self._failures = 0
        self._answered = 0

    def ends_with(self, error: ProviderError) -> bool:
        """Whether *error*, of a call that has just failed, ends it; replies found in the journal are no sign of life."""
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
