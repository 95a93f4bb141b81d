"""Ask for values, judge them, ask again with the fault named: in any order, with a result that does not depend on it.

The first replies of a document's values come when they come, but they are judged in text order, since a value must differ from those
before it. So equal replies give equal values at every concurrency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from execution.call_entries import reply_code
from execution.calls import Calls
from foundation.errors import ProviderError
from providers.errors import AuthFailed, BudgetExceeded, InvalidRequest, RateLimited, ReplyRejected
from surrogates.by_model.judging import Fault, Unfit, accepted, folded
from surrogates.by_model.terms import Terms
from surrogates.by_model.value_requests import ValueRequest

# So many prompts in a row that a provider does not take, or calls in a row that it does not answer, are no accident.
_REFUSED_PROMPTS = 3
_FAILURES = 20


class Outcome(NamedTuple):
    """``value`` None: none could be had, for the reason ``fault``; ``last_reply`` is the text that came last."""

    request: ValueRequest
    value: str | None
    attempts: int
    fault: Fault | None = None
    last_reply: str | None = None


class _Page:
    """What the values of one document must know of each other; ``turn`` is set when the value before is decided."""

    __slots__ = ("document", "taken", "turn")

    def __init__(self, document: int) -> None:
        self.document = document
        self.taken: set[str] = set()
        self.turn = asyncio.Event()
        self.turn.set()


class Asker:
    """Gives requests to *calls*; to be asked in the order of the documents, at most *concurrency* at once."""

    def __init__(self, calls: Calls, terms: Terms, concurrency: int) -> None:
        self._calls, self._terms = calls, terms
        self._most_failures = max(_FAILURES, 2 * concurrency)
        self._page: _Page | None = None
        self._failures = 0
        self._answered = 0

    def work(self, request: ValueRequest) -> Coroutine[Any, Any, Outcome]:
        """What becomes of *request*. Errors that no other request could escape are raised."""
        if self._page is None or self._page.document != request.document:
            self._page = _Page(request.document)
        before, self._page.turn = self._page.turn, asyncio.Event()
        return self._worked(request, self._page.taken, before, self._page.turn)

    async def _worked(self, request: ValueRequest, taken: set[str], before: asyncio.Event, mine: asyncio.Event) -> Outcome:
        try:
            outcome = await self._asked(request, taken, before)
            await before.wait()
            if outcome.value is not None:
                taken.add(folded(outcome.value))
            return outcome
        finally:
            mine.set()

    async def _asked(self, request: ValueRequest, taken: set[str], before: asyncio.Event) -> Outcome:
        fault: Fault | None = None
        last_reply: str | None = None
        for attempt in range(self._terms.attempts):
            try:
                answer = await self._calls.complete(self._terms.call(request, attempt, fault))
            except ReplyRejected as error:
                fault, last_reply = Fault(reply_code(error), str(error)), error.completion.text
                continue
            except ProviderError as error:
                if self._ends_all(error):
                    raise
                return Outcome(request, None, attempt + 1, Fault(_code(error), str(error)), last_reply)
            last_reply = answer.completion.text
            await before.wait()
            try:
                value = accepted(answer.completion.data, request, language=self._terms.language, taken=taken)
            except Unfit as unfit:
                fault = unfit.fault
                self._calls.judge(answer, f"{fault.code}: {fault.message}")
                continue
            self._calls.judge(answer, None)
            return Outcome(request, value, attempt + 1)
        return Outcome(request, None, self._terms.attempts, fault, last_reply)

    def _ends_all(self, error: ProviderError) -> bool:
        """Whether going on would only turn all that is left into rejects (as ``generation.asking`` decides for its items)."""
        answered = self._calls.totals.answered_now
        self._failures = self._failures + 1 if answered == self._answered else 1
        self._answered = answered
        if isinstance(error, AuthFailed | BudgetExceeded):
            return True
        if not answered:
            return not isinstance(error, InvalidRequest) or self._failures >= _REFUSED_PROMPTS
        return self._failures >= self._most_failures


def _code(error: ProviderError) -> str:
    if isinstance(error, InvalidRequest):
        return "invalid_request"
    return "rate_limited" if isinstance(error, RateLimited) else "provider_unavailable"
