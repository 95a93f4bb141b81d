"""Approximate randomisation: exact for few clusters, near to exact for more, 1 for equal systems, and honest where there is nothing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.scoring import resampling as randomisation
from piiloom.evaluation.scoring.resampling import EXACT_UP_TO, holm, permutation_p
from tests.evaluation.scored_pairs import exact_scheme, f1, random_counts
from tests.longer import EXPLORE, case_by_case, few


def p_between(one, other, rounds=500, seed=7):
    return permutation_p(exact_scheme(), [one, other], ["f1"], rounds=rounds, seed=seed)["f1"][0, 1]


def p_by_enumeration(one, other):
    """All ways to swap, one after the other."""
    observed = abs(f1(one.sum(axis=0)) - f1(other.sum(axis=0)))
    extreme = ways = 0
    for swaps in product([False, True], repeat=len(one)):
        swap = np.array(swaps)[:, None]
        first, second = np.where(swap, other, one), np.where(swap, one, other)
        extreme += abs(f1(first.sum(axis=0)) - f1(second.sum(axis=0))) >= observed - 1e-10
        ways += 1
    return extreme / ways


def test_two_documents_by_hand():
    """One tp each for the first system, one fn each for the other: F1 1 and 0.

    Of the 4 ways, no swap and both give a difference of 1; one swap gives two systems of F1 2/3 each. So p = 2/4.
    """
    assert p_between(np.array([[1.0, 0, 0], [1, 0, 0]]), np.array([[0.0, 0, 1], [0, 0, 1]])) == 0.5


@case_by_case("seed", range(5))
def test_few_clusters_are_enumerated(seed):
    rng = np.random.default_rng(seed)
    one, other = random_counts(rng, 8), random_counts(rng, 8)
    assert p_between(one, other) == p_by_enumeration(one, other)


def test_clusters_in_which_both_are_equal_do_not_hinder_that():
    rng = np.random.default_rng(8)
    one = random_counts(rng, 300)
    other = one.copy()
    other[:5] += rng.integers(0, 4, size=(5, 3))
    # Whether the equal ones are swapped changes nothing, so 2 ** 5 ways are enough.
    assert p_between(one, other) * 32 == int(p_between(one, other) * 32)


@case_by_case("shift", [0, 1])
def test_chance_comes_near_to_enumeration(shift):
    rng = np.random.default_rng(9)
    one, other = random_counts(rng, EXACT_UP_TO + 1), random_counts(rng, EXACT_UP_TO + 1)
    other[:, 0] += shift
    exact = p_by_enumeration(one, other)
    rounds = 20_000
    assert p_between(one, other, rounds=rounds) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / rounds) + 1 / rounds)


def test_equal_systems_have_p_1():
    rows = random_counts(np.random.default_rng(10), 50)
    assert p_between(rows, rows.copy()) == 1
    assert p_between(rows[:0], rows[:0]) == 1
    # Not equal, but of equal totals: the observed difference is 0, and all are as large.
    assert p_between(rows, rows[::-1].copy()) == 1


def test_the_least_p_is_1_of_all_rounds():
    one, other = np.tile([5.0, 0, 0], (200, 1)), np.tile([1.0, 2, 4], (200, 1))
    assert p_between(one, other, rounds=99) == 1 / 100


def test_one_cluster_tells_nothing():
    assert p_between(np.array([[9.0, 0, 0]]), np.array([[0.0, 9, 9]])) == 1


def test_a_pair_does_not_depend_on_other_systems_and_pairs_are_symmetric():
    rng = np.random.default_rng(11)
    systems = [random_counts(rng, 30) for _ in range(4)]
    p = permutation_p(exact_scheme(), systems, ["precision", "f1"], rounds=200, seed=1)
    for name in ("precision", "f1"):
        assert np.array_equal(p[name], p[name].T)
        assert p[name].diagonal().tolist() == [1, 1, 1, 1]
    assert p["f1"][1, 3] == p_between(systems[1], systems[3], rounds=200, seed=1)
    assert not np.array_equal(p["precision"], p["f1"])


def test_how_many_rounds_are_done_at_once_changes_nothing(monkeypatch):
    rng = np.random.default_rng(12)
    one, other = random_counts(rng, 70), random_counts(rng, 70)
    whole = p_between(one, other)
    for tossed in (1, 70, 500, 100_000):
        monkeypatch.setattr(randomisation, "_TOSSED", tossed)
        assert p_between(one, other) == whole


COUNTS = st.lists(st.tuples(*[st.integers(0, 4)] * 6), min_size=1, max_size=18)


@few
@given(counts=COUNTS)
def test_p_is_a_share_that_does_not_depend_on_which_comes_first(counts):
    rows = np.array(counts, dtype=float)
    p = p_between(rows[:, :3], rows[:, 3:], rounds=50)
    assert 0 < p <= 1
    assert p_between(rows[:, 3:], rows[:, :3], rounds=50) == p


def test_holm_by_hand():
    # In order .01 × 3 = .03, .03 × 2 = .06, .04 × 1 = .04, which is no less than the one before: .06.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


@few
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_the_raw_value_and_bonferroni_and_keeps_the_order(values):
    adjusted = holm(values)
    for value, after in zip(values, adjusted, strict=True):
        assert value <= after <= min(1, value * len(values)) + 1e-12
    assert [adjusted[at] for at in np.argsort(values, kind="stable")] == sorted(adjusted)


@pytest.mark.long
def test_where_there_is_no_difference_few_tests_say_so():
    rng = np.random.default_rng(13)
    trials = 1500 if EXPLORE else 500  # a share of few trials would tell nothing
    said = 0
    for trial in range(trials):
        ease = rng.beta(3, 2, size=60)
        hits = rng.binomial(5, ease[:, None], size=(60, 2))
        one, other = (np.stack([hit, np.zeros(60), 5 - hit], axis=1).astype(float) for hit in hits.T)
        said += p_between(one, other, rounds=199, seed=trial) <= 0.05
    assert said / trials == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / trials))
