"""What scores mean: held-out groups, Platt's sigmoid, and how far said and right are apart."""

from __future__ import annotations

import random
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.noop import noop
from piiloom.tagging.model import Calibration, TaggingExample, expected_error, log_odds_of, reliability, reliability_json
from piiloom.tagging.training import LEAST, ScoredAnswer, calibrate_on, calibrate_on_held_out, fit_calibration, groups_of, split_groups
from tests.longer import few
from tests.tagging.trained import example, small_model

KEYS = st.lists(st.sampled_from("abcdefgh"), max_size=2).map(tuple)


def plain(number: int, keys: tuple[str, ...]) -> TaggingExample:
    return TaggingExample(context=f"text {number}", question="", spans=(), group_keys=keys)


@few
@given(keys=st.lists(KEYS, max_size=12), seed=st.integers(0, 3))
def test_no_group_is_in_both_parts(keys, seed):
    examples = [plain(number, own) for number, own in enumerate(keys)]
    kept, held = split_groups(examples, 0.3, seed=seed)
    assert sorted(one.context for one in kept + held) == sorted(one.context for one in examples)
    assert not {key for one in kept for key in one.group_keys} & {key for one in held for key in one.group_keys}
    assert bool(held) == (len(groups_of(examples)) > 1)


def test_equal_texts_belong_together():
    twice = [plain(1, ()), plain(2, ()), plain(1, ())]
    assert [len(group) for group in groups_of(twice)] == [2, 1]


def test_a_fifth_is_held_out_and_which_depends_on_the_seed():
    examples = [plain(number, ()) for number in range(100)]
    parts = [split_groups(examples, 0.2, seed=seed)[1] for seed in (1, 1, 2)]
    assert [len(part) for part in parts] == [20, 20, 20]
    assert parts[0] == parts[1] != parts[2]


def test_error_of_a_case_counted_by_hand():
    said, right = [0.05, 0.95, 0.95, 1.0], [False, True, True, False]
    bins = reliability(said, right)
    assert [(one.count, one.right) for one in bins] == [(1, 0.0), (3, 2 / 3)]
    assert expected_error(bins) == pytest.approx((0.05 + 3 * abs(2.9 / 3 - 2 / 3)) / 4)
    assert expected_error([]) is None
    assert reliability_json([], [])["ece"] is None


@pytest.mark.parametrize("probability", [0.3, 0.0001, 0.9999, 0.5])
def test_a_probability_survives_its_log_odds(probability):
    assert Calibration().probability(log_odds_of(probability)) == pytest.approx(probability)
    assert Calibration().probability(log_odds_of(probability > 0.5)) == pytest.approx(0.9999 if probability > 0.5 else 0.0001)


def test_probabilities_do_not_overflow():
    assert [Calibration(slope=50, offset=0).probability(odds) for odds in (-100, 0, 100)] == [0.0, 0.5, 1.0]


def test_overconfidence_is_learnt():
    rng = random.Random(5)
    odds = [rng.uniform(-6, 6) for _ in range(2000)]
    answers = [ScoredAnswer(one, rng.random() < 1 / (1 + exp(-one / 2 - 0.5))) for one in odds]
    made = fit_calibration(answers)
    assert (made.slope, made.offset) == (pytest.approx(0.5, abs=0.08), pytest.approx(0.5, abs=0.15))


def test_certainty_and_nonsense_are_never_learnt():
    sure = fit_calibration([ScoredAnswer(3.0, right=True)] * 50)
    assert 0.9 < sure.probability(3.0) < 1
    contrary = fit_calibration([ScoredAnswer(odds, right=odds < 0) for odds in (-2.0, -1.0, 1.0, 2.0) for _ in range(10)])
    assert (contrary.slope, contrary.probability(9.0)) == (0.0, pytest.approx(0.5))
    assert fit_calibration([ScoredAnswer(1.0, right=True)] * (LEAST - 1)) is None


def test_calibrated_on_a_file():
    made = calibrate_on([example(seed) for seed in range(60, 100)], small_model().spans, small_model().relevance, seed=7)
    assert made.spans is not None
    assert made.figures["records"] == 40
    assert 100 < made.figures["spans"]["count"] <= 125
    assert sum(one["count"] for one in made.figures["spans"]["bins"]) == made.figures["spans"]["count"]
    assert made.figures["relevance"]["count"] == 120
    assert made.figures["spans"]["ece"] < 0.1


def test_held_out_groups_are_not_learnt_from():
    learnt = [example(seed, group_keys=(f"story:{seed % 10}",)) for seed in range(60)]
    made = calibrate_on_held_out(learnt, noop, seed=7)
    assert made.figures["trained_records"] + made.figures["records"] == 60
    assert made.figures["records"] == 12


def test_one_group_leaves_nothing_to_calibrate_on():
    made = calibrate_on_held_out([example(seed, group_keys=("all",)) for seed in range(20)], noop, seed=7)
    assert (made.spans, made.relevance) == (None, None)
    assert "too few groups" in made.figures["on"]
