"""The plan: even over pairs, the same whatever its length, and coherent item by item."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.configuration import RunConfig
from generation.planning import LOW_COUNT_WEIGHTS, make_plan_item, pair_order, triplets_needed
from generation.triplet_book import planned_for
from taxonomy.entity_types import load_taxonomy
from taxonomy.scenarios import load_bank

CONFIG = RunConfig()
PAIR = ("health", "occupation")
TRIPLET = ("shift work", "night rota")


def plan_item(index, *, pair=PAIR, triplet=TRIPLET, config=CONFIG, bank=None):
    return make_plan_item(index, pair, triplet, config=config, digest="digest", bank=bank)


def test_the_order_of_pairs_is_a_seeded_permutation():
    order = pair_order(CONFIG)
    assert sorted(order) == sorted(load_taxonomy().pairs)
    assert order == pair_order(RunConfig(samples=9999, concurrency=1))
    assert order != pair_order(RunConfig(seed=8))
    assert order != list(load_taxonomy().pairs)


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


@given(st.integers(0, 10**6), st.sampled_from(load_taxonomy().pairs), st.integers(0, 8))
@settings(deadline=None, max_examples=150)
def test_an_item_is_coherent(index, pair, most):
    plan = plan_item(index, pair=pair, config=RunConfig(max_asides=most))
    high = [value for value in plan.wanted if value.relevance == "high"]
    low = [value for value in plan.wanted if value.relevance == "low"]
    assert [value.entity_type for value in high] == list(pair)
    assert [value.id for value in plan.wanted] == [f"v{number}" for number in range(1, len(plan.wanted) + 1)]
    assert min(1, most) <= len(low) <= most
    # No second value of a type that matters, nor of any other: its relevance would be in doubt.
    assert len({value.entity_type for value in plan.wanted}) == len(plan.wanted)
    # Any subtype will do for them: the values stage weighs what people have.
    assert all(value.subtypes == () for value in low)
    assert [value_id for group in plan.asides for value_id in group] == [value.id for value in low]
    assert {len(group) for group in plan.asides} <= {1, 2}
    assert plan.lead in ({"high", "low"} if low else {"high"})
    assert plan.context_words[0] <= plan.situation_words[0]
    assert plan.context_words[1] >= plan.situation_words[1] + plan.peripheral_words[1] * len(plan.asides)


def test_an_item_depends_on_its_index_seed_and_digest_only():
    assert plan_item(7) == plan_item(7, config=RunConfig(samples=5, concurrency=1, margin=3))
    assert plan_item(7) != plan_item(8)
    assert plan_item(7) != plan_item(7, config=RunConfig(seed=8))
    assert plan_item(7) != make_plan_item(7, PAIR, TRIPLET, config=CONFIG, digest="another", bank=None)


def test_the_draws_of_many_items_are_spread():
    plans = [plan_item(index) for index in range(2000)]
    low_types = Counter(value.entity_type for plan in plans for value in plan.wanted if value.relevance == "low")
    assert len(low_types) == 13
    assert max(low_types.values()) < 1.35 * min(low_types.values())
    for asides in (1, 2, 3):
        leads = Counter(plan.lead for plan in plans if len(plan.asides) == asides)
        # The situation is one sentence among the asides.
        assert leads["high"] / leads.total() == pytest.approx(1 / (1 + asides), abs=0.06)
    sizes = Counter(len(plan.wanted) - 2 for plan in plans)
    assert sorted(sizes) == [1, 2, 3, 4, 5]
    share = LOW_COUNT_WEIGHTS[0] / sum(LOW_COUNT_WEIGHTS[:5])
    assert sizes[1] / 2000 == pytest.approx(share, abs=0.03)
    # A fixed number of high spans in a text would give its relevance away; of values it is two by design.
    assert len({plan.asides for plan in plans}) > 10


def test_a_scenario_rules_the_values_that_matter():
    bank = load_bank()
    for scenario in bank.scenarios.values():
        plan = plan_item(3, pair=scenario.pair, triplet=(scenario.topic, scenario.subtopics[0]), bank=bank)
        chosen = bank.scenarios[plan.scenario]
        assert chosen.topic == scenario.topic
        for value in plan.wanted[:2]:
            assert value.subtypes == chosen.uses[value.entity_type]
            assert value.subject == chosen.subjects.get(value.entity_type, "self")
