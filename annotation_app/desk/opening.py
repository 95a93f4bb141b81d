"""How the documents of one person stand, folded from the log; the last ones used are kept at hand."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import State, document_of
from piiloom.annotation_app.documents.history import EDITS, History, replayed
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_documents import newest_edits
from piiloom.corpus.store.annotation_events import AnnotationEvent, read_events
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """What one person has made of *record*, which is as it was before anyone touched it. ``event`` is the last edit; 0 for none."""

    record: Record
    state: State
    version: int
    can_undo: bool
    can_redo: bool
    event: int


@dataclass(frozen=True, slots=True)
class Paper:
    """A document on the desk. Only who writes to the store may touch ``history``; anyone may look at ``shown``."""

    history: History
    shown: OpenDocument


def paper_of(record: Record, history: History, event: int) -> Paper:
    """The paper for *history*, whose last edit is *event*."""
    shown = OpenDocument(
        record=record,
        state=history.state,
        version=history.version,
        can_undo=history.can_undo,
        can_redo=history.can_redo,
        event=event,
    )
    return Paper(history, shown)


class Papers:
    """The papers used last, at most *capacity*, by person and record; for all threads.

    One is good only as long as its last edit is the one that the store has: a transaction may have been undone.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, str], Paper] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, store: Store, actor: str, record_id: str) -> OpenDocument | None:
        """How the document stands; None when the record is no longer on the list."""
        newest = newest_edits(store, [record_id], actor)
        if record_id not in newest:
            return None
        with self._lock:
            kept = self._kept.get((actor, record_id))
        if kept is None or kept.shown.event != newest[record_id]:
            kept = load_papers(store, actor, [record_id]).get(record_id)
            if kept is None:
                return None
        self.lay(actor, kept)
        return kept.shown

    def take(self, store: Store, actor: str, record_ids: Collection[str]) -> dict[str, Paper]:
        """Hand out the papers of *record_ids* to whoever writes; ``lay`` puts them back. Records no longer there are left out."""
        newest = newest_edits(store, record_ids, actor)
        with self._lock:
            kept = {record_id: self._kept.pop((actor, record_id), None) for record_id in newest}
        good = {record_id: paper for record_id, paper in kept.items() if paper is not None and paper.shown.event == newest[record_id]}
        missing = newest.keys() - good.keys()
        return good | (load_papers(store, actor, missing) if missing else {})

    def lay(self, actor: str, paper: Paper) -> None:
        """Keep *paper* as the one used last."""
        key = (actor, paper.shown.record.id)
        with self._lock:
            self._kept[key] = paper
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)


def load_papers(store: Store, actor: str, record_ids: Collection[str]) -> dict[str, Paper]:
    """The papers of *actor* as the log has them; records that are not there are left out."""
    events: defaultdict[str, list[AnnotationEvent]] = defaultdict(list)
    for event in read_events(store, record_ids=record_ids, owner=actor, kinds=EDITS):
        events[str(event.record_id)].append(event)
    papers: dict[str, Paper] = {}
    for record_id, record in base_records(store, record_ids).items():
        own = events[record_id]
        papers[record_id] = paper_of(record, replayed(document_of(record), own), own[-1].event if own else 0)
    return papers
