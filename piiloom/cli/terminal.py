"""Writing to the terminal: results, one-line errors, JSON and log lines. Control characters of corpus text are replaced."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.quick_end import say_nothing_more

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from typer import Typer

# Control characters become visible, one for one, so that offsets stay: text of a corpus must not steer the terminal.
_KEPT = "\n\t"
_VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in _KEPT}
_VISIBLE |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_UNBOUNDED = 1_000_000  # columns
_GAP = 2  # blanks between two columns

_LOG = logging.getLogger("piiloom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbosity:
    """The output besides results: nothing but errors (``quiet``), log lines on standard error, log lines in a file."""

    quiet: bool = False
    verbose: bool = False
    log_file: str | None = None


_json_begun = False
_verbosity = Verbosity()


def set_verbosity(verbosity: Verbosity) -> None:
    """Apply *verbosity* to the commands that follow in this process. Raises ``OutputError`` if the log file cannot be opened."""
    global _verbosity  # noqa: PLW0603 - a process has one terminal
    _verbosity = verbosity
    for handler in list(_LOG.handlers):
        _LOG.removeHandler(handler)
        handler.close()
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)] if verbosity.verbose else []
    if verbosity.log_file is not None:
        try:
            handlers.append(logging.FileHandler(verbosity.log_file, encoding="utf-8"))
        except OSError as error:
            raise OutputError(f"the log cannot be written ({error.strerror})", where=verbosity.log_file) from error
    for handler in handlers or [logging.NullHandler()]:  # without a handler, Python prints errors on standard error itself
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _LOG.addHandler(handler)
    _LOG.setLevel(logging.DEBUG if handlers else logging.NOTSET)
    _LOG.propagate = not handlers


def is_quiet() -> bool:
    """Return whether nothing but errors and JSON is printed (--quiet)."""
    return _verbosity.quiet


def examples(*lines: str) -> str:
    """Return the Examples part of a help text."""
    return "\n".join(["Examples:", *(f"  {line}" for line in lines)])


def command_group(about: str, *lines: str) -> Typer:
    """Return a group of commands, with the examples *lines* in its help."""
    from typer import Typer

    return Typer(help=about, epilog=examples(*lines), no_args_is_help=True, pretty_exceptions_enable=False)


def harmless(text: str) -> str:
    """Return *text* with control characters (escape sequences, carriage returns …) replaced, same length."""
    return text.translate(_VISIBLE)


def tolerate_any_text() -> None:
    """Let a terminal of any encoding take any text: what it cannot show is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def console() -> Console:
    """Return a console on standard output that interprets nothing in its texts."""
    from rich.console import Console

    # Without force_jupyter, rich writes HTML in a notebook and a warning for each step of a progress bar.
    return Console(markup=False, emoji=False, highlight=False, force_jupyter=False, soft_wrap=not sys.stdout.isatty())


def error_console() -> Console:
    """Return the same for standard error: progress, and everything that is not the result."""
    from rich.console import Console

    # Jupyter sets FORCE_COLOR, and rich then takes every stream for a terminal.
    terminal = None if sys.stderr.isatty() else False
    return Console(stderr=True, markup=False, emoji=False, highlight=False, force_jupyter=False, force_terminal=terminal)


def say_table(table: Table, to: Console | None = None) -> None:
    """Print *table* to the console *to*, or to standard output. No word in it is cut: where a terminal is too narrow, the table is wider.

    A pipe gets a table without line breaks in cells, unless the table is to fill the width. The title has a line of its own.
    """
    from rich.measure import measure_renderables

    if is_quiet():
        return
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


def say_rows(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[str] = (), header: bool = True
) -> None:
    """Print a table of *rows*; the columns *right* are set to the right. A pipe gets the same signs without ``rich``, which takes 50 ms."""
    texts = [[harmless(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR"):
        from rich.cells import cell_len

        heads = columns if header else [max(name.split(), key=cell_len) for name in columns]  # rich leaves room for the words of these
        widths = [max(map(cell_len, cells)) for cells in zip(heads, *texts, strict=True)]

        def line(cells: Sequence[str], bar: str) -> str:
            padded = []
            for name, cell, width in zip(columns, cells, widths, strict=True):
                blanks = " " * (width - cell_len(cell))
                padded.append(f" {blanks}{cell} " if name in right else f" {cell}{blanks} ")
            return bar + bar.join(padded) + bar

        def rule(left: str, middle: str, end: str, sign: str) -> str:
            return left + middle.join(sign * (width + 2) for width in widths) + end

        top = [rule("┏", "┳", "┓", "━"), line(columns, "┃"), rule("┡", "╇", "┩", "━")] if header else [rule("┌", "┬", "┐", "─")]
        say("\n".join([title, *top, *(line(row, "│") for row in texts), rule("└", "┴", "┘", "─")]))
        return
    from rich.table import Table

    table = Table(title=title, show_header=header)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    for row in texts:
        table.add_row(*row)
    say_table(table)


def say(text: str) -> None:
    """Print one or more lines of a result."""
    if is_quiet():
        return
    sys.stdout.write(harmless(text) + "\n")


def say_aside(text: str, *, always: bool = False) -> None:
    """Print a line that is not part of the result, on standard error; with --quiet only if it is *always* printed."""
    _say_on_stderr(text, logging.INFO, printed=always or not is_quiet())


def _say_on_stderr(text: str, level: int, *, printed: bool = True) -> None:
    """Log *text* as one line; also print it on standard error if it is *printed*, unless --verbose has done so."""
    line = harmless(" ".join(text.split()))
    if _LOG.hasHandlers():  # else logging itself would print errors once more
        _LOG.log(level, line)
    if not printed or _verbosity.verbose:
        return
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def say_error(message: str) -> None:
    """Print an error as exactly one line on standard error."""
    _say_on_stderr(f"error: {message}", logging.ERROR)


def say_json(data: Any) -> None:
    """Print *data* as indented JSON, text as it is."""
    begin_json()
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def begin_json() -> None:
    """Note that standard output has the object of the command: a later error or Ctrl-C adds no second one."""
    global _json_begun  # noqa: PLW0603 - a process has one standard output
    _json_begun = True
    say_nothing_more()


def json_begun() -> bool:
    """Return whether this command has printed its object, or begun to."""
    return _json_begun


def forget_json() -> None:
    """Begin another command (in tests, several run in one process)."""
    global _json_begun  # noqa: PLW0603 - as above
    _json_begun = False


def in_columns(
    rows: Sequence[Sequence[str]], *, width: int | None = None, spared: Sequence[str] = (), left: Collection[int] = (0,)
) -> list[str]:
    """Return the lines of a table of *rows*, titles first. Columns with a number in *left* are set to the left, others to the right.

    If lines would be longer than *width*, columns are left out in the order of their titles in *spared*.
    """
    columns = [(at in left, column) for at, column in enumerate(zip(*rows, strict=True))]
    widths: list[int] = []
    for title in (None, *spared):
        columns = [(to_left, column) for to_left, column in columns if column[0] != title]
        widths = [max(map(len, column)) for _, column in columns]
        if width is None or sum(widths) + _GAP * (len(widths) - 1) <= width:
            break
    cells = [
        [cell.ljust(wide) if to_left else cell.rjust(wide) for cell in column]
        for (to_left, column), wide in zip(columns, widths, strict=True)
    ]
    return [(" " * _GAP).join(row).rstrip() for row in zip(*cells, strict=True)]


def rest_of_list(total: int, shown: int, *, offset: int) -> str | None:
    """Return which rows of a list were printed and how to print the others; None if all were."""
    if shown == total:
        return None
    last = offset + shown
    after = f"; --offset {last} goes on, --limit 0 prints all" if last < total else ""
    part = f"{offset + 1:,} to {last:,}" if shown > 1 else f"{last:,}"
    return f"{part} of {total:,}{after}" if shown else f"none from {offset + 1:,} on, of {total:,}"


def say_json_lines(items: Iterable[Any]) -> int:
    """Print each of *items* as JSON on a line of its own as soon as it comes; return their number."""
    begin_json()
    shown = 0
    for item in items:
        sys.stdout.write(json.dumps(item, ensure_ascii=False) + "\n")
        shown += 1
    return shown


def say_json_list(head: Mapping[str, Any], name: str, items: Iterable[Any]) -> None:
    """Print a JSON object of *head* and, under *name*, the list of *items*, each written as it comes, on a line of its own."""
    begin_json()
    write = sys.stdout.write
    write("{\n")
    for key, value in head.items():
        write(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n")
    write(f"  {json.dumps(name)}: [")
    separator = "\n"
    for item in items:
        write(f"{separator}    {json.dumps(item, ensure_ascii=False)}")
        separator = ",\n"
    write("\n  ]\n}\n" if separator != "\n" else "]\n}\n")


def confirmed(action: str, question: str, *, where: str, yes: bool, about: Iterable[str] = ()) -> bool:
    """Return whether a change is confirmed: in advance (*yes*), or by an answer to *question* on the terminal.

    *action* is the noun and the participle of the change, for messages: "deletion, deleted". *where* names the thing
    that would be changed, and *about* are lines that are printed before the question.
    """
    if yes:
        return True
    noun, _, participle = action.partition(", ")
    if not sys.stdin.isatty():
        raise UsageError(f"the {noun} must be confirmed, and there is no terminal to ask", where=where, remedy="Add --yes")
    for line in about:
        say_aside(line)
    import typer

    if typer.confirm(question, err=True):
        return True
    say_aside(f"nothing was {participle}")
    return False


def agree_to_send(words: str, *, yes: bool, confirm: Callable[..., bool] = typer.confirm) -> None:
    """Say what would leave this machine, and ask for agreement unless it was given beforehand. Raises ``UsageError`` without it."""
    for line in words.splitlines():
        say_aside(line)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("sending texts to a provider must be confirmed, and there is no terminal to ask", remedy="Add --yes")
    if not confirm("Send these texts?", err=True):
        raise UsageError("nothing was sent, because sending was not confirmed", remedy="Confirm it, or add --yes")
