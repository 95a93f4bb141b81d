"""Rows of which several have the same id: all but the first get another one, as native files hold each id once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from piiloom.corpus.formats.json_rows import row_line
from piiloom.foundation.repeated_ids import RepeatedIds, unique_ids

_AT_ONCE: Final = 1000


def with_unique_ids(lines: Path, repeated: RepeatedIds, target: Path) -> None:
    """Copy *lines* to *target*. A row is the document of its ``row`` (from 1 on) if it has that key, else that of its line."""
    with lines.open("rb") as source, target.open("wb") as out:
        first = 0
        while block := list(islice(source, _AT_ONCE)):
            out.writelines(_renamed(block, first, repeated))
            first += len(block)


def _renamed(block: list[bytes], first: int, repeated: RepeatedIds) -> Iterator[bytes]:
    rows: list[dict[str, Any]] = [orjson.loads(line) for line in block]
    if "row" in rows[0]:
        new = [unique_ids([row["id"]], row["row"] - 1, repeated)[0] for row in rows]
    else:
        new = unique_ids([row["id"] for row in rows], first, repeated)
    for line, row, name in zip(block, rows, new, strict=True):
        yield line if name == row["id"] else row_line({**row, "id": name})
