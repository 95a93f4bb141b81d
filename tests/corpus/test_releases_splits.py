"""Splits: exact sizes, whole groups, every record accounted for, pairs on both sides."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.record import TEST, Record, RecordPlan, Relevance
from piiloom.corpus.releases.grouping import Member, Value, group_members
from piiloom.corpus.releases.release_options import SplitSettings, parse_size, records_of_size, split_sizes
from piiloom.corpus.releases.splits import Split, split_members, split_records
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case, examples

PAIRS = [f"{a}+{b}" for a, b in combinations("abcdefghijklm", 2)]


def member(number: int, *keys: str, stratum: str = "", context: str | None = None) -> Member:
    """A member whose context shares no five words with any other's."""
    text = context if context is not None else " ".join(f"w{number}x{n}" for n in range(8))
    return Member(id=f"r{number:05d}", revision=0, context=text, group_keys=keys, stratum=stratum)


def check(members: list[Member], split: Split, count: int) -> None:
    """What every split must satisfy."""
    held = [record_id for record_id, _ in split.withheld]
    everyone = [*(record_id for ids in split.ids.values() for record_id in ids), *held]
    assert sorted(everyone) == sorted(m.id for m in members)
    assert len(set(everyone)) == len(everyone)
    assert len(split.ids.get("test", ())) == count or any(warning.startswith("test has ") for warning in split.warnings)
    split_of = {record_id: name for name, ids in split.ids.items() for record_id in ids}
    for group in group_members(members).groups:
        assert len({split_of[record_id] for record_id in group.ids if record_id in split_of}) < 2
    assert all(reason for _, reason in split.withheld)


@st.composite
def populations(draw: st.DrawFn) -> list[Member]:
    """Members in groups of any size over a few strata, some tied by key chains or by near-identical contexts."""
    members: list[Member] = []
    for group in range(draw(st.integers(2, 12))):
        stratum = draw(st.sampled_from(["", "age+belief", "age+health"]))
        same = " ".join(f"g{group}x{n}" for n in range(20))
        by_text = draw(st.booleans())
        for number in range(draw(st.integers(1, 9))):
            context = f"{same} tail {number}" if by_text else None
            keys = () if by_text else (f"group:{group}", f"own:{len(members)}")
            members.append(member(len(members), *keys, stratum=stratum, context=context))
    return members


@pytest.mark.long
@settings(max_examples=examples(150), deadline=None)
@given(members=populations(), seed=st.integers(0, 5), data=st.data())
def test_no_group_is_parted_sizes_are_exact_and_nobody_is_lost(members: list[Member], seed: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(members) - 1))
    smallest = min(group.size for group in group_members(members).groups)
    if count > len(members) - smallest:  # only all groups together reach the count
        with pytest.raises(UsageError, match="nothing to train on"):
            split_members(members, SplitSettings(test_size=count, seed=seed))
        return
    split = split_members(members, SplitSettings(test_size=count, seed=seed))
    check(members, split, count)
    assert split.ids["train"]
    shuffled = members[:]
    random.Random(seed).shuffle(shuffled)
    again = split_members(shuffled, SplitSettings(test_size=count, seed=seed))
    assert set(again.ids.get("test", ())) == set(split.ids.get("test", ()))
    assert dict(again.withheld) == dict(split.withheld)


def value(context: str, text: str, entity_type: str = "code", relevance: Relevance | None = "high") -> Value:
    """The mention of *text* in *context*, as of an open type."""
    start = context.index(text)
    return Value(start=start, end=start + len(text), entity_type=entity_type, relevance=relevance, open=True)


@st.composite
def mixed_populations(draw: st.DrawFn) -> list[Member]:
    """Members with keys, parents, questions and codes in common, and of several locales."""
    members = []
    for number in range(draw(st.integers(6, 30))):
        own = " ".join(f"w{number}x{n}" for n in range(7))
        code = f"AB-{draw(st.integers(0, 12)):05d}"
        context = f"{own} {code}."
        members.append(
            Member(
                id=f"r{number:05d}",
                revision=0,
                context=context,
                question=draw(st.sampled_from([None, f"q{number} a b c d e", "what may I do about all of this now"])),
                locale=draw(st.sampled_from(["en_US", "de_DE"])),
                group_keys=tuple(draw(st.lists(st.sampled_from(["story:1", "persona:2", "document:3"]), max_size=1))),
                parents=tuple(draw(st.lists(st.sampled_from(["r00000", "gone"]), max_size=1))),
                stratum=draw(st.sampled_from(["", "age+belief", "age+health"])),
                values=(value(context, code, relevance=draw(st.sampled_from(["high", "low", None]))),),
            )
        )
    return members


def outcome(members: list[Member], wanted: SplitSettings) -> Split | str:
    """The split, or what the error says."""
    try:
        return split_members(members, wanted)
    except UsageError as error:
        return str(error)


@pytest.mark.long
@settings(deadline=None)
@given(members=mixed_populations(), seed=st.integers(0, 3), data=st.data())
def test_every_division_is_a_partition_by_whole_groups_whatever_the_order(members: list[Member], seed: int, data: st.DataObject) -> None:
    wanted = SplitSettings(
        seed=seed,
        test_size=data.draw(st.sampled_from([0, 1, 0.2])),
        validation_size=data.draw(st.sampled_from([0, 1, 0.2])),
        folds=data.draw(st.sampled_from([0, 0, 2, 3])),
        balance=data.draw(st.sampled_from([None, None, "relevance", "type", "locale"])),
        max_value_overlap=data.draw(st.sampled_from([None, 0, 0.5])),
        overlap_by=data.draw(st.sampled_from(["redraw", "withhold", "move"])),
    )
    shuffled = members[:]
    random.Random(seed).shuffle(shuffled)
    split, other = outcome(members, wanted), outcome(shuffled, wanted)
    if isinstance(split, str) or isinstance(other, str):
        assert split == other
        return
    split_of = {record_id: name for name, ids in split.ids.items() for record_id in ids}
    everyone = [record_id for ids in split.ids.values() for record_id in ids] + [record_id for record_id, _ in split.withheld]
    assert sorted(everyone) == [m.id for m in members]
    balanced = {record_id for record_id, reason in split.withheld if "balance" in reason}
    for group in group_members([m for m in members if m.id not in balanced]).groups:
        assert len({split_of[record_id] for record_id in group.ids if record_id in split_of}) < 2
    for ids in split.ids.values():
        assert list(ids) == sorted(ids)  # in the order of the input
    assert {name: set(ids) for name, ids in other.ids.items()} == {name: set(ids) for name, ids in split.ids.items()}
    assert dict(other.withheld) == dict(split.withheld)
    assert (other.redrawn, other.notes) == (split.redrawn, split.notes)


def test_validation_and_test_have_exactly_the_sizes_asked_for() -> None:
    members = [member(n, f"g{n // 3}", stratum=PAIRS[n % 7]) for n in range(300)]
    split = split_members(members, SplitSettings(test_size=0.1, validation_size=21, seed=2))
    check(members, split, 30)
    assert {name: len(ids) for name, ids in split.ids.items()} == {"train": 249, "validation": 21, "test": 30}
    assert list(split.ids) == ["train", "validation", "test"]


def test_a_validation_split_does_not_need_a_test_split() -> None:
    members = [member(n) for n in range(40)]
    only = split_members(members, SplitSettings(test_size=0, validation_size=4))
    assert {name: len(ids) for name, ids in only.ids.items()} == {"train": 36, "validation": 4}


@pytest.mark.parametrize(
    ("sizes", "folds", "expected"), [([1] * 23, 5, [5, 5, 5, 4, 4]), ([5, 4, 3, 3, 3], 2, [9, 9]), ([7, 2, 2, 2], 2, [7, 6])]
)
def test_folds_differ_by_at_most_one_record_if_groups_allow_it(sizes: list[int], folds: int, expected: list[int]) -> None:
    members: list[Member] = []
    for group, size in enumerate(sizes):
        members += [member(len(members) + n, f"g{group}") for n in range(size)]
    split = split_members(members, SplitSettings(folds=folds, seed=3))
    assert list(split.ids) == [f"fold{n + 1}" for n in range(folds)]
    assert sorted(map(len, split.ids.values()), reverse=True) == expected


def test_folds_spread_the_pairs() -> None:
    members = [member(n, stratum=PAIRS[n % 10]) for n in range(200)]
    split = split_members(members, SplitSettings(folds=4, seed=1))
    pairs = {m.id: m.stratum for m in members}
    for ids in split.ids.values():
        assert set(Counter(pairs[record_id] for record_id in ids).values()) == {5}


@case_by_case(
    ("wanted", "message", "remedy"),
    [
        (SplitSettings(test_size=10), "leaves nothing to train on", "fewer"),
        (SplitSettings(test_size=99), "leaves nothing to train on", "fewer"),
        (SplitSettings(test_size=6, validation_size=4), "leave nothing to train on", "fewer"),
        (SplitSettings(test_size=-1), "out of range", "a number of records"),
        (SplitSettings(test_size=float("nan")), "out of range", "a number of records"),
        (SplitSettings(test_size=0.1, validation_size=float("nan")), "validation size", "a number of records"),
        (SplitSettings(validation_size=float("inf")), "validation size", "a number of records"),
        (SplitSettings(folds=1), "no split", "at least 2"),
        (SplitSettings(folds=-3), "no split", "at least 2"),
        (SplitSettings(folds=6), "only 5 groups", "at most 5 folds"),
        (SplitSettings(max_value_overlap=1.5), "out of range", "from 0 to 1"),
        (SplitSettings(max_value_overlap=float("nan")), "out of range", "from 0 to 1"),
        (SplitSettings(folds=2, max_value_overlap=0.1, overlap_by="move"), "no train split", "redraw"),
    ],
)
def test_settings_that_cannot_be_met_are_one_clear_error(wanted: SplitSettings, message: str, remedy: str) -> None:
    members = [member(n, f"g{n // 2}") for n in range(10)]
    with pytest.raises(UsageError, match=message) as error:
        split_members(members, wanted)
    assert remedy in (error.value.remedy or "")


def test_as_few_records_as_possible_are_withheld() -> None:
    members = [member(n, f"scenario:{n // 15}", stratum=PAIRS[n // 45]) for n in range(15 * 30)]
    split = split_members(members, SplitSettings(test_size=200, seed=1))
    check(members, split, 200)
    assert len(split.withheld) == 10  # 14 groups of 15 are the nearest above 200
    assert "exactly 200 records" in split.withheld[0][1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pairs_are_on_both_sides_in_proportion_while_they_have_groups_to_give(seed: int) -> None:
    rng = random.Random(seed)
    members = [member(n, f"scenario:{PAIRS[n % 78]}:{rng.randrange(4)}", stratum=PAIRS[n % 78]) for n in range(78 * 20)]
    split = split_members(members, SplitSettings(test_size=0.2, seed=seed))
    check(members, split, 312)
    strata = {m.id: m.stratum for m in members}
    test, train = (Counter(strata[i] for i in ids) for ids in (split.ids["test"], split.ids["train"]))
    assert len(train) == len(test) == 78
    assert max(test.values()) <= 10
    assert not split.withheld


def test_a_pair_with_one_group_stays_in_train_while_others_can_give() -> None:
    single = [member(n, "only", stratum="age+belief") for n in range(30)]
    others = [member(100 + n, f"g{n // 3}", stratum="age+health") for n in range(30)]
    split = split_members([*single, *others], SplitSettings(test_size=27, seed=3))
    check([*single, *others], split, 27)
    assert not {m.id for m in single} & set(split.ids["test"])
    smaller = split_members([*single, *others], SplitSettings(test_size=30, seed=3))
    assert len(smaller.ids["test"]) == 27
    assert smaller.warnings[0].startswith("test has 27 records, not 30: ")


@pytest.mark.long
def test_many_loose_records_split_exactly_and_at_random() -> None:
    members = [member(n) for n in range(2000)]
    first, second = (split_members(members, SplitSettings(test_size=200, seed=seed)) for seed in (1, 2))
    check(members, first, 200)
    assert not first.withheld
    assert len(set(first.ids["test"]) & set(second.ids["test"])) < 60
    quarters = Counter(int(i[1:]) // 500 for i in first.ids["test"])
    assert min(quarters.values()) > 25


@pytest.mark.long
def test_large_and_small_groups_together_meet_the_count() -> None:
    members, rng = [], random.Random(4)
    for group, size in enumerate([*([1] * 5), *(rng.randrange(20, 60) for _ in range(40))]):
        members += [member(len(members) + n, f"g{group}") for n in range(size)]
    for count in (1, 37, 200, 701):
        check(members, split_members(members, SplitSettings(test_size=count, seed=5)), count)


def test_near_duplicates_and_key_chains_form_one_group_whatever_their_order() -> None:
    base = [f"word{n}" for n in range(40)]
    drift = [" ".join(base[:30] + [f"x{n}" for n in range(10)]), " ".join(base[:20] + [f"y{n}" for n in range(20)])]
    members = [
        member(1, context=" ".join(base)),
        member(2, context=drift[0]),
        member(3, "persona:7", context=drift[0] + " more"),
        member(4, "persona:7", "scenario:2"),
        member(5, "scenario:2"),
        member(6, context=drift[1]),
    ]
    for order in (members, members[::-1]):
        groups = group_members(order).groups
        assert [g.ids for g in groups] == [("r00001", "r00002", "r00003", "r00004", "r00005"), ("r00006",)]


def test_records_are_read_for_their_pair_keys_and_context() -> None:
    plan = RecordPlan(pair=("health", "age"))
    items = [Record(id=f"r{n}", context=" ".join(f"{n}w{k}" for k in range(9)), plan=plan, group_keys=(f"g{n // 2}",)) for n in range(10)]
    split = split_records(items, SplitSettings(test_size=4, seed=1), taxonomy=shipped_taxonomy())
    assert (len(split.ids["train"]), len(split.ids["test"]), split.withheld) == (6, 4, ())
    assert list(split.ids["train"]) == sorted(split.ids["train"])
    assert Member.of(items[0], taxonomy=shipped_taxonomy()).stratum == "age+health"
    everyone = split_records(items, SplitSettings(test_size=0, seed=1), taxonomy=shipped_taxonomy())
    assert {name: len(ids) for name, ids in everyone.ids.items()} == {"train": 10}


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(ReleaseError, match="twice"):
        split_members([member(1), member(1)], SplitSettings(test_size=0, seed=0))


def test_one_group_cannot_be_split() -> None:
    with pytest.raises(UsageError, match="nothing to train on"):
        split_members([member(n, "same") for n in range(5)], SplitSettings(test_size=2, seed=0))


def test_the_cure_for_one_group_is_not_more_of_the_same() -> None:
    cures = {
        "story:health-pet.while-away": "use more stories: all records are of the story 'health-pet.while-away'.*--pairs.*--bank",
        "scenario:age-health.gym": "use more scenarios",
        "document:letter": "all have the group key 'document:letter'",
    }
    for key, says in cures.items():
        records = [replace(member(n), group_keys=(key, f"text:{n}")) for n in range(12)]
        for asked in (SplitSettings(test_size=0.2, seed=0), SplitSettings(folds=3, seed=0)):
            with pytest.raises(UsageError, match=says) as caught:
                split_members(records, asked)
            assert "0" in str(caught.value.remedy)
            assert "enerate more records" not in str(caught.value)
    two = [replace(member(n), group_keys=(f"story:{n % 2}",)) for n in range(12)]
    with pytest.raises(UsageError, match="ask for a smaller size, or generate more records"):
        split_members(two, SplitSettings(test_size=11, seed=0))


@pytest.mark.parametrize(("text", "size"), [("200", 200), ("0", 0), ("0.1", 0.1), (" 7 ", 7), ("1e-2", 0.01)])
def test_a_test_size_is_a_count_a_fraction_or_nothing(text: str, size: float) -> None:
    parsed = parse_size(text, TEST)
    assert parsed == size
    assert type(parsed) is type(size)


@case_by_case("text", ["-1", "1.0", "0.0", "1.5", "-0.1", "nan", "inf", "ten", "", "10%"])
def test_any_other_test_size_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="test size"):
        parse_size(text, TEST)


@case_by_case(("size", "records", "count"), [(0.1, 14, 1), (0.1, 15, 2), (0.25, 10, 3), (0.01, 5, 1), (3, 4, 3), (0, 0, 0)])
def test_fractions_round_half_up_and_give_at_least_one(size: float, records: int, count: int) -> None:
    assert records_of_size(size, records, "test") == count


def test_the_validation_size_is_read_alike_and_named_in_errors() -> None:
    assert parse_size("0.2", "validation") == 0.2
    with pytest.raises(UsageError, match="validation size"):
        parse_size("-3", "validation")
    assert split_sizes(SplitSettings(test_size=0, validation_size=3), 10) == {"validation": 3}


@case_by_case(("size", "records"), [(4, 4), (5, 4), (0.5, 1), (0.9, 2), (-1, 4), (1.5, 4)])
def test_a_size_that_leaves_no_train_split_is_refused(size: float, records: int) -> None:
    with pytest.raises(UsageError):
        records_of_size(size, records, "test")
