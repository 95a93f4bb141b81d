"""Receive batches of operations from browsers: each is applied once, in order, and is on disk before it is acknowledged.

The table of documents can be rebuilt from the log alone; it must always equal the result.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, SkipValidation, StrictInt, TypeAdapter, ValidationError

from piiloom.annotation_app.documents.document import (
    IdText,
    Operation,
    Refusal,
    Reopen,
    Revert,
    State,
    document_of,
    operation_to_json,
    parse_operation,
)
from piiloom.annotation_app.documents.history import EDITS, EditHistory, replayed_history
from piiloom.annotation_app.event_log import EventLog, StoreService
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import (
    FOR_ANOTHER,
    AnnotationDocument,
    AnnotationEvent,
    NewEvent,
    newest_edits,
    newest_sequences,
    read_events,
    save_documents,
)
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Suggestion, suggestions_for
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """One person's current work on a record. ``record`` is as before annotation; ``event`` is the last edit's number, 0 for none."""

    record: Record
    state: State
    version: int
    can_undo: bool
    can_redo: bool
    event: int


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A cached document. Only the thread that holds the store's write lock may use ``history``; ``view`` is safe for all threads."""

    history: EditHistory
    view: DocumentView


def open_document_of(record: Record, history: EditHistory, event: int) -> OpenDocument:
    """Build the cache entry for *history*, whose last edit has log number *event*."""
    view = DocumentView(
        record=record,
        state=history.state,
        version=history.version,
        can_undo=history.can_undo,
        can_redo=history.can_redo,
        event=event,
    )
    return OpenDocument(history, view)


class OpenDocuments:
    """LRU cache of documents by person and record, at most *capacity* entries. Thread-safe.

    An entry is valid only if its last edit is also the last one in the store, since a transaction may have been rolled back.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, str], OpenDocument] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, store: Store, actor: str, record_id: str) -> DocumentView | None:
        """Return the current document, for reading only; None if the record is no longer on the work list."""
        newest = newest_edits(store, [record_id], actor)
        if record_id not in newest:
            return None
        with self._lock:
            kept = self._kept.get((actor, record_id))
        if kept is None or kept.view.event != newest[record_id]:
            kept = load_open_documents(store, actor, [record_id]).get(record_id)
            if kept is None:
                return None
        self.put(actor, kept)
        return kept.view

    def take(self, store: Store, actor: str, record_ids: Collection[str]) -> dict[str, OpenDocument]:
        """Remove the entries of *record_ids* from the cache (or load them) and return them for writing; ``put`` puts them back.

        Records that no longer exist are left out. Call this only with the store's write lock.
        """
        newest = newest_edits(store, record_ids, actor)
        with self._lock:
            kept = {record_id: self._kept.pop((actor, record_id), None) for record_id in newest}
        good = {
            record_id: document for record_id, document in kept.items() if document is not None and document.view.event == newest[record_id]
        }
        missing = newest.keys() - good.keys()
        return good | (load_open_documents(store, actor, missing) if missing else {})

    def put(self, actor: str, document: OpenDocument) -> None:
        """Put *document* into the cache as the most recently used entry; the oldest ones are dropped if it is full."""
        key = (actor, document.view.record.id)
        with self._lock:
            self._kept[key] = document
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)


def load_open_documents(store: Store, actor: str, record_ids: Collection[str]) -> dict[str, OpenDocument]:
    """Load the documents of *actor* by replaying the log; records that do not exist are left out."""
    events: defaultdict[str, list[AnnotationEvent]] = defaultdict(list)
    for event in read_events(store, record_ids=record_ids, owner=actor, kinds=EDITS):
        events[str(event.record_id)].append(event)
    documents: dict[str, OpenDocument] = {}
    for record_id, record in base_records(store, record_ids).items():
        own = events[record_id]
        documents[record_id] = open_document_of(record, replayed_history(document_of(record), own), own[-1].event if own else 0)
    return documents


# A pasted text of about 100,000 words (in characters of JSON): more than our editor ever sends.
_LONGEST_OPERATION = 4_000_000


def _is_short(operation: Any) -> Any:
    try:
        if len(json.dumps(operation, allow_nan=False)) > _LONGEST_OPERATION:
            raise ValueError("too long")
    except (RecursionError, TypeError) as error:
        raise ValueError("no JSON") from error
    return operation


ShortName = Annotated[IdText, Field(max_length=200)]
WholeNumber = Annotated[StrictInt, Field(ge=0, lt=2**53)]  # JavaScript's exact integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One operation as sent by a client (one tab of one browser).

    ``sequence`` numbers all operations that the client ever sent. ``base`` is the document version that the operation was made
    on; the client counts its own earlier operations as applied. ``operation`` is JSON that has not been validated yet.
    """

    client: SkipValidation[str] = ""  # the outbox has it; a key of that name in an operation is ignored
    sequence: WholeNumber
    record_id: Annotated[ShortName, Field(alias="record")]
    base: WholeNumber
    operation: Annotated[Any, AfterValidator(_is_short)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outbox:
    client: ShortName
    operations: list[Sent]


_OUTBOX = TypeAdapter(_Outbox)


def parse_outbox(value: object) -> list[Sent]:
    """Parse ``{"client", "operations": [{"sequence", "record", "base", "operation"}]}``; other keys are ignored.

    Raises ``UsageError`` for anything that our editor never sends. The operations themselves are validated when they are applied.
    """
    try:
        found = _OUTBOX.validate_python(value)
    except ValidationError as error:
        raise UsageError("the browser sent something that the editor never sends", remedy="Reload the page") from error
    return [replace(one, client=found.client) for one in found.operations]


APPLIED, STALE, REFUSED = "edit", "stale", "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEdit:
    """An operation that was refused, with a code and a sentence for the user. It is kept in the log.

    ``code`` is a ``RefusalCode``, "gone" (the record was deleted) or "not_allowed" (``may_edit`` raised an error).
    """

    client: str
    sequence: int
    record_id: str
    code: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleEdit:
    """An operation that was not applied, because it was made on a version (``base``) other than the current one (``version``).

    It is also stale if it follows a stale operation of the same client in the batch. It is kept in the log.
    """

    client: str
    sequence: int
    record_id: str
    base: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    """The result of one batch.

    ``acknowledged`` maps each client to the highest sequence number received from it: all operations up to it are on disk and
    need not be sent again. If a refused or stale operation is sent again, it is reported again, since the browser may have
    missed the first response.
    """

    acknowledged: Mapping[str, int]
    refused: tuple[RefusedEdit, ...] = ()
    stale: tuple[StaleEdit, ...] = ()


def outcomes_of(events: Iterable[NewEvent | AnnotationEvent]) -> tuple[list[RefusedEdit], list[StaleEdit]]:
    """Return what the *events* about operations that clients sent say of refused and of stale ones."""
    refused: list[RefusedEdit] = []
    stale: list[StaleEdit] = []
    for event in events:
        sent: dict[str, Any] = {"client": event.client, "sequence": event.sequence, "record_id": event.record_id}
        if event.kind == REFUSED:
            refused.append(RefusedEdit(**sent, code=event.entry["code"], sentence=event.entry["sentence"]))
        elif event.kind == STALE:
            stale.append(StaleEdit(**sent, base=event.entry["base"], version=event.entry["version"]))
    return refused, stale


NO_SUGGESTIONS: Final[Mapping[str, Sequence[Suggestion]]] = MappingProxyType({})
# The code and the sentence of a refusal.
RefusalReason = tuple[str, str]
GONE: RefusalReason = (
    "gone",
    "This record was deleted while you had it open. What you did is kept in the log; go on with the next record.",
)


class EditBatch:
    """Batch processor: applies the operations of *actor* to *documents* (by record id) and collects the events.

    Operations on records in *blocked* are refused with the reason given there, those on records without a document as "gone".
    *guideline* is the version in force, for the events. *types* are the known types.
    *suggestions* are those of the records (by id), for operations on them.
    """

    def __init__(
        self,
        actor: str,
        documents: Mapping[str, OpenDocument],
        blocked: Mapping[str, RefusalReason],
        guideline: int | None,
        types: Container[str],
        suggestions: Mapping[str, Sequence[Suggestion]] = NO_SUGGESTIONS,
    ) -> None:
        self.events: list[NewEvent] = []
        self._actor, self._guideline = actor, guideline
        self._documents, self._blocked = documents, blocked
        self._types, self._suggestions = types, suggestions
        self._out_of_step: set[tuple[str, str]] = set()

    def receive(self, sent: Sent) -> None:
        """Apply the next operation, or note it as refused or stale."""
        document = self._documents.get(sent.record_id)
        if document is None:
            self._refuse(sent, *GONE)
            return
        if (reason := self._blocked.get(sent.record_id)) is not None:
            self._refuse(sent, *reason)
            return
        history = document.history
        step = (sent.client, sent.record_id)
        if sent.base != history.version or step in self._out_of_step:
            # All later operations of this tab in the batch were made on the document that it saw, so they are stale, too, even if
            # a version number matches by chance.
            self._out_of_step.add(step)
            self._note(sent, STALE, base=sent.base, version=history.version)
            return
        try:
            change = history.do(parse_operation(sent.operation), self._types, self._suggestions.get(sent.record_id, ()))
        except Refusal as refusal:
            self._refuse(sent, refusal.code, refusal.sentence)
        else:
            self._note(sent, APPLIED, before=change.before, after=change.after, version=history.version)

    def step(self, owner: str, record_id: str, operation: Operation) -> None:
        """Apply an *operation* that no browser sent to the document of *owner*; raises ``Refusal`` if that is not possible."""
        history = self._documents[record_id].history
        change = history.do(operation, self._types)
        entry = {"operation": operation_to_json(operation), "before": change.before, "after": change.after, "version": history.version}
        own = owner == self._actor
        self.events.append(
            NewEvent(
                actor=self._actor,
                kind=APPLIED if own else FOR_ANOTHER,
                record_id=record_id,
                guideline=self._guideline,
                entry=entry if own else {**entry, "annotator": owner},
            )
        )

    def close(self, events: list[AnnotationEvent]) -> tuple[list[OpenDocument], list[AnnotationDocument]]:
        """Finish the batch: register the log numbers of *events* in the histories.

        *events* are ``self.events`` as stored in the log. Returns all documents, renewed where edited, and the table rows of the
        edited ones.
        """
        newest: dict[str, AnnotationEvent] = {}
        for event in events:
            if event.kind in EDITS and event.record_id is not None:
                self._documents[event.record_id].history.name_event(event.entry["version"], event.event)
                newest[event.record_id] = event
        documents = [
            open_document_of(self._documents[name].view.record, self._documents[name].history, newest[name].event)
            if name in newest
            else document
            for name, document in self._documents.items()
        ]
        return documents, [
            document_row(document, newest[document.view.record.id]) for document in documents if document.view.record.id in newest
        ]

    def _refuse(self, sent: Sent, code: str, sentence: str) -> None:
        self._note(sent, REFUSED, code=code, sentence=sentence)

    def _note(self, sent: Sent, kind: str, **found: Any) -> None:
        self.events.append(
            NewEvent(
                actor=self._actor,
                kind=kind,
                record_id=sent.record_id,
                client=sent.client,
                sequence=sent.sequence,
                guideline=self._guideline,
                entry={"operation": sent.operation, **found},
            )
        )


def document_row(document: OpenDocument, newest: AnnotationEvent) -> AnnotationDocument:
    """Build the table row for *document*, whose last edit is *newest*."""
    state = document.view.state
    return AnnotationDocument(
        record_id=document.view.record.id,
        annotator=newest.owner,
        version=document.view.version,
        verdict=state.verdict,
        flagged=bool(state.flag),
        guideline=newest.guideline,
        changed_at=newest.at,
        event=newest.event,
        state=state.to_json(),
    )


# may_edit(actor, record_id) raises UsageError, with a message for the user, if they may not edit the record now.
MayEdit = Callable[[str, str], None]
# Returns the version number of the guidelines in force.
GuidelineInForce = Callable[[Store], int | None]
# A hook that is called in the same transaction when documents have changed, to write whatever else depends on them.
OnSaved = Callable[[Store, Sequence[AnnotationDocument]], None]


class DocumentService(StoreService):
    """Document server: opens and edits the documents of all people in one store. Thread-safe.

    Only one process may have the store open. *may_edit*, *guideline* and *on_saved* are hooks; *capacity* is the number of
    documents kept in the cache.
    """

    def __init__(
        self,
        shared: SharedStore,
        log: EventLog,
        *,
        may_edit: MayEdit = noop,
        guideline: GuidelineInForce = noop,
        on_saved: OnSaved = noop,
        capacity: int = 500,
    ) -> None:
        super().__init__(shared, log)
        self._may_edit, self._guideline, self._on_saved = may_edit, guideline, on_saved
        self._documents = OpenDocuments(capacity)

    def open(self, actor: str, record_id: str) -> DocumentView:
        """Return the current document of *actor*; raises ``UsageError`` if the record was deleted or is not on the work list."""
        with self._shared.reading() as store:
            found = self._documents.view(store, actor, record_id)
        if found is None:
            raise _gone(record_id)
        return found

    def deliver(self, actor: str, sent: Sequence[Sent]) -> DeliveryResult:
        """Apply a batch of operations in one transaction; everything it acknowledges is on disk when it returns.

        Do not call this inside ``SharedStore.writing``: it would acknowledge operations that may still be rolled back.
        """
        with self._shared.writing() as store:
            acknowledged = newest_sequences(store, {one.client for one in sent}) if sent else {}
            fresh: list[Sent] = []
            again: list[Sent] = []
            for one in _in_order(sent):
                if one.sequence <= acknowledged.get(one.client, -1):
                    again.append(one)
                else:
                    acknowledged[one.client] = one.sequence
                    fresh.append(one)
            events: list[NewEvent | AnnotationEvent] = []
            if again:
                numbers = {(one.client, one.sequence) for one in again}
                earlier = read_events(store, record_ids={one.record_id for one in again}, actor=actor, kinds=[STALE, REFUSED])
                events += [event for event in earlier if (event.client, event.sequence) in numbers]
            if fresh:
                documents = self._documents.take(store, actor, {one.record_id for one in fresh})
                suggestions = suggestions_for(store, documents) if any(map(_is_on_suggestions, fresh)) else NO_SUGGESTIONS
                batch = EditBatch(
                    actor, documents, self._blocked(actor, documents), self._guideline(store), self._shared.taxonomy.types, suggestions
                )
                for one in fresh:
                    batch.receive(one)
                self._save(store, actor, batch)
                events += batch.events
        refused, stale = outcomes_of(events)
        return DeliveryResult(acknowledged=acknowledged, refused=tuple(refused), stale=tuple(stale))

    def revert(self, actor: str, owner: str, record_id: str, event: int) -> None:
        """Revert the step with log number *event* on the document of *owner*, as a new step by *actor*; later steps are kept.

        Raises ``UsageError`` if the record is gone, ``Refusal`` (a subclass) if later steps depend on this one, and, if
        *actor* is the owner, whatever ``may_edit`` raises. The caller must check that *actor* may edit somebody else's document.
        """
        with self._shared.writing() as store:
            if owner == actor:
                self._may_edit(actor, record_id)
            documents = self._documents.take(store, owner, [record_id])
            if record_id not in documents:
                raise _gone(record_id)
            batch = EditBatch(actor, documents, {}, self._guideline(store), self._shared.taxonomy.types)
            batch.step(owner, record_id, Revert(event=event))
            self._save(store, owner, batch)

    def reopen(self, actor: str, record_ids: Collection[str]) -> None:
        """Set the verdict of *actor* on each of *record_ids* back to open, as new steps; deleted records are left out."""
        with self._shared.writing() as store:
            documents = self._documents.take(store, actor, record_ids)
            batch = EditBatch(actor, documents, {}, self._guideline(store), self._shared.taxonomy.types)
            for record_id in documents:
                batch.step(actor, record_id, Reopen())
            self._save(store, actor, batch)

    def history(self, record_id: str, owner: str | None = None, kinds: Collection[str] = (*EDITS, STALE, REFUSED)) -> list[AnnotationEvent]:
        """Return the events on a record, oldest first: applied, stale and refused operations, of everybody or of *owner* only."""
        with self._shared.reading() as store:
            return read_events(store, record_ids=[record_id], owner=owner, kinds=kinds)

    def _save(self, store: Store, owner: str, batch: EditBatch) -> None:
        changed, rows = batch.close(self._log.append(store, batch.events))
        save_documents(store, rows)
        if rows:
            self._on_saved(store, rows)
        for document in changed:
            # This runs before the commit. If the commit fails, the last edit in the store differs from that of the cached document,
            # and the document is loaded again.
            self._documents.put(owner, document)

    def _blocked(self, actor: str, documents: dict[str, OpenDocument]) -> dict[str, RefusalReason]:
        blocked: dict[str, RefusalReason] = {}
        for record_id in documents:
            try:
                self._may_edit(actor, record_id)
            except UsageError as error:
                blocked[record_id] = ("not_allowed", f"{error.message}. {error.remedy}" if error.remedy else error.message)
        return blocked


def _gone(record_id: str) -> UsageError:
    return UsageError("this record is no longer there", where=f"record {record_id}", remedy="Go on with the next one")


def _is_on_suggestions(sent: Sent) -> bool:
    return isinstance(sent.operation, Mapping) and sent.operation.get("op") in {"take", "refuse"}


def _in_order(sent: Sequence[Sent]) -> list[Sent]:
    """Sort by client, in the order in which they first appear in the batch, then by sequence number."""
    clients = {client: place for place, client in enumerate(dict.fromkeys(one.client for one in sent))}
    return sorted(sent, key=lambda one: (clients[one.client], one.sequence))
