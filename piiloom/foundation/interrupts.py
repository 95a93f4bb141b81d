"""Ctrl-C handling for a whole process: wherever it strikes, the process ends in an orderly way and with one line of output.

Python raises ``KeyboardInterrupt`` between any two instructions. In some places it cannot be caught (the callback of a weak reference),
becomes another error (a DuckDB query), or aborts the process (while a C++ extension is being loaded). A second one may arrive while
the first one unwinds. So:

- While modules are loaded, nothing can be left half done, and the process ends at once (``piiloom.foundation.quick_end``).
- Afterwards the first Ctrl-C is recorded and raises ``KeyboardInterrupt``. Code that reports errors asks ``interrupted``, since
  the error itself may not show the cause. A swallowed one is raised again; one during an import is raised after it, and so is
  one while pydantic builds a schema: it would swallow it and use a wrong pattern.
- For the next two seconds further ones are ignored, so that resources can be closed.
- After that, one more ends the process at once. What was committed is safe, as after a kill.

A process started with SIGINT ignored (a background job of a script) goes on ignoring it. All this works in the main thread only.
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
    """Handle Ctrl-C in the block as described above; afterwards restore the former handler.

    Changes nothing outside the main thread, or if SIGINT is ignored.
    """
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
    """Whether Ctrl-C was pressed in the block of ``noted_interrupts`` and not cleared by ``forget``."""
    return _noted_at is not None


def forget() -> None:
    """Clear the recorded Ctrl-C. Call it when that was the expected way to stop (a server): later errors have other causes."""
    global _noted_at  # noqa: PLW0603 - a process has one handler
    _noted_at = None


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block, which must be short.

    What is opened in the block can thus be registered for closing before an interrupt arrives. What is removed in it is removed
    completely, even if a swallowed Ctrl-C is raised again (see above) while the first one unwinds.
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
    elif _noted_at is None and _building(frame):
        _raise_again()
    elif _noted_at is None:
        _noted_at = now
        _hush()
        raise KeyboardInterrupt
    elif now - _noted_at >= _PATIENCE_S:
        end(number, frame)


def _building(frame: FrameType | None) -> bool:
    """Whether *frame* stands in an import or in the building of a pydantic schema."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>" or frame.f_code.co_name == "create_schema_validator":
            return True
        frame = frame.f_back
    return False


def _hush() -> None:
    """Silence warnings about cancelled tasks, whose errors may never be retrieved or whose coroutines may never start."""
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    if (logging := sys.modules.get("logging")) is not None:
        logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)


def _raise_again() -> None:
    # Send a signal to the main thread instead of raising here: only a signal interrupts a sleep or a read.
    again = threading.Timer(_AGAIN_S, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    again.daemon = True
    again.start()
