"""The row ledger: the state of every plan item of a run, and the details of one item.

A plan item counts as a row once it is planned or has any call, reject or record. A row is accepted (it has a record), rejected (it
has a reject that was not lifted) or open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.progress import RejectRow
from piiloom.corpus.store.records import select

_REJECT_COLUMNS = ("plan_index", "key", "stage", "reason_code", "detail", "attempts", "last_reply")
_JUDGEMENT_COLUMNS = ("kind", "value_id", "span_id", "planned", "score", "verdict", "agrees", "reason", "provider", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """The row counts of a run. ``twice`` counts items that are both accepted and rejected; it must be 0."""

    rows_in: int
    accepted: int
    rejected: int
    open: int
    twice: int

    @property
    def balanced(self) -> bool:
        """Whether ``rows_in == accepted + rejected + open``, and no row is both accepted and rejected."""
        return not self.twice and self.rows_in == self.accepted + self.rejected + self.open


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """A record and the plan item that it came from (None for imports)."""

    record_id: str
    run_id: str | None
    plan_index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFate:
    """All that the store holds of a plan item, except its calls.

    ``plan`` is JSON text. ``stages`` are (stage, JSON result), ``records`` (id, revision, status), ``rejects`` (row, lifted).
    """

    plan: str | None
    stages: tuple[tuple[str, str], ...]
    records: tuple[tuple[str, int, str], ...]
    rejects: tuple[tuple[RejectRow, bool], ...]
    judgements: tuple[dict[str, Any], ...]

    @property
    def is_known(self) -> bool:
        """Whether the store has anything on the item."""
        return bool(self.plan or self.stages or self.records or self.rejects)


def count_rows(store: Store, run_id: str) -> RowCounts:
    """Count the plan items of a run by state (see the module docstring)."""
    sql = """
        WITH accepted AS (SELECT DISTINCT plan_index AS item FROM records WHERE run_id = $1 AND plan_index IS NOT NULL),
        rejected AS (SELECT DISTINCT plan_index AS item FROM rejects WHERE run_id = $1 AND plan_index IS NOT NULL AND NOT lifted),
        known AS (SELECT plan_index AS item FROM plan_items WHERE run_id = $1
            UNION SELECT plan_index FROM rejects WHERE run_id = $1 AND plan_index IS NOT NULL
            UNION SELECT try_cast(split_part(item_id, '/', 1) AS BIGINT) FROM call_events WHERE run_id = $1
                AND try_cast(split_part(item_id, '/', 1) AS BIGINT) IS NOT NULL
            UNION FROM accepted)
        SELECT (SELECT count(*) FROM known), (SELECT count(*) FROM accepted), (SELECT count(*) FROM rejected),
            (SELECT count(*) FROM known WHERE item NOT IN (FROM accepted) AND item NOT IN (FROM rejected)),
            (SELECT count(*) FROM accepted WHERE item IN (FROM rejected))"""
    rows_in, accepted, rejected, still_open, twice = store.rows(sql, [run_id])[0]
    return RowCounts(rows_in=rows_in, accepted=accepted, rejected=rejected, open=still_open, twice=twice)


def find_records(store: Store, prefix: str, run_id: str | None = None, at_most: int = 20) -> list[FoundItem]:
    """Return the records whose id begins with *prefix*, newest first, of one run if given. Revisions of a record count once."""
    sql = (
        "SELECT id, run_id, plan_index, max(record_order) AS newest FROM records WHERE starts_with(id, ?) "
        "AND (?::VARCHAR IS NULL OR run_id = ?) GROUP BY ALL ORDER BY newest DESC LIMIT ?"
    )
    found = store.rows(sql, [prefix, run_id, run_id, at_most])
    return [FoundItem(record_id=record_id, run_id=run, plan_index=index) for record_id, run, index, _ in found]


def fate_of(store: Store, run_id: str, index: int) -> ItemFate:
    """Return what the store holds of plan item *index*, except its calls."""
    where, item = "WHERE run_id = ? AND plan_index = ?", [run_id, index]
    plan = store.rows(select(("item",), "plan_items", where), item)
    return ItemFate(
        plan=plan[0][0] if plan else None,
        stages=_tuples(store.rows(select(("stage", "payload"), "stage_results", f"{where} ORDER BY rowid"), item)),
        records=_tuples(store.rows(select(("id", "revision", "status"), "records", f"{where} ORDER BY revision"), item)),
        rejects=_rejects(store.rows(select((*_REJECT_COLUMNS, "lifted"), "rejects", f"{where} ORDER BY rowid"), item)),
        judgements=tuple(
            dict(zip(_JUDGEMENT_COLUMNS, row, strict=True))
            for row in store.rows(select(_JUDGEMENT_COLUMNS, "judgements", f"{where} ORDER BY rowid"), item)
        ),
    )


def rejects_of_key(store: Store, run_id: str, key: str) -> tuple[tuple[RejectRow, bool], ...]:
    """Return the rejects of a pair or topic as (row, lifted), including entries dropped from its list (keys ``<key>#…``)."""
    where = "WHERE run_id = ? AND plan_index IS NULL AND (key = ? OR starts_with(key, ?)) ORDER BY rowid"
    return _rejects(store.rows(select((*_REJECT_COLUMNS, "lifted"), "rejects", where), [run_id, key, f"{key}#"]))


def _rejects(rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[RejectRow, bool], ...]:
    return tuple(
        (
            RejectRow(plan_index=index, key=key, stage=stage, reason_code=code, detail=detail or "", attempts=attempts, last_reply=reply),
            bool(lifted),
        )
        for index, key, stage, code, detail, attempts, reply, lifted in rows
    )


def _tuples(rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)
