"""Releases: a name, the settings it was made with, the records of each split, and the records it withholds.

Members are stored by ``record_order``, which identifies one revision, so a release does not change when records are added or edited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piiloom.corpus.record import Record
from piiloom.corpus.split_names import in_order
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import records_in
from piiloom.corpus.store.statements import select
from piiloom.foundation.errors import ReleaseError

_COLUMNS = ("name", "created_order", "seed", "test_size", "run_id", "status_filter")
_SELECT = select(_COLUMNS, "releases")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRow:
    """One release. ``test_size`` is kept as given: a count ("200") or a share ("0.1"). ``run_id`` None: all runs and imports.

    ``created_order`` counts from 1; ``insert_release`` sets it.
    """

    name: str
    seed: int
    test_size: str
    run_id: str | None = None
    status_filter: str = "any"
    created_order: int = 0


def insert_release(
    store: Store,
    row: ReleaseRow,
    members: Sequence[tuple[str, int, str]],
    withheld: Sequence[tuple[str, str]] = (),
) -> ReleaseRow:
    """Save a release with *members* (record id, revision, split) and *withheld* (record id, reason), in one transaction.

    Return the row with its ``created_order``. Raises ``ReleaseError`` if the name is taken, or a record is listed twice or is not
    in the store.
    """
    with store.writing():
        if store.rows("SELECT 1 FROM releases WHERE name = ?", [row.name]):
            raise ReleaseError(f"there is a release {row.name!r} already", where=str(store.path), remedy="Choose another name")
        numbers = _record_numbers(store, row, members)
        order = store.rows("SELECT coalesce(max(created_order), 0) + 1 FROM releases")[0][0]
        kept = replace(row, created_order=order)
        store.append("releases", _COLUMNS, [tuple(getattr(kept, column) for column in _COLUMNS)])
        store.append(
            "release_members",
            ("release_name", "split", "record_order"),
            [(row.name, split, number) for (_, _, split), number in zip(members, numbers, strict=True)],
        )
        store.append(
            "release_withheld",
            ("record_id", "release_name", "position", "reason"),
            [(record_id, row.name, position, reason) for position, (record_id, reason) in enumerate(withheld)],
        )
    return kept


def get_release(store: Store, name: str) -> ReleaseRow:
    """Return the release *name*. Raises ``ReleaseError`` if it does not exist; the remedy lists the known releases."""
    found = store.rows(f"{_SELECT}WHERE name = ?", [name])
    if found:
        return _release(found[0])
    names = ", ".join(release.name for release in list_releases(store))
    known = f"Known releases: {names}" if names else "The store has no releases yet; make one with `piiloom release --name …`"
    raise ReleaseError(f"there is no release {name!r}", where=str(store.path), remedy=known)


def list_releases(store: Store) -> list[ReleaseRow]:
    """All releases, oldest first."""
    return [_release(row) for row in store.rows(f"{_SELECT}ORDER BY created_order")]


def iter_release_records(store: Store, name: str, split: str) -> Iterator[Record]:
    """Iterate over the records of one split in plan order, imports last. An unknown split yields nothing.

    Raises ``ReleaseError`` for an unknown release, at the call rather than at the first iteration.
    """
    get_release(store, name)
    return records_in(
        store,
        "JOIN release_members AS m ON m.record_order = records.record_order WHERE m.release_name = ? AND m.split = ?",
        [name, split],
    )


def types_in(store: Store, name: str) -> set[str]:
    """Return the types of the spans in the release, in all of its splits. Raises ``ReleaseError`` if it is unknown."""
    get_release(store, name)
    sql = "SELECT DISTINCT s.entity_type FROM release_members AS m JOIN spans AS s USING (record_order) WHERE m.release_name = ?"
    return {entity_type for (entity_type,) in store.rows(sql, [name])}


def members_of(store: Store, name: str) -> list[tuple[str, int, str]]:
    """Return the members of the release as (record id, revision, split), in no particular order. Raises ``ReleaseError`` if unknown."""
    get_release(store, name)
    sql = "SELECT r.id, r.revision, m.split FROM release_members AS m JOIN records AS r USING (record_order) WHERE m.release_name = ?"
    return [(record_id, revision, split) for record_id, revision, split in store.rows(sql, [name])]


def count_members(store: Store, name: str) -> dict[str, int]:
    """Return the number of records of each split, in order (``split_names``). Raises ``ReleaseError`` for an unknown release."""
    get_release(store, name)
    counts = dict(store.rows("SELECT split, count(*) FROM release_members WHERE release_name = ? GROUP BY split", [name]))
    return {split: int(counts[split]) for split in in_order(counts)}


def withheld_of(store: Store, name: str) -> list[tuple[str, str]]:
    """Return the withheld records as (record id, reason), in the order given. Raises ``ReleaseError`` for an unknown release."""
    get_release(store, name)
    sql = "SELECT record_id, reason FROM release_withheld WHERE release_name = ? ORDER BY position"
    return [(record_id, reason) for record_id, reason in store.rows(sql, [name])]


def _record_numbers(store: Store, row: ReleaseRow, members: Sequence[tuple[str, int, str]]) -> list[int]:
    """Return the ``record_order`` of each member.

    If several runs have a record with the same id and revision, take the one of the release's run, or else the oldest.
    """
    if len({(record_id, revision) for record_id, revision, _ in members}) < len(members):
        raise ReleaseError("a record is listed twice", where=f"release {row.name}", remedy="Put each record into one split")
    found = store.rows(
        "SELECT id, revision, min(record_order) FROM records WHERE (?::VARCHAR IS NULL OR run_id = ?) "
        "AND id IN (SELECT unnest(?::VARCHAR[])) GROUP BY id, revision",
        [row.run_id, row.run_id, [record_id for record_id, _, _ in members]],
    )
    numbers = {(record_id, revision): number for record_id, revision, number in found}
    missing = [record_id for record_id, revision, _ in members if (record_id, revision) not in numbers]
    if missing:
        raise ReleaseError(f"{len(missing)} records are not in the store, the first is {missing[0]!r}", where=f"release {row.name}")
    return [numbers[record_id, revision] for record_id, revision, _ in members]


def _release(row: tuple[Any, ...]) -> ReleaseRow:
    return ReleaseRow(**dict(zip(_COLUMNS, row, strict=True)))
