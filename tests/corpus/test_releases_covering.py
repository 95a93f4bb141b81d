"""No pair and no type is lost from a split that could have it; what is lost after all is named in a warning."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.releases.covering import names_of
from piiloom.corpus.releases.grouping import Member, Value, group_members
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import Split, split_members
from tests.longer import case_by_case, examples

Spec = Sequence[tuple[str, int, str]]  # pair, records and types of each story


def told(specs: Spec) -> list[Member]:
    """Stories of so many records each, a pair and some types a story."""
    members: list[Member] = []
    for story, (pair, size, types) in enumerate(specs):
        for _ in range(size):
            number = len(members)
            words = [f"w{number}x{n}" for n in range(8)]
            spans = tuple(Value(start=0, end=2, entity_type=one) for one in types.split())
            context = " ".join(words)
            members.append(
                Member(id=f"r{number:05d}", revision=0, context=context, group_keys=(f"story:{story}",), stratum=pair, values=spans)
            )
    return members


def lacking(members: Sequence[Member], split: Split) -> dict[str, set[str]]:
    """The pairs and types that each split lacks, but for those that too few groups have for it."""
    by_id = {m.id: m for m in members}
    carriers: dict[tuple[str, str], int] = {}
    for group in group_members(members).groups:
        for name in set().union(*(names_of(by_id[record_id]) for record_id in group.ids)):
            carriers[name] = carriers.get(name, 0) + 1
    found = {}
    for at, split_name in enumerate(("train", "test", "validation")):
        if split_name in split.ids:
            there = set().union(*(names_of(by_id[record_id]) for record_id in split.ids[split_name]))
            found[split_name] = {name for (kind, name), count in carriers.items() if count > at and (kind, name) not in there}
    return found


def whole(members: Sequence[Member], split: Split) -> bool:
    split_of = {record_id: name for name, ids in split.ids.items() for record_id in ids}
    return all(len({split_of[one] for one in group.ids if one in split_of}) < 2 for group in group_members(members).groups)


# Stories, settings; the sizes of the splits, the records withheld, what each split lacks, and words of the warnings.
CASES: dict[str, tuple[Spec, SplitSettings, Mapping[str, int], int, Mapping[str, str], Sequence[str]]] = {
    "one story a pair": (
        [("a+b", 50, "a b c"), ("a+d", 46, "a d")],
        SplitSettings(test_size=10),
        {"train": 50, "test": 10},
        36,
        {"train": "a+d d"},
        ["train has no record of the pair a+d (46 records)", "come from one story", "36 of 96 records (38%)", "(test 46)"],
    ),
    "two stories a pair": (
        [("a+b", 25, "a"), ("a+b", 24, "a"), ("a+d", 23, "a"), ("a+d", 26, "a")],
        SplitSettings(test_size=10),
        {"train": 51, "test": 47},
        0,
        {},
        ["test has 47 records, not 10", "test the pair a+b"],
    ),
    "a type of one story, in a pair of two": (
        [("a+b", 10, "a t"), ("a+b", 10, "a"), ("a+d", 10, "a"), ("a+d", 10, "a u")],
        SplitSettings(test_size=20),
        {"train": 20, "test": 20},
        0,
        {},
        [],
    ),
    "a smaller test, so that train has all": (
        [("a+b", 8, "a t"), ("a+b", 12, "a u"), ("a+b", 5, "a"), ("a+d", 9, "a x")],
        SplitSettings(test_size=8),
        {"train": 29, "test": 5},
        0,
        {},
        ["test has 5 records, not 8", "train the type"],
    ),
    "nothing lost": ([("a+b", 2, "a")] * 20, SplitSettings(test_size=4), {"train": 36, "test": 4}, 0, {}, []),
    "a test of fewer records than pairs need": (
        [(f"p{n // 2}", 1, "a") for n in range(20)],
        SplitSettings(test_size=4),
        {"train": 16, "test": 4},
        0,
        {"test": "6 of them"},
        ["test has no record of 6 pairs: ", "larger test split"],
    ),
    "validation as well": (
        [("a+b", 10, "a")] * 4 + [("a+d", 10, "a t")] * 4,
        SplitSettings(test_size=10, validation_size=10),
        {"train": 40, "validation": 20, "test": 20},
        0,
        {},
        ["test has 20 records, not 10", "validation has 20 records, not 10"],
    ),
}


@case_by_case("case", CASES)
def test_pairs_and_types_stay_in_splits_that_can_have_them(case: str) -> None:
    specs, wanted, sizes, withheld, lost, says = CASES[case]
    members = told(specs)
    split = split_members(members, wanted)
    assert whole(members, split)
    assert ({name: len(ids) for name, ids in split.ids.items()}, len(split.withheld)) == (sizes, withheld)
    found = lacking(members, split)
    for name, words in lost.items():
        assert len(found[name]) == 6 if words == "6 of them" else found[name] == set(words.split())
    assert sum(map(len, found.values())) == (0 if not lost else sum(len(found[name]) for name in lost))
    warnings = "\n".join(split.warnings)
    assert all(words in warnings for words in says), warnings
    assert bool(says) == bool(warnings)


def test_a_pair_of_several_groups_is_in_several_folds() -> None:
    members = told([("a+b", 10, "a"), ("a+d", 10, "b"), ("a+b", 9, "a"), ("a+d", 9, "b"), ("c+d", 9, "b")])
    for seed in range(8):
        split = split_members(members, SplitSettings(folds=2, seed=seed))
        by_id = {m.id: m for m in members}
        for pair in ("a+b", "a+d"):
            assert all(any(by_id[one].stratum == pair for one in ids) for ids in split.ids.values())
        (warning,) = split.warnings
        assert "has no record of the pair c+d (9 records), since all records of it come from one story" in warning


@st.composite
def stories(draw: st.DrawFn) -> list[Member]:
    """A few stories of any size, with a pair and any types."""
    spec = st.tuples(st.sampled_from(["a+b", "a+c", "b+c"]), st.integers(1, 9), st.sampled_from(["", "t", "u", "t u", "v", "t v"]))
    return told(draw(st.lists(spec, min_size=3, max_size=8)))


@pytest.mark.long
@settings(max_examples=examples(300), deadline=None)
@given(members=stories(), seed=st.integers(0, 3), data=st.data())
def test_nothing_is_lost_if_that_can_be_avoided(members: list[Member], seed: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, max(1, len(members) // 3)))
    groups = group_members(members).groups
    if size > len(members) - min(group.size for group in groups):
        return
    split = split_members(members, SplitSettings(test_size=size, seed=seed))
    assert whole(members, split)
    found, warnings = lacking(members, split), "\n".join(split.warnings)
    for name, lost in found.items():
        for one in lost:
            assert f" {one} (" in warnings
            assert f"{name} has no record of" in warnings
    assert len(split.ids["test"]) == size or "test has " in warnings
    if len(split.withheld) > len(members) / 20:
        assert "are withheld" in warnings
    by_id = {m.id: m for m in members}
    held = [set().union(*(names_of(by_id[one]) for one in group.ids)) for group in groups]
    every = set().union(*held)
    for sides in product((False, True), repeat=len(groups)):
        total = sum(group.size for group, side in zip(groups, sides, strict=True) if side)
        if (size + 1) // 2 <= total <= max(size, len(members) - total) and total < len(members):
            left = set().union(*(own for own, side in zip(held, sides, strict=True) if not side))
            assert len(found["train"]) <= len(every - left) or (total < size and left != every)
    mixed = members[:]
    random.Random(seed).shuffle(mixed)
    again = split_members(mixed, SplitSettings(test_size=size, seed=seed))
    assert ({name: set(ids) for name, ids in again.ids.items()}, set(again.withheld), again.warnings) == (
        {name: set(ids) for name, ids in split.ids.items()},
        set(split.withheld),
        split.warnings,
    )


def test_many_groups_are_searched_step_by_step() -> None:
    rng = random.Random(3)
    members = told([(f"p{n % 12}", rng.randrange(1, 9), rng.choice(["a", "b", "a b"])) for n in range(60)] + [("p0", 15, "rare")] * 2)
    for seed in range(4):
        split = split_members(members, SplitSettings(test_size=60, seed=seed))
        assert lacking(members, split) == {"train": set(), "test": set()}
        assert whole(members, split)


@pytest.mark.long
def test_splits_that_lose_nothing_are_as_they_were() -> None:
    # The digests were made before pairs and types were looked after.
    digests = []
    for seed in range(6):
        rng = random.Random(seed)
        members = told([(f"p{n % 5}", rng.randrange(1, 7), rng.choice(["a b", "a", "b"])) for n in range(50)])
        for wanted in (SplitSettings(test_size=0.2, validation_size=0.1, seed=seed), SplitSettings(folds=3, seed=seed)):
            split = split_members(members, wanted)
            digests.append(hashlib.sha256(json.dumps([split.ids, split.withheld, split.notes]).encode()).hexdigest()[:8])
    assert digests == DIGESTS


DIGESTS = [
    "93e17aad",
    "599d1b8a",
    "a045a4b8",
    "2c819d21",
    "f1392b64",
    "8aeffb39",
    "6efe3ac5",
    "8865c0fc",
    "c999c083",
    "dc1d73e7",
    "27535635",
    "1690898e",
]
