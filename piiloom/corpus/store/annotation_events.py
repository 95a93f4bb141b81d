"""The annotation event log: everything that people do to records. Append-only, totally ordered, never changed.

A client (one browser tab) numbers the operations it sends. ``newest_sequences`` returns the last number received from each client,
so that an operation that is sent twice is applied once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select

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
    return [
        AnnotationEvent(
            event=number,
            at=at,
            actor=row.actor,
            kind=row.kind,
            record_id=row.record_id,
            client=row.client,
            sequence=row.sequence,
            guideline=row.guideline,
            entry=row.entry,
        )
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
    conditions, parameters = ["event > ?"], list[object]([after])
    if record_ids is not None:
        conditions.append("record_id IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(list(record_ids))
    if actor is not None:
        conditions.append("actor = ?")
        parameters.append(actor)
    if owner is not None:
        conditions.append("CASE WHEN kind = ? THEN entry->>'$.annotator' ELSE actor END = ?")
        parameters += [FOR_ANOTHER, owner]
    if kinds is not None:
        conditions.append("kind IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(list(kinds))
    if numbers is not None:
        conditions.append("event IN (SELECT unnest(?::BIGINT[]))")
        parameters.append(list(numbers))
    found = store.rows(select(_COLUMNS, "annotation_events", f"WHERE {' AND '.join(conditions)} ORDER BY event"), parameters)
    return [_event(row) for row in found]


def records_worked_on(store: Store, record_ids: Collection[str], besides: Collection[str]) -> set[str]:
    """Return those of *record_ids* that have any event of a kind not in *besides*."""
    sql = (
        "SELECT DISTINCT record_id FROM annotation_events WHERE record_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND kind NOT IN (SELECT unnest(?::VARCHAR[]))"
    )
    return {row[0] for row in store.rows(sql, [list(record_ids), list(besides)])}


def newest_sequences(store: Store, clients: Collection[str]) -> dict[str, int]:
    """Return the highest sequence number received from each of *clients*; unknown clients are left out."""
    sql = "SELECT client, max(sequence) FROM annotation_events WHERE client IN (SELECT unnest(?::VARCHAR[])) GROUP BY client"
    return dict(store.rows(sql, [list(clients)]))


def newest_time(store: Store) -> str:
    """Return the time of the newest event; an empty string if there is none."""
    return str(store.rows("SELECT coalesce(max(happened_at), '') FROM annotation_events")[0][0])


def _event(row: tuple[Any, ...]) -> AnnotationEvent:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["at"] = values.pop("happened_at")
    values["entry"] = json.loads(values["entry"])
    return AnnotationEvent(**values)
