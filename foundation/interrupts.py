"""Ctrl-C for a whole process: however deep it strikes, the process ends in order, and with one line.

Python raises ``KeyboardInterrupt`` between any two instructions. In places nobody can catch it (the callback of a weak reference), it
comes out as another error (a query of DuckDB), it aborts the process (an extension of C++ that is being loaded), and a second one
strikes while the first unwinds. So:

- while modules are loaded, nothing is open that could be left half done: the process ends at once (``piiloom.foundation.quick_end``);
- afterwards the first Ctrl-C raises ``KeyboardInterrupt`` and is noted, so that whoever tells of errors knows better than their words;
  one that was swallowed is raised again, one that comes during an import waits for its end;
- those of the next two seconds are ignored, so that what is open can be closed;
- one more ends the process at once. What was committed is safe, as after a kill.

A process that was started with SIGINT ignored (a script's background job) goes on ignoring it. Only the main thread can do all this.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from piiloom.foundation.quick_end import end, install

_PATIENCE_S: Final = 2.0
_AGAIN_S: Final = 0.02

_noted_at: float | None = None
_held = False
_late = False


@contextmanager
def noted_interrupts() -> Iterator[None]:
    """In the block, Ctrl-C is raised and noted; afterwards all is as before."""
    former_hook = sys.unraisablehook
    former = signal.getsignal(signal.SIGINT)
    if not install(_note):
        yield
        return

    def unraisable(told: Any) -> None:
        if issubclass(told.exc_type, KeyboardInterrupt):
            forget()
            _raise_again()
        elif not interrupted():
            former_hook(told)

    sys.unraisablehook = unraisable
    forget()
    try:
        yield
    finally:
        sys.unraisablehook = former_hook
        signal.signal(signal.SIGINT, former)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed in this block and nobody has answered it."""
    return _noted_at is not None


def forget() -> None:
    """The Ctrl-C was an answer that was waited for (a server's end): what goes wrong from now on has other causes."""
    global _noted_at  # noqa: PLW0603 - a process has one handler
    _noted_at = None


@contextmanager
def held_interrupts() -> Iterator[None]:
    """In the block, which must be short, Ctrl-C waits for its end: what is opened there is in the hands of whoever closes it by then.

    So is what is removed there removed whole: a Ctrl-C that was swallowed is raised again (see above), perhaps while the first one unwinds.
    """
    global _held, _late  # noqa: PLW0603 - a process has one handler
    outer, _held = _held, True
    try:
        yield
    finally:
        _held = outer
        if _late and not outer:
            _late = False
            signal.raise_signal(signal.SIGINT)


def _note(number: int, frame: FrameType | None) -> None:
    global _noted_at, _late  # noqa: PLW0603 - a process has one handler
    now = time.monotonic()
    if _held:
        _late = True
    elif _noted_at is None and _importing(frame):
        _raise_again()
    elif _noted_at is None:
        _noted_at = now
        _hush()
        raise KeyboardInterrupt
    elif now - _noted_at >= _PATIENCE_S:
        end(number, frame)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _hush() -> None:
    """Tasks that are cancelled now may end in errors that nobody fetches, or never begin; Python would print that."""
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    if (logging := sys.modules.get("logging")) is not None:
        logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)


def _raise_again() -> None:
    # Sent to the main thread and not just raised here: only that wakes it from a sleep or a read.
    again = threading.Timer(_AGAIN_S, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    again.daemon = True
    again.start()
