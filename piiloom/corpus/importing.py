"""Import a file into the store: valid rows are stored in a transaction, invalid rows are written to a file of rejects.

The report counts what happened to every row and value, so that no loss is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import field_validator

from piiloom.corpus.formats.base import (
    Json,
    Overlap,
    ReadableFormat,
    ReadOptions,
    ReadTally,
    RowReject,
    SkippedValue,
    read_records,
    rejects_file,
)
from piiloom.corpus.formats.columns import check_columns, parse_columns
from piiloom.corpus.formats.registry import READABLE, get_readable_format
from piiloom.corpus.import_conflicts import STATUS, ImportConflict, Intake, OnConflict
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import MANIFEST, read_manifest, types_beside
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore, store_for_writing
from piiloom.corpus.store.releases import keep_types, types_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.settings import Converted, OptionalPath, Settings, setting
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.label_maps import label_map, maps_for
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, extended
from piiloom.taxonomy.own_types_file import read_types_file

__all__ = ["STATUS", "ImportConflict", "ImportReport", "OnConflict", "import_file", "import_file_among"]

# Number of rows that are read, looked up and inserted together.
_CHUNK = 2000
# The same for a store that others write to at the same time.
_SMALL_CHUNK = 500
# Opens a transaction (or, for ``_Job.find_conflicts``, a reading view) on the store.
_Transaction = Callable[[], AbstractContextManager[Store]]


INPUT_FORMATS: Final = f"Format of the file: {', '.join(READABLE)}."


class ReadingSettings(Settings):
    """The settings of reading a file of records."""

    locale: str = setting("en_US", "Locale of rows that name none, such as nl_NL; piiloom locales list shows all.")
    columns: Converted[Mapping[str, str], Mapping[str, str] | str | None] = setting(
        {},
        "Columns of a table by field: context (the text), question, id, locale, as in context=body,question=q; also those of spans "
        "(docs/exports.md).",
        metavar="FIELD=COLUMN,…",
    )
    label_map: Converted[str | None, str | Path | None] = setting(
        None, "Types of the file's labels: a shipped map or a YAML file.", metavar="NAME|FILE"
    )
    types: OptionalPath = setting(None, "Your own entity types (docs/own-types.md).", metavar="FILE")

    @field_validator("columns", mode="before")
    @classmethod
    def _parsed(cls, columns: Any) -> Any:
        return parse_columns(columns) if isinstance(columns, str) else columns or {}

    @field_validator("label_map", mode="before")
    @classmethod
    def _named(cls, name: Any) -> Any:
        return str(name) if isinstance(name, Path) else name

    def own_types(self, file: Path) -> OwnTypes:
        """Return the own types of the types file, or else of the export that *file* belongs to."""
        return types_beside(file) if self.types is None else read_types_file(self.types)

    def options(self, taxonomy: Taxonomy, *, skip_values: bool = False, blank_contexts: bool = False) -> ReadOptions:
        """Return the options for a reader of labels of *taxonomy*."""
        return ReadOptions(
            taxonomy=taxonomy,
            locale=resolve_locale(self.locale),
            skip_values=skip_values,
            blank_contexts=blank_contexts,
            columns=self.columns,
            label_map={} if self.label_map is None else label_map(self.label_map, taxonomy),
        )


class ImportSettings(ReadingSettings):
    """The settings of an import."""

    input_format: str = setting("native", INPUT_FORMATS, metavar="FORMAT")
    rejects: OptionalPath = setting(
        None,
        "File for refused rows, with line and reason; <FILE's name>.rejects.jsonl beside the store if not given.",
        metavar="FILE",
    )
    on_conflict: OnConflict = setting(
        "fail",
        "For a row with a stored record's id and other text, question or labels: import nothing (fail), leave it out, "
        "store a new revision, or a record of its own.",
    )
    skip_values: bool = setting(False, "Keep a row whose values are not all whole words of its text, without those values; list them.")


class LoadSettings(ReadingSettings):
    """The settings of loading records without a store. ``input_format`` None: native, or the format of an export."""

    split: str | None = setting(None, "Only this split of an exported folder.")
    input_format: str | None = setting(None, INPUT_FORMATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Framed):
    """Outcome of an import. Counts of values include those of rejected rows.

    ``rows`` = ``records`` + ``updated`` + ``skipped_changed`` + ``already_stored`` + ``len(rejected)``. ``records`` were added; of
    these, ``as_new`` are changed rows that became records of their own. Of ``already_stored``, ``earlier_revision`` equal a
    revision that is not the newest. ``overruled`` and ``begun`` are ids of updated records, see
    ``piiloom.corpus.import_conflicts.Intake``.

    Of ``values``, ``exact`` were found as whole words (``ambiguous`` of these more than once; every mention becomes a span),
    ``inside_word`` only inside a longer word (``seams`` of these are spans, as ``29`` in ``29F``), and ``missing`` nowhere.
    ``skipped_values`` were left out of their records.
    ``joined_texts`` are rows of tokens without their text, which was made by joining the tokens with blanks.
    ``mapped_types``: spelling in the file → our type. ``rejected``: (line, reason).
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
    seams: int
    missing: int
    joined_texts: int
    overlapping: tuple[Overlap, ...]
    skipped_values: tuple[SkippedValue, ...]
    mapped_types: dict[str, str]
    unknown_types: dict[str, int]
    ignored_fields: dict[str, int]
    unmapped_labels: dict[str, int]
    rejected: tuple[tuple[int, str], ...]

    def to_json(self) -> Json:
        """Return the report as JSON values."""
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
            "seams": self.seams,
            "missing": self.missing,
            "joined_texts": self.joined_texts,
            "overlapping": [overlap.to_json() for overlap in self.overlapping],
            "skipped_values": [value.to_json() for value in self.skipped_values],
            "mapped_types": self.mapped_types,
            "unknown_types": self.unknown_types,
            "ignored_fields": self.ignored_fields,
            "unmapped_labels": self.unmapped_labels,
            "rejected": [{"line": line, "reason": reason} for line, reason in self.rejected],
        }


def import_file(
    store: Store,
    path: Path,
    file_format: ReadableFormat | str,
    *,
    rejects_path: Path,
    on_conflict: OnConflict = "fail",
    options: ReadOptions | None = None,
) -> ImportReport:
    """Add the records of *path* to the store, in one transaction. Rows equal to a stored revision are skipped and counted.

    Without *options*, labels mean the types of the store. Rejected rows are written to *rejects_path*. *on_conflict* applies to a row with
    a known id and different text, question or labels: ``"fail"`` imports nothing and raises ``ImportConflict``, ``"update"`` stores a new
    revision, ``"new"`` a record of its own, and ``"skip"`` leaves it out. Values that ``ReadOptions.skip_values`` leaves out are
    listed in the report, in the file of rejects and in the record's source.

    Raises ``DataError`` if the file cannot be read, is not UTF-8 or has no valid row, ``OutputError`` if rejects cannot be
    written, and ``UsageError`` for an unknown format. After an error the store is unchanged.
    """
    options = options or ReadOptions(taxonomy=extended(types_of(store)))
    job = _Job(path, _format(file_format, options), options, rejects_path, Intake(path.name, on_conflict, alone=True))
    with store.transaction():
        return job.run(lambda: nullcontext(store), _CHUNK)


def import_file_among(
    shared: SharedStore,
    path: Path,
    file_format: ReadableFormat | str,
    *,
    rejects_path: Path,
    on_conflict: OnConflict = "fail",
    options: ReadOptions | None = None,
) -> ImportReport:
    """Like ``import_file``, for a store in use by others: each transaction stores at most 500 rows, so that writers wait briefly.

    Records on the work list keep the text with which they began. With ``"fail"``, conflicts are searched before anything is
    stored; one that others write meanwhile is told with the number of rows that are in the store. After any error earlier rows may
    be in the store; importing the file again adds the rest.
    """
    options = options or ReadOptions(taxonomy=shared.taxonomy)
    job = _Job(path, _format(file_format, options), options, rejects_path, Intake(path.name, on_conflict, alone=False))
    if on_conflict == "fail":
        job.find_conflicts(shared.reading, _SMALL_CHUNK)
    return job.run(shared.writing, _SMALL_CHUNK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The report of an import, the file with its rejects, and own types that the store has learnt from it."""

    report: ImportReport
    rejects: Path
    own_types: tuple[str, ...]


def import_into(file: Path, asked: ImportSettings, store: Path) -> Imported:
    """Import *file* (or folder) into the store at *store*, with the own types of *asked* or of the export that it belongs to.

    Every fault of the request is found before the store is opened.
    """
    chosen = get_readable_format(asked.input_format)
    check_columns(chosen, asked.columns)
    resolve_locale(asked.locale)
    if not file.exists():
        raise DataError("the file to import does not exist", where=str(file), remedy="Check the path")
    if file.is_dir() and chosen.suffix:
        names = ", ".join(sorted(one.name for one in file.glob(f"*{chosen.suffix}"))) or "none"
        raise DataError("the file to import is not a file", where=str(file), remedy=f"Name one file of it; there are: {names}")
    rejects = asked.rejects or store.parent / f"{file.stem}.rejects.jsonl"
    for taken, name in ((file, "the file to import"), (store, "the store")):
        if rejects.resolve() == taken.resolve():
            raise UsageError(f"rejects would overwrite {name}", where="--rejects", remedy="Name another file")
    own = asked.own_types(file)
    asked.options(extended(own))  # a label map with a fault is refused before the store is opened
    with store_for_writing(store) as opened:
        added = keep_types(opened, own)
        options = asked.options(extended(types_of(opened)), skip_values=asked.skip_values)
        report = import_file(opened, file, chosen, rejects_path=rejects, on_conflict=asked.on_conflict, options=options)
    return Imported(report=report, rejects=rejects, own_types=tuple(one.name for one in own) if added else ())


def load_records(source: Path, asked: LoadSettings) -> list[Record]:
    """Return the records of a file, or of an exported folder: all its splits, or only one. See ``piiloom.load``."""
    if not source.exists():
        raise DataError("there is no such file or folder", where=str(source), remedy="Give a native JSONL file or an exported folder")
    if source.is_file() or (asked.input_format is not None and not (source / MANIFEST).exists()):
        if asked.split is not None:
            raise UsageError("a split can be chosen in a folder only", where=str(source), remedy="Give the folder of the export")
        return _load_file(source, asked, asked.input_format or "native")
    exported, files = _exported(source)
    if asked.input_format not in {None, exported}:
        raise UsageError(f"the export is {exported}, not {asked.input_format}", where=str(source), remedy="Leave the format out")
    if asked.split is not None and asked.split not in files:
        raise UsageError(f"there is no split {asked.split!r}", where=str(source), remedy=f"It has: {', '.join(files) or 'none'}")
    chosen = [name for part, name in files.items() if asked.split in (None, part)]
    return [record for name in chosen for record in _load_file(source / name, asked, exported)]


def _load_file(source: Path, asked: LoadSettings, file_format: str) -> list[Record]:
    """Read one file, or a folder of a format of folders, with its own types."""
    options = asked.options(extended(asked.own_types(source)), blank_contexts=True)
    chosen = get_readable_format(file_format)
    check_columns(chosen, asked.columns)
    return list(read_records(chosen, source, options))


def _exported(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the format of an export, and its files by split."""
    about: dict[str, Any] = read_manifest(folder / MANIFEST)
    try:
        files = {described["split"]: name for name, described in about["files"].items() if described["split"] is not None}
        return get_readable_format(about["format"]).name, files
    except (KeyError, TypeError, AttributeError):
        remedy = "Export the release again"
        raise DataError("the description of the export is damaged", where=str(folder / MANIFEST), remedy=remedy) from None


@dataclass(frozen=True, slots=True)
class _Job:
    """The import of one file."""

    path: Path
    format: ReadableFormat
    options: ReadOptions
    rejects_path: Path
    intake: Intake

    def find_conflicts(self, view: _Transaction, size: int) -> None:
        """Read the file without storing anything; raise ``ImportConflict`` if rows differ from stored records."""
        tally = ReadTally()
        rows = self._rows(tally)
        good = ((tally.line, row) for row in rows if not isinstance(row, RowReject))
        while chunk := list(islice(good, size)):
            with view() as store:
                self.intake.find_conflicts(store, chunk)
        self.intake.refuse_conflicts()

    def run(self, transaction: _Transaction, size: int) -> ImportReport:
        """Import the rows, *size* per transaction."""
        tally, rejected = ReadTally(), list[tuple[int, str]]()
        with rejects_file(self.rejects_path) as write_reject:
            good = _good_rows(self._rows(tally), tally, write_reject, rejected)
            while chunk := list(islice(good, size)):  # reading takes longest and is outside of the transaction
                with transaction() as store:
                    self.intake.take(store, chunk)
            if not self.intake.read:
                raise self._no_valid_row(rejected, tally.unknown_types)
            self.intake.refuse_conflicts()
        return _report(self.path.name, tally, self.intake, rejected)

    def _rows(self, tally: ReadTally) -> Iterator[Record | RowReject]:
        return self.format.read(self.path, self.options, tally)

    def _no_valid_row(self, rejected: list[tuple[int, str]], unknown: Mapping[str, int]) -> DataError:
        if not rejected:
            return DataError("the file has no rows", where=str(self.path))
        line, reason = rejected[0]
        labels = f"; labels that name no known type: {with_counts(unknown)}" if unknown else ""
        columns = ", or name its columns with --columns" if self.format.column_fields else ""
        return DataError(
            f"no row of the file can be imported; the first fault: {reason}{labels}",
            where=f"{self.path.name}:{line}",
            remedy=label_remedy(unknown) if unknown else f"Check that --input-format names the file's format{columns}",
        )


def _format(chosen: ReadableFormat | str, options: ReadOptions) -> ReadableFormat:
    found = get_readable_format(chosen) if isinstance(chosen, str) else chosen
    check_columns(found, options.columns)
    return found


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
        seams=tally.seams,
        missing=tally.missing,
        joined_texts=tally.joined_texts,
        overlapping=tuple(tally.overlapping),
        skipped_values=tuple(tally.skipped_values),
        mapped_types=dict(sorted(tally.mapped_types.items())),
        unknown_types=dict(sorted(tally.unknown_types.items())),
        ignored_fields=dict(sorted(tally.ignored_fields.items())),
        unmapped_labels=dict(sorted(tally.unmapped_labels.items())),
        rejected=tuple(rejected),
    )


def _good_rows(
    rows: Iterator[Record | RowReject],
    tally: ReadTally,
    write_reject: Callable[[RowReject | SkippedValue], None],
    rejected: list[tuple[int, str]],
) -> Iterator[tuple[int, Record]]:
    told = 0
    for row in rows:
        for value in tally.skipped_values[told:]:
            write_reject(value)
        told = len(tally.skipped_values)
        if isinstance(row, RowReject):
            write_reject(row)
            rejected.append((row.line, row.reason))
        else:
            yield tally.line, row


def with_counts(labels: Mapping[str, int]) -> str:
    """Return all *labels* with their counts, the most frequent first."""
    return ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items(), key=lambda one: (-one[1], one[0])))


def label_remedy(labels: Collection[str]) -> str:
    """Return what can be done about *labels* that name no known type, with the shipped label maps that have them."""
    fitting = ", ".join(f"{name} has {count} of {len(labels)}" for name, count in maps_for(labels).items())
    shipped = f"; of the shipped maps, {fitting}" if fitting else ""
    return f"Say what the labels mean with --label-map FILE, a line a label{shipped}. Or define types of your own with --types FILE"
