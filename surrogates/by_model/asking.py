"""Ask for values in any order, with a result that does not depend on it.

The first replies of a document's values come when they come, but they are judged in text order, since a value must differ from those
before it. So equal replies give equal values at every concurrency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from piiloom.execution.asking import Lost, Patience, ask_model
from piiloom.execution.calls import Calls
from piiloom.providers.protocol import PromptCall
from piiloom.surrogates.by_model.judging import accepted, folded
from piiloom.surrogates.by_model.terms import Terms
from piiloom.surrogates.by_model.value_requests import ValueRequest


class Outcome(NamedTuple):
    """``got`` is the value, or why none could be had."""

    request: ValueRequest
    got: str | Lost


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
        self._patience = Patience(calls, concurrency)
        self._page: _Page | None = None

    def work(self, request: ValueRequest) -> Coroutine[Any, Any, Outcome]:
        """What becomes of *request*. Errors that no other request could escape are raised."""
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

        found = await ask_model(self._calls, call, judged, attempts=self._terms.attempts, patience=self._patience)
        return found if isinstance(found, Lost) else found[0]
