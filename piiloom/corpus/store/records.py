"""Records and their spans in the store: statements, JSON columns, writing and reading.

A stored record never changes. Adding a record that exists already is a no-op, so adding the same rows again is harmless and releases
stay as they were. A record's identity is (run, plan index, revision), or (run, id, revision) if it has no plan index.

Records are read in batches: first the order numbers of all of them (8 bytes each), then ``_CHUNK`` records per pair of queries. The
store may therefore be written while records are read; records added meanwhile are not returned.

Many records share a plan or a provenance. Both are immutable, so results are cached and equal ones are converted only once. Table and
column names in statements are constants of the query modules; values are always passed as parameters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from piiloom.corpus.record import LostValue, Provenance, Record, RecordPlan, SourceReference, Span
from piiloom.corpus.store.database import Store, select

Encodable = RecordPlan | SourceReference | Provenance


@lru_cache(maxsize=4096)
def encode(value: Encodable | None) -> str | None:
    """Return the fields of *value* that are not None as a JSON object (without an empty ``lost`` or ``lookalikes``); None for None."""
    if value is None:
        return None
    found = {name: held for name, held in _set_fields(value).items() if held or name not in ("lost", "lookalikes")}
    return json.dumps(found, ensure_ascii=False, default=_set_fields)


@lru_cache(maxsize=4096)
def decode_plan(text: str | None) -> RecordPlan | None:
    """The inverse of ``encode`` for a plan."""
    if text is None:
        return None
    held = json.loads(text)
    first, second = held.pop("pair")
    return RecordPlan(pair=(first, second), lookalikes=tuple(held.pop("lookalikes", ())), **held)


def decode_source(text: str | None) -> SourceReference | None:
    """The inverse of ``encode`` for a source."""
    if text is None:
        return None
    held = json.loads(text)
    return SourceReference(lost=tuple(LostValue(**lost) for lost in held.pop("lost", ())), **held)


@lru_cache(maxsize=4096)
def decode_provenance(text: str | None) -> Provenance | None:
    """The inverse of ``encode`` for a provenance."""
    if text is None:
        return None
    held = json.loads(text)
    templates = tuple((name, sha256) for name, sha256 in held.pop("templates"))
    return Provenance(templates=templates, parents=tuple(held.pop("parents")), **held)


def _set_fields(value: Any) -> dict[str, Any]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: held for name, held in found.items() if held is not None}


_CHUNK = 2_000
_RECORD_COLUMNS = (
    "id",
    "record_order",
    "run_id",
    "plan_index",
    "status",
    "revision",
    "locale",
    "context",
    "question",
    "plan",
    "source",
    "group_keys",
    "provenance",
)
_SPAN_COLUMNS = (
    "record_order",
    "position",
    "id",
    "span_start",
    "span_end",
    "entity_type",
    "relevance",
    "subtype",
    "value_id",
    "subject",
)
_READ_COLUMNS = ("record_order", *(c for c in _RECORD_COLUMNS if c not in {"record_order", "run_id", "plan_index", "status"}))
_BETWEEN = "WHERE record_order BETWEEN ? AND ?"
_AMONG = "AND record_order IN (SELECT unnest(?::BIGINT[]))"
# Runs in creation order, and within a run by plan index; then imported records in the order they were added.
READING_ORDER = "ORDER BY runs.created_order NULLS LAST, records.plan_index NULLS LAST, records.record_order"


def add_records(store: Store, run_id: str | None, rows: Sequence[tuple[int | None, Record]], status: str = "generated") -> int:
    """Add (plan index, record) rows and return how many were new. Raises ``DataError`` for text that UTF-8 cannot encode."""
    with store.writing():
        fresh = _without_known(store, run_id, rows)
        if not fresh:
            return 0
        orders = store.integers("SELECT nextval('record_order') FROM range(?)", [len(fresh)])
        records: list[tuple[object, ...]] = []
        spans: list[tuple[object, ...]] = []
        for order, (index, record) in zip(orders, fresh, strict=True):
            records.append(_record_values(order, run_id, index, status, record))
            spans += (_span_values(order, position, span) for position, span in enumerate(record.spans))
        store.append("records", _RECORD_COLUMNS, records)
        store.append("spans", _SPAN_COLUMNS, spans)
    return len(fresh)


def iter_records(
    store: Store, *, run_id: str | None = None, status: str | None = None, ids: Sequence[str] | None = None
) -> Iterator[Record]:
    """Iterate over the records of a run (None: of all) with *status* and among *ids*, in plan order, imports last.

    Without *status*, copies made to test annotators ("control") are left out. The query that selects the records runs at the
    call, not at the first iteration. Memory is constant, apart from 8 bytes a record.
    """
    where, parameters = _selection(run_id, status)
    if ids is not None:
        where += " AND records.id IN (SELECT unnest(?::VARCHAR[]))"
        parameters.append(list(ids))
    return records_in(store, f"WHERE {where}", parameters)


def count_records(store: Store, *, run_id: str | None = None, status: str | None = None) -> int:
    """Count the records that ``iter_records`` would yield for this run and status."""
    where, parameters = _selection(run_id, status)
    return int(store.value(f"SELECT count(*) FROM records WHERE {where}", parameters))  # noqa: S608 - constants of this module


def drawn_on(store: Store, run_id: str) -> tuple[int, int, int]:
    """Count the different stories or scenarios, texts and questions of the records of a run."""
    where, parameters = _selection(run_id, "generated")
    story = 'nullif(regexp_extract(plan, \'"scenario": "([^"]*)"\', 1), \'\')'
    counts = tuple(f"count(DISTINCT {column})" for column in (story, "context", "question"))
    stories, texts, questions = store.rows(select(counts, f"FROM records WHERE {where}"), parameters)[0]
    return int(stories), int(texts), int(questions)


def record_ids(store: Store, *, run_id: str | None = None, status: str | None = None) -> set[str]:
    """Return the ids of the records that ``iter_records`` would yield for this run and status."""
    where, parameters = _selection(run_id, status)
    return set(store.column(f"SELECT DISTINCT id FROM records WHERE {where}", parameters))  # noqa: S608 - constants of this module


def records_in(store: Store, clause: str, parameters: Sequence[object]) -> Iterator[Record]:
    """Iterate over the records that *clause* (constant SQL: joins and conditions on ``records``) selects, in ``READING_ORDER``."""
    sql = f"SELECT records.record_order FROM records LEFT JOIN runs ON runs.id = records.run_id {clause} {READING_ORDER}"  # noqa: S608
    return records_at(store, store.integers(sql, parameters))


def records_at(store: Store, orders: Sequence[int]) -> Iterator[Record]:
    """Iterate over the records with the given ``record_order`` numbers, in the order given. An unknown number raises ``KeyError``."""
    for at in range(0, len(orders), _CHUNK):
        wanted = list(orders[at : at + _CHUNK])
        where, parameters = _among(wanted)
        spans = _spans_by_record(store.rows(select(_SPAN_COLUMNS, f"FROM spans {where} ORDER BY record_order, position"), parameters))
        records = {row[0]: row for row in store.rows(select(_READ_COLUMNS, f"FROM records {where}"), parameters)}
        for order in wanted:
            yield _record(records[order], spans.get(order, ()))


def _among(orders: Sequence[int]) -> tuple[str, list[object]]:
    """Return a condition that selects these records, and maybe others in the same range."""
    lowest, highest = min(orders), max(orders)
    # The range lets DuckDB skip blocks. If it has few others, reading them takes less time than looking each record up.
    if highest - lowest < 2 * len(orders):
        return _BETWEEN, [lowest, highest]
    return f"{_BETWEEN} {_AMONG}", [lowest, highest, list(orders)]


def _selection(run_id: str | None, status: str | None) -> tuple[str, list[object]]:
    # Copies made to test annotators are not data. They are returned only if their status is asked for.
    conditions, parameters = ["true" if status is not None else "records.status <> 'control'"], list[object]()
    for column, value in (("run_id", run_id), ("status", status)):
        if value is not None:
            conditions.append(f"records.{column} = ?")
            parameters.append(value)
    return " AND ".join(conditions), parameters


def _without_known(store: Store, run_id: str | None, rows: Sequence[tuple[int | None, Record]]) -> list[tuple[int | None, Record]]:
    """Return the rows that the store does not have yet; of several rows with the same key, only the first."""
    indexes = [index for index, _ in rows if index is not None]
    ids = [record.id for index, record in rows if index is None]
    same_run, run = ("run_id = ?", [run_id]) if run_id is not None else ("run_id IS NULL", [])
    known: set[tuple[object, ...]] = set()
    if indexes:
        # The indexes of a batch are almost contiguous: reading the whole range is three times as fast as looking up each.
        sql = f"SELECT plan_index, revision FROM records WHERE {same_run} AND plan_index BETWEEN ? AND ?"  # noqa: S608 - constants
        known.update(store.rows(sql, [*run, min(indexes), max(indexes)]))
    if ids:
        among = f"WHERE {same_run} AND plan_index IS NULL AND id IN (SELECT unnest(?::VARCHAR[]))"
        known.update(store.rows(f"SELECT id, revision FROM records {among}", [*run, ids]))  # noqa: S608 - constants
    fresh: list[tuple[int | None, Record]] = []
    for index, record in rows:
        key = (record.id if index is None else index, record.revision)
        if key not in known:
            known.add(key)
            fresh.append((index, record))
    return fresh


def _record_values(order: int, run_id: str | None, index: int | None, status: str, record: Record) -> tuple[object, ...]:
    return (
        record.id,
        order,
        run_id,
        index,
        status,
        record.revision,
        record.locale,
        record.context,
        record.question,
        encode(record.plan),
        encode(record.source),
        json.dumps(record.group_keys, ensure_ascii=False) if record.group_keys else None,
        encode(record.provenance),
    )


def _span_values(order: int, position: int, span: Span) -> tuple[object, ...]:
    return (
        order,
        position,
        span.id,
        span.start,
        span.end,
        span.entity_type,
        span.relevance,
        span.subtype,
        span.value_id,
        span.subject,
    )


def _spans_by_record(rows: list[tuple[Any, ...]]) -> dict[int, tuple[Span, ...]]:
    return {order: tuple(_span(row) for row in group) for order, group in groupby(rows, key=itemgetter(0))}


def _span(row: tuple[Any, ...]) -> Span:
    _, _, name, start, end, entity_type, relevance, subtype, value_id, subject = row
    return Span(
        id=name,
        start=start,
        end=end,
        entity_type=entity_type,
        relevance=relevance,
        subtype=subtype,
        value_id=value_id,
        subject=subject,
    )


def _record(row: tuple[Any, ...], spans: tuple[Span, ...]) -> Record:
    _, name, revision, locale, context, question, plan, source, keys, provenance = row
    return Record(
        id=name,
        revision=revision,
        locale=locale,
        context=context,
        question=question,
        spans=spans,
        plan=decode_plan(plan),
        source=decode_source(source),
        group_keys=tuple(json.loads(keys)) if keys else (),
        provenance=decode_provenance(provenance),
    )
