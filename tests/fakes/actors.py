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
        self._under_way: dict[asyncio.Task[Any], asyncio.Future[Any]] = {}
        self._dead = False

    def __getattr__(self, method: str) -> Any:
        if method.startswith("__"):
            raise AttributeError(method)
        return SimpleNamespace(remote=partial(self._called, method))

    def __reduce__(self) -> Any:
        raise TypeError("handles are shared within this process")

    def die(self) -> None:
        self._dead = True
        for call, reply in self._under_way.items():
            call.cancel()
            if not reply.done():
                reply.set_exception(ActorDied())

    def _called(self, method: str, *arguments: Any) -> Awaitable[Any]:
        self.calls += 1
        # The reply is apart from the call, which may be cancelled before it has begun: then nothing within it could answer.
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(self._answered(method, arguments))
        self._under_way[call] = reply
        call.add_done_callback(self._ended)
        return reply

    def _ended(self, call: asyncio.Task[Any]) -> None:
        reply = self._under_way.pop(call)
        error = None if call.cancelled() else call.exception()
        if reply.done():
            return
        if error is not None:
            reply.set_exception(error)
        elif call.cancelled():
            reply.cancel()
        else:
            reply.set_result(call.result())

    async def _answered(self, method: str, arguments: tuple[Any, ...]) -> Any:
        if self._dead:
            raise ActorDied
        return copied(await getattr(self.actor, method)(*copied(arguments)))


def copied(sent: Any) -> Any:
    return pickle.loads(pickle.dumps(sent))  # noqa: S301 - our own
