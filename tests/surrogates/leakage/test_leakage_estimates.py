"""How often documents leak recognisably: the formulas, their check by simulation, and the published shape."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.surrogates.leakage.attacks import leaking_shares, longest_usual_run

# People a note and mentions a person of a corpus of mixed notes: log-normal (median 40, sigma 1.2) and 1 + negative binomial (mean 4).
_RNG = np.random.default_rng(1)
NOTES = [
    [int(1 + _RNG.negative_binomial(0.6, 0.6 / 3.6)) for _ in range(1 + int(_RNG.poisson(_RNG.lognormal(np.log(40), 1.2))))]
    for _ in range(1500)
]


def test_the_published_shape_is_met():
    few, many = leaking_shares(NOTES, 0.001), leaking_shares(NOTES, 0.05)
    assert 0.92 < many["consistent"] < 0.97  # published: 94.2%
    assert 0.53 < many["markov"] < 0.63  # 57.7%
    assert 0.18 < few["consistent"] < 0.32  # 27.1%
    assert few["markov"] < 0.003  # 0.1%
    assert many["markov"] < many["per-mention"] < many["consistent"]


def simulated(documents, miss_rate, keep, rounds):
    """The shares when misses are drawn in *rounds* copies of the documents."""
    rng = np.random.default_rng(0)
    usual = longest_usual_run(keep)
    counts = np.zeros(4)
    for _ in range(rounds):
        for document in documents:
            leaks = np.zeros(4, dtype=bool)
            for mentions in document:
                places = np.flatnonzero(rng.random(mentions) < miss_rate)
                missed = len(places)
                one_run = missed == 0 or int(places[-1] - places[0]) + 1 == missed
                leaks |= np.array([missed > 0, missed > 0, missed > 1, missed > 1 and not (one_run and missed <= usual)])
            counts += leaks
    return counts / (rounds * len(documents))


@pytest.mark.long
@given(
    st.lists(st.lists(st.integers(1, 12), min_size=0, max_size=5), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.02, 0.1, 0.5]),
    st.sampled_from([0.3, 0.5, 0.8]),
)
@settings(max_examples=15, deadline=None)
def test_simulation_agrees_with_the_formulas(documents, rate, keep):
    exact = leaking_shares(documents, rate, keep=keep)
    assert simulated(documents, rate, keep, 1500) == pytest.approx(list(exact.values()), abs=0.06)


@given(st.lists(st.lists(st.integers(1, 30), max_size=8), min_size=1, max_size=8), st.floats(0, 1), st.floats(0.05, 0.95))
def test_more_hiding_never_leaks_more(documents, rate, keep):
    found = leaking_shares(documents, rate, keep=keep)
    assert list(found) == ["any_miss", "consistent", "per-mention", "markov"]
    shares = [1, *found.values(), 0]
    assert all(less <= more + 1e-9 for more, less in pairwise(shares))


def test_runs_that_pass_as_usual():
    assert longest_usual_run(0.5) == 5
    assert longest_usual_run(0.0) == 1
    assert longest_usual_run(0.9) == 29


def test_no_documents_leak_nothing():
    assert set(leaking_shares([], 0.1).values()) == {0}
