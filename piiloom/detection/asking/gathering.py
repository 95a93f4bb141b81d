"""Ask several questions at once, equal ones once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar


class KeyedQuestion(Protocol):
    """What can be asked; equal questions of a text are asked once."""

    @property
    def key(self) -> object:
        """Equal for equal questions."""


Q = TypeVar("Q", bound=KeyedQuestion)
A = TypeVar("A")


async def each_once(questions: Sequence[Q], ask: Callable[[Q], Coroutine[Any, Any, A]]) -> list[tuple[Q, A]]:
    """Ask each of *questions*, equal ones once; return them with their answers, in their order."""
    distinct: dict[object, Q] = {}
    for question in questions:
        distinct.setdefault(question.key, question)
    answers = dict(zip(distinct, await all_of(map(ask, distinct.values())), strict=True))
    return [(question, answers[question.key]) for question in questions]


async def all_of(work: Iterable[Awaitable[A]]) -> list[A]:
    """Do all of *work* at once. If a part of it fails, the rest is cancelled; calls that are out are waited for by the session."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
