"""Import a file into the store: valid rows are stored in a transaction, invalid rows are written to a file of rejects.

The report counts what happened to every row and value, so that no loss is silent.

A row equals a stored revision if text, question and labels (range, type, relevance of every span) are equal, and subtype, value
id and subject of its spans where the row gives them. ``OnConflict`` says what happens to a row that differs from the record with its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from piiloom.corpus.formats.base import (
    Json,
    Overlap,
    ReadableFormat,
    ReadOptions,
    ReadTally,
    RowReject,
    SkippedValue,
    rejects_file,
)
from piiloom.corpus.formats.columns import check_columns
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.reading import INPUT_FORMATS, ReadingSettings, label_remedy, with_counts
from piiloom.corpus.record import Provenance, Record, SourceReference
from piiloom.corpus.store.annotation_events import StoredRevision, append_events, newest_time, records_worked_on, stored_revisions
from piiloom.corpus.store.annotation_items import CONTROL_STATUS, OPEN_STATUSES, AnnotationItem, begin_anew, item_facts, load_items, pooled
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore, store_for_writing
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import keep_types, types_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.seeding import digest
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import extended

# What happens to a row with a known id and different content. "fail": nothing of the file is imported (but see
# ``import_file_among``); "skip": the row is left out; "update": it becomes a new revision of the record; "new": it becomes a record
# with an id of its own.
OnConflict = Literal["fail", "skip", "update", "new"]
STATUS = "imported"
_VALIDATED = "validated"
# The actor in the event log when an import moves an item of the work list to a new revision, and the events that do not mean
# that somebody has worked on a record.
_ACTOR = "import"
_NO_WORK = ("pooled", "assigned")
_NAMED = 12


class ImportConflict(DataError):
    """Rows with known ids differ from the stored records; ``ids`` are the ids of all such rows, in file order.

    ``kept`` says in a sentence what became of the other rows of the file; *added* of them were stored for good.
    """

    def __init__(self, file: str, ids: Sequence[str], added: int = 0) -> None:
        self.ids = tuple(ids)
        self.kept = f"{added:,} other rows of the file are in the store as new records" if added else "Nothing was imported"
        named = ", ".join(self.ids[:_NAMED]) + (f" and {len(self.ids) - _NAMED:,} more" if len(self.ids) > _NAMED else "")
        which = "a row has the id of a stored record" if len(self.ids) == 1 else f"{len(self.ids):,} rows have ids of stored records"
        super().__init__(
            f"{which} and another text, question or labels: {named}",
            where=file,
            remedy=f"{self.kept}. Choose with --on-conflict: update (new revisions), new (records of their own) or skip",
        )


@dataclass(slots=True)
class Intake:
    """Imports rows into the store and counts the outcomes; use one object per file.

    *alone*: no other process has the store open, so items of the work list that nobody has begun can be moved to the new
    revision, and all rows are taken in one transaction, which a conflict undoes. Counts of rows: ``read``, ``added`` (including
    ``as_new``), ``updated``, ``skipped`` and ``known`` (equal to a stored revision; of these, ``earlier`` equal only an earlier one).
    ``spans`` counts the spans of added and updated records.
    ``overruled`` are ids of updated records whose newest revision is still the one that annotators validated. ``begun`` are ids
    updated while annotators work on an earlier text; their decision will become the newest revision.
    """

    file: str
    on_conflict: OnConflict
    alone: bool
    read: int = 0
    added: int = 0
    as_new: int = 0
    updated: int = 0
    skipped: int = 0
    known: int = 0
    earlier: int = 0
    spans: int = 0
    conflicts: list[str] = field(default_factory=list)
    overruled: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)

    def take(self, store: Store, rows: Sequence[tuple[int, Record]]) -> None:
        """Import (line, record) *rows*. Call it inside a transaction, then ``refuse_conflicts`` after the last rows."""
        self.read += len(rows)
        stored = _stored(store, [record.id for _, record in rows])
        fresh: list[Record] = []
        changed: list[tuple[int, Record]] = []
        for line, record in rows:
            if record.id not in stored:
                fresh.append(record)
            elif not self._is_known(record, stored[record.id]):
                changed.append((line, record))
        if self.on_conflict == "fail":
            self.conflicts += [record.id for _, record in changed]
        elif self.on_conflict == "skip":
            self.skipped += len(changed)
        elif self.on_conflict == "new":
            fresh += self._as_new(store, changed, stored)
        elif changed:
            self._update(store, changed, stored)
        self.added += add_records(store, None, [(None, record) for record in fresh], status=STATUS)
        self.spans += sum(len(record.spans) for record in fresh)

    def find_conflicts(self, store: Store, rows: Sequence[tuple[int, Record]]) -> None:
        """Record the conflicts of *rows* without storing anything."""
        stored = _stored(store, [record.id for _, record in rows])
        self.conflicts += [r.id for _, r in rows if r.id in stored and not any(is_same(r, one) for one in stored[r.id])]

    def refuse_conflicts(self) -> None:
        """Raise ``ImportConflict`` if conflicts were found (only with "fail", or by ``find_conflicts``)."""
        if self.conflicts:
            raise ImportConflict(self.file, self.conflicts, 0 if self.alone else self.added)

    def _is_known(self, record: Record, revisions: Sequence[Record]) -> bool:
        equal = [one.revision for one in revisions if is_same(record, one)]
        if equal:
            self.known += 1
            self.earlier += max(equal) < revisions[-1].revision
        return bool(equal)

    def _as_new(self, store: Store, changed: Sequence[tuple[int, Record]], stored: Mapping[str, Sequence[Record]]) -> list[Record]:
        made = [self._descendant(line, record, stored[record.id][-1]) for line, record in changed]
        named = [replace(one, id=_own_id(one, parent.id), revision=0) for one, (_, parent) in zip(made, changed, strict=True)]
        there = _stored(store, [one.id for one in named])
        fresh = [one for one in named if one.id not in there]
        self.known += len(named) - len(fresh)  # the same file was imported before
        self.as_new += len(fresh)
        return fresh

    def _update(self, store: Store, changed: Sequence[tuple[int, Record]], stored: Mapping[str, Sequence[Record]]) -> None:
        revisions = stored_revisions(store, [record.id for _, record in changed])
        made: dict[str, Record] = {}
        by_run: dict[tuple[str | None, str], list[tuple[int | None, Record]]] = {}
        for line, record in changed:
            newest, parent = _newest(revisions[record.id]), stored[record.id][-1]
            # The update keeps the run and plan index of the previous revision, so that releases of that run include it.
            update = replace(self._descendant(line, record, parent), revision=max(newest.revision + 1, record.revision))
            made[record.id] = update
            by_run.setdefault((newest.run_id, STATUS), []).append((newest.plan_index, update))
            if newest.status == _VALIDATED and record.revision != newest.revision:
                # The row was made from a revision that annotators have corrected since, so theirs is stored again on top.
                above = replace(parent, revision=update.revision + 1)
                by_run.setdefault((newest.run_id, _VALIDATED), []).append((newest.plan_index, above))
                self.overruled.append(record.id)
        for (run_id, status), records in by_run.items():
            add_records(store, run_id, records, status=status)
        self.updated += len(made)
        self.spans += sum(len(record.spans) for record in made.values())
        self._tell_work_list(store, made)

    def _tell_work_list(self, store: Store, made: Mapping[str, Record]) -> None:
        items = [item for item in load_items(store, list(made), roles=["work"]) if item.status in OPEN_STATUSES]
        ids = [item.record_id for item in items]
        begun = records_worked_on(store, ids, _NO_WORK) if self.alone else set(ids)
        self.begun += [item.record_id for item in items if item.record_id in begun]
        free = [item for item in items if item.record_id not in begun]
        if not free:
            return
        revisions = stored_revisions(store, [item.record_id for item in free])
        orders = {name: _newest(rows).record_order for name, rows in revisions.items()}
        at = max(newest_time(store), datetime.now(UTC).isoformat(timespec="milliseconds"))
        moved: list[AnnotationItem] = [
            replace(item, record_order=orders[item.record_id], facts=item_facts(made[item.record_id]), changed_at=at) for item in free
        ]
        begin_anew(store, moved)
        append_events(store, [pooled(item, _ACTOR) for item in moved], at)

    def _descendant(self, line: int, record: Record, parent: Record) -> Record:
        """Return *record* with provenance and source that name *parent*; fields that a row may omit are taken from *parent*."""
        made = record.provenance or parent.provenance or Provenance(stage=STATUS)
        was = record.source or parent.source
        return replace(
            record,
            plan=record.plan or parent.plan,
            group_keys=record.group_keys or parent.group_keys,
            source=SourceReference(
                file=self.file,
                line=line,
                id=record.id,
                lost=record.source.lost if record.source else (),
                relevance_as=was.relevance_as if was else None,
            ),
            provenance=replace(made, stage=STATUS, parents=(*made.parents, f"{parent.id}@{parent.revision}")),
        )


def is_same(row: Record, stored: Record) -> bool:
    """Whether *row* equals *stored* in text, question and labels. Optional span fields that the row omits are not compared."""
    if (row.context, row.question, len(row.spans)) != (stored.context, stored.question, len(stored.spans)):
        return False
    for one, other in zip(row.spans, stored.spans, strict=True):
        if (one.start, one.end, one.entity_type, one.relevance) != (other.start, other.end, other.entity_type, other.relevance):
            return False
        pairs = ((one.subtype, other.subtype), (one.value_id, other.value_id), (one.subject, other.subject))
        if any(said is not None and said != had for said, had in pairs):
            return False
    return True


def _stored(store: Store, ids: Iterable[str]) -> dict[str, list[Record]]:
    """Return the stored revisions of each record in *ids*, oldest first; unknown ids are left out."""
    found: dict[str, list[Record]] = {}
    for record in iter_records(store, ids=list(ids)):
        found.setdefault(record.id, []).append(record)
    return {name: sorted(revisions, key=lambda record: record.revision) for name, revisions in found.items()}


def _newest(revisions: Sequence[StoredRevision]) -> StoredRevision:
    return max((row for row in revisions if row.status != CONTROL_STATUS), key=lambda row: (row.revision, row.record_order))


def _own_id(record: Record, parent: str) -> str:
    spans = [(span.start, span.end, span.entity_type, span.relevance) for span in record.spans]
    return digest("imported", parent, record.context, record.question, spans)[:16]


# Number of rows that are read, looked up and inserted together.
_CHUNK = 2000
# The same for a store that others write to at the same time.
_SMALL_CHUNK = 500
# Opens a transaction (or, for ``_Job.find_conflicts``, a reading view) on the store.
_Transaction = Callable[[], AbstractContextManager[Store]]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Framed):
    """Outcome of an import. Counts of values include those of rejected rows.

    ``rows`` = ``records`` + ``updated`` + ``skipped_changed`` + ``already_stored`` + ``len(rejected)``. ``records`` were added; of
    these, ``as_new`` are changed rows that became records of their own. Of ``already_stored``, ``earlier_revision`` equal a
    revision that is not the newest. ``overruled`` and ``begun`` are ids of updated records, see
    ``Intake``.

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
        rows = self.format.read(self.path, self.options, tally)
        good = ((tally.line, row) for row in rows if not isinstance(row, RowReject))
        while chunk := list(islice(good, size)):
            with view() as store:
                self.intake.find_conflicts(store, chunk)
        self.intake.refuse_conflicts()

    def run(self, transaction: _Transaction, size: int) -> ImportReport:
        """Import the rows, *size* per transaction."""
        tally, rejected = ReadTally(), list[tuple[int, str]]()
        with rejects_file(self.rejects_path) as write_reject:
            good = _good_rows(self.format.read(self.path, self.options, tally), tally, write_reject, rejected)
            while chunk := list(islice(good, size)):  # reading takes longest and is outside of the transaction
                with transaction() as store:
                    self.intake.take(store, chunk)
            if not self.intake.read:
                raise self._no_valid_row(rejected, tally.unknown_types)
            self.intake.refuse_conflicts()
        return _report(self.path.name, tally, self.intake, rejected)

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
