"""An asyncio event loop whose time jumps to the next timer: minutes pass in milliseconds, and the same way each time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class NothingWillHappen(AssertionError):
    """All tasks wait and no timer runs: in real time this would hang."""


class _JumpingSelector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise NothingWillHappen("every task waits for another one")
        self.now += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that starts at 0 s. ``loop.time`` is the clock to hand to what is tested, ``asyncio.sleep`` its sleep."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the seconds since the loop was made."""
        return self._jumping.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* on a fresh virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


def clock() -> float:
    """The running loop's time."""
    return asyncio.get_running_loop().time()
