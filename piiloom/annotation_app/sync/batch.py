"""Process one batch: each operation is applied, refused or found stale, and the outcome is recorded as an event."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.documents.operations import Operation, operation_to_json, parse_operation
from piiloom.annotation_app.documents.refusals import Refusal
from piiloom.annotation_app.sync.open_documents import OpenDocument, open_document_of
from piiloom.annotation_app.sync.outbox import Sent
from piiloom.annotation_app.sync.results import APPLIED, REFUSED, STALE, Refused, Stale
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationDocument, AnnotationEvent, NewEvent
from piiloom.corpus.store.suggestions import Suggestion

NO_SUGGESTIONS: Final[Mapping[str, Sequence[Suggestion]]] = MappingProxyType({})
# The code and the sentence of a refusal.
RefusalReason = tuple[str, str]
GONE: RefusalReason = (
    "gone",
    "This record was deleted while you had it open. What you did is kept in the log; go on with the next record.",
)


class Batch:
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
        self.refused: list[Refused] = []
        self.stale: list[Stale] = []
        self._actor = actor
        self._documents = documents
        self._blocked = blocked
        self._guideline = guideline
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
            self.stale.append(
                Stale(client=sent.client, sequence=sent.sequence, record_id=sent.record_id, base=sent.base, version=history.version)
            )
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
        self.refused.append(Refused(client=sent.client, sequence=sent.sequence, record_id=sent.record_id, code=code, sentence=sentence))

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
