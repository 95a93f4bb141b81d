"""All people's versions of one record, side by side, and edits made on an outdated version, which can still be merged."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from piiloom.annotation_app.documents.applying import apply
from piiloom.annotation_app.documents.document import EditedDocument, State, Verdict, document_of
from piiloom.annotation_app.documents.history import EDITS, EditHistory, replayed_history
from piiloom.annotation_app.documents.merging import Conflict, merge_documents
from piiloom.annotation_app.documents.operations import Redo, Refusal, Revert, Undo, parse_operation
from piiloom.annotation_app.sync.batch import STALE
from piiloom.corpus.record import Record
from piiloom.corpus.store.adjudications import Adjudication, load_adjudications
from piiloom.corpus.store.annotation_events import AnnotationEvent, load_documents, read_events
from piiloom.corpus.store.annotation_items import AnnotationItem, base_records, find_item
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import types_of
from piiloom.corpus.store.suggestions import Suggestion, suggestions_for
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.own_types import extended


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleOffer:
    """The edits of *annotator* in an outdated browser tab, merged into their newest document.

    ``merged`` is the newest document with the tab's changes. If both changed the same thing, ``merged`` keeps the newest and
    ``conflicts`` lists it. ``left_out`` counts edits that could not be applied even to the version that they were made on. ``events``
    are the log numbers of the edits. ``verdict``, ``reason`` and ``flag`` are those after the tab's last edit; its first one starts
    from an open verdict. ``finished``: the newest document is accepted or rejected.
    """

    annotator: str
    at: str
    events: tuple[int, ...]
    merged: EditedDocument
    conflicts: tuple[Conflict, ...]
    left_out: int
    verdict: Verdict
    reason: str
    flag: str
    finished: bool


def stale_offers(store: Store, records: Mapping[str, Record]) -> dict[str, list[StaleOffer]]:
    """Return the offers for each of *records* (original records by id), oldest first; records without offers are left out.

    Edits made before the last decision on the record are left out, and so are offers that change neither document nor verdict.
    """
    events: dict[str, list[AnnotationEvent]] = {}
    for event in read_events(store, record_ids=records, kinds=[*EDITS, STALE]):
        events.setdefault(str(event.record_id), []).append(event)
    late = [record_id for record_id, own in events.items() if any(event.kind == STALE for event in own)]
    decided = {row.record_id: row.event for row in load_adjudications(store, late) if row.outcome != "reopened"} if late else {}
    suggestions = suggestions_for(store, late) if late else {}
    types = extended(types_of(store)).types
    offers = {
        record_id: _offers(records[record_id], events[record_id], decided.get(record_id, 0), types, suggestions.get(record_id, []))
        for record_id in late
    }
    return {record_id: found for record_id, found in offers.items() if found}


def _offers(
    record: Record, events: Sequence[AnnotationEvent], decided: int, types: Container[str], suggestions: Sequence[Suggestion]
) -> list[StaleOffer]:
    offers = []
    for annotator in sorted({event.actor for event in events if event.kind == STALE and event.event > decided}):
        own = [event for event in events if event.owner == annotator]
        history = replayed_history(document_of(record), own)
        for group in _grouped([event for event in own if event.kind == STALE and event.event > decided]):
            offer = _offer(history, group, types, suggestions)
            if offer is not None and _changes(offer, history.state):
                offers.append(offer)
    return sorted(offers, key=lambda offer: offer.events[0])


def _changes(offer: StaleOffer, now: State) -> bool:
    """Return whether the offer changes the document, or both tabs have a verdict and these differ.

    While the newest document is open, the annotator can still give the verdict in the newer tab.
    """
    return offer.merged != now.document or ("open" not in {offer.verdict, now.verdict} and offer.verdict != now.verdict)


def _grouped(events: Sequence[AnnotationEvent]) -> list[list[AnnotationEvent]]:
    """Group the edits into runs of one tab, in which each edit was made on the result of the one before."""
    groups: list[list[AnnotationEvent]] = []
    for event in sorted(events, key=lambda event: (event.client or "", event.event)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.client == event.client and event.entry["base"] == last.entry["base"] + 1:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _offer(
    history: EditHistory, group: Sequence[AnnotationEvent], types: Container[str], suggestions: Sequence[Suggestion]
) -> StaleOffer | None:
    base = group[0].entry["base"]
    if not isinstance(base, int) or not 0 <= base <= history.version:
        return None  # the base is not a version of this history
    before = history.state_at(base)
    # A verdict from before these edits is not theirs.
    state, left_out = _redone(replace(before, verdict="open", reason=""), group, history.base, types, suggestions)
    merged = merge_documents(before.document, history.state.document, state.document)
    return StaleOffer(
        annotator=group[0].actor,
        at=group[-1].at,
        events=tuple(event.event for event in group),
        merged=merged.document,
        conflicts=merged.conflicts,
        left_out=left_out,
        verdict=state.verdict,
        reason=state.reason,
        flag=state.flag,
        finished=history.state.verdict != "open",
    )


def _redone(
    state: State, group: Sequence[AnnotationEvent], base: EditedDocument, types: Container[str], suggestions: Sequence[Suggestion]
) -> tuple[State, int]:
    left_out = 0
    for event in group:
        try:
            operation = parse_operation(event.entry["operation"])
            if isinstance(operation, Undo | Redo | Revert):
                left_out += 1  # they refer to the tab's own history, which does not exist here
            else:
                state = apply(state, operation, base, types, suggestions)
        except Refusal:
            left_out += 1
    return state, left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsVersion:
    """The version of *annotator*. ``version`` is the number of their edits, ``event`` the log number of the last one."""

    annotator: str
    version: int
    state: State
    changed_at: str
    guideline: int | None
    event: int

    @property
    def finished(self) -> bool:
        """Whether the annotator has accepted or rejected the record."""
        return self.state.verdict != "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A record before annotation (``base``), all versions of it, and the earlier decisions on it."""

    item: AnnotationItem
    base: Record
    versions: tuple[PersonsVersion, ...]
    stale: tuple[StaleOffer, ...]
    decisions: tuple[Adjudication, ...]

    @property
    def accepted(self) -> tuple[PersonsVersion, ...]:
        """The versions that are accepted."""
        return tuple(version for version in self.versions if version.state.verdict == "accepted")


def side_by_side(store: Store, record_id: str) -> SideBySide:
    """Load all versions of *record_id*; raises ``UsageError`` if it is not in the work list or was deleted."""
    item = find_item(store, record_id)
    base = base_records(store, [record_id]).get(record_id)
    if item is None or base is None:
        raise UsageError("this record is not in the work list any more", where=f"record {record_id}", remedy="Go on with the next one")
    versions = versions_of(store, [record_id]).get(record_id, [])
    return SideBySide(
        item=item,
        base=base,
        versions=tuple(versions),
        stale=tuple(stale_offers(store, {record_id: base}).get(record_id, ())),
        decisions=tuple(load_adjudications(store, [record_id])),
    )


def versions_of(store: Store, record_ids: Sequence[str]) -> dict[str, list[PersonsVersion]]:
    """Return the versions by record id, sorted by annotator; records without versions are left out."""
    found: dict[str, list[PersonsVersion]] = {}
    for row in load_documents(store, record_ids=record_ids):
        version = PersonsVersion(
            annotator=row.annotator,
            version=row.version,
            state=State.from_json(row.state),
            changed_at=row.changed_at,
            guideline=row.guideline,
            event=row.event,
        )
        found.setdefault(row.record_id, []).append(version)
    return found
