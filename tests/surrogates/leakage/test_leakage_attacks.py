"""Collisions and the known-pool attack, against hand-made cases."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates.leakage.attacks import agreement_of, auc, collision_report, expected_pairs, observed_pairs, pool_attack


def test_the_birthday_problem():
    assert expected_pairs([23], np.array([[1 / 365]])) == pytest.approx(0.693, abs=0.001)
    assert expected_pairs([2, 3], np.array([[0.5, 0.1], [0.1, 0.25]])) == pytest.approx(1 * 0.5 + 3 * 0.25 + 6 * 0.1)


def test_pairs_are_counted():
    assert observed_pairs({"a": 3, "b": 1, "c": 2}) == 4


class FewNames:
    """Two given names and *families* family names in the one country that each region has."""

    def __init__(self, families):
        self._families = families

    def countries(self, region):
        return (region,)

    def given(self, country, gender):
        return (f"{country} {gender} 1", f"{country} {gender} 2")

    def family(self, country, gender=None):
        return tuple(f"{country} {gender} {number}" for number in range(self._families))


def test_pairs_of_people_who_are_cast_are_as_many_as_chance_has_it():
    found = collision_report(FewNames(500), 3003, 5)
    assert set(found["full_names_by_group"].values()) == {1000}
    assert found["expected_pairs_with_one_name"] == pytest.approx((3 * 301 * 300 + 7 * 300 * 299) / 2000)
    assert found["observed_pairs_with_one_name"] == pytest.approx(found["expected_pairs_with_one_name"], abs=85)  # four deviations
    assert found["chance_of_any_such_pair"] == 1
    assert collision_report(FewNames(500), 3003, 5) == found


def test_few_people_have_names_of_their_own():
    found = collision_report(FewNames(500), 14, 5)
    assert found["expected_pairs_with_one_name"] == pytest.approx(4 / 1000)
    assert found["observed_pairs_with_one_name"] == 0
    assert found["chance_of_any_such_pair"] == 0.004


class Shared(FewNames):
    """Both genders and all regions share one given name, and their only family name."""

    def given(self, country, gender):
        return (f"{country} {gender}", "Kim")

    def family(self, country, gender=None):
        return ("Lee",)


def test_groups_and_countries_that_share_names_share_people_of_one_name():
    agreement = agreement_of(Shared(1))
    assert agreement == pytest.approx(np.where(np.eye(10, dtype=bool), 1 / 2, 1 / 4))


@pytest.mark.long
def test_the_built_in_names_come_together_as_often_as_is_expected():
    found = collision_report(NamePools(builtin()), 50_000, 7)
    assert found["observed_pairs_with_one_name"] == pytest.approx(found["expected_pairs_with_one_name"], rel=0.15)  # some five deviations


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_auc_is_the_share_of_pairs_in_order(positive, negative):
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_a_name_outside_the_pool_gives_itself_away():
    found = pool_attack(["Zo", "Ann"], ["Ann", "Bea"], {"Ann", "Bea"}, lambda name: 0.5, lambda name: 0.5)
    assert found["given_away"] == 0.5
    assert found["membership_auc"] == 0.75
    assert found["frequency_auc"] == 0.75


def test_frequency_tells_common_names_from_an_even_pool():
    rng = random.Random(3)
    pool = [f"n{i}" for i in range(100)]
    weights = {name: 1 / (i + 1) for i, name in enumerate(pool)}
    whole = sum(weights.values())
    real = rng.choices(pool, [weights[n] for n in pool], k=800)
    even = rng.choices(pool, k=800)
    found = pool_attack(real, even, set(pool), lambda n: weights[n] / whole, lambda n: 0.01)
    assert found["membership_auc"] == 0.5
    assert found["frequency_auc"] > 0.7
