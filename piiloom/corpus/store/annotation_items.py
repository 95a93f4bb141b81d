"""The work list: one row per record to be annotated, with the data that lists are sorted and filtered by.

``record_order`` identifies the revision that annotation starts from; it stays the same when later revisions are stored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import records_in, select

Role = Literal["work", "practice", "qualifying", "control"]
Status = Literal["generated", "annotated", "agreed", "adjudicated", "validated", "rejected"]
# Records with this status are used by the app only: copies with planted errors, practice and test records.
CONTROL_STATUS = "control"
# The statuses of items that people still work on.
OPEN_STATUSES: tuple[Status, ...] = ("generated", "annotated")

_COLUMNS = ("record_id", "record_order", "status", "role", "wanted", "priority", "reasons", "facts", "changed_at")
# A record may be stored in several revisions, and (by two runs) several times in the same one: take the last row of the highest.
_NEWEST = """
    SELECT id, arg_max(record_order, (revision, record_order)) FROM records
    WHERE status <> 'control' AND (?::VARCHAR IS NULL OR run_id = ?)
        AND (NOT ?::BOOLEAN OR (run_id IS NULL AND status = 'imported'))
        AND (?::VARCHAR[] IS NULL OR id IN (SELECT unnest(?::VARCHAR[])))
    GROUP BY id ORDER BY 2"""
_WITH_ORDERS = "WHERE records.record_order IN (SELECT unnest(?::BIGINT[]))"
_AMONG = "WHERE record_id IN (SELECT unnest(?::VARCHAR[]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A row of the work list. ``wanted`` is how many people are to annotate the record; ``facts`` holds JSON values (``item_facts``)."""

    record_id: str
    record_order: int
    role: Role = "work"
    status: Status = "generated"
    wanted: int = 1
    priority: float = 0.0
    reasons: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed_at: str = ""


def add_items(store: Store, items: Sequence[Item]) -> None:
    """Add *items*. The caller ensures that none of their records is in the list yet (``pooled_ids``)."""
    values = [
        (i.record_id, i.record_order, i.status, i.role, i.wanted, i.priority, json.dumps(list(i.reasons)), _facts(i), i.changed_at)
        for i in items
    ]
    store.append("annotation_items", _COLUMNS, values)


def load_items(store: Store, record_ids: Collection[str] | None = None, roles: Collection[str] | None = None) -> list[Item]:
    """Return the items, optionally only those of *record_ids* and of *roles*, sorted by ``record_order``."""
    clause = (
        "WHERE (?::VARCHAR[] IS NULL OR record_id IN (SELECT unnest(?::VARCHAR[]))) "
        "AND (?::VARCHAR[] IS NULL OR list_contains(?::VARCHAR[], role)) ORDER BY record_order, record_id"
    )
    ids = None if record_ids is None else list(record_ids)
    chosen = None if roles is None else list(roles)
    return [_item(row) for row in store.rows(select(_COLUMNS, "annotation_items", clause), [ids, ids, chosen, chosen])]


def find_item(store: Store, record_id: str) -> Item | None:
    """Return the item of *record_id*, or None if it is not in the list."""
    found = store.rows(select(_COLUMNS, "annotation_items", "WHERE record_id = ?"), [record_id])
    return _item(found[0]) if found else None


def pooled_ids(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* that are already in the list."""
    return {row[0] for row in store.rows(select(("record_id",), "annotation_items", _AMONG), [list(record_ids)])}


def begin_anew(store: Store, items: Sequence[Item]) -> None:
    """Replace the rows of these records by *items*, so that annotation starts from the revisions in *items*.

    Use it only for records that nobody has worked on. The caller must add the event (``item_facts.pooled``) in the same transaction.
    """
    store.change("DELETE FROM annotation_items WHERE record_id IN (SELECT unnest(?::VARCHAR[]))", [[item.record_id for item in items]])
    add_items(store, items)


def set_status(store: Store, record_ids: Collection[str], status: Status, at: str) -> None:
    """Change the status of *record_ids*. The caller must add the event for it in the same transaction."""
    store.change(
        "UPDATE annotation_items SET status = ?, changed_at = ? WHERE record_id IN (SELECT unnest(?::VARCHAR[]))",
        [status, at, list(record_ids)],
    )


def set_wanted(store: Store, record_ids: Collection[str], wanted: int, at: str) -> None:
    """Change how many people are to annotate each of *record_ids*."""
    store.change(
        "UPDATE annotation_items SET wanted = ?, changed_at = ? WHERE record_id IN (SELECT unnest(?::VARCHAR[]))",
        [wanted, at, list(record_ids)],
    )


def set_priorities(store: Store, rows: Sequence[tuple[str, float, Sequence[str]]], at: str) -> None:
    """Set priority and reasons of each record in *rows* (record id, priority, reasons)."""
    store.change(
        "UPDATE annotation_items SET priority = new.priority, reasons = new.reasons, changed_at = ? FROM "
        "(SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::DOUBLE[]) AS priority, unnest(?::VARCHAR[]) AS reasons) new "
        "WHERE annotation_items.record_id = new.record_id",
        [at, [row[0] for row in rows], [row[1] for row in rows], [json.dumps(list(row[2])) for row in rows]],
    )


def newest_records(
    store: Store, *, run_id: str | None = None, imported: bool = False, record_ids: Collection[str] | None = None
) -> Iterator[tuple[int, Record]]:
    """Iterate over (record_order, record): the newest revision of each record of a run, of all imports, or among *record_ids*.

    Conditions that are given must all hold. Control records are left out.
    """
    ids = None if record_ids is None else list(record_ids)
    orders = dict(store.rows(_NEWEST, [run_id, run_id, imported, ids, ids]))
    return ((orders[record.id], record) for record in records_in(store, _WITH_ORDERS, [list(orders.values())]))


def newest_ids(store: Store, *, run_id: str | None = None, imported: bool = False) -> list[str]:
    """Return the ids of the records of a run or of all imports, as ``newest_records`` has them, without loading the records."""
    return [record_id for record_id, _ in store.rows(_NEWEST, [run_id, run_id, imported, None, None])]


def wanted_counts(store: Store) -> dict[int, int]:
    """Count the unfinished records of the work list by how many people are to annotate each."""
    sql = "SELECT wanted, count(*) FROM annotation_items WHERE role = 'work' AND list_contains(?::VARCHAR[], status) GROUP BY 1 ORDER BY 1"
    return dict(store.rows(sql, [list(OPEN_STATUSES)]))


def base_records(store: Store, record_ids: Collection[str]) -> dict[str, Record]:
    """Return by record id the revision that annotation starts from. Records not in the list, or deleted, are left out."""
    orders = store.integers(select(("record_order",), "annotation_items", _AMONG), [list(record_ids)])
    return {record.id: record for record in records_in(store, _WITH_ORDERS, [list(orders)])}


def pair_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by pair of entity types ("age+health")."""
    sql = "SELECT facts->>'$.pair', count(*) FROM annotation_items WHERE role = 'work' AND facts->>'$.pair' IS NOT NULL GROUP BY 1"
    return dict(store.rows(sql))


def disagreement_counts(store: Store) -> dict[str, int]:
    """Count by record id the judgements that disagree with the plan; records without any are left out."""
    return dict(store.rows("SELECT record_id, count(*) FROM judgements WHERE NOT agrees GROUP BY record_id"))


def _facts(item: Item) -> str:
    return json.dumps(dict(item.facts), ensure_ascii=False, sort_keys=True)


def _item(row: tuple[Any, ...]) -> Item:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["reasons"] = tuple(json.loads(values["reasons"]))
    values["facts"] = json.loads(values["facts"])
    return Item(**values)


def other_questions(store: Store, key: str, question: str | None) -> list[str]:
    """Return the ids of the records of the work list that share the group *key* but not *question*, in the order of the list."""
    sql = (
        "SELECT i.record_id FROM annotation_items i JOIN records r ON r.record_order = i.record_order "
        "WHERE i.role = 'work' AND list_contains(CAST(r.group_keys AS JSON)->>'$[*]', ?) AND r.question IS DISTINCT FROM ? "
        "ORDER BY i.record_order"
    )
    return [record_id for (record_id,) in store.rows(sql, [key, question])]
