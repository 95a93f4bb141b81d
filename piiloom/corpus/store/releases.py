"""Releases (name, settings, records of each split, withheld records), and the search for records.

Members are stored by ``record_order``, which identifies one revision, so a release does not change when records are added or edited.
Values that were drawn anew for a release are stored with it; the stored records keep theirs.

Records are found by their own fields, by their spans and by text. Only the newest revision of a record is found, unless all are requested
or a release is named. Copies made to test annotators ("control") are found only by their status. Texts are read only if text is searched
for; records are loaded a thousand at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from piiloom.corpus.record import Record, in_order, with_span_values
from piiloom.corpus.store.database import Store, conditions, select
from piiloom.corpus.store.records import READING_ORDER, records_at, records_in
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import ReleaseError, StoreError, UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.settings import Settings, setting
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, differences, extended, from_json, to_json

_AS_JSON = ("split_settings", "record_choice", "left_out", "notes", "leakage")
WARNING = "warning: "  # begins those of the notes that a user must not overlook


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRow(Framed):
    """One release. ``test_size`` is kept as given: a count ("200") or a share ("0.1"). ``run_id`` None: all runs and imports.

    ``split_settings`` and ``record_choice`` are the fields of ``SplitSettings`` and ``RecordChoice`` as JSON values, ``left_out`` the
    number of records that each filter of the choice left out. ``content_sha256`` is that of all its rows (None if it was made before
    piiloom kept it), ``leakage`` what its splits share (None if that was not measured). ``piiloom`` and ``schema_version`` are the
    versions that made it. ``created_order`` counts from 1; ``insert_release`` sets it.
    """

    name: str
    seed: int
    test_size: str
    run_id: str | None = None
    status_filter: str = "any"
    created_order: int = 0
    version: str = "1.0.0"
    content_sha256: str | None = None
    license: str | None = None
    piiloom: str | None = None
    schema_version: int | None = None
    split_settings: Mapping[str, Any] = field(default_factory=dict)
    record_choice: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    leakage: Mapping[str, Any] | None = None

    @property
    def warnings(self) -> list[str]:
        """The notes that are warnings, without their mark: pairs and types that a split lacks, sizes not met, many withheld records."""
        return [note.removeprefix(WARNING) for note in self.notes if note.startswith(WARNING)]

    def to_json(self) -> dict[str, Any]:
        """Return the release as JSON values, without its records."""
        return {
            "release": self.name,
            "version": self.version,
            "content_sha256": self.content_sha256,
            "license": self.license,
            "run": self.run_id,
            "seed": self.seed,
            "test_size": self.test_size,
            "status": self.status_filter,
            "settings": dict(self.split_settings),
            "filters": {**self.record_choice, "left_out": dict(self.left_out)},
            "notes": [note for note in self.notes if not note.startswith(WARNING)],
            "warnings": self.warnings,
            "leakage": None if self.leakage is None else dict(self.leakage),
            "piiloom": self.piiloom,
            "schema_version": self.schema_version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewValue:
    """A value drawn anew: what a release has in the place of the span [start, end) of one stored record."""

    record_id: str
    revision: int
    start: int
    end: int
    value: str


def insert_release(
    store: Store,
    row: ReleaseRow,
    members: Sequence[tuple[str, int, str]],
    withheld: Sequence[tuple[str, str]] = (),
    new_values: Sequence[NewValue] = (),
) -> ReleaseRow:
    """Save a release with *members* (record id, revision, split) and *withheld* (record id, reason), in one transaction.

    Return the row with its ``created_order``. Raises ``ReleaseError`` if the name is taken, or a record is listed twice or is not
    in the store.
    """
    with store.writing():
        if store.rows("SELECT 1 FROM releases WHERE name = ?", [row.name]):
            raise ReleaseError(f"there is a release {row.name!r} already", where=str(store.path), remedy="Choose another name")
        numbers = _record_numbers(store, row, members)
        kept = replace(row, created_order=store.value("SELECT coalesce(max(created_order), 0) + 1 FROM releases"))
        store.add("releases", [kept], encoded=_AS_JSON)
        store.append(
            "release_members",
            ("release_name", "split", "record_order"),
            [(row.name, split, numbers[record_id, revision]) for record_id, revision, split in members],
        )
        store.append(
            "release_withheld",
            ("record_id", "release_name", "position", "reason"),
            [(record_id, row.name, position, reason) for position, (record_id, reason) in enumerate(withheld)],
        )
        store.append(
            "release_values",
            ("release_name", "record_order", "span_start", "span_end", "value"),
            [(row.name, numbers[one.record_id, one.revision], one.start, one.end, one.value) for one in new_values],
        )
    return kept


def get_release(store: Store, name: str) -> ReleaseRow:
    """Return the release *name*. Raises ``ReleaseError`` if it does not exist; the remedy lists the known releases."""
    found = _releases(store, "WHERE name = ?", name)
    if found:
        return found[0]
    names = ", ".join(release.name for release in list_releases(store))
    known = f"Known releases: {names}" if names else "The store has no releases yet; make one with `piiloom release --name …`"
    raise ReleaseError(f"there is no release {name!r}", where=str(store.path), remedy=known)


def list_releases(store: Store) -> list[ReleaseRow]:
    """All releases, oldest first."""
    return _releases(store, "ORDER BY created_order")


def iter_release_records(store: Store, release: ReleaseRow, split: str) -> Iterator[Record]:
    """Iterate over the records of one split in plan order, imports last, with the values of *release*. An unknown split yields nothing."""
    records = records_in(
        store,
        "JOIN release_members AS m ON m.record_order = records.record_order WHERE m.release_name = ? AND m.split = ?",
        [release.name, split],
    )
    return _with_new_values(records, new_values_of(store, release))


def iter_draft_records(
    store: Store, row: ReleaseRow, members: Sequence[tuple[str, int, str]], new_values: Sequence[NewValue], split: str
) -> Iterator[Record]:
    """Iterate over what ``iter_release_records`` would yield for *split*, were the release saved with ``insert_release``."""
    wanted = [member for member in members if member[2] == split]
    numbers = list(_record_numbers(store, row, wanted).values())
    records = records_in(store, "WHERE records.record_order IN (SELECT unnest(?::BIGINT[]))", [numbers])
    return _with_new_values(records, new_values)


def release_records_at(store: Store, release: ReleaseRow, orders: Sequence[int]) -> Iterator[Record]:
    """Iterate over the members of *release* with these ``record_order`` numbers, in the order given."""
    return _with_new_values(records_at(store, orders), new_values_of(store, release))


def types_in(store: Store, release: ReleaseRow) -> set[str]:
    """Return the types of the spans in the release, in all of its splits."""
    return set(
        store.column(
            "SELECT DISTINCT s.entity_type FROM release_members AS m JOIN spans AS s USING (record_order) WHERE m.release_name = ?",
            [release.name],
        )
    )


def release_members(store: Store, release: ReleaseRow) -> list[tuple[str, int, str]]:
    """Return the members of the release as (record id, revision, split), in no particular order."""
    return store.rows(
        "SELECT r.id, r.revision, m.split FROM release_members AS m JOIN records AS r USING (record_order) WHERE m.release_name = ?",
        [release.name],
    )


def release_places(store: Store, release: ReleaseRow) -> dict[str, tuple[int, str]]:
    """Return (``record_order``, split) of each member by record id, sorted by id."""
    return {
        record_id: (order, split)
        for record_id, order, split in store.rows(
            "SELECT r.id, m.record_order, m.split FROM release_members AS m JOIN records AS r USING (record_order) "
            "WHERE m.release_name = ? ORDER BY r.id",
            [release.name],
        )
    }


def count_members(store: Store, release: ReleaseRow) -> dict[str, int]:
    """Return the number of records of each split, in order (``split_names``)."""
    counts = dict(store.rows("SELECT split, count(*) FROM release_members WHERE release_name = ? GROUP BY split", [release.name]))
    return {split: int(counts[split]) for split in in_order(counts)}


def count_statuses(store: Store, release: ReleaseRow) -> dict[str, int]:
    """Return the number of members by the status of their revision, sorted by status."""
    return dict(
        store.rows(
            "SELECT r.status, count(*) FROM release_members AS m JOIN records AS r USING (record_order) WHERE m.release_name = ? "
            "GROUP BY r.status ORDER BY r.status",
            [release.name],
        )
    )


def withheld_of(store: Store, release: ReleaseRow) -> list[tuple[str, str]]:
    """Return the withheld records as (record id, reason), in the order given."""
    return store.rows("SELECT record_id, reason FROM release_withheld WHERE release_name = ? ORDER BY position", [release.name])


def new_values_of(store: Store, release: ReleaseRow) -> list[NewValue]:
    """Return the values that were drawn anew for the release, by record id and place."""
    return store.objects(
        NewValue,
        "SELECT r.id, r.revision, v.span_start, v.span_end, v.value FROM release_values AS v JOIN records AS r USING (record_order) "
        "WHERE v.release_name = ? ORDER BY r.id, v.span_start",
        [release.name],
    )


def _with_new_values(records: Iterable[Record], new_values: Sequence[NewValue]) -> Iterator[Record]:
    by_record: dict[tuple[str, int], dict[tuple[int, int], str]] = {}
    for one in new_values:
        by_record.setdefault((one.record_id, one.revision), {})[one.start, one.end] = one.value
    for record in records:
        drawn = by_record.get((record.id, record.revision))
        yield with_span_values(record, [drawn.get((span.start, span.end)) for span in record.spans]) if drawn else record


def _record_numbers(store: Store, row: ReleaseRow, members: Sequence[tuple[str, int, str]]) -> dict[tuple[str, int], int]:
    """Return the ``record_order`` of each member by (record id, revision).

    If several runs have a record with the same id and revision, take the one of the release's run, or else the oldest.
    """
    if len({(record_id, revision) for record_id, revision, _ in members}) < len(members):
        raise ReleaseError("a record is listed twice", where=f"release {row.name}", remedy="Put each record into one split")
    found = store.rows(
        "SELECT id, revision, min(record_order) FROM records WHERE (?::VARCHAR IS NULL OR run_id = ?) "
        "AND id IN (SELECT unnest(?::VARCHAR[])) GROUP BY id, revision",
        [row.run_id, row.run_id, [record_id for record_id, _, _ in members]],
    )
    numbers = {(record_id, revision): int(number) for record_id, revision, number in found}
    missing = [record_id for record_id, revision, _ in members if (record_id, revision) not in numbers]
    if missing:
        raise ReleaseError(f"{len(missing)} records are not in the store, the first is {missing[0]!r}", where=f"release {row.name}")
    return {(record_id, revision): numbers[record_id, revision] for record_id, revision, _ in members}


def _releases(store: Store, clause: str, *parameters: object) -> list[ReleaseRow]:
    return store.objects(ReleaseRow, f"FROM releases {clause}", parameters, decoded=_AS_JSON)


def types_of(store: Store) -> OwnTypes:
    """Return the user-defined types of *store*, in the order they were added."""
    definitions = store.column("SELECT definition FROM own_types ORDER BY position")
    return from_json([json.loads(definition) for definition in definitions]) if definitions else ()


def keep_types(store: Store, own: OwnTypes) -> int:
    """Add the types in *own* that *store* does not have yet. Return how many were added.

    Raises ``StoreError`` if the store has a different definition under the same name, and ``ConfigError`` if a new type uses a
    name or spelling of another type in the store.
    """
    known = types_of(store)
    names = {one.name for one in known}
    changed = differences(tuple(one for one in known if one.name in {given.name for given in own}), own)
    told = [difference for difference in changed if not difference.endswith("(not there before)")]
    if told:
        raise StoreError(
            f"the store has another definition of an own type; what differs: {', '.join(told)}",
            where=str(store.path),
            remedy="Its records were made by the one it has: give the type a new name, or use another --store",
        )
    new = tuple(one for one in own if one.name not in names)
    if new:
        extended((*known, *new))
        texts = [json.dumps(entry, ensure_ascii=False) for entry in to_json(new)]
        rows = [(len(known) + place, one.name, text) for place, (one, text) in enumerate(zip(new, texts, strict=True))]
        store.append("own_types", ("position", "name", "definition"), rows)
    return len(new)


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
    return store.objects(
        RecordRelease,
        "SELECT m.release_name, m.split, r.revision FROM release_members m JOIN records r ON r.record_order = m.record_order "
        "JOIN releases ON releases.name = m.release_name WHERE r.id = ? AND r.run_id IS NOT DISTINCT FROM ? "
        "ORDER BY releases.created_order",
        [record_id, run_id],
    )
