"""Releases stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import ReleaseRow, get_release, insert_release, iter_release_records, list_releases, withheld_of
from piiloom.foundation.errors import ReleaseError

MakeRecord = Callable[..., Record]


def filled(store: Store, make_record: MakeRecord) -> list[tuple[str, int, str]]:
    """Six records of a run, as members: every third in test, in no order."""
    add_records(store, "run", [(index, make_record(index)) for index in range(6)])
    return [(make_record(index).id, 0, "test" if index % 3 == 0 else "train") for index in (5, 0, 3, 1, 4, 2)]


def test_release_gives_its_records_in_plan_order_whatever_comes_later(store: Store, make_record: MakeRecord) -> None:
    members = filled(store, make_record)
    row = ReleaseRow(name="r1", seed=7, test_size="2", run_id="run", status_filter="generated")
    kept = insert_release(store, row, members, [("w1", "near-duplicate of record-00001"), ("a0", "does not fit")])
    assert kept == replace(row, created_order=1)
    assert get_release(store, "r1") == kept
    add_records(store, "other", [(index, make_record(index, question="Changed?")) for index in range(6)])
    add_records(store, "run", [(3, make_record(3, revision=1, question="Edited?"))])
    assert list(iter_release_records(store, kept, "test")) == [make_record(0), make_record(3)]
    assert list(iter_release_records(store, kept, "train")) == [make_record(index) for index in (1, 2, 4, 5)]
    assert list(iter_release_records(store, kept, "validation")) == []
    assert withheld_of(store, kept) == [("w1", "near-duplicate of record-00001"), ("a0", "does not fit")]


def test_release_may_pick_a_later_revision(store: Store, make_record: MakeRecord) -> None:
    members = filled(store, make_record)
    edited = make_record(3, revision=1, question="Edited?")
    add_records(store, "run", [(3, edited)])
    kept = insert_release(store, ReleaseRow(name="r1", seed=1, test_size="0"), [(edited.id, 1, "train"), members[0]])
    assert list(iter_release_records(store, kept, "train")) == [edited, make_record(5)]


def test_names_are_unique_and_unknown_ones_list_the_known(store: Store, make_record: MakeRecord) -> None:
    members = filled(store, make_record)
    with pytest.raises(ReleaseError, match="no releases yet"):
        get_release(store, "r1")
    for name in ("zeta", "alpha"):
        insert_release(store, ReleaseRow(name=name, seed=1, test_size="0.5"), members)
    assert [(release.name, release.created_order) for release in list_releases(store)] == [("zeta", 1), ("alpha", 2)]
    with pytest.raises(ReleaseError, match="already"):
        insert_release(store, ReleaseRow(name="zeta", seed=2, test_size="0"), members)
    with pytest.raises(ReleaseError, match="zeta, alpha"):
        get_release(store, "beta")


def test_members_must_be_there_once(store: Store, make_record: MakeRecord) -> None:
    members = filled(store, make_record)
    row = ReleaseRow(name="r1", seed=1, test_size="0")
    with pytest.raises(ReleaseError, match="listed twice"):
        insert_release(store, row, [*members, (members[0][0], 0, "test")])
    with pytest.raises(ReleaseError, match="1 records are not in the store"):
        insert_release(store, row, [*members, ("ghost", 0, "test")])
    with pytest.raises(ReleaseError, match="not in the store"):
        insert_release(store, replace(row, run_id="other"), members)
    assert list_releases(store) == []
