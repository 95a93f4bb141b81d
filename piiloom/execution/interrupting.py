"""Let Ctrl-C stop a run in an orderly way."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from piiloom.execution.ordering import StopSignal


@contextmanager
def stopped_by_ctrl_c(stop: StopSignal) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a stop request, then restore the former handlers: the second one strikes as usual.

    Call it in the running loop. Outside the main thread, where no signal arrives, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def as_before() -> None:
        for number, handler in former.items():
            loop.remove_signal_handler(number)  # which puts Python's own in its place
            signal.signal(number, handler)

    def first() -> None:
        as_before()
        stop.request()

    for number in former:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        as_before()
