"""Bringing a file into the store: its good rows in a transaction, its bad rows in a file beside it.

The report counts everything that happened to the rows and values, so that a loss is never silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from piiloom.corpus.formats.base import Format, Json, Overlap, ReadTally, RowReject
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record
from piiloom.corpus.rejects_file import RejectsFile
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.shared import SharedStore
from piiloom.foundation.errors import DataError

STATUS = "imported"
# Rows that are read, looked up and inserted together.
_CHUNK = 2000
# The same where others want to write meanwhile.
_SMALL_CHUNK = 500
# Gives a transaction in which some records are added.
_Transaction = Callable[[], AbstractContextManager[Store]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file. Counts of values include those of rejected rows.

    ``rows`` = ``records`` + ``already_stored`` + ``len(rejected)``. ``exact`` values were found as whole words,
    ``ambiguous`` ones of them more than once (every mention is a span), ``inside_word`` ones only inside a longer word,
    ``missing`` ones nowhere. ``mapped_types``: spelling in the file → ours. ``rejected``: (line, reason).
    """

    file: str
    rows: int
    records: int
    already_stored: int
    spans: int
    values: int
    exact: int
    ambiguous: int
    inside_word: int
    missing: int
    overlapping: tuple[Overlap, ...]
    mapped_types: dict[str, str]
    unknown_types: dict[str, int]
    ignored_fields: dict[str, int]
    rejected: tuple[tuple[int, str], ...]

    def to_json(self) -> Json:
        """The report as JSON values."""
        return {
            "file": self.file,
            "rows": self.rows,
            "records": self.records,
            "already_stored": self.already_stored,
            "spans": self.spans,
            "values": self.values,
            "exact": self.exact,
            "ambiguous": self.ambiguous,
            "inside_word": self.inside_word,
            "missing": self.missing,
            "overlapping": [overlap.to_json() for overlap in self.overlapping],
            "mapped_types": self.mapped_types,
            "unknown_types": self.unknown_types,
            "ignored_fields": self.ignored_fields,
            "rejected": [{"line": line, "reason": reason} for line, reason in self.rejected],
        }


def import_file(store: Store, path: Path, file_format: Format | str, *, locale: str, rejects_path: Path) -> ImportReport:
    """Add the records of *path* to the store; a record that is stored already, by any run or import, is skipped and counted.

    Raises ``DataError`` when the file cannot be read, is not UTF-8 or has no valid row, ``OutputError`` when rejects
    cannot be written, ``UsageError`` for an unknown format. After an error the store is as it was.
    """
    with store.transaction():
        return _import(lambda: nullcontext(store), _CHUNK, path, file_format, locale, rejects_path)


def import_file_among(shared: SharedStore, path: Path, file_format: Format | str, *, locale: str, rejects_path: Path) -> ImportReport:
    """``import_file`` into a store that others use meanwhile: nobody waits for longer than five hundred rows take.

    After an error the rows before it may be in the store; importing the file again adds the rest.
    """
    return _import(shared.writing, _SMALL_CHUNK, path, file_format, locale, rejects_path)


def _import(transaction: _Transaction, chunk: int, path: Path, file_format: Format | str, locale: str, rejects_path: Path) -> ImportReport:
    chosen = get_format(file_format) if isinstance(file_format, str) else file_format
    tally = ReadTally()
    rejected: list[tuple[int, str]] = []
    with RejectsFile(rejects_path) as rejects:
        good = _good_rows(chosen.read(path, locale=locale, tally=tally), rejects, rejected)
        read, records, spans = _store_rows(transaction, chunk, good)
        if not read:
            raise _no_valid_row(path, rejected)
    return ImportReport(
        file=path.name,
        rows=tally.rows,
        records=records,
        already_stored=read - records,
        spans=spans,
        values=tally.values,
        exact=tally.exact,
        ambiguous=tally.ambiguous,
        inside_word=tally.inside_word,
        missing=tally.missing,
        overlapping=tuple(tally.overlapping),
        mapped_types=dict(sorted(tally.mapped_types.items())),
        unknown_types=dict(sorted(tally.unknown_types.items())),
        ignored_fields=dict(sorted(tally.ignored_fields.items())),
        rejected=tuple(rejected),
    )


def _good_rows(rows: Iterator[Record | RowReject], rejects: RejectsFile, rejected: list[tuple[int, str]]) -> Iterator[Record]:
    for row in rows:
        if isinstance(row, RowReject):
            rejects.add(row)
            rejected.append((row.line, row.reason))
        else:
            yield row


def _store_rows(transaction: _Transaction, size: int, records: Iterator[Record]) -> tuple[int, int, int]:
    """Rows read, records added, spans added."""
    read = added = spans = 0
    while chunk := list(islice(records, size)):  # what takes longest is reading, and that is outside the transaction
        with transaction() as store:
            known = {(record.id, record.revision) for record in iter_records(store, ids=[record.id for record in chunk])}
            new = [record for record in chunk if (record.id, record.revision) not in known]
            added += add_records(store, None, [(None, record) for record in new], status=STATUS)
        read += len(chunk)
        spans += sum(len(record.spans) for record in new)
    return read, added, spans


def _no_valid_row(path: Path, rejected: list[tuple[int, str]]) -> DataError:
    if not rejected:
        return DataError("the file has no rows", where=str(path))
    line, reason = rejected[0]
    return DataError(
        f"no row of the file can be imported; the first fault: {reason}",
        where=f"{path.name}:{line}",
        remedy="Check that --format names the file's format (one JSON object a line)"
        + (", or define its own types in a file and name it with --types" if "not one of the known types" in reason else ""),
    )
