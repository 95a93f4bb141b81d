"""Control records, whose answer is known: practice and test records, gold records, and records with a planted error."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select

_COLUMNS = ("record_id", "kind", "source_id", "entry")
_KINDS = "WHERE (?::VARCHAR[] IS NULL OR list_contains(?::VARCHAR[], kind)) ORDER BY record_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow:
    """A control record. ``source_id`` is the record it was made from; ``entry`` holds the known answer as JSON values."""

    record_id: str
    kind: str
    source_id: str
    entry: Mapping[str, Any]


def add_controls(store: Store, rows: Sequence[ControlRow]) -> None:
    """Add *rows*. The caller ensures that none of their records has a row yet."""
    values = [(row.record_id, row.kind, row.source_id, json.dumps(dict(row.entry), ensure_ascii=False, sort_keys=True)) for row in rows]
    store.append("annotation_controls", _COLUMNS, values)


def load_controls(store: Store, kinds: Collection[str] | None = None) -> list[ControlRow]:
    """Return all control records, or those of *kinds*, sorted by record id."""
    chosen = None if kinds is None else list(kinds)
    return [_row(row) for row in store.rows(select(_COLUMNS, "annotation_controls", _KINDS), [chosen, chosen])]


def find_control(store: Store, record_id: str) -> ControlRow | None:
    """Return the control row of *record_id*, or None."""
    found = store.rows(select(_COLUMNS, "annotation_controls", "WHERE record_id = ?"), [record_id])
    return _row(found[0]) if found else None


def known_record_ids(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* that exist in the store."""
    return {row[0] for row in store.rows("SELECT DISTINCT id FROM records WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(record_ids)])}


def control_orders(store: Store, record_ids: Collection[str]) -> dict[str, int]:
    """Return the ``record_order`` of each of *record_ids* that is stored with status "control"."""
    sql = "SELECT id, record_order FROM records WHERE status = 'control' AND id IN (SELECT unnest(?::VARCHAR[]))"
    return dict(store.rows(sql, [list(record_ids)]))


def _row(row: tuple[Any, ...]) -> ControlRow:
    record_id, kind, source_id, entry = row
    return ControlRow(record_id=record_id, kind=kind, source_id=source_id, entry=json.loads(entry))
