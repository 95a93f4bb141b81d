"""Import rows into the store and resolve conflicts: rows with a known id but different content.

A row equals a stored revision if text, question and labels (range, type, relevance of every span) are equal, and subtype, value
id and subject of its spans where the row gives them. ``OnConflict`` says what happens to a row that differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from piiloom.corpus.record import Provenance, Record, SourceReference
from piiloom.corpus.store.adjudications import StoredRevision, stored_revisions
from piiloom.corpus.store.annotation_events import append_events, newest_time, records_worked_on
from piiloom.corpus.store.annotation_items import CONTROL_STATUS, OPEN_STATUSES, AnnotationItem, begin_anew, item_facts, load_items, pooled
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import digest

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
