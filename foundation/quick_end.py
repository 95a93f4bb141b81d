"""Ending the process on Ctrl-C at once and without a traceback. Loads next to nothing: it is what the console script begins with."""

from __future__ import annotations

# What ``signal`` is made of: loading that takes as long as starting Python does, and Ctrl-C would give a traceback meanwhile.
import _signal  # type: ignore[import-not-found]
import atexit
import os

LINE = "error: interrupted"
EXIT_CODE = 1
_SHOW_CURSOR = "\x1b[?25h"

_also_said = ""


def end_at_once(*, also_say: str = "") -> None:
    """From now on Ctrl-C ends the process with ``LINE``; *also_say* goes to standard output then."""
    global _also_said  # noqa: PLW0603 - a process has one handler
    _also_said = also_say
    install(end)


def end_silently(code: int) -> None:
    """From now on Ctrl-C ends the process with *code* and without words: all is said, it is only being taken down."""
    if install(lambda _number, _frame: os._exit(code)):
        # At its very end Python gives signals back to the system, which would end the process with another code.
        atexit.register(_signal.signal, _signal.SIGINT, _signal.SIG_IGN)


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


def _write(number: int, text: str) -> None:
    try:
        os.write(number, text.encode())
    except OSError:
        return
