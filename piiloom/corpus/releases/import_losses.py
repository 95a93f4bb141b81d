"""Collect the values that records lost when they were imported, for the loss report of an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from piiloom.corpus.formats.base import LossEntry
from piiloom.corpus.record import Record

# Prefix of the reason that the format's reader gave.
AT_IMPORT = "lost at import"


class ImportLosses:
    """Collects the losses of records that pass through ``watching``."""

    def __init__(self) -> None:
        self.entries: list[LossEntry] = []

    def watching(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records* unchanged and add their losses to ``entries``."""
        for record in records:
            for value in record.source.lost if record.source is not None else ():
                self.entries.append(LossEntry(record_id=record.id, value=value.text, reason=f"{AT_IMPORT}: {value.reason}"))
            yield record
