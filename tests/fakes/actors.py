"""Actors without Ray: objects in this event loop behind handles like Ray's."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable
from functools import partial
from types import SimpleNamespace
from typing import Any


class ActorDied(Exception):
    """The process of an actor is gone."""


class Handle:
    """A handle of *actor*: what is sent and returned is pickled, and a call goes on when nobody waits for it any more.

    After ``die``, calls fail, those under way as well.
    """

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.calls = 0
        self._under_way: set[asyncio.Task[Any]] = set()
        self._dead = False

    def __getattr__(self, method: str) -> Any:
        if method.startswith("__"):
            raise AttributeError(method)
        return SimpleNamespace(remote=partial(self._called, method))

    def __reduce__(self) -> Any:
        raise TypeError("handles are shared within this process")

    def die(self) -> None:
        self._dead = True
        for call in self._under_way:
            call.cancel()

    def _called(self, method: str, *arguments: Any) -> Awaitable[Any]:
        self.calls += 1
        call = asyncio.ensure_future(self._answered(method, arguments))
        self._under_way.add(call)
        call.add_done_callback(self._ended)
        return asyncio.shield(call)

    def _ended(self, call: asyncio.Task[Any]) -> None:
        self._under_way.discard(call)
        if not call.cancelled():
            call.exception()  # nobody may wait for it

    async def _answered(self, method: str, arguments: tuple[Any, ...]) -> Any:
        if self._dead:
            raise ActorDied
        try:
            return copied(await getattr(self.actor, method)(*copied(arguments)))
        except asyncio.CancelledError:
            if self._dead:
                raise ActorDied from None
            raise


def copied(sent: Any) -> Any:
    return pickle.loads(pickle.dumps(sent))  # noqa: S301 - our own
