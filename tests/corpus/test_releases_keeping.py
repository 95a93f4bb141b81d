"""A later release of a grown store moves nothing between splits; new records follow those they belong with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piiloom
from piiloom.corpus.record import Record
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import KeptPlaces, Split, split_members
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import get_release, release_members, withheld_of
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import KINDS, plain_record, same_key
from tests.longer import case_by_case, examples


def places_of(members: Sequence[Member], split: Split) -> KeptPlaces:
    revisions = {member.id: member.revision for member in members}
    return {record_id: (revisions[record_id], name) for name, ids in split.ids.items() for record_id in ids}


def split_by_id(split: Split) -> dict[str, str]:
    return {record_id: name for name, ids in split.ids.items() for record_id in ids}


def kept(name: str = "v1", **sizes: float) -> SplitSettings:
    return SplitSettings(keep_split_of=name, **sizes)  # type: ignore[arg-type]


def base() -> tuple[list[Record], dict[str, tuple[int, str]]]:
    """Forty records without anything in common, and a release of them: the first eight are its test split."""
    records = [replace(plain_record(number), group_keys=(f"story:{number}",)) for number in range(40)]
    return records, {record.id: (0, "test" if number < 8 else "train") for number, record in enumerate(records)}


def divided(records: Sequence[Record], places: KeptPlaces, **sizes: float) -> Split:
    return split_members(
        [Member.of(record, taxonomy=shipped_taxonomy()) for record in records], kept("v1", **({"test_size": 8} | sizes)), places=places
    )


@case_by_case("kind", KINDS)
def test_a_new_record_follows_what_it_belongs_with(kind: str) -> None:
    records, places = base()
    for one, split_name in ((records[0], "test"), (records[9], "train")):
        new = KINDS[kind](one, plain_record(100))
        if kind == "parent":
            new = replace(plain_record(100), provenance=None, group_keys=one.group_keys)
        split = divided([*records, new], places)
        assert split_by_id(split)[new.id] == split_name
        assert {record_id: split_by_id(split)[record_id] for record_id in places} == {one: name for one, (_, name) in places.items()}
        assert not split.withheld


def test_a_record_that_belongs_with_two_splits_is_withheld_and_named() -> None:
    records, places = base()
    torn = replace(plain_record(100), group_keys=("story:0", "story:9"))
    near = replace(plain_record(101), group_keys=("story:9", "own:1"))
    far = replace(plain_record(102), group_keys=("own:1",))
    split = divided([*records, torn, near, far], places)
    assert split.withheld == ((torn.id, "it belongs with records that release v1 has in different splits"),)
    assert (split_by_id(split)[near.id], split_by_id(split)[far.id]) == ("train", "train")
    # Two new records, each of which belongs with one split, and both with each other: only one of them stays.
    one, other = (replace(plain_record(200 + at), group_keys=(key, "own:2")) for at, key in enumerate(("story:0", "story:9")))
    split = divided([*records, one, other], places)
    assert len(split.withheld) == 1
    # An edited record stays in its split, but not if it comes to belong with another.
    edited = replace(records[0], revision=1, question="another question altogether about nothing at all")
    assert split_by_id(divided([edited, *records[1:]], places))[edited.id] == "test"
    edited = replace(edited, group_keys=("story:0", "story:9"))
    assert dict(divided([edited, *records[1:]], places).withheld) == {
        edited.id: "it belongs with records that release v1 has in different splits"
    }


def test_new_groups_bring_the_test_split_near_its_size() -> None:
    records, places = base()
    more = [replace(plain_record(100 + number), group_keys=(f"story:{100 + number // 2}",)) for number in range(40)]
    sizes = {size: len(divided([*records, *more], places, test_size=size).ids["test"]) for size in (4, 8, 0.2, 0.5)}
    assert sizes == {4: 8, 8: 8, 0.2: 16, 0.5: 40}
    folds = split_members([Member.of(record, taxonomy=shipped_taxonomy()) for record in records], SplitSettings(folds=4))
    of_folds = places_of([Member.of(record, taxonomy=shipped_taxonomy()) for record in records], folds)
    later = split_members([Member.of(record, taxonomy=shipped_taxonomy()) for record in [*records, *more]], kept(folds=4), places=of_folds)
    assert [len(ids) for ids in later.ids.values()] == [20] * 4
    assert split_by_id(folds).items() <= split_by_id(later).items()


@st.composite
def grown(draw: st.DrawFn) -> list[list[Member]]:
    """Three stages of one store: each has the members of the one before, some of them edited, and more."""
    stages: list[list[Member]] = []
    members: dict[str, Member] = {}
    for stage in range(3):
        for number in range(draw(st.integers(4, 14))):
            record = plain_record(100 * stage + number)
            keys = draw(st.lists(st.sampled_from([f"story:{n}" for n in range(12)]), max_size=2))
            members[record.id] = replace(Member.of(record, taxonomy=shipped_taxonomy()), group_keys=tuple(keys))
        for record_id in draw(st.lists(st.sampled_from(sorted(members)), max_size=2 if stage else 0)):
            key = draw(st.sampled_from([f"story:{n}" for n in range(12)]))
            members[record_id] = replace(members[record_id], revision=members[record_id].revision + 1, group_keys=(key,))
        stages.append(list(members.values()))
    return stages


@pytest.mark.long
@settings(max_examples=examples(200), deadline=None)
@given(stages=grown(), seed=st.integers(0, 3))
def test_nothing_moves_and_nothing_is_shared_from_release_to_release(stages: list[list[Member]], seed: int) -> None:
    try:
        split = split_members(stages[0], SplitSettings(test_size=0.3, seed=seed))
    except UsageError:
        return
    for members in stages[1:]:
        before, places = split_by_id(split), places_of(stages[0], split)
        split = split_members(members, kept(test_size=0.3, seed=seed), places=places)
        now, withheld = split_by_id(split), dict(split.withheld)
        unedited = {member.id for member in members if places.get(member.id, (None,))[0] == member.revision}
        assert all(now[record_id] == before[record_id] for record_id in unedited)
        assert all(now.get(record_id, before[record_id]) == before[record_id] for record_id in before)
        assert now.keys() | withheld.keys() == {member.id for member in members}
        assert not now.keys() & withheld.keys()
        fresh = [member for member in members if member.id in now and member.id not in unedited]
        for member in fresh:
            for other in members:
                if other.id in now and set(member.group_keys) & set(other.group_keys):
                    assert now[other.id] == now[member.id]
        mixed = members[:]
        random.Random(seed).shuffle(mixed)
        again = split_members(mixed, kept(test_size=0.3, seed=seed), places=places)
        assert (split_by_id(again), dict(again.withheld)) == (now, withheld)
        stages[0] = members


@pytest.mark.long
def test_releases_of_a_store_that_grows(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "s.duckdb"
    records, _ = base()
    with Store.open(path) as store:
        add_records(store, None, [(None, record) for record in records], status="imported")
    first = piiloom.release("v1", store=path, test_size=8, seed=3)
    with Store.open(path) as store:
        before = {record_id: name for record_id, _, name in release_members(store, get_release(store, "v1"))}
        test, train = (min(one for one, name in before.items() if name == wanted) for wanted in ("test", "train"))
        keys = {record.id: record.group_keys for record in records}
        torn = replace(plain_record(300), group_keys=(*keys[test], *keys[train]))
        more = [replace(plain_record(200 + number), group_keys=(f"story:{200 + number}",)) for number in range(20)]
        later = [*more, torn, same_key(records[0], plain_record(301))]
        add_records(store, None, [(None, record) for record in later], status="imported")
    second = piiloom.release("v2", store=path, keep_split_of="v1")
    assert second.split_settings["test_size"] == first.split_settings["test_size"] == 8
    assert second.split_settings["keep_split_of"] == "v1"
    assert "keep_split_of" not in first.split_settings
    third = piiloom.release("v3", store=path, keep_split_of="v2", test_size=0.25)
    with Store.open(path) as store:
        v2, v3 = ({record_id: split for record_id, _, split in release_members(store, get_release(store, name))} for name in ("v2", "v3"))
        assert before.items() <= v2.items()
        assert all(v3[record_id] == split for record_id, split in v2.items())
        assert (
            [one for one, _ in withheld_of(store, get_release(store, "v2"))]
            == [one for one, _ in withheld_of(store, get_release(store, "v3"))]
            == [torn.id]
        )
    assert third.leakage is not None
    assert third.leakage["test"]["stories"]["seen"] == 0
    with pytest.raises(ReleaseError, match="no release 'v0'"):
        piiloom.release("v4", store=path, keep_split_of="v0")
    with pytest.raises(UsageError, match="splits that this one would not have: test"):
        piiloom.release("v4", store=path, keep_split_of="v1", test_size=0)
    with pytest.raises(UsageError, match="cannot be moved"):
        piiloom.release("v4", store=path, keep_split_of="v1", max_value_overlap=0.1, overlap_by="move")
