"""Judgements of LLM judges and trained detectors on records.

A judgement never changes the planned labels. It is stored once per run, plan item, kind of judgement and value; adding an equal judgement
again is a no-op.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names, select

# "unlisted": a trained detector finds a value that the record has not; it has no span, and its place stands for a value's id.
JudgementKind = Literal["relevance", "leak", "unlisted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of one judge on one value.

    ``planned`` is the verdict expected by the plan: the planned relevance, "nowhere" for a leak, or "nothing" for an unlisted value, whose
    verdict is a type. ``score`` is from 0 to 1,
    ``verdict`` is derived from it, and ``agrees`` says whether the verdict is the planned one. ``span_id`` is the value's first
    mention in the record.
    """

    kind: JudgementKind
    value_id: str
    span_id: str
    planned: str
    score: float
    verdict: str
    agrees: bool
    reason: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRow:
    """A judgement and the record that it is about."""

    record_id: str
    run_id: str
    plan_index: int
    judgement: Judgement


_SAID = field_names(Judgement)
_COLUMNS = ("record_id", "run_id", "plan_index", *_SAID)
_ORDER = "ORDER BY run_id, plan_index, kind, rowid"


def save_judgements(store: Store, run_id: str, rows: Sequence[tuple[int, str, Judgement]]) -> int:
    """Save the (plan index, record id, judgement) rows that the run does not have yet. Return how many were new."""
    if not rows:
        return 0
    indexes = [index for index, _, _ in rows]
    clause = "WHERE run_id = ? AND plan_index BETWEEN ? AND ?"
    fresh: list[tuple[object, ...]] = []
    with store.writing():
        sql = f"SELECT plan_index, kind, value_id FROM judgements {clause}"  # noqa: S608 - the constant above
        known = set(store.rows(sql, [run_id, min(indexes), max(indexes)]))
        for index, record_id, said in rows:
            key = (index, said.kind, said.value_id)
            if key not in known:
                known.add(key)
                fresh.append((record_id, run_id, index, *(getattr(said, name) for name in _SAID)))
        store.append("judgements", _COLUMNS, fresh)
    return len(fresh)


def load_judgements(store: Store, run_id: str | None = None, record_id: str | None = None) -> list[JudgementRow]:
    """Return the judgements of a run and/or a record, or all; sorted by run, plan index and kind, then in the order saved."""
    return _load(store, *conditions(("run_id = ?", run_id), ("record_id = ?", record_id)))


def records_judged_otherwise(store: Store, run_id: str | None = None) -> set[str]:
    """Return the ids of records (None: of all runs) with a judgement that disagrees with the plan."""
    sql = "SELECT DISTINCT record_id FROM judgements WHERE NOT agrees AND (?::VARCHAR IS NULL OR run_id = ?)"
    return set(store.column(sql, [run_id, run_id]))


def judgements_of(store: Store, record_ids: Collection[str]) -> dict[str, tuple[JudgementRow, ...]]:
    """Return the judgements on *record_ids* by record id, each in the order of ``load_judgements``."""
    found: dict[str, list[JudgementRow]] = {}
    for row in _load(store, *conditions((AMONG_RECORDS, record_ids))):
        found.setdefault(row.record_id, []).append(row)
    return {record_id: tuple(rows) for record_id, rows in found.items()}


def unlisted_in(store: Store, run_id: str) -> JudgedCount:
    """Count what a trained detector found outside of the spans of a run's records."""
    sql = "SELECT count(*), count(DISTINCT record_id) FROM judgements WHERE kind = 'unlisted' AND run_id = ?"
    ((found, records),) = store.rows(sql, [run_id])
    return JudgedCount(kind="unlisted", judged=found, disagree=found, records=records)


def disagreements(store: Store, run_id: str) -> dict[str, tuple[JudgementRow, ...]]:
    """Return by record id, in plan order, the judgements of a run that disagree with the plan. Annotators should check these."""
    against = _load(store, "WHERE run_id = ? AND NOT agrees", [run_id])
    return {record_id: tuple(rows) for record_id, rows in groupby(against, key=lambda row: row.record_id)}


def _load(store: Store, condition: str, parameters: Sequence[object]) -> list[JudgementRow]:
    found = store.rows(select(_COLUMNS, f"FROM judgements {condition} {_ORDER}"), parameters)
    return [
        JudgementRow(record_id=record_id, run_id=run_id, plan_index=index, judgement=Judgement(**dict(zip(_SAID, said, strict=True))))
        for record_id, run_id, index, *said in found
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCount:
    """Counts for some records: values ``judged``, those where judge and plan ``disagree``, and the ``records`` with such values."""

    kind: JudgementKind
    judged: int
    disagree: int
    records: int


def judged_in_release(store: Store, name: str) -> list[JudgedCount]:
    """Count the judgements on the records of the release *name*, by kind. Kinds without judgements are left out."""
    sql = (
        "SELECT j.kind, count(*), count(*) FILTER (NOT j.agrees), count(DISTINCT j.record_id) FILTER (NOT j.agrees) FROM judgements j "
        "JOIN records r ON r.id = j.record_id AND r.run_id = j.run_id JOIN release_members m ON m.record_order = r.record_order "
        "WHERE m.release_name = ? GROUP BY j.kind ORDER BY j.kind"
    )
    return store.objects(JudgedCount, sql, [name])


def judged_among(store: Store, record_ids: Collection[str]) -> list[JudgedCount]:
    """Count the judgements on *record_ids*, by kind. Kinds without judgements are left out."""
    sql = (
        "SELECT kind, count(*), count(*) FILTER (NOT agrees), count(DISTINCT record_id) FILTER (NOT agrees) FROM judgements "
        "WHERE record_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY kind ORDER BY kind"
    )
    return store.objects(JudgedCount, sql, [list(record_ids)])
