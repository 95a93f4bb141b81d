"""Collisions and the known-pool attack, against hand-made cases."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogates.leakage.collisions import chance_of_any, expected_pairs, observed_pairs, report
from surrogates.leakage.known_pool import attack, auc


def test_the_birthday_problem():
    assert expected_pairs(23, 365) == pytest.approx(0.693, abs=0.001)
    assert chance_of_any(23, 365) == pytest.approx(0.5, abs=0.01)
    assert chance_of_any(400, 365) == 1


def test_pairs_are_counted():
    assert observed_pairs({"a": 3, "b": 1, "c": 2}) == 4
    found = report(Counter({"a": 3, "b": 1}), {"x": (4, 100)})
    assert found == {"people": 4, "distinct_full_names": 2, "observed_pairs": 3, "expected_pairs": 0.06}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_auc_is_the_share_of_pairs_in_order(positive, negative):
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_a_name_outside_the_pool_gives_itself_away():
    found = attack(["Zo", "Ann"], ["Ann", "Bea"], {"Ann", "Bea"}, lambda name: 0.5, lambda name: 0.5)
    assert found.given_away == 0.5
    assert found.membership_auc == 0.75
    assert found.frequency_auc == 0.75


def test_frequency_tells_common_names_from_an_even_pool():
    rng = random.Random(3)
    pool = [f"n{i}" for i in range(100)]
    weights = {name: 1 / (i + 1) for i, name in enumerate(pool)}
    whole = sum(weights.values())
    real = rng.choices(pool, [weights[n] for n in pool], k=800)
    even = rng.choices(pool, k=800)
    found = attack(real, even, set(pool), lambda n: weights[n] / whole, lambda n: 0.01)
    assert found.membership_auc == 0.5
    assert found.frequency_auc > 0.7


def test_one_side_without_names_is_refused():
    with pytest.raises(ValueError, match="needs leftovers"):
        attack([], ["a"], {"a"}, lambda n: 1, lambda n: 1)
