"""The content hash of a release: SHA-256 over the name of each split and its native rows, in order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode


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

    def hexdigest(self) -> str:
        """Return the hash of what has passed so far."""
        return self._sha256.hexdigest()

    def _add(self, line: object) -> None:
        self._sha256.update(_ENCODE(line).encode("utf-8") + b"\n")
