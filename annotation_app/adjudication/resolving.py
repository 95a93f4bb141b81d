"""Deciding on records: by itself where people agree, by an adjudicator where they do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from annotation_app.adjudication.decisions import ANNOTATED, check_transition
from annotation_app.adjudication.validating import Decisions, check_document
from annotation_app.adjudication.versions import SideBySide, Version, side_by_side, versions_of
from annotation_app.agreement.pairing import placed
from annotation_app.documents.document import Document
from annotation_app.event_log import EventLog, stamp
from annotation_app.people.identity import Person, require
from corpus.record import Record
from corpus.store.adjudications import disputed_records, finished_records, load_adjudications
from corpus.store.annotation_documents import AnnotationDocument
from corpus.store.annotation_items import OPEN_STATUSES, Item, Status, base_records, load_items
from corpus.store.database import Store
from corpus.store.shared import SharedStore
from foundation.errors import UsageError
from taxonomy.entity_types import load_taxonomy

# Who decides where people agree.
AGREEMENT = "agreement"
_CHUNK = 500
_EVER = "9999"  # later than any time of the log
# What is finished may be undone for so long before it counts.
_SECOND_THOUGHTS = timedelta(minutes=10)


@dataclass(slots=True)
class Settled:
    """What ``Resolver.settle`` did, by record id; ``disputed`` wait for an adjudicator, ``waiting`` for more people."""

    validated: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


class Resolver:
    """Decides over the store *shared*; for all threads.

    ``settle_due`` is to be called now and then: what people have finished counts only after some minutes, so that whoever
    accepts by mistake can undo it. ``settle`` does not wait.
    """

    def __init__(self, shared: SharedStore, log: EventLog, types: Callable[[], Collection[str]] = lambda: load_taxonomy().types) -> None:
        self._shared = shared
        self._log = log
        self._decisions = Decisions(log)
        self._types = types

    def on_saved(self, store: Store, documents: Sequence[AnnotationDocument]) -> None:
        """Mark records as annotated once somebody has finished them; for ``Desk``, inside its transaction."""
        finished = {row.record_id: row.annotator for row in documents if row.verdict != "open"}
        for item in load_items(store, finished, roles=["work"]) if finished else ():
            if item.status == "generated":
                self._decisions.note(store, item, finished[item.record_id], ANNOTATED, "annotated", {})

    def settle_due(self) -> Settled:
        """Settle all records that were finished some minutes ago."""
        until = stamp(self._log.clock() - _SECOND_THOUGHTS)
        with self._shared.reading() as store:
            due = finished_records(store, until)
        return self.settle(due, until)

    def settle_all(self) -> Settled:
        """Settle all records that are finished: before an export, say."""
        with self._shared.reading() as store:
            due = finished_records(store, _EVER)
        return self.settle(due)

    def settle(self, record_ids: Sequence[str], until: str | None = None) -> Settled:
        """Validate the records that all who finished them agree on, reject those that all of them rejected.

        One person is enough where one is wanted. A record in which anybody edited anything after *until* waits. A record
        that was reopened counts only once somebody has worked on it since.
        """
        done = Settled()
        for at in range(0, len(record_ids), _CHUNK):
            chunk = list(record_ids[at : at + _CHUNK])
            with self._shared.writing() as store:
                items = load_items(store, chunk, roles=["work"])
                bases, versions = base_records(store, chunk), versions_of(store, chunk)
                reopened = _reopened(store, chunk)
                for item in items:
                    base = bases.get(item.record_id)
                    if base is not None and item.status in OPEN_STATUSES:
                        own = versions.get(item.record_id, [])
                        counted = _countable(own, reopened.get(item.record_id, 0), until)
                        self._settle_one(store, item, base, counted, done)
        return done

    def disputes(self) -> list[str]:
        """The records that wait for an adjudicator, the most urgent first."""
        with self._shared.reading() as store:
            return disputed_records(store)

    def open(self, record_id: str) -> SideBySide:
        """All there is to decide on; ``UsageError`` when the record is not in the work list any more."""
        with self._shared.reading() as store:
            return side_by_side(store, record_id)

    def adjudicate(
        self, person: Person | None, record_id: str, document: Document, *, seen: Mapping[str, int], how: Mapping[str, Any]
    ) -> Record:
        """Decide that *document* is right and store it as a validated revision, which is given.

        *seen* are the versions that *person* had before him (``Version.version`` by annotator): when one has changed since, or
        a new one has come, that is refused. *how* goes into the log: whose version was taken, what was picked. ``UsageError``
        when the person may not adjudicate, the record is decided on already, or the document cannot stand.
        """
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "adjudicated")
            now = {version.annotator: version.version for version in sides.versions}
            if now != dict(seen):
                raise UsageError("somebody has changed this record meanwhile", where=f"record {record_id}", remedy="Look at it again")
            check_document(document, sides.base, self._types())
            entry = {"document": document.to_json(), "how": dict(how), "versions": now}
            item = self._decisions.note(store, sides.item, adjudicator.name, "adjudicated", "adjudicated", entry)
            return self._decisions.validate(store, item, adjudicator.name, document, sides.base, "adjudicated")

    def reject(self, person: Person | None, record_id: str, reason: str) -> None:
        """Decide that the record is of no use; ``UsageError`` without a *reason*, or when that may not be."""
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "rejected")
            entry = {"reason": _said(reason)}
            self._decisions.note(store, sides.item, adjudicator.name, "rejected_record", "rejected", entry)

    def reopen(self, person: Person | None, record_id: str, reason: str) -> None:
        """Take a decision back: people may edit the record again, and what is decided next makes a further revision.

        The validated revision stays in the store, and out of releases until then (``corpus.releases``).
        """
        adjudicator = require(person, "adjudicator")
        with self._shared.writing() as store:
            sides = self._to_decide(store, record_id, "annotated")
            self._decisions.note(store, sides.item, adjudicator.name, "reopened", "annotated", {"reason": _said(reason)})

    def _to_decide(self, store: Store, record_id: str, status: Status) -> SideBySide:
        sides = side_by_side(store, record_id)
        if sides.item.role != "work":
            raise UsageError("this is a practice or control record", where=f"record {record_id}", remedy="There is nothing to decide on it")
        check_transition(record_id, sides.item.status, status)
        return sides

    def _settle_one(self, store: Store, item: Item, base: Record, finished: Sequence[Version] | None, done: Settled) -> None:
        if finished is None or len(finished) < item.wanted:
            done.waiting.append(item.record_id)
            return
        entry = {"annotators": [version.annotator for version in finished]}
        if item.status == "generated":
            item = self._decisions.note(store, item, finished[0].annotator, ANNOTATED, "annotated", {})
        if all(version.state.verdict == "rejected" for version in finished):
            reasons = {version.annotator: version.state.reason for version in finished}
            self._decisions.note(store, item, AGREEMENT, "rejected_record", "rejected", {**entry, "reasons": reasons})
            done.rejected.append(item.record_id)
        elif len({_content(version) for version in finished}) > 1:
            done.disputed.append(item.record_id)
        else:
            document, way = finished[0].state.document, "accepted"
            if len(finished) > 1:
                way = "agreed"
                item = self._decisions.note(store, item, AGREEMENT, "agreed", "agreed", {**entry, "document": document.to_json()})
            self._decisions.validate(store, item, AGREEMENT, document, base, way)
            done.validated.append(item.record_id)


def _countable(versions: Sequence[Version], reopened: int, until: str | None) -> list[Version] | None:
    """The finished versions; None when they do not count yet."""
    if until is not None and any(version.changed_at > until for version in versions):
        return None
    if reopened and all(version.event < reopened for version in versions):
        return None
    return [version for version in versions if version.finished]


def _reopened(store: Store, record_ids: Collection[str]) -> dict[str, int]:
    """The event that reopened each record last, of those that were."""
    return {row.record_id: row.event for row in load_adjudications(store, record_ids) if row.outcome == "reopened"}


def _content(version: Version) -> tuple[object, ...]:
    """What must be equal where people agree: verdict, texts, and spans with their labels."""
    document = version.state.document
    return version.state.verdict, document.context, document.question or "", placed(document.marks)


def _said(reason: str) -> str:
    if not reason.strip():
        raise UsageError("a reason is needed", remedy="Say why in a few words")
    return reason.strip()
