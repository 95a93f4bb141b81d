"""The figures of verdicts and grades, by hand and as properties."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.evaluation.scoring.resampling import ResamplingSettings
from piiloom.evaluation.utility.evaluating import MeanTable, utility_figures
from piiloom.evaluation.utility.options import utility_cases
from piiloom.evaluation.utility.tasks import Disclosed, Grade, PairVerdict, UtilityOutcomes
from piiloom.execution.calls import Lost
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.utility_panel import asthmatics
from tests.longer import EXPLORE, case_by_case

TWO = ("original", "all_masked")
LOST = Lost(code="invalid_reply", message="no JSON", attempts=3, last_reply="{")


def said(better):
    return LOST if better is None else PairVerdict(better=better, reason="r")


def measured(verdicts, *, seed=7, **more):
    """The figures of one record for each of *verdicts*: what was said of (original, all_masked), and of (all_masked, original)."""
    cases, _ = utility_cases(asthmatics(len(verdicts)), shipped_taxonomy(), TWO)
    outcomes = UtilityOutcomes(answers={(case.id, name): name for case in cases for name in TWO}, **more)
    for case, (forth, back) in zip(cases, verdicts, strict=True):
        outcomes.verdicts[case.id, *TWO] = said(forth)
        outcomes.verdicts[case.id, *TWO[::-1]] = said(back)
    return utility_figures(cases, TWO, lambda case, one, other: outcomes.pair(case.id, one, other), outcomes, seed=seed)


def test_the_agreement_of_two_judges_by_hand():
    """Of five pairs that both judges decided: win-win, win-tie, tie-tie (of two kinds), loss-loss, and loss-win."""
    first = [("first", "second"), ("first", "second"), ("tie", "tie"), ("second", "first"), ("second", "first"), ("tie", "tie")]
    then = ["win", "agreed", "position", "loss", "win", None]
    cases, _ = utility_cases(asthmatics(len(first)), shipped_taxonomy(), TWO)
    outcomes = UtilityOutcomes(answers={(case.id, name): name for case in cases for name in TWO})
    for case, (forth, back) in zip(cases, first, strict=True):
        outcomes.verdicts[case.id, *TWO], outcomes.verdicts[case.id, *TWO[::-1]] = said(forth), said(back)
    second = {case.id: result for case, result in zip(cases, then, strict=True)}
    figures = utility_figures(
        cases, TWO, lambda case, *pair: outcomes.pair(case.id, *pair), outcomes, seed=7, second_pair_of=lambda case, *_: second[case.id]
    )
    pair, everything = figures.agreement
    # 3 of 5 are the same; by chance (2·2 + 1·2 + 2·1) / 25 = 8/25 would be.
    assert (pair.pairs, pair.same, pair.kappa) == (5, 0.6, pytest.approx((0.6 - 0.32) / (1 - 0.32)))
    assert (everything.one, everything.pairs, everything.kappa) == ("all", 5, pair.kappa)
    assert [(one.wins, one.ties, one.losses, one.missing, one.preferred) for one in figures.second_pairs] == [(2, 2, 1, 1, 0.4)]
    assert measured([("first", "second")]).agreement == ()


@case_by_case(
    ("forth", "back", "result"),
    [
        ("first", "second", "win"),
        ("second", "first", "loss"),
        ("tie", "tie", "agreed"),
        ("first", "first", "position"),
        ("second", "second", "position"),
        ("first", "tie", "split"),
        ("tie", "second", "split"),
        (None, "second", None),
        ("first", None, None),
    ],
)
def test_an_answer_wins_only_in_both_orders(forth, back, result):
    (pair,) = measured([(forth, back)]).pairs
    assert pair.missing == (result is None)
    assert {name for name, count in pair.results.items() if count} == ({result} if result else set())


def test_win_rates_and_position_bias_by_hand():
    # A win, a loss, an agreed tie, a verdict that follows the position, and one that is missing: (1 + 0 + 0.5 + 0.5) / 4.
    figures = measured([("first", "second"), ("second", "first"), ("tie", "tie"), ("first", "first"), ("first", None)])
    assert figures.variants["original"]["win_rate"].value == figures.variants["all_masked"]["win_rate"].value == 0.5
    assert figures.variants["original"]["win_rate"].of == 4
    assert (figures.followed.value, figures.followed.of) == (0.25, 4)
    # Of 7 verdicts that name an answer, "first" are: one of the win, one of the loss, two of the position, one beside the lost one.
    assert (figures.first.value, figures.first.of) == (pytest.approx(5 / 7), 7)
    (pair,) = figures.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.missing) == (1, 2, 1, 1)
    assert figures.lost == {"utility_judge_pair": {"invalid_reply": 1}}


def test_grades_and_disclosures_are_means_over_records():
    grades = {
        ("r0", "original"): Grade(score=1.0, reason="r"),
        ("r1", "original"): Grade(score=0.5, reason="r"),
        ("r1", "all_masked"): LOST,
    }
    told = Disclosed(context=1.0, answer=0.5, reason="r"), Disclosed(context=0.0, answer=0.0, reason="r")
    figures = measured([("tie", "tie")] * 2, grades=grades, disclosures={("r0", "original"): told})
    mine = figures.variants["original"]
    assert (mine["completeness"].value, mine["completeness"].of) == (0.75, 2)
    assert figures.variants["all_masked"]["completeness"].value is None
    assert (mine["violation_context_judge"].value, mine["violation_answer_judge"].value) == (0.5, 0.25)
    assert (mine["violation_context_exact"].value, figures.variants["all_masked"]["violation_context_exact"].value) == (1.0, 0.0)
    assert mine["violation_answer_exact"].value == 0.0
    assert mine["answer_words"].value == 1.0
    assert figures.lost == {"utility_judge_completeness": {"invalid_reply": 1}}


_SAID = st.sampled_from(["first", "second", "tie", None])


@settings(max_examples=200 if EXPLORE else 12)
@given(st.lists(st.tuples(_SAID, _SAID), min_size=1, max_size=12), st.randoms())
def test_the_order_of_records_changes_nothing_and_wins_mirror_losses(verdicts, rng):
    figures = measured(verdicts)
    (pair,) = figures.pairs
    assert pair.wins + pair.ties + pair.losses + pair.missing == len(verdicts)
    rates = [figures.variants[name]["win_rate"] for name in TWO]
    if rates[0].value is not None:
        assert rates[0].value + rates[1].value == pytest.approx(1.0)
        assert rates[0].interval is None or 0 <= rates[0].interval.low <= rates[0].interval.high <= 1
    # The other side of every verdict: wins and losses change places, the bias stays.
    other = {"first": "second", "second": "first", "tie": "tie", None: None}
    mirrored = measured([(other[forth], other[back]) for forth, back in verdicts])
    assert (mirrored.pairs[0].wins, mirrored.pairs[0].losses) == (pair.losses, pair.wins)
    assert mirrored.followed.value == figures.followed.value


def test_intervals_are_of_documents_and_equal_for_equal_seeds():
    rng = random.Random(3)
    values = [(f"d{number}", float(rng.random() < 0.6)) for number in range(200)]

    def table(rows, *, copies=1):
        made = MeanTable()
        for document, value in rows:
            for _ in range(copies):
                made.add(document, "m", value)
        return made.figures(ResamplingSettings(seed=7))["m"]

    figure = table(values)
    assert figure == table(values[::-1])
    assert figure.interval.low < figure.value < figure.interval.high
    # Binomial: 1.96 · √(p (1 − p) / n).
    spread = 1.96 * (figure.value * (1 - figure.value) / 200) ** 0.5
    assert figure.interval.high - figure.interval.low == pytest.approx(2 * spread, rel=0.15)
    # Four records of one document say no more than one.
    again = table(values, copies=4)
    assert again == replace(figure, of=800)


def test_one_document_has_no_interval_and_nothing_no_mean():
    made = MeanTable()
    made.add("d", "m", 0.5)
    made.add("d", "m", None)
    made.add("d", "none", None)
    figures = made.figures(ResamplingSettings(seed=7))
    assert (figures["m"].value, figures["m"].interval, figures["m"].of) == (0.5, None, 1)
    assert (figures["none"].value, figures["none"].of) == (None, 0)
    assert MeanTable().figures(ResamplingSettings(seed=7)) == {}


def test_records_in_any_order_give_the_same_intervals():
    verdicts = [("first", "second"), ("tie", "tie"), ("second", "first")]
    cases, _ = utility_cases(asthmatics(3), shipped_taxonomy(), TWO)
    found = []
    for order in permutations(range(3)):
        outcomes = UtilityOutcomes(answers={(case.id, name): name for case in cases for name in TWO})
        for case, (forth, back) in zip(cases, verdicts, strict=True):
            outcomes.verdicts[case.id, *TWO] = said(forth)
            outcomes.verdicts[case.id, *TWO[::-1]] = said(back)
        shuffled = [cases[number] for number in order]
        figures = utility_figures(shuffled, TWO, lambda case, one, other, kept=outcomes: kept.pair(case.id, one, other), outcomes, seed=7)
        found.append(figures.to_json())
    assert all(one == found[0] for one in found)
