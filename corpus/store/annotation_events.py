"""The log of everything that people do to records: append-only, in one order, never changed.

A client (one tab of one browser) numbers what it sends; ``newest_sequences`` tells how far each has been heard, so that what
is sent twice counts once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select

# A step that *actor* did to the document of somebody else, whom its entry names as "annotator".
FOR_ANOTHER = "edit_for"

_COLUMNS = ("event", "happened_at", "actor", "kind", "record_id", "client", "sequence", "guideline", "entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """What *actor* did, before it has its place in the log. ``entry`` holds JSON values; ``guideline`` is the version in force."""

    actor: str
    kind: str
    record_id: str | None = None
    client: str | None = None
    sequence: int | None = None
    guideline: int | None = None
    entry: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationEvent(NewEvent):
    """An event of the log: its number, which grows, and its time (ISO 8601, UTC, milliseconds), which never goes back."""

    event: int
    at: str

    @property
    def owner(self) -> str:
        """Whose document this is about: mostly that of *actor*."""
        return str(self.entry["annotator"]) if self.kind == FOR_ANOTHER else self.actor


def append_events(store: Store, rows: Sequence[NewEvent], at: str) -> list[AnnotationEvent]:
    """Add *rows* in order, all of time *at*, and give them with their numbers."""
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
    """The events, oldest first, that fit all that is given; *after* is the number of an event that is left out.

    *actor* did them; they are about the document of *owner* (``AnnotationEvent.owner``).
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
    """Those of *record_ids* that the log has anything about but events of the kinds *besides*."""
    sql = (
        "SELECT DISTINCT record_id FROM annotation_events WHERE record_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND kind NOT IN (SELECT unnest(?::VARCHAR[]))"
    )
    return {row[0] for row in store.rows(sql, [list(record_ids), list(besides)])}


def newest_sequences(store: Store, clients: Collection[str]) -> dict[str, int]:
    """The highest number that each of *clients* has sent; those never heard of are left out."""
    sql = "SELECT client, max(sequence) FROM annotation_events WHERE client IN (SELECT unnest(?::VARCHAR[])) GROUP BY client"
    return dict(store.rows(sql, [list(clients)]))


def newest_time(store: Store) -> str:
    """The time of the last event; empty when there is none."""
    return str(store.rows("SELECT coalesce(max(happened_at), '') FROM annotation_events")[0][0])


def _event(row: tuple[Any, ...]) -> AnnotationEvent:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["at"] = values.pop("happened_at")
    values["entry"] = json.loads(values["entry"])
    return AnnotationEvent(**values)
