"""Releases: a name, the settings it was made with, the records of each split, and the records it withholds.

Members are stored by ``record_order``, which identifies one revision, so a release does not change when records are added or edited.
Values that were drawn anew for a release are stored with it; the stored records keep theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from piiloom.corpus.record import Record, in_order, with_span_values
from piiloom.corpus.store.database import Store, select
from piiloom.corpus.store.records import records_at, records_in
from piiloom.foundation.errors import ReleaseError, StoreError
from piiloom.foundation.frames import Framed
from piiloom.taxonomy.own_types import OwnTypes, differences, extended, from_json, to_json

_AS_THEY_ARE = (
    "name",
    "created_order",
    "seed",
    "test_size",
    "run_id",
    "status_filter",
    "version",
    "content_sha256",
    "license",
    "piiloom",
    "schema_version",
)
_AS_JSON = ("split_settings", "record_choice", "left_out", "notes", "leakage")
_COLUMNS = (*_AS_THEY_ARE, *_AS_JSON)
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
        store.append("releases", _COLUMNS, [_values(kept)])
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
    sql = "SELECT DISTINCT s.entity_type FROM release_members AS m JOIN spans AS s USING (record_order) WHERE m.release_name = ?"
    return set(store.column(sql, [release.name]))


def release_members(store: Store, release: ReleaseRow) -> list[tuple[str, int, str]]:
    """Return the members of the release as (record id, revision, split), in no particular order."""
    sql = "SELECT r.id, r.revision, m.split FROM release_members AS m JOIN records AS r USING (record_order) WHERE m.release_name = ?"
    return store.rows(sql, [release.name])


def release_places(store: Store, release: ReleaseRow) -> dict[str, tuple[int, str]]:
    """Return (``record_order``, split) of each member by record id, sorted by id."""
    sql = (
        "SELECT r.id, m.record_order, m.split FROM release_members AS m JOIN records AS r USING (record_order) "
        "WHERE m.release_name = ? ORDER BY r.id"
    )
    return {record_id: (order, split) for record_id, order, split in store.rows(sql, [release.name])}


def count_members(store: Store, release: ReleaseRow) -> dict[str, int]:
    """Return the number of records of each split, in order (``split_names``)."""
    counts = dict(store.rows("SELECT split, count(*) FROM release_members WHERE release_name = ? GROUP BY split", [release.name]))
    return {split: int(counts[split]) for split in in_order(counts)}


def count_statuses(store: Store, release: ReleaseRow) -> dict[str, int]:
    """Return the number of members by the status of their revision, sorted by status."""
    sql = (
        "SELECT r.status, count(*) FROM release_members AS m JOIN records AS r USING (record_order) WHERE m.release_name = ? "
        "GROUP BY r.status ORDER BY r.status"
    )
    return dict(store.rows(sql, [release.name]))


def withheld_of(store: Store, release: ReleaseRow) -> list[tuple[str, str]]:
    """Return the withheld records as (record id, reason), in the order given."""
    sql = "SELECT record_id, reason FROM release_withheld WHERE release_name = ? ORDER BY position"
    return store.rows(sql, [release.name])


def new_values_of(store: Store, release: ReleaseRow) -> list[NewValue]:
    """Return the values that were drawn anew for the release, by record id and place."""
    sql = (
        "SELECT r.id, r.revision, v.span_start, v.span_end, v.value FROM release_values AS v JOIN records AS r USING (record_order) "
        "WHERE v.release_name = ? ORDER BY r.id, v.span_start"
    )
    return store.objects(NewValue, sql, [release.name])


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


def _values(row: ReleaseRow) -> tuple[object, ...]:
    return (*(getattr(row, column) for column in _AS_THEY_ARE), *(_encoded(getattr(row, column)) for column in _AS_JSON))


def _encoded(value: Mapping[str, Any] | tuple[str, ...] | None) -> str | None:
    if value is None:
        return None
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value), ensure_ascii=False)


def _releases(store: Store, clause: str, *parameters: object) -> list[ReleaseRow]:
    found = []
    for row in store.rows(select(_COLUMNS, f"FROM releases {clause}"), parameters):
        values = dict(zip(_COLUMNS, row, strict=True))
        decoded: dict[str, Any] = {name: None if values[name] is None else json.loads(values[name]) for name in _AS_JSON}
        found.append(ReleaseRow(**{**values, **decoded, "notes": tuple(decoded["notes"])}))
    return found


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
