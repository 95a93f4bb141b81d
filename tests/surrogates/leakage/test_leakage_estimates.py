"""How often documents leak recognisably: the formulas, their check by simulation, and the published shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.surrogates.leakage.recognising import leakage, longest_usual_run, simulated

# People a note and mentions a person of a corpus of mixed notes: log-normal (median 40, sigma 1.2) and 1 + negative binomial (mean 4).
_RNG = np.random.default_rng(1)
NOTES = [
    [int(1 + _RNG.negative_binomial(0.6, 0.6 / 3.6)) for _ in range(1 + int(_RNG.poisson(_RNG.lognormal(np.log(40), 1.2))))]
    for _ in range(1500)
]


def test_the_published_shape_is_met():
    few, many = leakage(NOTES, 0.001), leakage(NOTES, 0.05)
    assert 0.92 < many.consistent < 0.97  # published: 94.2%
    assert 0.53 < many.markov < 0.63  # 57.7%
    assert 0.18 < few.consistent < 0.32  # 27.1%
    assert few.markov < 0.003  # 0.1%
    assert many.markov < many.per_mention < many.consistent


@pytest.mark.long
@given(
    st.lists(st.lists(st.integers(1, 12), min_size=0, max_size=5), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.02, 0.1, 0.5]),
    st.sampled_from([0.3, 0.5, 0.8]),
)
@settings(max_examples=15, deadline=None)
def test_simulation_agrees_with_the_formulas(documents, rate, keep):
    exact = leakage(documents, rate, keep=keep)
    thrown = simulated(documents, rate, keep=keep, rounds=1500)
    for name in ("any_miss", "consistent", "per_mention", "markov"):
        assert getattr(thrown, name) == pytest.approx(getattr(exact, name), abs=0.06)


@given(st.lists(st.lists(st.integers(1, 30), max_size=8), min_size=1, max_size=8), st.floats(0, 1), st.floats(0.05, 0.95))
def test_more_hiding_never_leaks_more(documents, rate, keep):
    found = leakage(documents, rate, keep=keep)
    assert 0 <= found.markov <= found.per_mention + 1e-9
    assert found.per_mention <= found.consistent + 1e-9
    assert found.consistent <= found.any_miss + 1e-9 <= 1 + 2e-9


def test_people_named_once_can_be_left_out():
    once = [[1, 1, 1]]
    assert leakage(once, 0.1).consistent == pytest.approx(1 - 0.9**3)
    assert leakage(once, 0.1, singletons=False).consistent == pytest.approx(0)


def test_runs_that_pass_as_usual():
    assert longest_usual_run(0.5) == 5
    assert longest_usual_run(0.0) == 1
    assert longest_usual_run(0.9) == 29


def test_no_documents_and_rates_that_are_none():
    assert leakage([], 0.1).consistent == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        leakage([[1]], 1.5)
