"""Writing to the terminal: results, one-line errors, JSON and log lines. Control characters of corpus text are replaced."""

from __future__ import annotations

import io
import json
import logging
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.quick_end import say_nothing_more
from piiloom.foundation.words import counted

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
    return typer.Typer(help=about, epilog=examples(*lines), no_args_is_help=True, pretty_exceptions_enable=False)


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


def table_of(
    title: str | None,
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    right: Collection[int] = (),
    header: bool = True,
    ruled: bool = False,
) -> Table:
    """Make a table of *rows*; columns with a number in *right* are set to the right. *ruled*: with lines between rows."""
    from rich.table import Table

    table = Table(title=title and harmless(title), show_header=header, show_lines=ruled)
    for at, name in enumerate(columns):
        table.add_column(harmless(name), justify="right" if at in right else "left")
    for row in rows:
        table.add_row(*map(harmless, row))
    return table


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


def say_result(data: Any, *parts: str | Table | None, as_json: bool) -> None:
    """Print the result of a command: *data* as JSON, or else *parts*, which are lines and tables (None: nothing)."""
    if as_json:
        say_json(data)
        return
    for part in parts:
        if isinstance(part, str):
            say(part)
        elif part is not None:
            say_table(part)


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


def confirm(action: str, question: str, *, where: str, yes: bool, about: Iterable[str] = ()) -> None:
    """End the command with exit code 1 unless a change is confirmed: in advance (*yes*), or by an answer to *question* on the terminal.

    *action* is the noun and the participle of the change, for messages: "deletion, deleted". *where* names the thing
    that would be changed, and *about* are lines that are printed before the question.
    """
    if yes:
        return
    noun, _, participle = action.partition(", ")
    if not sys.stdin.isatty():
        raise UsageError(f"the {noun} must be confirmed, and there is no terminal to ask", where=where, remedy="Add --yes")
    for line in about:
        say_aside(line)
    if not typer.confirm(question, err=True):
        say_aside(f"nothing was {participle}")
        raise typer.Exit(1)


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


def store_option(store: Path) -> str:
    """Give the --store option that a command to copy needs, ready for a shell."""
    return f" --store {shlex.quote(str(store))}"


def rate_text(per_second: float) -> str:
    """Write a rate in the unit that reads best: ``210/s``, ``4.2/s``, ``12/min``."""
    if per_second >= 10:
        return f"{per_second:,.0f}/s"
    if per_second >= 1:
        return f"{per_second:.1f}/s"
    return f"{per_second * 60:.3g}/min"


def duration_text(seconds: float) -> str:
    """Write seconds as ``0:07``, ``12:30`` or ``3:05:00``."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def dollars(amount: float) -> str:
    """Write an amount of money: cents where it is a dollar or more (or nothing), as many digits as tell it apart below."""
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.001 else f"${amount:.6f}"


def seconds_text(seconds: float | None) -> str:
    """Write a latency: ``85 ms``, ``1.24 s``, ``45 s``, ``12:30``; a dash where there is none."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.3g} s"
    return duration_text(seconds)


def count_text(number: int) -> str:
    """Write a count in few letters: ``9,800``, ``12.3k``, ``4.56M``."""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.3g}k" if number < 999_500 else f"{number / 1e6:.3g}M"


def cost_line(usd: float | None, answered: int, replayed: int, *, run: str | None, store: Path) -> str:
    """Write what the replies to a command have cost (None: unknown), and the command that shows it in full."""
    price = "unknown" if usd is None else dollars(usd)
    return f"cost: {price} for {counted(answered, 'reply')}, {replayed:,} more from the store; piiloom cost --run {run} --store {store}"
