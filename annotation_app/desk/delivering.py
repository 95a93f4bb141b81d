"""Taking in what browsers send: each operation once, in order, and on disk before it is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from piiloom.annotation_app.desk.deliveries import REFUSED, STALE, Delivery, told_again
from piiloom.annotation_app.desk.opening import OpenDocument, Paper, Papers
from piiloom.annotation_app.desk.outbox import Sent
from piiloom.annotation_app.desk.sitting import Bar, Sitting
from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.event_log import EventLog
from piiloom.corpus.store.annotation_documents import AnnotationDocument, save_documents
from piiloom.corpus.store.annotation_events import AnnotationEvent, newest_sequences, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.shared import SharedStore
from piiloom.foundation.errors import UsageError

# Raises UsageError, whose message the person reads, when that person may not edit that record now.
MayEdit = Callable[[str, str], None]
# The version of the guidelines in force.
GuidelineInForce = Callable[[Store], int | None]
# What else is to be written, in the same transaction, when documents have changed.
OnSaved = Callable[[Store, Sequence[AnnotationDocument]], None]


def _anyone(_actor: str, _record_id: str) -> None:
    pass


def _no_guideline(_store: Store) -> int | None:
    return None


def _nothing_else(_store: Store, _documents: Sequence[AnnotationDocument]) -> None:
    pass


class Desk:
    """All documents of all people over one store; for all threads of the process, which is the only one that has the store."""

    def __init__(
        self,
        shared: SharedStore,
        log: EventLog,
        *,
        may_edit: MayEdit = _anyone,
        guideline: GuidelineInForce = _no_guideline,
        on_saved: OnSaved = _nothing_else,
        capacity: int = 500,
    ) -> None:
        self._shared = shared
        self._log = log
        self._may_edit = may_edit
        self._guideline = guideline
        self._on_saved = on_saved
        self._papers = Papers(capacity)

    def open(self, actor: str, record_id: str) -> OpenDocument:
        """How the document of *actor* stands. Raises ``UsageError`` when the record was deleted or is not on the work list."""
        with self._shared.reading() as store:
            found = self._papers.look(store, actor, record_id)
        if found is None:
            raise _gone(record_id)
        return found

    def deliver(self, actor: str, sent: Sequence[Sent]) -> Delivery:
        """Take in a batch in one transaction; what it acknowledges is on disk when it returns.

        Not for use inside ``SharedStore.writing``: there it would acknowledge what may still be undone.
        """
        with self._shared.writing() as store:
            heard = newest_sequences(store, {one.client for one in sent}) if sent else {}
            fresh: list[Sent] = []
            again: list[Sent] = []
            for one in _in_order(sent):
                if one.sequence <= heard.get(one.client, -1):
                    again.append(one)
                else:
                    heard[one.client] = one.sequence
                    fresh.append(one)
            refused, stale = told_again(self._kept_back(store, actor, again), again) if again else ([], [])
            if fresh:
                papers = self._papers.take(store, actor, {one.record_id for one in fresh})
                sitting = Sitting(actor, papers, self._barred(actor, papers), self._guideline(store))
                for one in fresh:
                    sitting.receive(one)
                self._keep(store, actor, sitting)
                refused += sitting.refused
                stale += sitting.stale
        return Delivery(acknowledged=heard, refused=tuple(refused), stale=tuple(stale))

    def take_back(self, actor: str, owner: str, record_id: str, event: int) -> None:
        """Take back a step on the document of *owner* as a new step by *actor*, and keep what came later.

        Raises ``UsageError``: ``Refusal`` where later steps stand on it, or what ``may_edit`` says to somebody's own step.
        Whether *actor* may do that to somebody else is for the caller to know.
        """
        with self._shared.writing() as store:
            if owner == actor:
                self._may_edit(actor, record_id)
            papers = self._papers.take(store, owner, [record_id])
            if record_id not in papers:
                raise _gone(record_id)
            sitting = Sitting(actor, papers, {}, self._guideline(store))
            sitting.take_back(owner, record_id, event)
            self._keep(store, owner, sitting)

    def history(self, record_id: str, owner: str | None = None, kinds: Collection[str] = (*EDITS, STALE, REFUSED)) -> list[AnnotationEvent]:
        """All that was done, or was to be done, to what people, or *owner* alone, made of a record; oldest first."""
        with self._shared.reading() as store:
            return read_events(store, record_ids=[record_id], owner=owner, kinds=kinds)

    def _keep(self, store: Store, owner: str, sitting: Sitting) -> None:
        changed, rows = sitting.close(self._log.append(store, sitting.events))
        save_documents(store, rows)
        if rows:
            self._on_saved(store, rows)
        for paper in changed:
            # Before the commit: should that fail, the store has another last edit than the paper, which is then loaded anew.
            self._papers.lay(owner, paper)

    def _barred(self, actor: str, papers: dict[str, Paper]) -> dict[str, Bar]:
        barred: dict[str, Bar] = {}
        for record_id in papers:
            try:
                self._may_edit(actor, record_id)
            except UsageError as error:
                barred[record_id] = ("not_allowed", f"{error.message}. {error.remedy}" if error.remedy else error.message)
        return barred

    @staticmethod
    def _kept_back(store: Store, actor: str, again: Sequence[Sent]) -> list[AnnotationEvent]:
        return read_events(store, record_ids={one.record_id for one in again}, actor=actor, kinds=[STALE, REFUSED])


def _gone(record_id: str) -> UsageError:
    return UsageError("this record is no longer there", where=f"record {record_id}", remedy="Go on with the next one")


def _in_order(sent: Sequence[Sent]) -> list[Sent]:
    """Clients as they come in the batch, each by its own numbers."""
    clients = {client: place for place, client in enumerate(dict.fromkeys(one.client for one in sent))}
    return sorted(sent, key=lambda one: (clients[one.client], one.sequence))
