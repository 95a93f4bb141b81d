"""Rows of which several have the same id: all but the first get another one, as native files hold each id once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

import orjson

from piiloom.corpus.formats.native_rows import row_line
from piiloom.foundation.repeated_ids import RepeatedIds, unique_ids

_AT_ONCE: Final = 1000


def with_unique_ids(lines: Path, repeated: RepeatedIds, target: Path, left_out: Collection[int] = ()) -> None:
    """Copy *lines* to *target*.

    A row is the document of its ``row`` (from 1 on) if it has that key, else that of its line, where the documents *left_out* (from 1 on)
    have none.
    """
    numbers = (number for number in count() if number + 1 not in left_out)
    with lines.open("rb") as source, target.open("wb") as out:
        while block := list(islice(source, _AT_ONCE)):
            out.writelines(_renamed(block, list(islice(numbers, len(block))), repeated))


def _renamed(block: list[bytes], numbers: list[int], repeated: RepeatedIds) -> Iterator[bytes]:
    rows: list[dict[str, Any]] = [orjson.loads(line) for line in block]
    if "row" in rows[0]:
        numbers = [row["row"] - 1 for row in rows]
    if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        new = unique_ids([row["id"] for row in rows], numbers[0], repeated)
    else:
        new = [unique_ids([row["id"]], number, repeated)[0] for row, number in zip(rows, numbers, strict=True)]
    for line, row, name in zip(block, rows, new, strict=True):
        yield line if name == row["id"] else row_line({**row, "id": name})
