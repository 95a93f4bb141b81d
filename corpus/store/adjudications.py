"""What was decided on records: agreed, adjudicated, validated, rejected, reopened; one row a decision, in the order of the log.

A record stands as its last decision says. The rows can be made from the log of events again (``annotation_app.adjudication``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from corpus.store.database import Store
from corpus.store.statements import select

Outcome = Literal["agreed", "adjudicated", "validated", "rejected", "reopened"]

_COLUMNS = ("record_id", "adjudicator", "outcome", "document", "made_at", "event")
_AMONG = "WHERE (?::VARCHAR[] IS NULL OR record_id IN (SELECT unnest(?::VARCHAR[]))) ORDER BY event"
_LAST = "SELECT record_id, arg_max(outcome, event) FROM adjudications GROUP BY record_id"
# Spans compare by their ends and labels; ids say only who made them.
_UNLIKE = """
    SELECT record_id FROM (
        SELECT d.record_id, any_value(i.wanted) AS wanted, any_value(i.priority) AS priority, any_value(i.record_order) AS record_order,
            count(*) AS finished, count(DISTINCT hash(d.verdict, d.state->>'$.document.context',
                coalesce(d.state->>'$.document.question', ''), CASE WHEN d.verdict = 'accepted' THEN from_json(d.state->'$.document.spans',
                '[{"start":"BIGINT","end":"BIGINT","type":"VARCHAR","relevance":"VARCHAR"}]')::VARCHAR END)) AS versions
        FROM annotation_documents d JOIN annotation_items i ON i.record_id = d.record_id
        WHERE i.role = 'work' AND i.status = 'annotated' AND d.verdict <> 'open'
        GROUP BY d.record_id)
    WHERE finished >= wanted AND versions > 1 ORDER BY priority DESC, record_order"""
_READY = """
    SELECT i.record_id FROM annotation_items i JOIN annotation_documents d ON d.record_id = i.record_id
    WHERE i.role = 'work' AND i.status IN ('generated', 'annotated') AND d.verdict <> 'open'
    GROUP BY i.record_id, i.wanted, i.record_order HAVING count(*) >= i.wanted AND max(d.changed_at) <= ? ORDER BY i.record_order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """One decision. ``document`` is the JSON form of what was decided on, empty for rejections and reopenings."""

    record_id: str
    adjudicator: str
    outcome: Outcome
    document: Mapping[str, Any]
    made_at: str
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """Where one revision of a record is in the store, without its texts."""

    record_order: int
    run_id: str | None
    plan_index: int | None
    revision: int
    status: str


def add_adjudications(store: Store, rows: Sequence[Adjudication]) -> None:
    """Add decisions; their events go into the same transaction."""
    store.append("adjudications", _COLUMNS, [_values(row) for row in rows])


def replace_adjudications(store: Store, rows: Sequence[Adjudication]) -> None:
    """Forget all decisions and keep *rows* instead."""
    with store.writing():
        store.change("DELETE FROM adjudications")
        add_adjudications(store, rows)


def load_adjudications(store: Store, record_ids: Collection[str] | None = None) -> list[Adjudication]:
    """The decisions on *record_ids* (all), oldest first."""
    ids = None if record_ids is None else list(record_ids)
    rows = store.rows(select(_COLUMNS, "adjudications", _AMONG), [ids, ids])
    return [Adjudication(**{**dict(zip(_COLUMNS, row, strict=True)), "document": json.loads(row[3])}) for row in rows]


def last_decisions(store: Store) -> dict[str, Outcome]:
    """How each record stands that was ever decided on."""
    return dict(store.rows(_LAST))


def unreleasable_records(store: Store) -> set[str]:
    """The records that no release may have: rejected, or reopened and not decided on again, or copies made to test people."""
    copies = store.rows("SELECT id FROM records WHERE status = 'control'")
    return {row[0] for row in copies} | {name for name, outcome in last_decisions(store).items() if outcome in {"rejected", "reopened"}}


def disputed_records(store: Store) -> list[str]:
    """The records that as many people as wanted have finished, not all alike; the most urgent first."""
    return [row[0] for row in store.rows(_UNLIKE)]


def finished_records(store: Store, until: str) -> list[str]:
    """The open records that as many people as wanted have finished, none of them later than *until* (a time of the log)."""
    return [row[0] for row in store.rows(_READY, [until])]


def stored_revisions(store: Store, record_ids: Collection[str]) -> dict[str, list[StoredRevision]]:
    """All revisions of *record_ids*, oldest first."""
    columns = ("id", "record_order", "run_id", "plan_index", "revision", "status")
    among = "WHERE id IN (SELECT unnest(?::VARCHAR[])) ORDER BY record_order"
    found: dict[str, list[StoredRevision]] = {}
    for record_id, order, run_id, index, revision, status in store.rows(select(columns, "records", among), [list(record_ids)]):
        row = StoredRevision(record_order=order, run_id=run_id, plan_index=index, revision=revision, status=status)
        found.setdefault(record_id, []).append(row)
    return found


def _values(row: Adjudication) -> tuple[object, ...]:
    document = json.dumps(dict(row.document), ensure_ascii=False, sort_keys=True)
    return row.record_id, row.adjudicator, row.outcome, document, row.made_at, row.event
