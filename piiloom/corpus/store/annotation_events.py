"""The annotation event log, and the document of each annotator for each record that follows from it.

The log has everything that people do to records; it is append-only, totally ordered and never changed. Documents are stored so that readers
need not replay the log; they can be rebuilt from it at any time. A client (one browser tab) numbers the operations it sends.
``newest_sequences`` returns the last number received from each client, so that an operation that is sent twice is applied once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names, select

# The kind of an edit that ``actor`` made to another person's document; its entry names that person as "annotator".
FOR_ANOTHER = "edit_for"

_COLUMNS = ("event", "happened_at", "actor", "kind", "record_id", "client", "sequence", "guideline", "entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to be added to the log. ``entry`` holds JSON values; ``guideline`` is the guideline version in force."""

    actor: str
    kind: str
    record_id: str | None = None
    client: str | None = None
    sequence: int | None = None
    guideline: int | None = None
    entry: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationEvent(NewEvent):
    """An event in the log. ``event`` is its number and ``at`` its time (ISO 8601, UTC, milliseconds); neither ever decreases."""

    event: int
    at: str

    @property
    def owner(self) -> str:
        """The annotator whose document this is about: usually ``actor``."""
        return str(self.entry["annotator"]) if self.kind == FOR_ANOTHER else self.actor


def append_events(store: Store, rows: Sequence[NewEvent], at: str) -> list[AnnotationEvent]:
    """Append *rows* in order, all with the time *at*, and return them with their event numbers."""
    if not rows:
        return []
    numbers = store.integers("SELECT nextval('annotation_event') FROM range(?)", [len(rows)])
    values = [
        (number, at, row.actor, row.kind, row.record_id, row.client, row.sequence, row.guideline, json.dumps(dict(row.entry)))
        for number, row in zip(numbers, rows, strict=True)
    ]
    store.append("annotation_events", _COLUMNS, values)
    names = field_names(NewEvent)
    return [
        AnnotationEvent(event=number, at=at, **{name: getattr(row, name) for name in names})
        for number, row in zip(numbers, rows, strict=True)
    ]


def read_events(
    store: Store,
    *,
    record_ids: Collection[str] | None = None,
    actor: str | None = None,
    owner: str | None = None,
    kinds: Collection[str] | None = None,
    after: int = 0,
    numbers: Collection[int] | None = None,
) -> list[AnnotationEvent]:
    """Return the events that match all given conditions, oldest first; only those with a number greater than *after*.

    *actor*: who did it. *owner*: whose document it is about (``AnnotationEvent.owner``). *numbers*: event numbers.
    """
    condition, parameters = conditions(
        ("event > ?", after),
        (AMONG_RECORDS, record_ids),
        ("actor = ?", actor),
        (f"CASE WHEN kind = '{FOR_ANOTHER}' THEN entry->>'$.annotator' ELSE actor END = ?", owner),
        ("kind IN (SELECT unnest(?::VARCHAR[]))", kinds),
        ("event IN (SELECT unnest(?::BIGINT[]))", numbers),
    )
    sql = select((*field_names(NewEvent), "event", "happened_at"), f"FROM annotation_events {condition} ORDER BY event")
    return store.objects(AnnotationEvent, sql, parameters, decoded=["entry"])


def records_worked_on(store: Store, record_ids: Collection[str], besides: Collection[str]) -> set[str]:
    """Return those of *record_ids* that have any event of a kind not in *besides*."""
    sql = (
        "SELECT DISTINCT record_id FROM annotation_events WHERE record_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND kind NOT IN (SELECT unnest(?::VARCHAR[]))"
    )
    return set(store.column(sql, [list(record_ids), list(besides)]))


def newest_sequences(store: Store, clients: Collection[str]) -> dict[str, int]:
    """Return the highest sequence number received from each of *clients*; unknown clients are left out."""
    sql = "SELECT client, max(sequence) FROM annotation_events WHERE client IN (SELECT unnest(?::VARCHAR[])) GROUP BY client"
    return dict(store.rows(sql, [list(clients)]))


def newest_time(store: Store) -> str:
    """Return the time of the newest event; an empty string if there is none."""
    return str(store.value("SELECT coalesce(max(happened_at), '') FROM annotation_events"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationHead:
    """An annotator's document of a record without its content, as of the edit ``event`` (an event number).

    ``version`` counts the edits, ``verdict`` is "open", "accepted" or "rejected", ``guideline`` is the guideline version in force.
    """

    record_id: str
    annotator: str
    version: int
    verdict: str
    flagged: bool
    guideline: int | None
    changed_at: str
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationDocument(AnnotationHead):
    """A head plus the whole state: document, verdict, reason and flag, as JSON values."""

    state: Mapping[str, Any]


# One MERGE takes 2 ms for one row in a table of 20,000; DELETE and append took 3 ms.
_SAVE = """
    MERGE INTO annotation_documents AS held
    USING (SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::VARCHAR[]) AS annotator, unnest(?::BIGINT[]) AS version,
        unnest(?::VARCHAR[]) AS verdict, unnest(?::BOOLEAN[]) AS flagged, unnest(?::INTEGER[]) AS guideline,
        unnest(?::VARCHAR[]) AS changed_at, unnest(?::BIGINT[]) AS event, unnest(?::VARCHAR[]) AS state) AS given
    ON held.record_id = given.record_id AND held.annotator = given.annotator
    WHEN MATCHED THEN UPDATE SET version = given.version, verdict = given.verdict, flagged = given.flagged,
        guideline = given.guideline, changed_at = given.changed_at, event = given.event, state = given.state
    WHEN NOT MATCHED THEN INSERT BY NAME
"""
_STANDING = """
    SELECT item.record_id, coalesce(held.event, 0) FROM annotation_items AS item
    JOIN records ON records.record_order = item.record_order
    LEFT JOIN annotation_documents AS held ON held.record_id = item.record_id AND held.annotator = ?
    WHERE item.record_id IN (SELECT unnest(?::VARCHAR[]))
"""


def save_documents(store: Store, rows: Sequence[AnnotationDocument]) -> None:
    """Insert or replace documents. *rows* must have at most one row per record and annotator."""
    if rows:
        store.change(_SAVE, [list(column) for column in zip(*(_values(row) for row in rows), strict=True)])


def replace_documents(store: Store, rows: Sequence[AnnotationDocument]) -> None:
    """Replace all stored documents by *rows*."""
    with store.writing():
        store.change("DELETE FROM annotation_documents")
        store.append("annotation_documents", field_names(AnnotationDocument), [_values(row) for row in rows])


def load_documents(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationDocument]:
    """Return the documents that match all given conditions, sorted by record id and annotator."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids), ("annotator = ?", annotator))
    clause = f"FROM annotation_documents {condition} ORDER BY record_id, annotator"
    return store.objects(AnnotationDocument, clause, parameters, decoded=["state"])


def list_heads(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationHead]:
    """Like ``load_documents``, but without the states. For lists and statistics."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids), ("annotator = ?", annotator))
    return store.objects(AnnotationHead, f"FROM annotation_documents {condition} ORDER BY record_id, annotator", parameters)


def newest_edits(store: Store, record_ids: Collection[str], annotator: str) -> dict[str, int]:
    """Return by record id the event number of *annotator*'s newest edit, 0 if none. Records not in the work list are left out."""
    return dict(store.rows(_STANDING, [annotator, list(record_ids)]))


def records_finished_by_several(store: Store) -> list[str]:
    """Return the ids of records of the work list that two or more annotators have finished, sorted."""
    sql = """
        SELECT d.record_id FROM annotation_documents AS d JOIN annotation_items AS i ON i.record_id = d.record_id
        WHERE i.role = 'work' AND d.verdict <> 'open' GROUP BY d.record_id HAVING count(*) > 1 ORDER BY d.record_id"""
    return store.column(sql)


def _values(row: AnnotationDocument) -> tuple[object, ...]:
    return (*(getattr(row, name) for name in field_names(AnnotationHead)), json.dumps(dict(row.state)))
