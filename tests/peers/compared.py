"""What the checks of this folder share: the native rows as the truth, and the comparison. Without piiloom, which is not installed there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Spans = list[tuple[int, int, str, str]]  # start, end, text, label


def native_rows(out: Path) -> list[Row]:
    """The rows of the folder that ``export_for_peers.py`` wrote."""
    with (out / "native" / "records.jsonl").open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def spans_of(row: Row) -> Spans:
    """The spans of a native row."""
    return [(span["start"], span["end"], span["text"], span["type"]) for span in row["spans"]]


def compare(rows: Iterable[Row], theirs: Iterable[tuple[str, Spans]], expected: Iterable[Spans] | None = None) -> None:
    """Print how many texts and spans of *theirs* (text, spans) equal those of *rows*; ends with 1 at the first that does not."""
    texts, spans = 0, 0
    wanted: Iterator[tuple[Row, Spans]] = ((row, spans_of(row)) for row in rows) if expected is None else zip(rows, expected, strict=True)
    for (row, ours), (text, found) in zip(wanted, theirs, strict=True):
        if text != row["context"] or sorted(found) != sorted(ours):
            raise SystemExit(f"{row['id']}: {sorted(found)} instead of {sorted(ours)}")
        texts, spans = texts + 1, spans + len(found)
    print(f"{texts} texts and {spans} spans are equal")
