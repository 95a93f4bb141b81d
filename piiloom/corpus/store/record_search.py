"""Search records by their own fields, by their spans and by text.

Only the newest revision of a record is found, unless all are requested or a release is named. Copies made to test annotators
("control") are found only by their status. Texts are read only if text is searched for; records are loaded a thousand at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store, conditions, select
from piiloom.corpus.store.records import READING_ORDER, records_at
from piiloom.corpus.store.releases import count_members, get_release
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import StoreError, UsageError
from piiloom.foundation.settings import Settings, setting
from piiloom.taxonomy.locales import resolve_locale

_CHUNK = 1_000
_PLACES = "SELECT record_order, run_id, plan_index, status FROM records WHERE record_order IN (SELECT unnest(?::BIGINT[]))"
_FOUND = "SELECT records.record_order FROM records LEFT JOIN runs ON runs.id = records.run_id"
# Per record id and run: the newest revision, and if that is stored twice, the last one added.
_NEWEST = """records.record_order IN (SELECT arg_max(record_order, (revision, record_order)) FROM records GROUP BY id, run_id)"""
_IN_RELEASE = "records.record_order IN (SELECT record_order FROM release_members WHERE release_name = ?)"
_IN_SPLIT = "records.record_order IN (SELECT record_order FROM release_members WHERE [release_name, split] = ?::VARCHAR[])"
_PAIRED = "list_sort([records.plan->>'$.pair[0]', records.plan->>'$.pair[1]']) = list_sort(?::VARCHAR[])"
_IN_TEXT = "(contains(lower(records.context), lower(?)) OR contains(lower(coalesce(records.question, '')), lower(?)))"
_VALUE = "substring(records.context, s.span_start + 1, s.span_end - s.span_start)"


# The shortest beginning of an id that is searched for.
SHORTEST_PREFIX = 6


class RecordConditions(Settings):
    """The conditions on records that people set. All that are given must hold."""

    run: str | None = setting(None, 'Only records of this run, by its id or "last".', metavar="RUN")
    release: str | None = setting(None, "Only records of this release.", metavar="NAME")
    split: str | None = setting(None, "Only this split of the release: train or test.", metavar="SPLIT")
    only_types: str | None = setting(None, "Only records with a span of these PII types (comma separated).", metavar="NAMES")
    relevance: Literal["high", "low", "none"] | None = setting(None, "Only records with a span (of --only-types) of this relevance.")
    pair: str | None = setting(None, "Only records planned for this pair of types.", metavar="TYPE+TYPE")
    status: str | None = setting(None, "Only records of this status: generated, imported …", metavar="STATUS")
    locale: str | None = setting(None, "Only records of this locale.", metavar="LOCALE")
    all_revisions: bool = setting(False, "Also revisions that later ones have replaced.")


class TextConditions(RecordConditions):
    """The conditions on records, with a text to find."""

    text: str | None = setting(None, "Text to find, as it is, in any case.", metavar="TEXT", argument=True)
    in_values: bool = setting(False, "Find the text in spans only.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its run, plan index and status. Imports have no run and no plan index."""

    record: Record
    run_id: str | None
    plan_index: int | None
    status: str


def search_records(store: Store, asked: RecordConditions, *, limit: int = 0, offset: int = 0) -> tuple[int, Iterator[StoredRecord]]:
    """Return the total number of matches, and an iterator over at most *limit* (0: all) of them from *offset* on, in reading order.

    Types, relevance ("none": spans without one) and a text to find in values must match the same span. Pairs match in either order. Raises
    ``UsageError`` for a value that no record of the store has.
    """
    where, parameters = _conditions(store, asked)
    orders = store.integers(f"{_FOUND} {where} {READING_ORDER}", parameters)
    chosen = orders[offset : offset + limit] if limit else orders[offset:]
    return len(orders), _read(store, list(chosen))


def _conditions(store: Store, asked: RecordConditions) -> tuple[str, list[object]]:
    """Return the conditions as SQL, and their parameters."""
    text, in_values = (asked.text, asked.in_values) if isinstance(asked, TextConditions) else (None, False)
    types = [name.strip() for name in asked.only_types.split(",")] if asked.only_types else []
    _check_values(store, asked, types)
    if text == "":
        raise UsageError("there is nothing to look for", where="TEXT", remedy="piiloom records list lists all records")
    of_spans, span_parameters = conditions(
        ("s.record_order = records.record_order", True),
        ("s.entity_type IN (SELECT unnest(?::VARCHAR[]))", types or None),
        ("s.relevance IS NOT DISTINCT FROM nullif(?, 'none')", asked.relevance),
        (f"contains(lower({_VALUE}), lower(?))", text if in_values else None),
    )
    where, parameters = conditions(
        # A release has its own revision of a record, even if there are newer ones.
        (_NEWEST, None if asked.all_revisions or asked.release is not None else True),
        ("records.status <> 'control'", True if asked.status is None else None),
        ("records.run_id = ?", None if asked.run is None else get_run(store, asked.run).id),
        ("records.status = ?", asked.status),
        ("records.locale = ?", None if asked.locale is None else _locale(asked.locale, values_there(store, "locale"))),
        (_IN_RELEASE, asked.release),
        (_IN_SPLIT, None if asked.split is None else [asked.release, asked.split]),
        (_PAIRED, None if asked.pair is None else _pair(asked.pair)),
        (_IN_TEXT, None if in_values else text),
    )
    if not span_parameters:
        return where or "WHERE true", parameters
    return f"{where or 'WHERE true'} AND EXISTS (SELECT 1 FROM spans s {of_spans})", [*parameters, *span_parameters]  # noqa: S608


def _check_values(store: Store, asked: RecordConditions, types: Sequence[str]) -> None:
    if asked.split is not None and asked.release is None:
        raise UsageError("only a release has splits", where="--split", remedy="Name one with --release")
    if asked.release is not None:
        _check("--split", asked.split, list(count_members(store, get_release(store, asked.release))))
    for option, value, column in [("--status", asked.status, "status"), *(("--only-types", name, "entity_type") for name in types)]:
        if value is not None:
            _check(option, value, values_there(store, column))


def _check(option: str, value: str | None, there: list[str]) -> None:
    if value is not None and value not in there:
        raise UsageError(f"no record has {value!r}", where=option, remedy=f"There are: {', '.join(there) or 'no records'}")


def _locale(name: str, there: list[str]) -> str:
    """Return the locale among *there* that *name* means. Old imports may have invalid ones, as locales were not checked then."""
    if name in there:
        return name
    try:
        return resolve_locale(name, there)
    except UsageError:
        raise UsageError(f"no record has {name!r}", where="--locale", remedy=f"There are: {', '.join(there) or 'no records'}") from None


def _pair(text: str) -> tuple[str, str]:
    first, plus, second = (part.strip() for part in text.partition("+"))
    if not (first and plus and second) or "+" in second:
        raise UsageError(f"{text!r} is not a pair of types", where="--pair", remedy="Write it as health+occupation")
    return first, second


def values_there(store: Store, what: str) -> list[str]:
    """Return the distinct values of *what* ("status", "locale" or "entity_type") in the store, sorted."""
    table = "spans" if what == "entity_type" else "records"
    return store.column(f"SELECT DISTINCT {what} FROM {table} ORDER BY {what}")  # noqa: S608 - constants


def _read(store: Store, orders: list[int]) -> Iterator[StoredRecord]:
    for at in range(0, len(orders), _CHUNK):
        chunk = orders[at : at + _CHUNK]
        places = {order: place for order, *place in store.rows(_PLACES, [chunk])}
        for order, record in zip(chunk, records_at(store, chunk), strict=True):
            run_id, index, status = places[order]
            yield StoredRecord(record=record, run_id=run_id, plan_index=index, status=status)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRelease:
    """A release with a record, and the record's split and revision in it."""

    name: str
    split: str
    revision: int


def find_stored(
    store: Store, *, prefix: str | None = None, run_id: str | None = None, plan_index: int | None = None, at_most: int = 20
) -> list[StoredRecord]:
    """Return the newest revisions of the records of which all that is given holds, newest first, *at_most* of them.

    *prefix*: the beginning of the id. *run_id* and *plan_index*: the run and its plan item.
    """
    where, parameters = conditions(("starts_with(id, ?)", prefix), ("run_id = ?", run_id), ("plan_index = ?", plan_index))
    newest = "arg_max(record_order, (revision, record_order)) AS newest"
    sql = select([newest], f"FROM records {where} GROUP BY id, run_id ORDER BY newest DESC LIMIT ?")
    return list(_read(store, list(store.integers(sql, [*parameters, at_most]))))


def find_one(store: Store, wanted: str) -> StoredRecord:
    """Return the record that *wanted*, an id, its beginning or RUN:INDEX, names. Raises ``StoreError`` if there is none."""
    run, colon, index = wanted.rpartition(":")
    if colon and index.isdecimal():
        found = find_stored(store, run_id=get_run(store, run).id, plan_index=int(index))
        remedy = f"piiloom trace {wanted} shows what became of this item"
    else:
        check_prefix(wanted)
        found = find_stored(store, prefix=wanted)
        remedy = "piiloom records list shows the ids"
    if not found:
        raise StoreError(f"there is no record {wanted!r}", where=str(store.path), remedy=remedy)
    exact = [one for one in found if one.record.id == wanted]
    if len({(one.record.id, one.run_id) for one in found}) > 1 and not exact:
        raise several_records(wanted, [f"{one.record.id}{f' of {one.run_id}' if one.run_id else ''}" for one in found])
    return (exact or found)[0]


def check_prefix(wanted: str) -> None:
    """Raise ``UsageError`` if *wanted* is too short to be the beginning of a record's id."""
    if len(wanted) < SHORTEST_PREFIX:
        remedy = f"Give {SHORTEST_PREFIX} letters of a record's id or more, or RUN:INDEX"
        raise UsageError(f"{wanted!r} is too short", where="ID", remedy=remedy)


def several_records(wanted: str, names: list[str]) -> UsageError:
    """Return the error of an id *wanted* that fits the records *names*."""
    more = ", …" if len(names) > 5 else ""
    return UsageError(f"{wanted!r} fits several records", where="ID", remedy=f"Name one of {', '.join(names[:5])}{more}")


def releases_of(store: Store, record_id: str, run_id: str | None) -> list[RecordRelease]:
    """The releases that hold the record *record_id* of a run (None: an import), oldest first."""
    sql = (
        "SELECT m.release_name, m.split, r.revision FROM release_members m JOIN records r ON r.record_order = m.record_order "
        "JOIN releases ON releases.name = m.release_name WHERE r.id = ? AND r.run_id IS NOT DISTINCT FROM ? ORDER BY releases.created_order"
    )
    return store.objects(RecordRelease, sql, [record_id, run_id])
