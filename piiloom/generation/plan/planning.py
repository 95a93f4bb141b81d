"""The plan: an endless, seeded list of plan items, spread evenly over the pairs.

With P pairs, text *i* belongs to pair ``i mod P`` and to that pair's triplet number ``i div P`` (starting over when they are used up).
All else is drawn from a random generator seeded by (configuration digest, seed, i). So the first N items are the same
whatever N is, and no item depends on another. A text has one plan item per question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from piiloom.corpus.record import Relevance
from piiloom.foundation.seeding import derive_rng, derive_seed
from piiloom.generation.item import Aside, PlanItem, Telling, TextShare, WantedValue
from piiloom.generation.plan.plan_values import (
    SOMEONE_ELSE,
    ValuePlan,
    context_band,
    draw_high,
    draw_length,
    draw_low_count,
    situation_band,
)
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages.sheet import SPARE
from piiloom.taxonomy.bank_checks import CUE_LEVELS
from piiloom.taxonomy.entity_types import Pair
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank
from piiloom.taxonomy.text_shapes import SECOND_HAND, TextKind, catalogue_kinds, draw_identifiers, draw_shape, load_registers, load_voices

# A run gives up after planning this many times the initial number of items; by then something is wrong.
PLANNED_AT_MOST = 4
_SPARE = 20
_LEAST_MORE = 20


def planned_for(samples: int, margin: float) -> int:
    """Return how many items to plan so that *samples* of them are likely to be accepted (*margin*: expected share of rejects)."""
    return samples + int(samples * margin) + _SPARE


def horizons(config: RunConfig, missing: Callable[[], int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of plan indexes (first, end) to work on, one after the other, while ``missing()`` items are still wanted.

    Ends when ``PLANNED_AT_MOST`` times the initial number is planned.
    """
    first, end = 0, planned_for(config.samples, config.margin)
    limit = PLANNED_AT_MOST * end
    while missing() > 0 and first < limit:
        yield first, end
        first, end = end, min(limit, end + max(_LEAST_MORE, 2 * missing()))


# Weights of ``CUE_LEVELS``, in their order.
CUE_WEIGHTS = (0.14, 0.6, 0.26)
LONGEST_STORY = 2_000  # words
WORDS_A_FACT = 12  # words of a situation that tell one value, about
# Recipe "case": one value per this many words, and at least this many values beside the pair.
WORDS_A_VALUE, FEWEST_BESIDE = 24, 2
# Most sentences of (a situation, an aside), by whether they come from the bank (True) or from a model (False).
SENTENCES = {False: (6, 2), True: (40, 4)}


def pair_order(config: RunConfig) -> list[Pair]:
    """Shuffle the pairs of the run by its seed, so that a small set is not always the first pairs of the taxonomy."""
    pairs = list(config.chosen_pairs())
    derive_rng("pair order", config.seed).shuffle(pairs)
    return pairs


def texts_planned(items: int, config: RunConfig) -> int:
    """Return how many texts *items* plan items make; each text has ``config.records_per_text`` items."""
    return -(-items // config.records_per_text)


def text_of(index: int, config: RunConfig) -> int:
    """Return the number of the text that plan item *index* belongs to."""
    return index // config.records_per_text


def triplets_needed(planned: int, pairs: int, position: int) -> int:
    """Return how many triplets the pair at *position* needs when *planned* texts are dealt over *pairs* pairs."""
    return max(0, -(-(planned - position) // pairs))


def make_plan_item(index: int, pair: Pair, triplet: tuple[str, str], *, config: RunConfig, digest: str, bank: Bank | None) -> PlanItem:
    """Draw plan item *index* for *pair* and *triplet* (topic, subtopic); *digest* is the plan digest. *bank* is None for a model."""
    seed = derive_seed(digest, config.seed, index)
    rng = derive_rng("plan", seed)
    topic, subtopic = triplet
    name, register = draw_register(config, rng, plain=config.recipe == "case" and without_pii(index, config)[0])
    scenario = rng.choice(bank.find(pair, topic, subtopic)) if bank is not None else None
    words = draw_length(register, rng)
    aside_words = config.peripheral_words or ((1, 45) if bank else (6, 45))
    values = ValuePlan(pair, bank, config.taxonomy(), aside_words[1], config.shares, config.narrowing)
    if rng.random() >= config.share_without_pii or not config.composer.distractors:
        draw_high(values, scenario, words, rng, most=_most_high(config))
        if name == SECOND_HAND and config.narrowing.allows("relationship"):
            values.add_asked_for()
        low = draw_low_count(words, register, rng)
        values.add_asides(min(round(low * config.shares.more_asides) if config.shares else low, config.max_low), rng)
        values.add_kind(rng)
    asides = tuple(values.asides)
    high, low = values.high_count(), len(values.wanted) - values.high_count()
    situation = config.situation_words or situation_band(words, high, low, rng)
    return PlanItem(
        index=index,
        seed=seed,
        pair=pair,
        topic=topic,
        subtopic=subtopic,
        scenario=scenario.id if scenario else None,
        locale=config.locale,
        register=name,
        cue_level=rng.choices(CUE_LEVELS, CUE_WEIGHTS)[0],
        voice="first person",
        surface_forms="verbatim",
        wanted=tuple(values.wanted),
        asides=asides,
        lead=_lead(values.wanted, asides, rng),
        situation_words=situation,
        peripheral_words=aside_words,
        context_words=context_band(words, situation, aside_words, len(asides)),
        target_words=words,
        question_words=config.question_words,
        situation_sentences=SENTENCES[bank is not None][0],
        peripheral_sentences=SENTENCES[bank is not None][1],
    )


def _most_high(config: RunConfig) -> int:
    """Return the most values of a record that matter: as many as the situation has words for; two where the shares are published."""
    most = 2 if config.shares else 4
    return min(most, max(1, config.situation_words[1] // WORDS_A_FACT)) if config.situation_words else most


def make_case_item(index: int, pair: Pair, triplet: tuple[str, str], *, config: RunConfig, digest: str) -> PlanItem:
    """Draw plan item *index* of the recipe "case", where a ledger assigns the labels later; items of one text differ in their number only.

    It wants more values than the text will have, at least three of each type of the pair, and identifiers only where its voice carries
    them. The stage ``sheet`` then picks values that fit together and says whose they are. The subject "someone else" only makes the two
    values of a type differ. A text without personal data wants no value.
    """
    text, number = divmod(index, config.records_per_text)
    share = TextShare(seed=derive_seed(digest, config.seed, "text", text), records=config.records_per_text, number=number)
    plan = make_plan_item(text, pair, triplet, config=config, digest=digest, bank=None)
    voice, others = load_voices()[plan.register], 0
    values = ValuePlan(pair, None, config.taxonomy(), narrowing=config.narrowing, without=catalogue_kinds(voice), never=("code",))
    rng = derive_rng("case", share.seed)
    if not without_pii(text, config)[0]:
        values.add_kind(rng)
        for subject in ("self", SOMEONE_ELSE, SOMEONE_ELSE):
            for kind in pair:
                values.add_high(kind, (), subject, rng)
        kept = 2 + max(FEWEST_BESIDE, min(config.max_low, round(plan.target_words / WORDS_A_VALUE)) - 2)
        values.add_asides(int(SPARE * kept) - 3 * len(pair), rng)
        others = len(values.wanted)
        for kind, subtype in draw_identifiers(voice, config.locale, rng):
            if config.narrowing.allows(kind):
                values.add_high(kind, (subtype,), "self", rng)
    carried = tuple(value.id for value in values.wanted[others:])
    shape = draw_shape(plan.register, rng, carried=carried)
    wanted = tuple(replace(value, relevance="low") for value in values.wanted)
    return replace(plan, index=index, seed=share.seed, wanted=wanted, asides=(), lead=None, cue_level=None, share=share, shape=shape)


def without_pii(text: int, config: RunConfig) -> tuple[bool, int]:
    """Return whether text number *text* is one without personal data, and the number of earlier texts without.

    With a share of 1/n, one of each n texts is; it is drawn by the seed.
    """
    share = Fraction(str(config.share_without_pii))
    if not share:
        return False, 0
    block = int(text * share)
    first, end = ceil(block / share), ceil((block + 1) / share)
    place = derive_rng("text without personal data", config.seed, block).randrange(first, end)
    return place == text, block + (place < text)


def make_told_item(
    index: int, pair: Pair, triplet: tuple[str, str] | None, earlier: int, *, config: RunConfig, digest: str, stories: StoryBank
) -> PlanItem:
    """Return plan item *index* of the recipe "story"; *earlier* is the number of earlier texts of the plan with the same pair and topic.

    The stories about the pair and topic are used in turn, or the plain ones if *triplet* is None (*earlier*: earlier texts of these). All
    items of a text share the seed of the text, so they get the same words.
    """
    text, number = divmod(index, config.records_per_text)
    known = list(stories.about(pair, triplet[0]) if triplet else stories.plain)
    if triplet is None:
        derive_rng("order of plain stories", config.seed).shuffle(known)
    story = known[earlier % len(known)]
    topic, subtopic = triplet or (story.topic, story.subtopics[0])
    return PlanItem(
        index=index,
        seed=derive_seed(digest, config.seed, index),
        pair=pair,
        topic=topic,
        subtopic=subtopic,
        scenario=story.id,
        locale=config.locale,
        register=story.voice,
        cue_level=None,
        voice="first person",
        surface_forms="verbatim",
        wanted=(),
        asides=(),
        lead=None,
        situation_words=(0, 0),
        peripheral_words=(0, 0),
        context_words=(1, LONGEST_STORY),
        target_words=0,
        question_words=config.question_words,
        situation_sentences=0,
        peripheral_sentences=0,
        told=Telling(story=story.id, telling=earlier // len(known)),
        share=TextShare(seed=derive_seed(digest, config.seed, "text", text), records=config.records_per_text, number=number),
    )


def draw_register(config: RunConfig, rng: random.Random, *, plain: bool = False) -> tuple[str, TextKind]:
    """Draw one of the run's registers by their weights, for the recipe "case" one of its voices; returns (name, kind of text).

    A *plain* text has no personal data, so voices that carry identifiers are drawn only if the run has no others.
    """
    voices = load_voices()
    known: Mapping[str, TextKind] = voices if config.recipe == "case" else load_registers()
    without = () if config.narrowing.allows("relationship") else (SECOND_HAND,)
    able = [name for name in config.registers if name not in without and not (plain and voices[name].scenes)] or config.registers
    chosen = rng.choices(able, [known[name].weight for name in able])[0]
    return chosen, known[chosen]


def _lead(wanted: Sequence[WantedValue], asides: Sequence[Aside], rng: random.Random) -> Relevance | None:
    """Draw the relevance of the first value in the text, None without values.

    The situation is as likely to come first as any aside that can move, so that position says nothing about relevance.
    """
    if not wanted:
        return None
    if any(aside.opening for aside in asides):
        return "low"
    movable = sum(not aside.closing for aside in asides)
    return "high" if movable == 0 or rng.randrange(1 + movable) == 0 else "low"
