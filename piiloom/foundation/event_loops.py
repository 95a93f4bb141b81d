"""Run a coroutine from synchronous code, also where an event loop is running already, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from piiloom.foundation.noop import noop

R = TypeVar("R")


def run_in_own_loop(work: Callable[[], Coroutine[Any, Any, R]], *, on_interrupt: Callable[[], object] = noop) -> R:
    """Run ``work()`` in an event loop of its own; if one is running in this thread, in a separate thread with the same context.

    There a ``KeyboardInterrupt`` reaches the waiting thread, not the one that works: *on_interrupt* is called in the loop, and the result
    waited for.
    """
    if not _in_a_loop():
        return asyncio.run(work())
    loops: list[asyncio.AbstractEventLoop] = []

    async def noted() -> R:
        loops.append(asyncio.get_running_loop())
        return await work()

    with ThreadPoolExecutor(max_workers=1) as thread:
        future = thread.submit(copy_context().run, lambda: asyncio.run(noted()))
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop in loops:
                loop.call_soon_threadsafe(on_interrupt)
            return future.result()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
