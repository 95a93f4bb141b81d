"""Text in columns: a table without rules, cheap to make, and as it is when it goes into a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from piiloom.cli.terminal import begin_json, say_aside
from piiloom.foundation.errors import UsageError

GAP = 2


def in_columns(
    rows: Sequence[Sequence[str]], *, width: int | None = None, spared: Sequence[str] = (), left: Collection[int] = (0,)
) -> list[str]:
    """Set the cells of *rows*, titles first, in columns; those numbered in *left* to the left, the others to the right.

    Where the lines would be longer than *width*, columns are left out in the order of their titles in *spared*.
    """
    columns = [(at in left, column) for at, column in enumerate(zip(*rows, strict=True))]
    widths: list[int] = []
    for title in (None, *spared):
        columns = [(to_left, column) for to_left, column in columns if column[0] != title]
        widths = [max(map(len, column)) for _, column in columns]
        if width is None or sum(widths) + GAP * (len(widths) - 1) <= width:
            break
    cells = [
        [cell.ljust(wide) if to_left else cell.rjust(wide) for cell in column]
        for (to_left, column), wide in zip(columns, widths, strict=True)
    ]
    return [(" " * GAP).join(row).rstrip() for row in zip(*cells, strict=True)]


LimitOption = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="How many to print; 0 prints all.")]
OffsetOption = Annotated[int, typer.Option("--offset", min=0, metavar="N", help="How many to skip first.")]


def rest_of_list(total: int, shown: int, *, offset: int) -> str | None:
    """Say what of a list was not printed, and how to see it; None where all was."""
    if shown == total:
        return None
    last = offset + shown
    after = f"; --offset {last} goes on, --limit 0 prints all" if last < total else ""
    part = f"{offset + 1:,} to {last:,}" if shown > 1 else f"{last:,}"
    return f"{part} of {total:,}{after}" if shown else f"none from {offset + 1:,} on, of {total:,}"


def say_json_lines(items: Iterable[Any]) -> int:
    """Print each of *items* as JSON on a line of its own, as it comes; return how many."""
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


def confirmed_deletion(what: str, *, confirmed: bool) -> bool:
    if confirmed:
        return True
    if not sys.stdin.isatty():
        raise UsageError("the deletion must be confirmed, and there is no terminal to ask", where=what, remedy="Add --yes")
    if typer.confirm("Delete it?", err=True):
        return True
    say_aside("nothing was deleted")
    return False
