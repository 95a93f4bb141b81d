"""One batch on its way: each operation is done, refused or found stale, and what came of it is noted as an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piiloom.annotation_app.desk.deliveries import APPLIED, REFUSED, STALE, Refused, Stale
from piiloom.annotation_app.desk.opening import Paper, paper_of
from piiloom.annotation_app.desk.outbox import Sent
from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.documents.operations import Revert, operation_to_json, parse_operation
from piiloom.annotation_app.documents.refusals import Refusal
from piiloom.corpus.store.annotation_documents import AnnotationDocument
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent, NewEvent

# A code and a sentence, as a refusal has them.
Bar = tuple[str, str]
GONE: Bar = ("gone", "This record was deleted while you had it open. What you did is kept in the log; go on with the next record.")


class Sitting:
    """*actor* works on *papers*; records in *barred* take nothing, for the reason given, nor do those that have no paper."""

    def __init__(self, actor: str, papers: Mapping[str, Paper], barred: Mapping[str, Bar], guideline: int | None) -> None:
        self.events: list[NewEvent] = []
        self.refused: list[Refused] = []
        self.stale: list[Stale] = []
        self._actor = actor
        self._papers = papers
        self._barred = barred
        self._guideline = guideline
        self._out_of_step: set[tuple[str, str]] = set()

    def receive(self, sent: Sent) -> None:
        """Do the next operation, or say why not."""
        paper = self._papers.get(sent.record_id)
        bar = self._barred.get(sent.record_id) if paper is not None else GONE
        if paper is None or bar is not None:
            self._refuse(sent, *(bar or GONE))
            return
        history = paper.history
        step = (sent.client, sent.record_id)
        if sent.base != history.version or step in self._out_of_step:
            # What this tab did next, it did to what it saw; a version that fits by chance doesn't make it right.
            self._out_of_step.add(step)
            self._note(sent, STALE, base=sent.base, version=history.version)
            self.stale.append(
                Stale(client=sent.client, sequence=sent.sequence, record_id=sent.record_id, base=sent.base, version=history.version)
            )
            return
        try:
            change = history.do(parse_operation(sent.operation))
        except Refusal as refusal:
            self._refuse(sent, refusal.code, refusal.sentence)
        else:
            self._note(sent, APPLIED, before=change.before, after=change.after, version=history.version)

    def take_back(self, owner: str, record_id: str, event: int) -> None:
        """Do without one step on the paper of *owner* and keep what came later; raises ``Refusal``."""
        history, operation = self._papers[record_id].history, Revert(event=event)
        change = history.do(operation)
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

    def close(self, events: list[AnnotationEvent]) -> tuple[list[Paper], list[AnnotationDocument]]:
        """Give the edits their numbers in the log; then the papers that have changed, and their rows."""
        newest: dict[str, AnnotationEvent] = {}
        for event in events:
            if event.kind in EDITS and event.record_id is not None:
                self._papers[event.record_id].history.name_event(event.entry["version"], event.event)
                newest[event.record_id] = event
        papers = [
            paper_of(self._papers[name].shown.record, self._papers[name].history, newest[name].event) if name in newest else paper
            for name, paper in self._papers.items()
        ]
        return papers, [document_row(paper, newest[paper.shown.record.id]) for paper in papers if paper.shown.record.id in newest]

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


def document_row(paper: Paper, newest: AnnotationEvent) -> AnnotationDocument:
    """The row for *paper*, which *newest* led to."""
    state = paper.shown.state
    return AnnotationDocument(
        record_id=paper.shown.record.id,
        annotator=newest.owner,
        version=paper.shown.version,
        verdict=state.verdict,
        flagged=bool(state.flag),
        guideline=newest.guideline,
        changed_at=newest.at,
        event=newest.event,
        state=state.to_json(),
    )
