"""The event log: append events, comments, and the table rows that events make.

Timestamps never go backward, even if the clock of the machine does. A comment is an event and nothing else; it keeps the words, place and
type that its span had when it was written. Live operation and replay share functions, so that the tables can be rebuilt from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent, append_events, newest_time, read_events
from piiloom.corpus.store.annotation_items import AnnotationItem, find_item
from piiloom.corpus.store.annotation_project import ControlRow, Guideline, GuidelineQuestion, RecordAssignment, State
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current UTC time by this machine's clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Format *moment* as events store it: ISO 8601 in UTC with milliseconds. Such strings sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


class EventLog:
    """The event log of the store *shared*. *clock* returns the current time as an aware ``datetime``."""

    def __init__(self, shared: SharedStore, clock: Clock = utc_now) -> None:
        self.clock = clock
        with shared.reading() as store:
            self._last = newest_time(store)

    def now(self) -> str:
        """Return the timestamp of an event that happens now, never earlier than the last one. Only inside ``SharedStore.writing``."""
        self._last = max(self._last, stamp(self.clock()))
        return self._last

    def about_now(self) -> str:
        """Return the timestamp that ``now`` would give. Safe in any thread; a later call may return an earlier time."""
        return max(self._last, stamp(self.clock()))

    def append(self, store: Store, rows: Sequence[NewEvent]) -> list[AnnotationEvent]:
        """Append *rows* at the current time, within the transaction open on *store* (``SharedStore.writing``), and return the events."""
        return append_events(store, rows, self.now())


COMMENTED: Final = "commented"
LONGEST_COMMENT: Final = 2_000
_LONGEST_WORDS: Final = 80


class StoreService:
    """A service over the open store *shared*, which notes in *log* what people do."""

    def __init__(self, shared: SharedStore, log: EventLog) -> None:
        self._shared, self._log = shared, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment. ``span_id``, ``words`` and ``entity_type`` are those of the span that it is about; empty if it is about the record."""

    author: str
    at: str
    text: str
    span_id: str = ""
    words: str = ""
    entity_type: str = ""


class Comments(StoreService):
    """The comments in the store *shared*."""

    def add(self, person: str, record_id: str, text: str, document: Mapping[str, Any], span_id: str | None = None) -> None:
        """Add a comment on the span *span_id* of *document* (in its JSON form; None: on the record).

        Raises ``UsageError`` if *text* is blank or too long, the record is not in the work list, or the span is not there.
        """
        if not text.strip() or len(text) > LONGEST_COMMENT:
            raise UsageError("a comment has some words", remedy=f"Write up to {LONGEST_COMMENT:,} characters")
        span = next((one for one in document["spans"] if one["id"] == span_id), None)
        if span_id is not None and span is None:
            raise UsageError("the span is not there any more", remedy="Choose another one")
        about = None
        if span is not None:
            words = document["context"][span["start"] : span["end"]][:_LONGEST_WORDS]
            about = {"id": span_id, "start": span["start"], "end": span["end"], "type": span["type"], "words": words}
        with self._shared.writing() as store:
            if find_item(store, record_id) is None:
                raise UsageError("This record is not in the work list", where=record_id, remedy="Go back to the list.")
            self._log.append(
                store, [NewEvent(actor=person, kind=COMMENTED, record_id=record_id, entry={"comment": text.strip(), "span": about})]
            )

    def on(self, record_id: str, author: str | None = None) -> list[Comment]:
        """Return the comments on *record_id*, of everybody or of *author*, oldest first."""
        with self._shared.reading() as store:
            events = read_events(store, record_ids=[record_id], actor=author, kinds=[COMMENTED])
        found = []
        for event in events:
            span = event.entry.get("span") or {}
            found.append(
                Comment(
                    author=event.actor,
                    at=event.at,
                    text=str(event.entry["comment"]),
                    span_id=str(span.get("id", "")),
                    words=str(span.get("words", "")),
                    entity_type=str(span.get("type", "")),
                )
            )
        return found


ASSIGNMENT_KINDS: dict[str, State] = {"assigned": "assigned", "leased": "leased", "released": "released", "skipped": "skipped"}


def item_of(event: AnnotationEvent) -> AnnotationItem:
    """Build the row for a ``pooled`` event of a record."""
    entry = event.entry
    return AnnotationItem(
        record_id=str(event.record_id),
        record_order=entry["record_order"],
        role=entry["role"],
        wanted=entry["wanted"],
        priority=entry["priority"],
        reasons=tuple(entry["reasons"]),
        facts=entry["facts"],
        changed_at=event.at,
    )


def assignment_of(event: AnnotationEvent) -> RecordAssignment:
    """Build the row for an event of ``ASSIGNMENT_KINDS``. The person is the entry's "annotator" if given, else the event's actor."""
    return RecordAssignment(
        record_id=str(event.record_id),
        annotator=event.entry.get("annotator", event.actor),
        state=ASSIGNMENT_KINDS[event.kind],
        leased_until=event.entry.get("until"),
        changed_at=event.at,
    )


def later(moment: str, minutes: float) -> str:
    """Return the time *minutes* after *moment*; both are timestamps in the log's format."""
    return stamp(datetime.fromisoformat(moment) + timedelta(minutes=minutes))


def guideline_of(event: AnnotationEvent) -> Guideline:
    """Build the guideline version from a ``guideline`` event."""
    return Guideline(version=event.entry["version"], markdown=event.entry["markdown"], made_by=event.actor, made_at=event.at)


def question_of(event: AnnotationEvent) -> GuidelineQuestion:
    """Build the question from an ``asked`` event; its number is the event's number."""
    return GuidelineQuestion(
        question=event.event, record_id=event.record_id, asked_by=event.actor, asked_at=event.at, text=event.entry["text"]
    )


def control_of(event: AnnotationEvent) -> ControlRow:
    """Build the known answer from a ``control_made`` event.

    The record id is only in the event's entry, not in its ``record_id``: listed among the record's events, it would reveal that
    the record is a control.
    """
    entry = event.entry
    return ControlRow(record_id=entry["record_id"], kind=entry["kind"], source_id=entry["source_id"], entry=entry["answer"])
