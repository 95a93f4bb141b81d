"""Bringing a file into the store: its good rows in a transaction, its bad rows in a file beside it.

The report counts everything that happened to the rows and values, so that a loss is never silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from piiloom.corpus.formats.base import Format, Json, Overlap, ReadTally, RowReject, SkippedValue
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.import_conflicts import STATUS, ImportConflict, Intake, OnConflict
from piiloom.corpus.record import Record
from piiloom.corpus.rejects_file import RejectsFile
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.shared import SharedStore
from piiloom.foundation.errors import DataError

__all__ = ["STATUS", "ImportConflict", "ImportReport", "OnConflict", "import_file", "import_file_among"]

# Rows that are read, looked up and inserted together.
_CHUNK = 2000
# The same where others want to write meanwhile.
_SMALL_CHUNK = 500
# Gives a transaction in which some records are added.
_Transaction = Callable[[], AbstractContextManager[Store]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file. Counts of values include those of rejected rows.

    ``rows`` = ``records`` + ``updated`` + ``skipped_changed`` + ``already_stored`` + ``len(rejected)``. Of ``records``, ``as_new``
    are changed rows that became records of their own. Of ``already_stored``, ``earlier_revision`` are equal to a revision that
    the store has a newer one of. ``overruled`` and ``begun`` are ids of updated records: what people have validated stands above the
    update, what they are at work on began with an earlier text (``piiloom.corpus.import_conflicts.Intake``).
    ``exact`` values were found as whole words,
    ``ambiguous`` ones of them more than once (every mention is a span), ``inside_word`` ones only inside a longer word,
    ``missing`` ones nowhere; ``skipped_values`` are those that their records go without.
    ``mapped_types``: spelling in the file → ours. ``rejected``: (line, reason).
    """

    file: str
    rows: int
    records: int
    as_new: int
    updated: int
    skipped_changed: int
    already_stored: int
    earlier_revision: int
    overruled: tuple[str, ...]
    begun: tuple[str, ...]
    spans: int
    values: int
    exact: int
    ambiguous: int
    inside_word: int
    missing: int
    overlapping: tuple[Overlap, ...]
    skipped_values: tuple[SkippedValue, ...]
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
            "as_new": self.as_new,
            "updated": self.updated,
            "skipped_changed": self.skipped_changed,
            "already_stored": self.already_stored,
            "earlier_revision": self.earlier_revision,
            "overruled": list(self.overruled),
            "begun": list(self.begun),
            "spans": self.spans,
            "values": self.values,
            "exact": self.exact,
            "ambiguous": self.ambiguous,
            "inside_word": self.inside_word,
            "missing": self.missing,
            "overlapping": [overlap.to_json() for overlap in self.overlapping],
            "skipped_values": [value.to_json() for value in self.skipped_values],
            "mapped_types": self.mapped_types,
            "unknown_types": self.unknown_types,
            "ignored_fields": self.ignored_fields,
            "rejected": [{"line": line, "reason": reason} for line, reason in self.rejected],
        }


def import_file(
    store: Store,
    path: Path,
    file_format: Format | str,
    *,
    locale: str,
    rejects_path: Path,
    on_conflict: OnConflict = "fail",
    skip_values: bool = False,
) -> ImportReport:
    """Add the records of *path* to the store; a row that says what is stored already, by any run or import, is skipped and counted.

    *on_conflict* says what becomes of a row whose id is known and whose text, question or labels differ: with ``"fail"``
    nothing is imported (``ImportConflict`` has the ids), ``"update"`` stores a new revision, ``"new"`` a record of its own, and
    ``"skip"`` leaves it out. With *skip_values* a row is kept without the values that have no exact place; they are listed in the
    report, in the file of rejects and in the record's source.

    Raises ``DataError`` when the file cannot be read, is not UTF-8 or has no valid row, ``OutputError``
    when rejects cannot be written, ``UsageError`` for an unknown format. After an error the store is as it was.
    """
    job = _Job(path, _format(file_format), locale, rejects_path, Intake(path.name, on_conflict, alone=True), skip_values)
    with store.transaction():
        return job.run(lambda: nullcontext(store), _CHUNK)


def import_file_among(
    shared: SharedStore,
    path: Path,
    file_format: Format | str,
    *,
    locale: str,
    rejects_path: Path,
    on_conflict: OnConflict = "fail",
    skip_values: bool = False,
) -> ImportReport:
    """``import_file`` into a store that others use meanwhile: nobody waits for longer than five hundred rows take.

    Records on the work list stay with the text that they began with. Conflicts are looked for before anything is stored; after
    another error the rows before it may be in the store, and importing the file again adds the rest.
    """
    job = _Job(path, _format(file_format), locale, rejects_path, Intake(path.name, on_conflict, alone=False), skip_values)
    if on_conflict == "fail":
        job.look(shared.reading, _SMALL_CHUNK)
    return job.run(shared.writing, _SMALL_CHUNK)


@dataclass(frozen=True, slots=True)
class _Job:
    """One file on its way into the store."""

    path: Path
    format: Format
    locale: str
    rejects_path: Path
    intake: Intake
    skip_values: bool

    def look(self, view: _Transaction, size: int) -> None:
        """Only see whether rows differ from what is stored (``ImportConflict``)."""
        tally = ReadTally()
        rows = self._rows(tally)
        good = ((tally.line, row) for row in rows if not isinstance(row, RowReject))
        while chunk := list(islice(good, size)):
            with view() as store:
                self.intake.look(store, chunk)
        self.intake.refuse_conflicts()

    def run(self, transaction: _Transaction, size: int) -> ImportReport:
        """Bring in the rows, *size* at a time."""
        tally, rejected = ReadTally(), list[tuple[int, str]]()
        with RejectsFile(self.rejects_path) as rejects:
            good = _good_rows(self._rows(tally), tally, rejects, rejected)
            while chunk := list(islice(good, size)):  # what takes longest is reading, and that is outside the transaction
                with transaction() as store:
                    self.intake.take(store, chunk)
            if not self.intake.read:
                raise _no_valid_row(self.path, rejected)
            self.intake.refuse_conflicts()
        return _report(self.path.name, tally, self.intake, rejected)

    def _rows(self, tally: ReadTally) -> Iterator[Record | RowReject]:
        return self.format.read(self.path, locale=self.locale, tally=tally, skip_values=self.skip_values)


def _format(chosen: Format | str) -> Format:
    return get_format(chosen) if isinstance(chosen, str) else chosen


def _report(file: str, tally: ReadTally, intake: Intake, rejected: list[tuple[int, str]]) -> ImportReport:
    return ImportReport(
        file=file,
        rows=tally.rows,
        records=intake.added,
        as_new=intake.as_new,
        updated=intake.updated,
        skipped_changed=intake.skipped,
        already_stored=intake.known,
        earlier_revision=intake.earlier,
        overruled=tuple(intake.overruled),
        begun=tuple(intake.begun),
        spans=intake.spans,
        values=tally.values,
        exact=tally.exact,
        ambiguous=tally.ambiguous,
        inside_word=tally.inside_word,
        missing=tally.missing,
        overlapping=tuple(tally.overlapping),
        skipped_values=tuple(tally.skipped_values),
        mapped_types=dict(sorted(tally.mapped_types.items())),
        unknown_types=dict(sorted(tally.unknown_types.items())),
        ignored_fields=dict(sorted(tally.ignored_fields.items())),
        rejected=tuple(rejected),
    )


def _good_rows(
    rows: Iterator[Record | RowReject], tally: ReadTally, rejects: RejectsFile, rejected: list[tuple[int, str]]
) -> Iterator[tuple[int, Record]]:
    told = 0
    for row in rows:
        for value in tally.skipped_values[told:]:
            rejects.add_value(value)
        told = len(tally.skipped_values)
        if isinstance(row, RowReject):
            rejects.add(row)
            rejected.append((row.line, row.reason))
        else:
            yield tally.line, row


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
