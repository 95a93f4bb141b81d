"""Writing to the terminal: one-line errors, JSON, and text of unknown origin made harmless."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

from piiloom.foundation.quick_end import say_nothing_more

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Control characters become visible, one for one, so that offsets stay: text of a corpus must not steer the terminal.
_KEPT = "\n\t"
_VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in _KEPT}
_VISIBLE |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_UNBOUNDED = 1_000_000  # columns

_json_begun = False


def harmless(text: str) -> str:
    """Give *text* with control characters (escape sequences, carriage returns …) replaced, same length."""
    return text.translate(_VISIBLE)


def tolerate_any_text() -> None:
    """Let a terminal of any encoding take any text: what it cannot show is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def console() -> Console:
    """Give a console on standard output that interprets nothing in the texts it is given."""
    from rich.console import Console  # noqa: PLC0415 - takes 20 ms, and many commands print lines or JSON only

    # Without force_jupyter, rich writes HTML in a notebook and a warning for each step of a progress bar.
    return Console(markup=False, emoji=False, highlight=False, force_jupyter=False, soft_wrap=not sys.stdout.isatty())


def error_console() -> Console:
    """Give the same for standard error: progress, and whatever is not the result."""
    from rich.console import Console  # noqa: PLC0415 - as above

    # Jupyter sets FORCE_COLOR, and rich then takes every stream for a terminal.
    terminal = None if sys.stderr.isatty() else False
    return Console(stderr=True, markup=False, emoji=False, highlight=False, force_jupyter=False, force_terminal=terminal)


def say_table(table: Table, to: Console | None = None) -> None:
    """Print *table* to the console *to*, or to standard output. No word in it is cut: where a terminal is too narrow, the table is wider.

    A pipe gets a table without line breaks in cells, unless the table is to fill the width. The title has a line of its own.
    """
    from rich.measure import measure_renderables  # noqa: PLC0415 - as above

    to = to or console()
    if table.title:
        to.print(table.title, style="italic", soft_wrap=True)
        table.title = None
    unbounded = to.options.update(max_width=_UNBOUNDED)
    for column in table.columns:
        widths = measure_renderables(to, unbounded, [column.header, *column.cells])
        column.min_width, column.no_wrap, column.overflow = widths.minimum, widths.minimum == widths.maximum, "fold"
    widths, usual = measure_renderables(to, unbounded, [table]), to.width
    to.width = max(usual, widths.minimum) if to.is_terminal or table.expand else widths.maximum
    to.print(table, crop=False, soft_wrap=False)
    to.width = usual


def say(text: str) -> None:
    """Print one or more lines of a result."""
    sys.stdout.write(harmless(text) + "\n")


def say_aside(text: str) -> None:
    """Print a line beside the result, on standard error."""
    sys.stderr.write(harmless(" ".join(text.split())) + "\n")
    sys.stderr.flush()


def say_error(message: str) -> None:
    """Print an error as exactly one line on standard error."""
    say_aside(f"error: {message}")


def say_json(data: Any) -> None:
    """Print *data* as indented JSON, text as it is."""
    begin_json()
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def begin_json() -> None:
    """From now on standard output holds the command's object: an error or a Ctrl-C that comes yet adds no second one."""
    global _json_begun  # noqa: PLW0603 - a process has one standard output
    _json_begun = True
    say_nothing_more()


def json_begun() -> bool:
    """Whether this command has printed its object, or begun to."""
    return _json_begun


def forget_json() -> None:
    """Another command begins (in tests, several run in one process)."""
    global _json_begun  # noqa: PLW0603 - as above
    _json_begun = False
