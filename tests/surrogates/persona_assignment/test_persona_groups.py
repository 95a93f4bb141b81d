"""Groups are handed out in exact balance over what the texts leave open."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import mix
from piiloom.surrogates.persona_assignment.groups import (
    FEMALE,
    GROUPS,
    MALE,
    OPEN,
    REGIONS,
    Roles,
    Weights,
    _shuffled,
    assign_groups,
    quotas,
    spread_groups,
)


def counted(codes, seed=1, weights=None):
    return Counter(GROUPS[number] for number in assign_groups(bytes(codes), seed, weights))


def test_two_hundred_and_sixty_people_are_twenty_six_of_each_group():
    assert set(counted([OPEN] * 260).values()) == {26}


def test_what_the_texts_tell_is_kept_and_the_rest_makes_up_for_it():
    codes = [FEMALE] * 70 + [OPEN] * 150 + [MALE] * 40
    groups = assign_groups(bytes(codes), 5)
    assert all(GROUPS[g][0] == "female" for g in groups[:70])
    assert all(GROUPS[g][0] == "male" for g in groups[220:])
    assert set(counted(codes, 5).values()) == {26}


def test_more_women_than_half_leave_the_open_ones_to_men():
    found = counted([FEMALE] * 80 + [OPEN] * 20)
    genders = Counter()
    for (gender, _), count in found.items():
        genders[gender] += count
    assert genders == {"female": 80, "male": 20}
    assert {found["female", region] for region in REGIONS} == {16}
    assert {found["male", region] for region in REGIONS} == {4}


@given(st.lists(st.sampled_from([OPEN, FEMALE, MALE]), max_size=200), st.integers(0, 2**63))
def test_no_group_is_larger_by_more_than_one_than_another_of_its_gender(codes, seed):
    found = counted(codes, seed)
    for gender in ("female", "male"):
        assert spread_groups({r: found[gender, r] for r in REGIONS}) <= 1
    women, total = sum(found["female", r] for r in REGIONS), len(codes)
    fixed_women, fixed_men = codes.count(FEMALE), codes.count(MALE)
    assert fixed_women <= women <= total - fixed_men
    if fixed_women <= total // 2 and fixed_men <= total // 2:
        assert abs(2 * women - total) <= 1
    if codes.count(OPEN) == total:
        assert spread_groups({str(g): found[g] for g in GROUPS}) <= 1


@given(st.integers(0, 500), st.lists(st.floats(0, 10), min_size=1, max_size=6), st.integers(0, 5))
def test_quotas_add_up_and_stay_next_to_the_exact_share(total, weights, first):
    if sum(weights) < 1e-6:
        weights = [1.0, *weights]
    shares = quotas(total, weights, first=first)
    assert sum(shares) == total
    assert all(abs(share - total * weight / sum(weights)) < 1 + 1e-6 for share, weight in zip(shares, weights, strict=True))


def test_the_seed_changes_who_is_in_which_group_but_nothing_else():
    one, other = assign_groups(bytes(1000), 1), assign_groups(bytes(1000), 2)
    assert one != other
    assert Counter(one) == Counter(other)
    assert one == assign_groups(bytes(1000), 1)


def test_neighbours_are_not_of_related_groups():
    groups = assign_groups(bytes(20_000), 3)
    pairs = Counter(zip(groups[:-1:2], groups[1::2], strict=True))
    assert len(pairs) == 100
    assert max(pairs.values()) < 2 * min(pairs.values())


def test_weights():
    found = counted([OPEN] * 1200, weights=Weights.parse("female=2, africa=2, Oceania=0"))
    assert found["female", "Africa"] == 320
    assert found["male", "Asia"] == 80
    assert not found["female", "Oceania"]


@pytest.mark.parametrize("text", ["women=2", "female", "female=-1", "female=nan", "female=0,male=0"])
def test_weights_that_mean_nothing_are_refused(text):
    with pytest.raises(UsageError):
        Weights.parse(text)


@given(st.integers(0, 700), st.integers(0, 2**64 - 1), st.integers(0, 255))
def test_shuffling_is_a_permutation(count, seed, salt):
    assert sorted(_shuffled(count, seed, salt)) == list(range(count))


def test_groups_are_those_of_earlier_versions():
    """Whoever runs a corpus again with the same seed gets the same people; the digest is that of the version that used arrays."""
    codes = bytes(number * number % 7 % 3 for number in range(5000))
    found = assign_groups(codes, 2**63 + 11, Weights.parse("female=2,Africa=3"))
    assert sha256(found).hexdigest()[:16] == "24be425a9abe954d"


@pytest.mark.long
def test_every_order_of_a_few_is_as_likely():
    orders = Counter(tuple(_shuffled(3, mix(seed, 1), 0x6E)) for seed in range(6000))
    assert len(orders) == 6
    assert all(abs(count - 1000) < 5 * math.sqrt(1000) for count in orders.values())


@pytest.mark.long
def test_a_hundred_thousand_people_take_a_few_bytes_each():
    codes = bytes(100_000)
    tracemalloc.start()
    groups = assign_groups(codes, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_200_000
    assert set(Counter(groups).values()) == {10_000}


@pytest.mark.parametrize("told", [bytes([OPEN]), bytes([OPEN, OPEN, FEMALE]), bytes([MALE, OPEN, FEMALE, OPEN])])
def test_the_people_of_each_role_are_balanced(told: bytes) -> None:
    count = 260
    codes = bytes(told[(number // 3) % len(told)] for number in range(3 * count))
    roles = bytes(number % 3 for number in range(3 * count))  # a student, a tutor and a parent in each text
    for seed in range(5):
        groups = assign_groups(codes, seed, roles=roles)
        for role in range(3):
            assert set(Counter(group for group, own in zip(groups, roles, strict=True) if own == role).values()) == {26}


def test_rare_roles_leave_the_whole_balanced() -> None:
    roles = bytes(range(200)) + bytes(200)
    groups = assign_groups(bytes(400), 7, roles=roles)
    assert spread_groups({str(group): count for group, count in Counter(groups).items()}) <= 1
    assert assign_groups(bytes(400), 7, roles=bytes(400)) == assign_groups(bytes(400), 7)


def test_roles_of_chunks_are_those_of_the_whole() -> None:
    whole, first, second = Roles(), Roles(), Roles()
    for number, role in enumerate(["b", "a", "b", "c", "a", "d"]):
        whole.add(role, 2)
        (first if number < 3 else second).add(role, 2)
    joined = Roles()
    joined.extend(list(first.names), bytes(first.numbers))
    joined.extend(list(second.names), bytes(second.numbers))
    assert (joined.names, joined.numbers) == (whole.names, whole.numbers)
    many, parts = Roles(), Roles()
    for number in range(300):
        many.add(str(number), 1)
    parts.extend(list(many.names), bytes(many.numbers))
    assert max(many.numbers) == 254
    assert parts.numbers == many.numbers
