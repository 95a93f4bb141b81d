"""The content hash of a release: SHA-256 over the name of each split and its native rows, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.json_rows import row_line
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record

_CHUNK = 1 << 20


class ContentHash:
    """Updated while the records of one split after the other pass through ``watching``."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def watching(self, split: str, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records*, all those of *split*, unchanged."""
        self._add({"split": split})
        for record in records:
            self._add(row_of(record))
            yield record

    def add_file(self, split: str, path: Path) -> None:
        """Add all rows of *split* as they stand in the native file *path*, which is cheaper than making them again."""
        self._add({"split": split})
        with path.open("rb") as fh:
            while chunk := fh.read(_CHUNK):
                self._sha256.update(chunk)

    def hexdigest(self) -> str:
        """Return the hash of what has passed so far."""
        return self._sha256.hexdigest()

    def _add(self, row: Json) -> None:
        self._sha256.update(row_line(row))
