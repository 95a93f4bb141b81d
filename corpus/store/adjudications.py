"""What was decided on records: agreed, adjudicated, validated, rejected, reopened; one row a decision, in the order of the log.

A record stands as its last decision says. The rows can be made from the log of events again (``piiloom.annotation_app.adjudication``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select

Outcome = Literal["agreed", "adjudicated", "validated", "rejected", "reopened"]

_COLUMNS = ("record_id", "adjudicator", "outcome", "document", "made_at", "event")
_AMONG = "WHERE (?::VARCHAR[] IS NULL OR record_id IN (SELECT unnest(?::VARCHAR[]))) ORDER BY event"
_LAST = "SELECT record_id, arg_max(outcome, event) FROM adjudications GROUP BY record_id"
# By record and person: the newest edit that came too late, unless a later decision had it before it.
_LATE = """
    SELECT e.record_id, e.actor, max(e.event) AS late FROM annotation_events e LEFT JOIN (
        SELECT record_id, max(event) AS event FROM adjudications WHERE outcome <> 'reopened' GROUP BY record_id
    ) decided ON decided.record_id = e.record_id
    WHERE e.kind = 'stale' AND e.event > coalesce(decided.event, 0) GROUP BY e.record_id, e.actor"""
# Spans compare by their ends and labels; ids say only who made them. Of rejections nothing but that they are some.
_DISPUTED = """
    SELECT record_id, versions > 1, newest, late FROM (
        SELECT d.record_id, any_value(i.wanted) AS wanted, any_value(i.priority) AS priority, any_value(i.record_order) AS record_order,
            count(*) AS finished, max(d.event) AS newest, max(l.late) AS late, count(DISTINCT CASE WHEN d.verdict = 'accepted'
                THEN hash(d.state->>'$.document.context', coalesce(d.state->>'$.document.question', ''), from_json(
                    d.state->'$.document.spans', '[{"start":"BIGINT","end":"BIGINT","type":"VARCHAR","relevance":"VARCHAR"}]')::VARCHAR)
                ELSE hash(d.verdict) END) AS versions
        FROM annotation_documents d JOIN annotation_items i ON i.record_id = d.record_id
        LEFT JOIN ({late}) l ON l.record_id = d.record_id AND l.actor = d.annotator
        WHERE i.role = 'work' AND i.status = 'annotated' AND d.verdict <> 'open'
        GROUP BY d.record_id)
    WHERE finished >= wanted AND (versions > 1 OR late IS NOT NULL) ORDER BY priority DESC, record_order""".replace("{late}", _LATE)
_LATE_AMONG = "SELECT DISTINCT record_id FROM ({late}) WHERE record_id IN (SELECT unnest(?::VARCHAR[]))".replace("{late}", _LATE)
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


@dataclass(frozen=True, slots=True)
class Disputed:
    """A record that may need a decision. ``differ``: its finished versions do.

    ``newest`` is the last edit of these; ``late`` the newest edit of those people that came too late to be applied, and may or
    may not change anything.
    """

    record_id: str
    differ: bool
    newest: int
    late: int | None


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


def disputed_records(store: Store) -> list[Disputed]:
    """The records that as many people as wanted have finished, not all alike or with late edits; the most urgent first."""
    return [Disputed(*row) for row in store.rows(_DISPUTED)]


def records_with_late_edits(store: Store, record_ids: Collection[str]) -> set[str]:
    """Those of *record_ids* for which edits came too late that no decision has had before it."""
    return {row[0] for row in store.rows(_LATE_AMONG, [list(record_ids)])}


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
