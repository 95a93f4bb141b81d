"""The plan: even over pairs, the same whatever its length, and coherent item by item."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.generation.plan.plan_values import ValuePlan, draw_high
from piiloom.generation.plan.planning import horizons, make_plan_item, pair_order, planned_for, triplets_needed
from piiloom.generation.settings.configuration import RunConfig
from piiloom.taxonomy.bank_checks import CUE_LEVELS, OF_RELATIVE
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.scenarios import Also, fact_of
from piiloom.taxonomy.text_shapes import SECOND_HAND, load_registers
from tests.generation.composed_items import planned
from tests.generation.composer_bits import SCENARIO, rngs
from tests.longer import examples

CONFIG = RunConfig()
PAIR = ("health", "occupation")
TRIPLET = ("shift work", "night rota")
BANK = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
scenarios = st.sampled_from(tuple(BANK.scenarios.values()))
registers = st.sampled_from(tuple(load_registers()))
indexes = st.integers(0, 10**6)


def unbanked(index, *, pair=PAIR, triplet=TRIPLET, **settings):
    """Plan item *index* for a provider that needs no bank."""
    return make_plan_item(index, pair, triplet, config=RunConfig(**settings), digest="digest", bank=None)


def of_relevance(plan, relevance):
    return [value for value in plan.wanted if value.relevance == relevance]


def test_the_order_of_pairs_is_a_seeded_permutation():
    order = pair_order(CONFIG)
    assert sorted(order) == sorted(shipped_taxonomy().pairs)
    assert order == pair_order(RunConfig(samples=9999, concurrency=1))
    assert order != pair_order(RunConfig(seed=8))
    assert order != list(shipped_taxonomy().pairs)


def test_chosen_pairs_only():
    config = RunConfig(pairs="age+belief,health+occupation")
    assert sorted(pair_order(config)) == [("age", "belief"), ("health", "occupation")]


@given(st.integers(0, 20_000), st.integers(1, 78))
@settings(deadline=None)
def test_triplets_are_needed_for_exactly_the_planned_items(planned, pairs):
    needed = [triplets_needed(planned, pairs, position) for position in range(pairs)]
    dealt = Counter(index % pairs for index in range(planned))
    assert needed == [dealt[position] for position in range(pairs)]
    assert max(needed) - min(needed) <= 1


@given(st.integers(1, 100_000), st.floats(0, 10))
@settings(deadline=None)
def test_more_is_planned_than_wanted(samples, margin):
    assert planned_for(samples, margin) > samples


def test_each_horizon_adds_twice_what_is_missing_until_nothing_is_or_four_times_as_much_is_planned():
    config = RunConfig(samples=10, margin=0.0)
    assert list(horizons(config, lambda: 25)) == [(0, 30), (30, 80), (80, 120)]
    assert list(horizons(config, lambda: 1)) == [(0, 30), (30, 50), (50, 70), (70, 90), (90, 110), (110, 120)]
    left = iter([10, 3, 3, 0, 0])
    assert list(horizons(config, lambda: next(left))) == [(0, 30), (30, 50)]


@given(indexes, scenarios, registers, st.integers(0, 8))
@settings(deadline=None, max_examples=examples(150))
def test_an_item_of_the_bank_is_coherent(index, scenario, register, most):
    plan = planned(index, scenario, bank=BANK, registers=(register,), max_low=most)
    check_shape(plan, most)
    chosen = BANK.scenarios[plan.scenario]
    assert chosen in BANK.find(scenario.pair, scenario.topic)
    for value in of_relevance(plan, "high"):
        uses = chosen.uses.get(value.entity_type) or chosen.also[value.entity_type].uses
        assert set(value.subtypes) <= set(uses)
        owner = chosen.subjects.get(value.entity_type, "self")
        assert value.subject == ("@v1" if owner == OF_RELATIVE else owner)
    check_frames(plan)


@given(indexes, st.sampled_from(shipped_taxonomy().pairs), registers, st.integers(0, 8))
@settings(deadline=None, max_examples=examples(150))
def test_an_item_without_a_bank_is_coherent(index, pair, register, most):
    plan = unbanked(index, pair=pair, registers=(register,), max_low=most)
    check_shape(plan, most)
    assert plan.scenario is None
    pairable = {kind.name for kind in shipped_taxonomy().types.values() if kind.pairable}
    assert {value.entity_type for value in of_relevance(plan, "high")} <= pairable
    assert all(aside.frame is None and not aside.closing and len(aside.values) <= 2 for aside in plan.asides)
    assert all(aside.opening or value != ("asked_for",) for aside in plan.asides for value in subtypes_of(plan, aside))


def check_shape(plan, most):
    """What any plan keeps to."""
    high, low = of_relevance(plan, "high"), of_relevance(plan, "low")
    assert [value.id for value in plan.wanted] == [f"v{number}" for number in range(1, len(plan.wanted) + 1)]
    assert list(plan.wanted) == high + low
    assert len(high) <= 4
    assert len({value.entity_type for value in high}) == len(high)
    if plan.wanted:
        assert high
        assert len(high) > 1 or high[0].entity_type in plan.pair
        assert len(high) == 1 or set(plan.pair) <= {value.entity_type for value in high}
    openings = [aside for aside in plan.asides if aside.opening]
    assert len(low) <= most + len(openings)
    assert openings == (list(plan.asides[:1]) if plan.register == SECOND_HAND and plan.wanted else [])
    assert all(len(value.subtypes) == 1 for value in plan.wanted)
    assert [value_id for aside in plan.asides for value_id in aside.values] == [value.id for value in low]
    assert plan.cue_level in CUE_LEVELS
    check_lead(plan, high, low)
    check_facts(plan)
    check_subjects(plan)
    check_lengths(plan)


def check_lead(plan, high, low):
    if not plan.wanted:
        assert (plan.lead, plan.asides) == (None, ())
    elif any(aside.opening for aside in plan.asides):
        assert plan.lead == "low"
    elif all(aside.closing for aside in plan.asides):
        assert plan.lead == "high"
    else:
        assert plan.lead in {"high", "low"}
        assert low


def check_facts(plan):
    """Of nobody in particular (a roommate, a coworker) two may be told of; of the writer and of who is named, each fact once."""
    stated = [(value.subject, fact_of(value.entity_type, value.subtypes[0])) for value in plan.wanted]
    known = [(subject, fact) for subject, fact in stated if fact is not None and (subject == "self" or subject.startswith("@"))]
    assert len(set(known)) == len(known)


def check_subjects(plan):
    """ "@v3" is a word for a person in the relations of the writer, asked for earlier or in the same aside."""
    order = {value.id: value for value in plan.wanted}
    for place, value in enumerate(plan.wanted):
        if value.subject.startswith("@"):
            person = order[value.subject[1:]]
            assert person.entity_type == "relationship"
            assert set(person.subtypes) <= {"kin", "named_kin"}  # "my wife", "my wife Susan"
            assert person.subject == "self"
            together = any({value.id, person.id} <= set(aside.values) for aside in plan.asides)
            assert together or plan.wanted.index(person) < place


def check_lengths(plan):
    assert plan.context_words[0] <= plan.target_words <= plan.context_words[1]
    assert 1 <= plan.situation_words[0] <= plan.situation_words[1]
    assert plan.context_words[0] <= plan.situation_words[0]
    assert plan.context_words[1] >= plan.situation_words[1] + plan.peripheral_words[1] * len(plan.asides)


def check_frames(plan):
    """Each frame once, with its values in its slots; one ending at most."""
    frames = [BANK.frames[aside.frame] for aside in plan.asides if not aside.opening]
    assert len({frame.index for frame in frames}) == len(frames)
    assert sum(aside.closing for aside in plan.asides) <= 1
    for aside in plan.asides:
        if not aside.opening:
            frame = BANK.frames[aside.frame]
            wanted = [value for value in plan.wanted if value.id in aside.values]
            assert frame.slots == tuple((value.entity_type, *value.subtypes) for value in wanted)
            assert frame.last == aside.closing
            subjects = [OF_RELATIVE if value.subject.startswith("@") else value.subject for value in wanted]
            assert subjects == [frame.subject(value.entity_type) for value in wanted]


def subtypes_of(plan, aside):
    return [value.subtypes for value in plan.wanted if value.id in aside.values]


def test_a_fact_of_a_relative_comes_with_the_relative():
    kin = [scenario for scenario in BANK.scenarios.values() if OF_RELATIVE in scenario.subjects.values()]
    assert kin
    for number, scenario in enumerate(kin * 4):
        plan = planned(number, scenario, bank=BANK)
        for value in of_relevance(plan, "high"):
            if BANK.scenarios[plan.scenario].subjects.get(value.entity_type) == OF_RELATIVE:
                assert value.subject == "@v1"
                assert plan.wanted[0].entity_type == "relationship"


@given(rngs, st.integers(8, 300))
@settings(deadline=None)
def test_a_relative_of_no_type_of_the_pair_is_told_of_too(rng, words):
    kin = Also(uses=("kin",), why="whose sleep it is", tells=("It is about my {relationship}.",))
    scenario = replace(SCENARIO, subjects={"health": OF_RELATIVE}, also={"relationship": kin})
    values = ValuePlan(scenario.pair, None, taxonomy=shipped_taxonomy())
    draw_high(values, scenario, words, rng)
    known = {value.id: value.entity_type for value in values.wanted}
    for value in values.wanted:
        assert (value.subject == "@v1") == (value.entity_type == "health")
        assert value.entity_type != "health" or known["v1"] == "relationship"


def test_an_item_depends_on_its_index_seed_and_digest_only():
    assert unbanked(7) == unbanked(7, samples=5, concurrency=1, margin=3)
    assert unbanked(7) != unbanked(8)
    assert unbanked(7) != unbanked(7, seed=8)
    assert unbanked(7) != make_plan_item(7, PAIR, TRIPLET, config=CONFIG, digest="another", bank=None)
    scenario = next(iter(BANK.scenarios.values()))
    assert planned(7, scenario, bank=BANK) == planned(7, scenario, bank=BANK, samples=5)
    assert planned(7, scenario, bank=BANK) != planned(8, scenario, bank=BANK)


@pytest.mark.parametrize("bank", [BANK, None], ids=["composer", "model"])
def test_lengths_that_are_given_rule_every_item(bank):
    config = RunConfig(situation_words=(11, 12), peripheral_words=(6, 9), question_words=(5, 8))
    scenario = next(iter(BANK.scenarios.values()))
    plans = [
        make_plan_item(index, scenario.pair, (scenario.topic, scenario.subtopics[0]), config=config, digest="d", bank=bank)
        for index in range(30)
    ]
    assert {(plan.situation_words, plan.peripheral_words, plan.question_words) for plan in plans} == {((11, 12), (6, 9), (5, 8))}
    assert {(plan.situation_sentences, plan.peripheral_sentences) for plan in plans} == {(40, 4) if bank else (6, 2)}
    free = [planned(index, scenario, bank=BANK) for index in range(30)]
    assert len({plan.situation_words for plan in free}) > 15


def test_the_chosen_registers_are_drawn_from():
    chosen = ("terse list", "voice to text")
    assert {unbanked(index, registers=chosen).register for index in range(60)} == set(chosen)
    assert {unbanked(index).register for index in range(400)} == set(load_registers())


def test_a_plan_is_a_plain_value():
    plan = unbanked(3)
    assert replace(plan, index=4) != plan
    assert hash(plan) == hash(unbanked(3))
