"""The draws of many plans together: lengths, how many values of which relevance, which comes first."""

from __future__ import annotations

import random
from collections import Counter
from itertools import cycle
from statistics import median, quantiles

import pytest

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.plan.plan_values import draw_length, draw_low_count
from piiloom.generation.plan.planning import CUE_WEIGHTS
from piiloom.generation.settings.configuration import RunConfig
from piiloom.taxonomy.bank_checks import CUE_LEVELS
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.text_shapes import SECOND_HAND, load_registers
from tests.generation.composed_items import planned
from tests.generation.test_planning import of_relevance, unbanked
from tests.longer import case_by_case

BANK = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
PLANS = 3000


@pytest.fixture(scope="module")
def plans():
    """Plans over all scenarios of the bank."""
    return [planned(index, scenario, bank=BANK) for index, scenario in zip(range(PLANS), cycle(BANK.scenarios.values()), strict=False)]


@case_by_case("name", load_registers())
def test_lengths_are_near_those_of_their_register(name):
    register = load_registers()[name]
    rng = derive_rng("lengths", name)
    drawn = [draw_length(register, rng) for _ in range(1000)]
    shortest, middle, longest = register.words
    cuts = quantiles(drawn, n=20)
    assert median(drawn) == pytest.approx(middle, rel=0.08)
    assert cuts[0] == pytest.approx(shortest, rel=0.15, abs=1)
    assert cuts[-1] == pytest.approx(longest, rel=0.15)
    assert all(6 <= words <= 620 for words in drawn)


def test_longer_texts_have_more_low_values_up_to_what_their_register_bears():
    for register in load_registers().values():
        rng = random.Random(4)
        counts = {words: [draw_low_count(words, register, rng) for _ in range(500)] for words in (12, 60, 300)}
        means = [sum(drawn) / 500 for drawn in counts.values()]
        assert means[0] < 1.2
        assert means == sorted(means)
        assert max(max(drawn) for drawn in counts.values()) <= register.low_spans
        # Now and then a text has none, however long it is.
        assert all(drawn.count(0) / 500 > 0.03 for drawn in counts.values())


def test_target_lengths_follow_the_register(plans):
    for name, register in load_registers().items():
        lengths = [plan.target_words for plan in plans if plan.register == name]
        assert median(lengths) == pytest.approx(register.words[1], rel=0.2)


def test_registers_are_drawn_by_weight(plans):
    drawn = Counter(plan.register for plan in plans)
    weights = {name: register.weight for name, register in load_registers().items()}
    for name, weight in weights.items():
        assert drawn[name] / PLANS == pytest.approx(weight / sum(weights.values()), abs=0.025)


def test_cue_levels_have_their_shares(plans):
    levels = Counter(plan.cue_level for plan in plans)
    assert [levels[level] / PLANS for level in CUE_LEVELS] == pytest.approx(CUE_WEIGHTS, abs=0.03)


def test_the_number_of_values_that_matter_gives_nothing_away(plans):
    counts = Counter(len(of_relevance(plan, "high")) for plan in plans)
    assert set(counts) == {0, 1, 2, 3, 4}
    # Were it nearly always two, as in sets whose texts are all made for a pair, relevance could be told by counting.
    assert counts[2] / PLANS < 0.5
    assert 0.15 < counts[1] / PLANS < 0.4
    assert 0.15 < (counts[3] + counts[4]) / PLANS < 0.5
    assert len({len(of_relevance(plan, "low")) for plan in plans}) >= 9


def test_a_few_texts_disclose_nothing(plans):
    assert sum(not plan.wanted for plan in plans) / PLANS == pytest.approx(RunConfig().no_pii_share, abs=0.012)
    scenario = next(iter(BANK.scenarios.values()))
    assert all(planned(index, scenario, bank=BANK, composer={"distractors": False}).wanted for index in range(300))


def test_short_texts_have_two_values_that_matter_at_most(plans):
    short = [plan for plan in plans if plan.target_words < 22]
    assert len(short) > 50
    assert all(len(of_relevance(plan, "high")) <= 2 for plan in short)


def test_a_type_is_often_of_both_relevances(plans):
    both = [{v.entity_type for v in of_relevance(plan, "high")} & {v.entity_type for v in of_relevance(plan, "low")} for plan in plans]
    assert sum(map(bool, both)) / PLANS >= 0.25


def test_every_type_is_mentioned_in_passing(plans):
    types = Counter(value.entity_type for plan in plans for value in of_relevance(plan, "low"))
    assert set(types) == set(shipped_taxonomy().types)
    assert min(types.values()) / types.total() > 0.015
    assert max(types.values()) / types.total() < 0.25


def test_somebody_elses_facts_are_told_too(plans):
    subjects = Counter(value.subject.partition("v")[0] for plan in plans for value in plan.wanted)
    assert 0.05 < 1 - subjects["self"] / subjects.total() < 0.4
    assert subjects["@"]


def test_leads_are_as_likely_as_their_share_of_sentences(plans):
    for movable in (1, 2, 3):
        led = [plan for plan in plans if plan.wanted and plan.register != SECOND_HAND and _movable(plan) == movable]
        share = sum(plan.lead == "high" for plan in led) / len(led)
        assert share == pytest.approx(1 / (1 + movable), abs=0.07)


def _movable(plan):
    return sum(not aside.closing for aside in plan.asides)


def test_without_a_bank_the_shares_are_alike():
    plans = [unbanked(index) for index in range(1000)]
    counts = Counter(len(of_relevance(plan, "high")) for plan in plans)
    assert set(counts) == {0, 1, 2, 3, 4}
    assert {value.entity_type for plan in plans for value in of_relevance(plan, "low")} == set(shipped_taxonomy().types)
    both = [{v.entity_type for v in of_relevance(plan, "high")} & {v.entity_type for v in of_relevance(plan, "low")} for plan in plans]
    assert sum(map(bool, both)) / 1000 >= 0.25
