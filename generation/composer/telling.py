"""Telling a story: one text with its spans, and the questions that are asked of it.

Questions are chosen first, then the steps that tell what they need and nothing that is moot for them, then values; which of
them are high follows. What chance alone has spoiled (two values that are alike, a value that also stands in a sentence) is
drawn anew, questions and all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from piiloom.foundation.errors import PiiloomError
from piiloom.generation.composer.habits import with_habit
from piiloom.generation.composer.story_leaks import shares_word
from piiloom.generation.composer.story_steps import choose_steps
from piiloom.generation.composer.story_values import StoryValues
from piiloom.generation.composer.story_writing import clash, folded, mentions, write_text
from piiloom.generation.composer.telling_plan import Asking, TellingPlan, plan_of
from piiloom.generation.composer.told import AskedQuestion, ToldStory
from piiloom.taxonomy.grammar import expand
from piiloom.taxonomy.stories import Story, StoryQuestion

TRIES: Final = 60


class StoryUntold(PiiloomError):
    """No text of a story could be made for its questions."""


def tell(story: Story, rng: random.Random, *, locale: str = "en_US", questions: int = 2, habits: bool = True) -> ToldStory:
    """One text of *story* and *questions* questions on it, for which different facts are high where the story allows that.

    Every question that can be asked is as likely as any other, and so is every wording that may be told. The same state of
    *rng* gives the same text, which without *habits* is by the book. Raises ``StoryUntold`` when no such text is found in ``TRIES`` tries.
    """
    plan = plan_of(story)

    return _tell(story, lambda: choose_questions(plan, questions, rng), rng, locale, habits=habits)


def tell_asked(story: Story, asked: Sequence[Asking], rng: random.Random, *, locale: str = "en_US") -> ToldStory:
    """One text of *story* for the questions *asked*, as ``tell`` tells it; the questions come in that order."""
    return _tell(story, lambda: asked or None, rng, locale, habits=True)


def _tell(story: Story, choose: Callable[[], Sequence[Asking] | None], rng: random.Random, locale: str, *, habits: bool) -> ToldStory:
    spoiled = "it has no questions that can be asked together"
    for _ in range(TRIES):
        asked = choose()
        if asked is None:
            break
        told = tell_once(story, asked, rng, locale=locale)
        if isinstance(told, ToldStory):
            return with_habit(told, story.voice, rng, locale) if habits else told
        spoiled = told
    raise StoryUntold(f"{story.id} cannot be told: {spoiled}", where=story.origin, remedy="piiloom stories check says more.")


def choose_questions(plan: TellingPlan, number: int, rng: random.Random) -> tuple[Asking, ...] | None:
    """*number* questions that can be asked together, in the order of the story; None where there are none."""
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


def tell_once(story: Story, asked: Sequence[Asking], rng: random.Random, *, locale: str) -> ToldStory | str:
    """One try to tell *story* for the questions *asked*; gives what spoiled it where it fails."""
    demand = plan_of(story).demand(tuple(sorted(one.question for one in asked)))
    if demand.lacking is not None:
        return demand.lacking
    steps = choose_steps(story.steps, demand, rng)
    if steps is None:
        return "no order of its steps tells what its questions need"
    values = StoryValues(story, rng, locale)
    text, spans = write_text(story, steps, values, rng, locale)
    told = {span.fact: values.value(span.fact) for span in spans}
    spoiled = clash(text, spans, told)
    if spoiled is not None:
        return spoiled
    questions = tuple(_ask(story.questions[one.question], one.wording, told, rng) for one in asked)
    return _leak(questions, told) or ToldStory(story=story.id, text=text, spans=spans, questions=questions)


def _ask(question: StoryQuestion, wording: int | None, told: Iterable[str], rng: random.Random) -> AskedQuestion:
    place = int(rng.random() * len(question.wordings)) if wording is None else wording
    text = expand(question.wordings[place], rng)
    why = {**question.helps, **question.needs}
    return AskedQuestion(id=question.id, text=text, high={fact: why[fact] for fact in told if question.decides(fact)})


def _leak(questions: Iterable[AskedQuestion], told: Mapping[str, str]) -> str | None:
    """Which question gives a value away."""
    for question in questions:
        small = folded(question.text)
        for fact, value in told.items():
            if mentions(folded(value), small, small):  # "Ms Hall" also where the question speaks of a hall
                return f"question {question.id} holds the value of {fact}"
            if fact in question.high and shares_word(question.text, value):
                return f"question {question.id} shares a word with the value of {fact}"
    return None
