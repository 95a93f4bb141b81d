"""Ask for values concurrently, with a result that does not depend on the order of the replies.

Requests of one document run concurrently, but their replies are judged in text order, because a value must differ from those before
it. So equal replies give equal values at every concurrency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from piiloom.execution.calls import Calls, FailureLimit, Lost, ask_model
from piiloom.providers.protocol import PromptCall
from piiloom.surrogates.by_model.judging import accepted, folded
from piiloom.surrogates.by_model.terms import Terms
from piiloom.surrogates.by_model.value_requests import ValueRequest


class Outcome(NamedTuple):
    """The result of one request. ``got`` is the value, or a ``Lost`` with the reason why there is none."""

    request: ValueRequest
    got: str | Lost


class _Page:
    """State shared by the requests of one document.

    ``taken`` holds the values used so far (folded). ``turn`` is the event that the most recent request sets when it is done.
    """

    __slots__ = ("document", "taken", "turn")

    def __init__(self, document: int) -> None:
        self.document = document
        self.taken: set[str] = set()
        self.turn = asyncio.Event()
        self.turn.set()


class Asker:
    """Sends requests through *calls*.

    ``work`` must be called in input order, because requests of one document form a chain. *concurrency* is the number of requests
    in flight, from which the tolerance for errors is derived (``FailureLimit``).
    """

    def __init__(self, calls: Calls, terms: Terms, concurrency: int) -> None:
        self._calls, self._terms = calls, terms
        self._failure_limit = FailureLimit(calls, concurrency)
        self._page: _Page | None = None

    def work(self, request: ValueRequest) -> Coroutine[Any, Any, Outcome]:
        """Return a coroutine that gives the outcome of *request*. It raises errors that would hit every other request, too."""
        if self._page is None or self._page.document != request.document:
            self._page = _Page(request.document)
        before, self._page.turn = self._page.turn, asyncio.Event()
        return self._worked(request, self._page.taken, before, self._page.turn)

    async def _worked(self, request: ValueRequest, taken: set[str], before: asyncio.Event, mine: asyncio.Event) -> Outcome:
        try:
            got = await self._asked(request, taken, before)
            await before.wait()
            if isinstance(got, str):
                taken.add(folded(got))
            return Outcome(request, got)
        finally:
            mine.set()

    async def _asked(self, request: ValueRequest, taken: set[str], before: asyncio.Event) -> str | Lost:
        def call(attempt: int, fault: str | None) -> PromptCall:
            return self._terms.call(request, attempt, fault)

        async def judged(data: Any, attempt: int) -> str:  # noqa: ARG001 - all attempts are judged alike
            await before.wait()
            return accepted(data, request, language=self._terms.language, taken=taken)

        found = await ask_model(self._calls, call, judged, attempts=self._terms.attempts, failure_limit=self._failure_limit)
        return found if isinstance(found, Lost) else found[0]
