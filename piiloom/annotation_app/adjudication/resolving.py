"""Decide on records: automatically where people agree, by an adjudicator where they do not; and revert single steps.

A final document is stored as the next revision of its record; a stored revision never changes. The new one gets the run id and the plan
index of the revision that annotation started from, so that releases of that run find it. The table of decisions can be rebuilt from the
log. A step on a document is reverted by a new step, which can be reverted, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from piiloom.annotation_app.adjudication.versions import PersonsVersion, SideBySide, side_by_side, stale_offers, versions_of
from piiloom.annotation_app.documents.document import EditedDocument, document_of, next_revision
from piiloom.annotation_app.documents.history import EDITS, check_acceptable
from piiloom.annotation_app.event_log import EventLog, StoreService, stamp
from piiloom.annotation_app.figures.spans import compared_spans
from piiloom.annotation_app.people.accounts import AppUser, require
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import (
    Adjudication,
    AnnotationDocument,
    AnnotationEvent,
    DecisionOutcome,
    DisputedRecord,
    NewEvent,
    StoredRevision,
    add_adjudications,
    disputed_records,
    finished_records,
    load_adjudications,
    read_events,
    records_with_late_edits,
    stored_revisions,
)
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, AnnotationItem, ItemStatus, base_records, find_item, load_items, set_status
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records
from piiloom.foundation.errors import UsageError

# The outcome for each kind of event.
OUTCOMES: dict[str, DecisionOutcome] = {
    "agreed": "agreed",
    "adjudicated": "adjudicated",
    "validated": "validated",
    "rejected_record": "rejected",
    "reopened": "reopened",
}
# Kind of event, not a decision: somebody has finished a record for the first time.
ANNOTATED = "annotated"
_FROM: dict[ItemStatus, frozenset[ItemStatus]] = {
    "generated": frozenset(),
    "annotated": frozenset({"generated", "agreed", "adjudicated", "validated", "rejected"}),
    "agreed": frozenset({"annotated"}),
    "adjudicated": frozenset({"annotated"}),
    "validated": frozenset({"annotated", "agreed", "adjudicated"}),
    "rejected": frozenset({"generated", "annotated"}),
}
_HOW = {
    "generated": "nobody has finished it yet",
    "annotated": "people are still working on it",
    "agreed": "those who annotated it agree",
    "adjudicated": "an adjudicator has decided on it",
    "validated": "it is validated",
    "rejected": "it is rejected",
}
VALIDATED: ItemStatus = "validated"


def adjudication_of(event: AnnotationEvent) -> Adjudication:
    """Build the table row for a decision event."""
    return Adjudication(
        record_id=str(event.record_id),
        adjudicator=event.actor,
        outcome=OUTCOMES[event.kind],
        document=event.entry.get("document", {}),
        made_at=event.at,
        event=event.event,
    )


def check_document(document: EditedDocument, base: Record, types: Collection[str]) -> None:
    """Raise ``UsageError`` if *document* cannot be validated.

    That is if a span is in doubt, the question is blank although *base* has one, or a type is neither in *types* nor in *base*.
    """
    check_acceptable(document, document_of(base))
    known = {*types, *(span.entity_type for span in base.spans)}
    unknown = sorted({mark.entity_type for mark in document.marks} - known)
    if unknown:
        raise UsageError(f"there is no type {unknown[0]!r}", where=f"record {base.id}", remedy="Give its spans another type")


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of *actor* on an item; *entry* is what the log says about it."""

    item: AnnotationItem
    actor: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FinalDocument:
    """A final document, to be stored as a revision of *base*; *way* is "accepted", "agreed" or "adjudicated"."""

    item: AnnotationItem
    actor: str
    document: EditedDocument
    base: Record
    way: str


def _began_with(revisions: Collection[StoredRevision], item: AnnotationItem) -> StoredRevision:
    for row in revisions:
        if row.record_order == item.record_order:
            return row
    raise UsageError("the record was deleted from the store", where=f"record {item.record_id}", remedy="Go on with the next one")


# The actor in the log for automatic decisions.
AGREEMENT = "agreement"
# Records settled per transaction: few, so that people who save an edit do not notice that they wait for the write lock.
_CHUNK = 50
_EVER = "9999"  # sorts after every timestamp of the log
# How long people can undo an acceptance or rejection before the record is settled.
_SECOND_THOUGHTS = timedelta(minutes=10)


@dataclass(slots=True)
class SettledRecords:
    """Record ids by what ``Resolver.settle`` did. ``disputed`` ones need an adjudicator, ``waiting`` ones more people or time."""

    validated: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


class Resolver(StoreService):
    """Makes decisions on the records of the store *shared*, a decision being its event, its table row and the status. Thread-safe.

    An SQL statement takes about a millisecond regardless of its size, so decisions on many records are written together.

    Call ``settle_due`` from time to time. It settles records some minutes after people finished them, so that a mistaken
    acceptance can be undone. ``settle`` without *until* does not wait.
    """

    def __init__(self, shared: SharedStore, log: EventLog) -> None:
        super().__init__(shared, log)
        self._looked_at: dict[DisputedRecord, bool] = {}

    def on_saved(self, store: Store, documents: Sequence[AnnotationDocument]) -> None:
        """Set records to "annotated" when somebody has finished them first; a hook inside a transaction of ``DocumentService``."""
        finished = {row.record_id: row.annotator for row in documents if row.verdict != "open"}
        items = load_items(store, finished, roles=["work"]) if finished else ()
        fresh = [Decision(item, finished[item.record_id], {}) for item in items if item.status == "generated"]
        self._note(store, ANNOTATED, "annotated", fresh)

    def settle_due(self) -> SettledRecords:
        """Settle all records that were finished some minutes ago."""
        until = stamp(self._log.clock() - _SECOND_THOUGHTS)
        with self._shared.reading() as store:
            due = finished_records(store, until)
        return self.settle(due, until)

    def settle_all(self) -> SettledRecords:
        """Settle all finished records without waiting, e.g. before an export."""
        with self._shared.reading() as store:
            due = finished_records(store, _EVER)
        return self.settle(due)

    def settle(self, record_ids: Sequence[str], until: str | None = None) -> SettledRecords:
        """Validate records whose finished versions all agree, and reject those that all of them rejected.

        A record waits if fewer people finished it than wanted, if anybody edited it after *until*, or if it was reopened and nobody
        has edited it since. A record is disputed if the finished versions differ, or if somebody who finished it has unmerged edits
        from an outdated browser tab.
        """
        done = SettledRecords()
        for at in range(0, len(record_ids), _CHUNK):
            with self._shared.writing() as store:
                self._settle_some(store, list(record_ids[at : at + _CHUNK]), until, done)
        return done

    def disputes(self) -> list[str]:
        """Return the ids of the records that wait for an adjudicator, most urgent first."""
        with self._shared.reading() as store:
            found = disputed_records(store)
            fresh = [row.record_id for row in found if not row.differ and row not in self._looked_at]
            contested = _contested(store, base_records(store, fresh)) if fresh else set()
        waits = {row: row.differ or self._looked_at.get(row, row.record_id in contested) for row in found}
        self._looked_at = {row: wait for row, wait in waits.items() if not row.differ}
        return [row.record_id for row, wait in waits.items() if wait]

    def open(self, record_id: str) -> SideBySide:
        """Return all versions of a record; raises ``UsageError`` if it is no longer in the work list."""
        with self._shared.reading() as store:
            return side_by_side(store, record_id)

    def adjudicate(
        self, person: AppUser | None, record_id: str, document: EditedDocument, *, seen: Mapping[str, int], how: Mapping[str, Any]
    ) -> Record:
        """Decide that *document* is correct, store it as a validated revision and return that.

        *seen* has the versions that *person* saw (``Version.version`` by annotator). *how* is for the log: whose version was taken,
        what was picked. Raises ``UsageError`` if a version has changed or was added since, the person may not adjudicate, the record
        cannot be decided on in its current status, or the document is not valid (see ``check_document``).
        """
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "adjudicated")
            now = {version.annotator: version.version for version in sides.versions}
            if now != dict(seen):
                raise UsageError("somebody has changed this record meanwhile", where=f"record {record_id}", remedy="Look at it again")
            check_document(document, sides.base, self._shared.taxonomy.types)
            entry = {"document": document.to_json(), "how": dict(how), "versions": now}
            item = self._decide(store, sides, adjudicator, "adjudicated", "adjudicated", entry)
            final = FinalDocument(item, adjudicator.name, document, sides.base, "adjudicated")
            return self._validate(store, [final])[0]

    def reject(self, person: AppUser | None, record_id: str, reason: str) -> None:
        """Decide that the record is unusable.

        Raises ``UsageError`` if *reason* is blank, the person may not adjudicate, or the record's status does not allow it.
        """
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "rejected")
            entry = {"reason": _said(reason)}
            self._decide(store, sides, adjudicator, "rejected_record", "rejected", entry)

    def reject_all(self, person: AppUser | None, record_ids: Sequence[str], reason: str) -> int:
        """Decide that each of *record_ids* that is not decided yet is unusable; returns how many these were.

        Raises ``UsageError`` if *reason* is blank or the person may not adjudicate.
        """
        adjudicator = require(person, "adjudicator")
        entry, rejected = {"reason": _said(reason)}, 0
        for at in range(0, len(record_ids), _CHUNK):
            with self._shared.writing() as store:
                items = load_items(store, record_ids[at : at + _CHUNK], roles=["work"])
                made = [Decision(item, adjudicator.name, entry) for item in items if item.status in OPEN_STATUSES]
                rejected += len(self._note(store, "rejected_record", "rejected", made))
        return rejected

    def reopen(self, person: AppUser | None, record_id: str, reason: str) -> None:
        """Undo a decision: people may edit the record again, and the next decision makes another revision.

        The validated revision stays in the store, but releases leave it out until then (``piiloom.corpus.releases``). Raises
        ``UsageError`` in the same cases as ``reject``.
        """
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "annotated")
            self._decide(store, sides, adjudicator, "reopened", "annotated", {"reason": _said(reason)})

    def _decide(
        self, store: Store, sides: SideBySide, by: AppUser, kind: str, status: ItemStatus, entry: Mapping[str, Any]
    ) -> AnnotationItem:
        return self._note(store, kind, status, [Decision(sides.item, by.name, entry)])[0]

    def _to_decide(self, store: Store, record_id: str, status: ItemStatus) -> SideBySide:
        """Return the versions of a record; raises ``UsageError`` if its status may not change to *status*."""
        sides, where = side_by_side(store, record_id), f"record {record_id}"
        before = sides.item.status
        if sides.item.role != "work":
            raise UsageError("this is a practice or control record", where=where, remedy="There is nothing to decide on it")
        if before not in _FROM[status]:
            remedy = "Reopen it first" if before in {"agreed", "adjudicated", "validated", "rejected"} else "Wait until it is finished"
            raise UsageError(f"this record cannot become {status}: {_HOW[before]}", where=where, remedy=remedy)
        return sides

    def _settle_some(self, store: Store, record_ids: Sequence[str], until: str | None, done: SettledRecords) -> None:
        bases, versions = base_records(store, record_ids), versions_of(store, record_ids)
        contested = _contested(store, bases)
        reopened = {row.record_id: row.event for row in load_adjudications(store, record_ids) if row.outcome == "reopened"}
        items, finished = dict[str, AnnotationItem](), dict[str, list[PersonsVersion]]()
        for item in load_items(store, record_ids, roles=["work"]):
            name = item.record_id
            if name in bases and item.status in OPEN_STATUSES:
                counted = _countable(versions.get(name, []), reopened.get(name, 0), until)
                if counted is None or len(counted) < item.wanted:
                    done.waiting.append(name)
                else:
                    items[name], finished[name] = item, counted
        fresh = [Decision(item, finished[name][0].annotator, {}) for name, item in items.items() if item.status == "generated"]
        items |= {item.record_id: item for item in self._note(store, ANNOTATED, "annotated", fresh)}
        rejected = {name for name, own in finished.items() if all(one.state.verdict == "rejected" for one in own)} - contested
        apart = {name for name, own in finished.items() if len({_content(one) for one in own}) > 1} - rejected
        done.disputed += [name for name in finished if name in contested | apart]
        self._reject_all(store, [items[name] for name in finished if name in rejected], finished)
        done.rejected += [name for name in finished if name in rejected]
        alike = [name for name in finished if name not in contested | apart | rejected]
        self._validate_all(store, [items[name] for name in alike], finished, bases)
        done.validated += alike

    def _reject_all(self, store: Store, items: Sequence[AnnotationItem], finished: Mapping[str, Sequence[PersonsVersion]]) -> None:
        decisions = []
        for item in items:
            reasons = {version.annotator: version.state.reason for version in finished[item.record_id]}
            decisions.append(Decision(item, AGREEMENT, {"annotators": list(reasons), "reasons": reasons}))
        self._note(store, "rejected_record", "rejected", decisions)

    def _validate_all(
        self, store: Store, items: Sequence[AnnotationItem], finished: Mapping[str, Sequence[PersonsVersion]], bases: Mapping[str, Record]
    ) -> None:
        """Validate *items* whose *finished* versions are all alike; first log "agreed" for those with more than one version."""
        now = {item.record_id: item for item in items}
        agreed: list[Decision] = []
        for name, item in now.items():
            own = finished[name]
            if len(own) > 1:
                entry = {"annotators": [version.annotator for version in own], "document": own[0].state.document.to_json()}
                agreed.append(Decision(item, AGREEMENT, entry))
        now |= {item.record_id: item for item in self._note(store, "agreed", "agreed", agreed)}
        final = []
        for name, item in now.items():
            way = "agreed" if item.status == "agreed" else "accepted"
            final.append(FinalDocument(item, AGREEMENT, finished[name][0].state.document, bases[name], way))
        self._validate(store, final)

    def _note(self, store: Store, kind: str, status: ItemStatus, made: Sequence[Decision]) -> list[AnnotationItem]:
        """Write decisions of one kind and set the status; returns the updated items."""
        if not made:
            return []
        rows = [NewEvent(actor=one.actor, kind=kind, record_id=one.item.record_id, entry={**one.entry, "status": status}) for one in made]
        events = self._log.append(store, rows)
        if kind in OUTCOMES:
            add_adjudications(store, [adjudication_of(event) for event in events])
        set_status(store, [one.item.record_id for one in made], status, events[0].at)
        return [replace(one.item, status=status, changed_at=events[0].at) for one in made]

    def _validate(self, store: Store, final: Sequence[FinalDocument]) -> list[Record]:
        """Store documents as the next revisions of their records; returns these, grouped by run."""
        revisions = stored_revisions(store, [one.item.record_id for one in final])
        by_run: dict[str | None, list[tuple[int | None, Record]]] = {}
        decisions: list[Decision] = []
        for one in final:
            own = revisions[one.item.record_id]
            began = _began_with(own, one.item)
            record = replace(next_revision(one.document, one.base), revision=max(row.revision for row in own) + 1)
            by_run.setdefault(began.run_id, []).append((began.plan_index, record))
            entry = {"document": one.document.to_json(), "revision": record.revision, "way": one.way}
            decisions.append(Decision(one.item, one.actor, entry))
        for run_id, records in by_run.items():
            add_records(store, run_id, records, status=VALIDATED)
        self._note(store, "validated", VALIDATED, decisions)
        return [record for records in by_run.values() for _, record in records]


def _countable(versions: Sequence[PersonsVersion], reopened: int, until: str | None) -> list[PersonsVersion] | None:
    """Return the finished versions; None if the record must wait.

    It waits if a version changed after *until*, or if all versions are older than *reopened*, the event that reopened it (0: none).
    """
    if until is not None and any(version.changed_at > until for version in versions):
        return None
    if reopened and all(version.event < reopened for version in versions):
        return None
    return [version for version in versions if version.finished]


def _contested(store: Store, bases: Mapping[str, Record]) -> set[str]:
    """Return the records that somebody finished but also edited in an outdated browser tab, with a different result."""
    late = records_with_late_edits(store, bases)
    offers = stale_offers(store, {record_id: bases[record_id] for record_id in late}) if late else {}
    return {record_id for record_id, found in offers.items() if any(offer.finished for offer in found)}


def _content(version: PersonsVersion) -> tuple[object, ...]:
    """Return what must be equal for people to agree: verdict, texts, and spans with their labels."""
    document = version.state.document
    return version.state.verdict, document.context, document.question or "", compared_spans(document.marks)


def _said(reason: str) -> str:
    if not reason.strip():
        raise UsageError("a reason is needed", remedy="Say why in a few words")
    return reason.strip()


def revert_step(shared: SharedStore, documents: DocumentService, person: AppUser | None, record_id: str, event: int) -> None:
    """Revert the step with log number *event*; later steps are kept.

    Raises ``UsageError`` if there is no such step, *person* may not do it (only adjudicators and admins may revert others' steps),
    the record is decided on, or later steps depend on this one.
    """
    with shared.writing() as store:
        step = _step(store, record_id, event)
        who = require(person, "annotator")
        if step.owner != who.name:
            require(person, "adjudicator")
            _check_open(store, record_id)
        documents.revert(who.name, step.owner, record_id, event)


def _step(store: Store, record_id: str, event: int) -> AnnotationEvent:
    found = read_events(store, record_ids=[record_id], kinds=EDITS, numbers=[event])
    if not found:
        raise UsageError("there is no such step on this record", where=f"record {record_id}", remedy="Choose another step")
    return found[0]


def _check_open(store: Store, record_id: str) -> None:
    item = find_item(store, record_id)
    # Practice and test records are excluded. Control records are treated like work records, so that nobody can tell them apart.
    if item is None or item.role not in {"work", "control"}:
        raise UsageError("this record is not in the work list", where=f"record {record_id}", remedy="Go on with the next one")
    if item.status not in OPEN_STATUSES:
        raise UsageError("this record is decided on", where=f"record {record_id}", remedy="Reopen it first, on the page Adjudicate")
