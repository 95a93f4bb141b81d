"""The plan: an endless, seeded list of plan items that draws evenly over pairs.

Item *i* belongs to pair ``i mod P`` and to that pair's triplet number ``i div P`` (starting over when they are used up);
everything else about it is drawn from a generator seeded by (configuration digest, seed, i). So the first N items are
the same whatever N is, and no item depends on another.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from corpus.record import Relevance
from foundation.seeding import derive_rng, derive_seed
from generation.configuration import RunConfig
from generation.item import PlanItem, WantedValue
from generation.topics import Pair
from taxonomy.entity_types import load_taxonomy
from taxonomy.scenarios import Bank, Scenario

# How many low-relevance values a record holds, as weights of 1, 2, 3 …; the literature's sets have 4 on average.
LOW_COUNT_WEIGHTS = (2, 3, 4, 4, 3, 2, 1, 1)


def pair_order(config: RunConfig) -> list[Pair]:
    """Shuffle the pairs of the run by its seed, so that a small set is not always the first pairs of the taxonomy."""
    pairs = list(config.chosen_pairs())
    derive_rng("pair order", config.seed).shuffle(pairs)
    return pairs


def triplets_needed(planned: int, pairs: int, position: int) -> int:
    """Count the triplets that the pair at *position* needs when *planned* items are dealt over *pairs* pairs."""
    return max(0, -(-(planned - position) // pairs))


def make_plan_item(index: int, pair: Pair, triplet: tuple[str, str], *, config: RunConfig, digest: str, bank: Bank | None) -> PlanItem:
    """Draw all that plan item *index* prescribes."""
    seed = derive_seed(digest, config.seed, index)
    rng = derive_rng("plan", seed)
    topic, subtopic = triplet
    scenario = rng.choice(bank.find(pair, topic, subtopic)) if bank is not None else None
    high = [_wanted_high(number, kind, scenario) for number, kind in enumerate(pair, 1)]
    low = _draw_low(rng, pair, config, first=len(high) + 1)
    asides = _group(rng, [value.id for value in low])
    # The situation is as likely to come first as any aside, so that position says nothing about relevance.
    lead: Relevance = "high" if rng.randrange(1 + len(asides)) == 0 else "low"
    longest_aside = config.peripheral_words[1]
    return PlanItem(
        index=index,
        seed=seed,
        pair=pair,
        topic=topic,
        subtopic=subtopic,
        scenario=scenario.id if scenario else None,
        locale=config.locale,
        register=rng.choice(config.registers),
        voice="first person",
        surface_forms="verbatim",
        wanted=(*high, *low),
        asides=asides,
        lead=lead,
        situation_words=config.situation_words,
        peripheral_words=config.peripheral_words,
        # A paraphrase may tighten or loosen its sentences by about a third.
        context_words=(config.situation_words[0] * 2 // 3, (config.situation_words[1] + longest_aside * len(asides)) * 4 // 3),
        question_words=config.question_words,
    )


def _wanted_high(number: int, kind: str, scenario: Scenario | None) -> WantedValue:
    subtypes = scenario.uses.get(kind, ()) if scenario else ()
    subject = scenario.subjects.get(kind, "self") if scenario else "self"
    return WantedValue(id=f"v{number}", entity_type=kind, relevance="high", subtypes=tuple(subtypes), subject=subject)


def _draw_low(rng: random.Random, pair: Pair, config: RunConfig, *, first: int) -> list[WantedValue]:
    """Draw one value each of some other types; all types but the pair's are equally likely."""
    if config.max_asides == 0:
        return []
    weights = LOW_COUNT_WEIGHTS[: config.max_asides]
    count = rng.choices(range(1, len(weights) + 1), weights)[0]
    others = [kind for kind in load_taxonomy().types.values() if kind.name not in pair]
    chosen = rng.sample(others, min(count, len(others)))
    return [WantedValue(id=f"v{number}", entity_type=kind.name, relevance="low") for number, kind in enumerate(chosen, first)]


def _group(rng: random.Random, ids: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Deal ids to peripheral sentences, one or two each, in their order."""
    groups: list[tuple[str, ...]] = []
    rest = list(ids)
    while rest:
        size = 2 if len(rest) > 1 and rng.random() < 0.5 else 1
        groups.append(tuple(rest[:size]))
        rest = rest[size:]
    return tuple(groups)
