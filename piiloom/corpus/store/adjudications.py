"""Decisions on records: agreed, adjudicated, validated, rejected or reopened. One row per decision, in the order of the event log.

The last decision on a record is the one in force. The rows can be rebuilt from the event log (``piiloom.annotation_app.adjudication``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names

DecisionOutcome = Literal["agreed", "adjudicated", "validated", "rejected", "reopened"]

_LAST = "SELECT record_id, arg_max(outcome, event) FROM adjudications GROUP BY record_id"
# Per record and annotator: the newest stale edit (made on an outdated version, so not applied) that is newer than the last decision.
_LATE = """
    SELECT e.record_id, e.actor, max(e.event) AS late FROM annotation_events e LEFT JOIN (
        SELECT record_id, max(event) AS event FROM adjudications WHERE outcome <> 'reopened' GROUP BY record_id
    ) decided ON decided.record_id = e.record_id
    WHERE e.kind = 'stale' AND e.event > coalesce(decided.event, 0) GROUP BY e.record_id, e.actor"""
# Spans are compared by start, end, type and relevance, not by id, which only tells who made them. All rejections count as equal.
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
    """One decision. ``document`` is the final document as JSON values, empty for rejections and reopenings."""

    record_id: str
    adjudicator: str
    outcome: DecisionOutcome
    document: Mapping[str, Any]
    made_at: str
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """One revision of a record in the store, without its texts."""

    id: str
    record_order: int
    run_id: str | None
    plan_index: int | None
    revision: int
    status: str


@dataclass(frozen=True, slots=True)
class DisputedRecord:
    """A record that may need a decision. ``differ``: whether its finished versions differ.

    ``newest`` is the event number of the last edit among these versions. ``late`` is the event number of the newest stale edit by the
    same annotators: it was not applied, and merging it may or may not change anything. None: there is none.
    """

    record_id: str
    differ: bool
    newest: int
    late: int | None


def add_adjudications(store: Store, rows: Sequence[Adjudication]) -> None:
    """Add decisions. The caller must add their events in the same transaction."""
    documents = [json.dumps(dict(row.document), ensure_ascii=False, sort_keys=True) for row in rows]
    values = [
        (row.record_id, row.adjudicator, row.outcome, text, row.made_at, row.event) for row, text in zip(rows, documents, strict=True)
    ]
    store.append("adjudications", field_names(Adjudication), values)


def load_adjudications(store: Store, record_ids: Collection[str] | None = None) -> list[Adjudication]:
    """Return the decisions on *record_ids* (None: on all records), oldest first."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids))
    return store.objects(Adjudication, f"FROM adjudications {condition} ORDER BY event", parameters, decoded=["document"])


def last_decisions(store: Store) -> dict[str, DecisionOutcome]:
    """Return the last outcome of each record that has a decision, by record id."""
    return dict(store.rows(_LAST))


def unreleasable_records(store: Store) -> set[str]:
    """Return the ids that must not be released: rejected, reopened without a new decision, and copies made to test annotators."""
    copies = set(store.column("SELECT id FROM records WHERE status = 'control'"))
    return copies | {name for name, outcome in last_decisions(store).items() if outcome in {"rejected", "reopened"}}


def disputed_records(store: Store) -> list[DisputedRecord]:
    """Return records finished by as many people as wanted whose versions differ or have stale edits; highest priority first."""
    return [DisputedRecord(*row) for row in store.rows(_DISPUTED)]


def records_with_late_edits(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* with a stale edit that is newer than their last decision."""
    return set(store.column(_LATE_AMONG, [list(record_ids)]))


def finished_records(store: Store, until: str) -> list[str]:
    """Return the open records that as many people as wanted have finished, all by *until* (a timestamp as in the event log)."""
    return store.column(_READY, [until])


def stored_revisions(store: Store, record_ids: Collection[str]) -> dict[str, list[StoredRevision]]:
    """Return all revisions of *record_ids* by record id, oldest first."""
    found: dict[str, list[StoredRevision]] = {}
    sql = "FROM records WHERE id IN (SELECT unnest(?::VARCHAR[])) ORDER BY record_order"
    for row in store.objects(StoredRevision, sql, [list(record_ids)]):
        found.setdefault(row.id, []).append(row)
    return found
