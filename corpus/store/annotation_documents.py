"""What each person has made of each record: the newest state, so that nobody has to fold the log of events to read it.

The log is the truth (``piiloom.corpus.store.annotation_events``); these rows can be made from it again at any time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationHead:
    """How far *annotator* has come with a record; ``event`` is the edit that led here, the other fields are as of it.

    ``version`` counts the edits, ``verdict`` is open, accepted or rejected, ``guideline`` the version that was in force.
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
    """A head with the whole state: document, verdict, reason and flag, as JSON values."""

    state: Mapping[str, Any]


_HEAD = tuple(field.name for field in fields(AnnotationHead))
_COLUMNS = (*_HEAD, "state")
# One statement, 2 ms for one row of 20,000; deleting and appending took 3.
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
    """Put *rows*, one at most for a record and annotator, in the place of what those two have."""
    if rows:
        store.change(_SAVE, [list(column) for column in zip(*(_values(row) for row in rows), strict=True)])


def replace_documents(store: Store, rows: Sequence[AnnotationDocument]) -> None:
    """Forget every document and keep *rows* instead."""
    with store.writing():
        store.change("DELETE FROM annotation_documents")
        store.append("annotation_documents", _COLUMNS, [_values(row) for row in rows])


def load_documents(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationDocument]:
    """The documents that fit all that is given, by record id and annotator."""
    return [
        AnnotationDocument(**dict(zip(_HEAD, head, strict=True)), state=json.loads(state))
        for *head, state in _found(store, _COLUMNS, record_ids, annotator)
    ]


def list_heads(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationHead]:
    """As ``load_documents``, without the states: for lists and figures."""
    return [AnnotationHead(**dict(zip(_HEAD, row, strict=True))) for row in _found(store, _HEAD, record_ids, annotator)]


def newest_edits(store: Store, record_ids: Collection[str], annotator: str) -> dict[str, int]:
    """By record, the event that led to the document of *annotator*, 0 where there is none; records no longer on the list are left out."""
    return dict(store.rows(_STANDING, [annotator, list(record_ids)]))


def _found(store: Store, columns: Sequence[str], record_ids: Collection[str] | None, annotator: str | None) -> list[tuple[Any, ...]]:
    conditions, parameters = ["true"], list[object]()
    if record_ids is not None:
        conditions.append("record_id IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(list(record_ids))
    if annotator is not None:
        conditions.append("annotator = ?")
        parameters.append(annotator)
    rest = f"WHERE {' AND '.join(conditions)} ORDER BY record_id, annotator"
    return store.rows(select(columns, "annotation_documents", rest), parameters)


def _values(row: AnnotationDocument) -> tuple[object, ...]:
    return (*(getattr(row, name) for name in _HEAD), json.dumps(dict(row.state)))
