"""Freeze a release: store its records, revisions and splits, which then never change.

``export_release`` (``piiloom.corpus.releases.exporting``) writes a frozen release to files.
"""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.members import Member
from piiloom.corpus.releases.settings import SplitSettings
from piiloom.corpus.releases.splits import split_members
from piiloom.corpus.store.adjudications import unreleasable_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import ReleaseRow, insert_release, list_releases
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import ReleaseError, UsageError

__all__ = ["ANY_STATUS", "ReleaseDraft", "create_release", "draft_release", "export_release", "freeze"]

ANY_STATUS = "any"


@dataclass(frozen=True, slots=True)
class ReleaseDraft:
    """A release that is computed but not yet stored.

    ``members`` are (record id, revision, split), ``withheld`` (record id, reason).
    """

    row: ReleaseRow
    members: list[tuple[str, int, str]]
    withheld: list[tuple[str, str]]


def create_release(
    store: Store, name: str, *, test_size: float, seed: int, run_id: str | None = None, status: str = ANY_STATUS
) -> ReleaseRow:
    """Split the records of run *run_id* (``"last"`` is allowed; None: all runs and imports) with *status*, and freeze them.

    *test_size* is a count or a fraction, see ``sizes``. Of several revisions of a record the latest is used; if two runs have
    the same revision, the one of the older run. Records that annotators rejected or reopened, and copies made to test annotators,
    are left out. Raises ``ReleaseError`` if the name is taken or there are no such records, and ``UsageError`` for an empty name
    or a size that leaves nothing to train on.
    """
    return freeze(store, draft_release(store, name, test_size=test_size, seed=seed, run_id=run_id, status=status))


def freeze(store: Store, draft: ReleaseDraft) -> ReleaseRow:
    """Store a drafted release. Raises ``ReleaseError`` if the name has been taken in the meantime."""
    return insert_release(store, draft.row, draft.members, draft.withheld)


def draft_release(
    store: Store,
    name: str,
    *,
    test_size: float,
    seed: int,
    run_id: str | None = None,
    status: str = ANY_STATUS,
    known: bool = False,
) -> ReleaseDraft:
    """Do the slow part of ``create_release``; *store* is only read, so others may write to it at the same time.

    With *known*, an existing release of that name is no error: the draft is to be compared with it.
    """
    if not name.strip():
        raise UsageError("a release needs a name", remedy="Give one with --name")
    if not known and any(release.name == name for release in list_releases(store)):
        raise ReleaseError(f"there is a release {name!r} already", where=str(store.path), remedy="Choose another name")
    run = None if run_id is None else get_run(store, run_id).id
    members = _latest_members(store, run, status)
    if not members:
        raise ReleaseError("there are no records to release", where=_where(store, run, status), remedy="Generate or import some first")
    split = split_members(list(members.values()), SplitSettings(test_size=test_size, seed=seed))
    rows = [(record_id, members[record_id].revision, name) for name, ids in split.ids.items() for record_id in ids]
    row = ReleaseRow(name=name, seed=seed, test_size=str(test_size), run_id=run, status_filter=status)
    return ReleaseDraft(row, rows, list(split.withheld))


def _latest_members(store: Store, run_id: str | None, status: str) -> dict[str, Member]:
    members: dict[str, Member] = {}
    left_out = unreleasable_records(store)
    for record in iter_records(store, run_id=run_id, status=None if status == ANY_STATUS else status):
        if record.id in left_out:
            continue
        known = members.get(record.id)
        if known is None or record.revision > known.revision:
            members[record.id] = Member.of(record)
    return members


def _where(store: Store, run_id: str | None, status: str) -> str:
    parts = [str(store.path), *([f"run {run_id}"] if run_id else []), *([] if status == ANY_STATUS else [f"status {status}"])]
    return ", ".join(parts)
