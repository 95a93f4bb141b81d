"""Ending the process: on Ctrl-C at once and without a traceback, otherwise without taking Python down piece by piece.

Loads next to nothing: it is what the console script begins with.
"""

from __future__ import annotations

# What ``signal`` is made of: loading that takes as long as starting Python does, and Ctrl-C would give a traceback meanwhile.
import _signal  # type: ignore[import-not-found]
import atexit
import os
import sys

LINE = "error: interrupted"
EXIT_CODE = 1
_SHOW_CURSOR = "\x1b[?25h"

_also_said = ""
_code: int | None = None


def end_without_teardown() -> None:
    """Have the process end, once ``end_silently`` has given its code, right after what modules loaded from now on do at exit.

    Python's own end would stop a thread that is inside of DuckDB (a Ctrl-C has left it alone with its commit) by unwinding it
    through C++, which aborts the process: "FATAL: exception not rethrown".
    """
    atexit.register(_leave)


def end_at_once(*, also_say: str = "") -> None:
    """From now on Ctrl-C ends the process with ``LINE``; *also_say* goes to standard output then."""
    global _also_said  # noqa: PLW0603 - a process has one handler
    _also_said = also_say
    install(end)


def say_nothing_more() -> None:
    """What was to go to standard output on Ctrl-C no longer fits there: the result stands there already."""
    global _also_said  # noqa: PLW0603 - as above
    _also_said = ""


def end_silently(code: int) -> None:
    """All is said: from now on Ctrl-C ends the process with *code* and without words, and so does what ``end_without_teardown`` set up."""
    global _code  # noqa: PLW0603 - a process has one end
    _code = code
    install(lambda _number, _frame: os._exit(code))


def install(handler: object) -> bool:
    """Have *handler* answer SIGINT; whether it does: not in another thread, and not where the process was started to ignore it."""
    if _signal.getsignal(_signal.SIGINT) in {_signal.SIG_IGN, None}:
        return False
    try:
        _signal.signal(_signal.SIGINT, handler)
    except ValueError:
        return False
    return True


def end(_number: int, _frame: object) -> None:
    """End the process here. Only system calls: the buffers may be in use by what was interrupted."""
    _write(2, f"{_SHOW_CURSOR if os.isatty(2) else ''}{LINE}\n")
    if _also_said:
        _write(1, f"{_also_said}\n")
    os._exit(EXIT_CODE)


def _leave() -> None:
    if _code is None:
        return  # an error that nobody caught: Python tells it
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed, or nobody reads it: what could be said of that has been said
    os._exit(_code)


def _write(number: int, text: str) -> None:
    try:
        os.write(number, text.encode())
    except OSError:
        return
