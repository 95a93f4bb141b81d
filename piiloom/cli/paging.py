"""Long lists: a part of them at a time, how many there are, and as JSON without holding them in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from piiloom.cli.terminal import begin_json

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


def counted(count: int, one: str, many: str | None = None) -> str:
    """Write how many there are of something: "1 record", "2 records"; *many* where an s is not enough."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
