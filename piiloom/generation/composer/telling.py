"""Write a text from a story, with its spans and the questions about it.

Questions are chosen first, so that each one is used before one is repeated, if possible; then the steps that tell what the questions need
and nothing that is moot for them; then the values. The questions decide which values are high. If a draw fails by chance (two values are
alike, or a value also occurs in a fixed sentence), everything is drawn again.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from piiloom.foundation.errors import PiiloomError
from piiloom.generation.composer.story_values import StoryValues
from piiloom.generation.composer.story_writing import (
    AskedQuestion,
    ToldStory,
    Turns,
    choose_steps,
    clash,
    folded,
    mentions,
    write_text,
)
from piiloom.generation.composer.surfaces import with_habit
from piiloom.screening.gates import ANYBODYS, content_stems
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import expand
from piiloom.taxonomy.stories import Story, StoryQuestion
from piiloom.taxonomy.story_reading import slots_of
from piiloom.taxonomy.telling_plan import Asking, TellingPlan, plan_of
from piiloom.taxonomy.text_shapes import RelevanceShares

TRIES: Final = 60


class StoryUntold(PiiloomError):
    """No text could be made from a story for its questions."""


def tell(
    story: Story, rng: random.Random, taxonomy: Taxonomy, *, locale: str = "en_US", questions: int = 2, habits: bool = True
) -> ToldStory:
    """Write one text of *story* with *questions* questions; different facts are high for them if the story allows it.

    Questions and wordings are drawn uniformly from the possible ones. The same state of *rng* gives the same text. Without *habits*,
    the writer has no orthographic habit, and labels of identifiers stay. Raises ``StoryUntold`` if ``TRIES`` tries fail.
    """
    plan = plan_of(story)

    return _tell(story, lambda: choose_questions(plan, questions, rng), rng, taxonomy, locale, habits=habits)


def tell_asked(
    story: Story, asked: Sequence[Asking], rng: random.Random, taxonomy: Taxonomy, *, locale: str = "en_US", turns: Turns | None = None
) -> ToldStory:
    """Write one text of *story* like ``tell``, but for the given questions *asked*, in that order, and with wordings in *turns*."""
    return _tell(story, lambda: asked or None, rng, taxonomy, locale, habits=True, turns=turns)


def _tell(
    story: Story,
    choose: Callable[[], Sequence[Asking] | None],
    rng: random.Random,
    taxonomy: Taxonomy,
    locale: str,
    *,
    habits: bool,
    turns: Turns | None = None,
) -> ToldStory:
    spoiled = "it has no questions that can be asked together"
    for _ in range(TRIES):
        asked = choose()
        if asked is None:
            break
        told = tell_once(story, asked, rng, taxonomy, locale=locale, turns=turns)
        if isinstance(told, ToldStory):
            return with_habit(told, story.voice, rng, locale, taxonomy) if habits else told
        spoiled = told
    raise StoryUntold(f"{story.id} cannot be told: {spoiled}", where=story.origin, remedy="piiloom stories check says more.")


def choose_questions(plan: TellingPlan, number: int, rng: random.Random) -> tuple[Asking, ...] | None:
    """Draw *number* questions that can be asked together, in story order; None if there are none."""
    first = plan.askable if number == 1 else plan.askable_in_twos
    if not first:
        return None
    asked: tuple[int, ...] = (first[int(rng.random() * len(first))],)
    while len(asked) < number:
        partners = plan.partners(asked)
        if not partners:
            return None
        asked = tuple(sorted((*asked, partners[int(rng.random() * len(partners))])))
    return tuple(Asking(question=place) for place in asked)


def tell_once(
    story: Story, asked: Sequence[Asking], rng: random.Random, taxonomy: Taxonomy, *, locale: str, turns: Turns | None = None
) -> ToldStory | str:
    """Try once to write *story* for the questions *asked*; returns the told story, or the reason why the try failed."""
    demand = plan_of(story).demand(tuple(sorted(one.question for one in asked)))
    if demand.lacking is not None:
        return demand.lacking
    steps = choose_steps(story, demand, rng, turns)
    if steps is None:
        return "no order of its steps tells what its questions need"
    values = StoryValues(story, rng, locale, taxonomy)
    text, spans = write_text(story, steps, values, rng, locale)
    told = {span.fact: values.value(span.fact) for span in spans}
    spoiled = clash(text, spans, told)
    if spoiled is not None:
        return spoiled
    questions = tuple(_ask(story.questions[one.question], one.wording, told, rng) for one in asked)
    likes = dict.fromkeys(name for _, wording in steps for name, word in slots_of(wording.pattern) if word is None and name in story.likes)
    lookalikes = tuple((story.likes[name].subtype, values.value(name)) for name in likes)
    return _leak(questions, told) or ToldStory(story=story.id, text=text, spans=spans, questions=questions, lookalikes=lookalikes)


def _ask(question: StoryQuestion, wording: int | None, told: Iterable[str], rng: random.Random) -> AskedQuestion:
    place = int(rng.random() * len(question.wordings)) if wording is None else wording
    text = expand(question.wordings[place], rng)
    why = {**question.helps, **question.needs}
    return AskedQuestion(id=question.id, text=text, high={fact: why[fact] for fact in told if question.decides(fact)})


def _leak(questions: Iterable[AskedQuestion], told: Mapping[str, str]) -> str | None:
    """Return which question leaks a value, None if no one does."""
    for question in questions:
        small = folded(question.text)
        for fact, value in told.items():
            if mentions(folded(value), small, small):  # "Ms Hall" also where the question speaks of a hall
                return f"question {question.id} holds the value of {fact}"
            if fact in question.high and shares_word(question.text, value):
                return f"question {question.id} shares a word with the value of {fact}"
    return None


def shares_word(question: str, value: str) -> bool:
    """Whether *question* shares a content word (by stem) with *value*; screening refuses that if the value is high."""
    return not _stems(question).isdisjoint(_stems(value))


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return content_stems(text) - ANYBODYS


def question_round(plan: TellingPlan, telling: int, number: int, rng: random.Random) -> tuple[Asking, ...]:
    """Return the questions for text number *telling* (from 0) of a story.

    These are *number* questions, fewer if no more can be asked together, () if none can. Each text gets the set whose questions were used
    least so far; a repeated question gets its next wording. The same state of *rng* gives the same sequence.
    """
    sets = list(plan.sets_of_questions(number))
    if not sets:
        return ()
    rng.shuffle(sets)
    asked: Counter[int] = Counter()
    used: Counter[tuple[int, ...]] = Counter()
    chosen = sets[0]
    for _ in range(telling % _PERIOD + 1):
        chosen = min(sets, key=lambda one: (max(asked[place] for place in one), sum(asked[place] for place in one), used[one]))
        used[chosen] += 1
        asked.update(chosen)
    wordings = [len(plan.story.questions[place].wordings) for place in chosen]
    return tuple(Asking(question=place, wording=(asked[place] - 1) % total) for place, total in zip(chosen, wordings, strict=True))


def weighted_questions(plan: TellingPlan, shares: RelevanceShares, number: int, rng: random.Random) -> tuple[Asking, ...]:
    """Draw *number* questions (see ``question_round``) so that over many texts each type is high as often as *shares* has it."""
    sets, story = sorted(plan.sets_of_questions(number)), plan.story
    if not sets:
        return ()
    high = [[fact for place in one for fact in (*story.questions[place].needs, *story.questions[place].helps)] for one in sets]
    weights = {name: shares.types[fact.entity_type].question for name, fact in story.facts.items() if fact.entity_type in shares.types}
    chosen = rng.choices(sets, [math.exp(sum(weights.get(fact, 0.0) for fact in facts)) for facts in high])[0]
    return tuple(Asking(question=place) for place in chosen)


# The sequence repeats after this many texts: more would not be more varied.
_PERIOD = 240
