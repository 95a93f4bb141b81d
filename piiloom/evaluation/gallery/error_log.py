"""``errors.jsonl``: all errors of all documents, one a line, as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from piiloom.corpus.formats.native_rows import row_line
from piiloom.evaluation.gallery.errors import Row
from piiloom.evaluation.inputs.documents import Mention, Pair
from piiloom.foundation.whole_files import drafted


class ErrorLog:
    """Writes errors to an open file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, pair: Pair, rows: Sequence[Row]) -> None:
        """Write the errors among *rows*."""
        self._file.writelines(_line(error_json(pair, row)) for row in rows if row.kind != "correct")


@contextmanager
def error_log(path: Path) -> Iterator[ErrorLog]:
    """Write errors to *path*; the file is there, whole, when the context ends without an error. Raises ``OutputError``."""
    with drafted(path) as file:
        yield ErrorLog(file)


def error_json(pair: Pair, row: Row) -> dict[str, Any]:
    """Return an error as JSON; ``where`` is the file and line of gold, ``also`` lists what else is wrong."""
    return {
        "document": pair.gold.id if pair.gold.id is not None else pair.found.id,
        "where": pair.gold.where,
        "kind": row.kind,
        "also": list(row.also),
        "locale": pair.gold.locale or pair.found.locale,
        "question": pair.gold.question if pair.gold.question is not None else pair.found.question,
        "gold": [_mention_json(one) for one in row.gold],
        "found": [_mention_json(one) for one in row.found],
    }


def _mention_json(mention: Mention) -> dict[str, Any]:
    return {
        "text": mention.text,
        "type": mention.entity_type,
        "start": mention.start,
        "end": mention.end,
        "relevance": mention.relevance,
        "subject": mention.subject,
    }


def _line(row: dict[str, Any]) -> bytes:
    try:
        return row_line(row)
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can tell
        return json.dumps(row).encode("ascii") + b"\n"
