"""Search records by their own fields, by their spans and by text.

Only the newest revision of a record is found, unless all are requested or a release is named. Copies made to test annotators
("control") are found only by their status. Texts are read only if text is searched for; records are loaded a thousand at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import READING_ORDER, records_at, select

_CHUNK = 1_000
_PLACES = select(("record_order", "run_id", "plan_index", "status"), "records", "WHERE record_order IN (SELECT unnest(?::BIGINT[]))")
_JOINED = "records LEFT JOIN runs ON runs.id = records.run_id"
# Per record id and run: the newest revision, and if that is stored twice, the last one added.
_NEWEST = """records.record_order IN (SELECT arg_max(record_order, (revision, record_order)) FROM records GROUP BY id, run_id)"""
_VALUE = "substring(records.context, s.span_start + 1, s.span_end - s.span_start)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """The search conditions. All that are not None must hold.

    ``text`` is a substring, matched in any case, in the context or question, or in the text of a span with ``in_values``.
    ``entity_type``, ``relevance`` ("none": spans without one) and, with ``in_values``, ``text`` must match the same span.
    ``pair`` matches in either order. ``split`` only counts together with ``release``.
    """

    run_id: str | None = None
    release: str | None = None
    split: str | None = None
    status: str | None = None
    locale: str | None = None
    pair: tuple[str, str] | None = None
    entity_type: str | None = None
    relevance: str | None = None
    text: str | None = None
    in_values: bool = False
    all_revisions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its run, plan index and status. Imports have no run and no plan index."""

    record: Record
    run_id: str | None
    plan_index: int | None
    status: str


def search_records(store: Store, wanted: RecordFilter, *, limit: int = 0, offset: int = 0) -> tuple[int, Iterator[StoredRecord]]:
    """Return the total number of matches, and an iterator over at most *limit* (0: all) of them from *offset* on, in reading order."""
    where, parameters = _conditions(wanted)
    orders = store.integers(select(("records.record_order",), _JOINED, f"WHERE {where} {READING_ORDER}"), parameters)
    chosen = orders[offset : offset + limit] if limit else orders[offset:]
    return len(orders), _read(store, list(chosen))


def values_there(store: Store, what: str) -> list[str]:
    """Return the distinct values of *what* ("status", "locale" or "entity_type") in the store, sorted."""
    table = "spans" if what == "entity_type" else "records"
    return [value for (value,) in store.rows(select((f"DISTINCT {what}",), table, f"ORDER BY {what}"))]


def _read(store: Store, orders: list[int]) -> Iterator[StoredRecord]:
    for at in range(0, len(orders), _CHUNK):
        chunk = orders[at : at + _CHUNK]
        places = {order: place for order, *place in store.rows(_PLACES, [chunk])}
        for order, record in zip(chunk, records_at(store, chunk), strict=True):
            run_id, index, status = places[order]
            yield StoredRecord(record=record, run_id=run_id, plan_index=index, status=status)


def _conditions(wanted: RecordFilter) -> tuple[str, list[object]]:
    """Return the conditions as SQL, and their parameters."""
    conditions, parameters = [] if wanted.all_revisions else [_NEWEST], list[object]()
    if wanted.status is None:
        conditions.append("records.status <> 'control'")
    for column, value in (("run_id", wanted.run_id), ("status", wanted.status), ("locale", wanted.locale)):
        if value is not None:
            conditions.append(f"records.{column} = ?")
            parameters.append(value)
    if wanted.release is not None:
        # A release keeps its revision of a record even if there are newer ones.
        conditions = [condition for condition in conditions if condition != _NEWEST]
        of_split = "" if wanted.split is None else " AND split = ?"
        conditions.append(f"records.record_order IN (SELECT record_order FROM release_members WHERE release_name = ?{of_split})")  # noqa: S608
        parameters += [wanted.release, *([] if wanted.split is None else [wanted.split])]
    if wanted.pair is not None:
        conditions.append("list_sort([records.plan->>'$.pair[0]', records.plan->>'$.pair[1]']) = list_sort(?::VARCHAR[])")
        parameters.append(list(wanted.pair))
    if wanted.text is not None and not wanted.in_values:
        conditions.append("(contains(lower(records.context), lower(?)) OR contains(lower(coalesce(records.question, '')), lower(?)))")
        parameters += [wanted.text, wanted.text]
    of_spans, values = _span_conditions(wanted)
    if of_spans:
        conditions.append(f"EXISTS (SELECT 1 FROM spans s WHERE s.record_order = records.record_order AND {of_spans})")  # noqa: S608
        parameters += values
    return " AND ".join(conditions) or "true", parameters


def _span_conditions(wanted: RecordFilter) -> tuple[str, list[object]]:
    conditions, parameters = list[str](), list[object]()
    if wanted.entity_type is not None:
        conditions.append("s.entity_type = ?")
        parameters.append(wanted.entity_type)
    if wanted.relevance == "none":
        conditions.append("s.relevance IS NULL")
    elif wanted.relevance is not None:
        conditions.append("s.relevance = ?")
        parameters.append(wanted.relevance)
    if wanted.text is not None and wanted.in_values:
        conditions.append(f"contains(lower({_VALUE}), lower(?))")
        parameters.append(wanted.text)
    return " AND ".join(conditions), parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRelease:
    """A release that holds a record, in which split and revision."""

    name: str
    split: str
    revision: int


def find_stored(
    store: Store, *, prefix: str | None = None, run_id: str | None = None, plan_index: int | None = None, at_most: int = 20
) -> list[StoredRecord]:
    """Return the newest revisions of the records whose id begins with *prefix*; newest first, *at_most* of them.

    Without *prefix*, those of plan item *plan_index* of run *run_id*. With it, *run_id* and *plan_index* are ignored.
    """
    chosen = "run_id = ? AND plan_index = ?" if prefix is None else "starts_with(id, ?)"
    found = store.integers(
        f"SELECT arg_max(record_order, (revision, record_order)) AS newest FROM records WHERE {chosen} "  # noqa: S608 - constants
        "GROUP BY id, run_id ORDER BY newest DESC LIMIT ?",
        [*([run_id, plan_index] if prefix is None else [prefix]), at_most],
    )
    return list(_read(store, list(found)))


def releases_of(store: Store, record_id: str, run_id: str | None) -> list[RecordRelease]:
    """The releases that hold the record *record_id* of a run (None: an import), oldest first."""
    sql = (
        "SELECT m.release_name, m.split, r.revision FROM release_members m JOIN records r ON r.record_order = m.record_order "
        "JOIN releases ON releases.name = m.release_name WHERE r.id = ? AND r.run_id IS NOT DISTINCT FROM ? ORDER BY releases.created_order"
    )
    return [RecordRelease(name=name, split=split, revision=revision) for name, split, revision in store.rows(sql, [record_id, run_id])]
