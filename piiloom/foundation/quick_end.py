"""Ending the process: at once and without a traceback on Ctrl-C, otherwise without Python's own teardown.

Imports next to nothing, since the console script starts with it.
"""

from __future__ import annotations

# The C module behind ``signal``: importing ``signal`` takes as long as starting Python, and Ctrl-C would print a traceback
# meanwhile.
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
    """Make the process exit right after the exit handlers that are registered from now on, once ``end_silently`` was given its code.

    Python's own teardown would stop a thread that is inside DuckDB (Ctrl-C may have left it with its commit) by unwinding it
    through C++, which aborts the process: "FATAL: exception not rethrown".
    """
    atexit.register(_leave)


def end_at_once(*, also_say: str = "") -> None:
    """From now on, Ctrl-C ends the process with ``LINE`` on standard error and *also_say* on standard output."""
    global _also_said  # noqa: PLW0603 - a process has one handler
    _also_said = also_say
    install(end)


def say_nothing_more() -> None:
    """Drop the ``also_say`` text of ``end_at_once``, since standard output has the result already."""
    global _also_said  # noqa: PLW0603 - as above
    _also_said = ""


def end_silently(code: int) -> None:
    """Set the exit code: from now on, Ctrl-C ends the process with *code* and without output.

    The exit set up by ``end_without_teardown`` uses *code* as well.
    """
    global _code  # noqa: PLW0603 - a process has one end
    _code = code
    install(lambda _number, _frame: os._exit(code))


def install(handler: object) -> bool:
    """Make *handler* the handler of SIGINT; return whether it is.

    It is not outside the main thread, nor if the process was started with SIGINT ignored.
    """
    if _signal.getsignal(_signal.SIGINT) in {_signal.SIG_IGN, None}:
        return False
    try:
        _signal.signal(_signal.SIGINT, handler)
    except ValueError:
        return False
    return True


def end(_number: int, _frame: object) -> None:
    """End the process here. Uses system calls only, since the interrupted code may be using the buffers."""
    _write(2, f"{_SHOW_CURSOR if os.isatty(2) else ''}{LINE}\n")
    if _also_said:
        _write(1, f"{_also_said}\n")
    os._exit(EXIT_CODE)


def _leave() -> None:
    if _code is None:
        return  # an uncaught error: Python prints it
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed or broken pipe: reported already where it can be
    os._exit(_code)


def _write(number: int, text: str) -> None:
    try:
        os.write(number, text.encode())
    except OSError:
        return
