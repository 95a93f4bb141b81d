"""Edits that came too late: made on a version that was no longer the newest. None is lost; each can still be merged in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation_app.documents.applying import apply
from annotation_app.documents.document import Document, State, document_of
from annotation_app.documents.history import History, replayed
from annotation_app.documents.merging import Conflict, merge
from annotation_app.documents.operations import Redo, Revert, Undo, parse_operation
from annotation_app.documents.refusals import Refusal
from corpus.record import Record
from corpus.store.adjudications import load_adjudications
from corpus.store.annotation_events import AnnotationEvent, read_events
from corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleOffer:
    """What *annotator* did in a tab that had fallen behind, merged into his newest document.

    ``edited`` is the document as that tab had it at last, ``merged`` the newest one with its changes; where both had changed
    one thing, ``merged`` keeps the newest, and ``conflicts`` tells. ``left_out`` counts the edits that could not be done even
    on the version that they were made for. ``events`` are the numbers of the edits in the log.
    """

    annotator: str
    at: str
    events: tuple[int, ...]
    edited: Document
    merged: Document
    conflicts: tuple[Conflict, ...]
    left_out: int


def stale_offers(store: Store, record: Record) -> list[StaleOffer]:
    """The offers for a record (as the work began with it), oldest first; none for what a later decision had before it.

    Offers that would change nothing are left out.
    """
    events = read_events(store, record_ids=[record.id], kinds=["edit", "stale"])
    decided = max((row.event for row in load_adjudications(store, [record.id]) if row.outcome != "reopened"), default=0)
    offers = []
    for annotator in sorted({event.actor for event in events if event.kind == "stale"}):
        own = [event for event in events if event.actor == annotator]
        history = replayed(document_of(record), own)
        for group in _grouped([event for event in own if event.kind == "stale" and event.event > decided]):
            offer = _offer(history, group)
            if offer is not None and offer.merged != history.state.document:
                offers.append(offer)
    return sorted(offers, key=lambda offer: offer.events[0])


def _grouped(events: Sequence[AnnotationEvent]) -> list[list[AnnotationEvent]]:
    """The edits of one tab in a row, each made on what the one before it had made."""
    groups: list[list[AnnotationEvent]] = []
    for event in sorted(events, key=lambda event: (event.client or "", event.event)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.client == event.client and event.entry["base"] == last.entry["base"] + 1:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _offer(history: History, group: Sequence[AnnotationEvent]) -> StaleOffer | None:
    base = group[0].entry["base"]
    if not isinstance(base, int) or not 0 <= base <= history.version:
        return None  # that tab never had a version of ours
    before = history.state_at(base)
    state, left_out = _redone(before, group, history.base)
    merged = merge(before.document, history.state.document, state.document)
    return StaleOffer(
        annotator=group[0].actor,
        at=group[-1].at,
        events=tuple(event.event for event in group),
        edited=state.document,
        merged=merged.document,
        conflicts=merged.conflicts,
        left_out=left_out,
    )


def _redone(state: State, group: Sequence[AnnotationEvent], base: Document) -> tuple[State, int]:
    left_out = 0
    for event in group:
        try:
            operation = parse_operation(event.entry["operation"])
            if isinstance(operation, Undo | Redo | Revert):
                left_out += 1  # what they would take back was another history
            else:
                state = apply(replace(state, verdict="open"), operation, base)
        except Refusal:
            left_out += 1
    return state, left_out
