"""Telling a story often, to see what comes up: each question, each fact, high and low, and what spoils a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.telling import StoryUntold, choose_questions, tell, tell_once
from piiloom.generation.composer.telling_plan import plan_of
from piiloom.generation.composer.told import ToldStory
from piiloom.taxonomy.stories import Story

TRIALS = 200
_OFTEN_SPOILED = 0.5  # of the tries: below that a draw anew costs next to nothing


@dataclass(slots=True)
class Trials:
    """What came up in a number of tries."""

    told: list[ToldStory] = field(default_factory=list)
    spoiled: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    high: set[tuple[str, str]] = field(default_factory=set)
    low: set[tuple[str, str]] = field(default_factory=set)


def try_story(story: Story, locale: str, number: int = TRIALS) -> Trials:
    """Try *number* times to tell *story* with two questions; the same story gives the same trials."""
    rng = derive_rng("trials", story.id)
    trials, plan = Trials(), plan_of(story)
    for _ in range(number):
        asked = choose_questions(plan, 2, rng)
        if asked is None:
            break
        told = tell_once(story, asked, rng, locale=locale)
        if isinstance(told, str):
            trials.spoiled[told] += 1
            continue
        trials.told.append(told)
        facts = {span.fact for span in told.spans}
        trials.facts.update(facts)
        for question in told.questions:
            trials.asked[question.id] += 1
            trials.high.update((question.id, fact) for fact in question.high)
            trials.low.update((question.id, fact) for fact in facts - question.high)
    return trials


def trial_findings(story: Story, trials: Trials) -> Iterator[tuple[str, str]]:
    """What is wrong with what came up, as (the key of the story that it is about, message)."""
    number = len(trials.told) + sum(trials.spoiled.values())
    if not number:
        yield "questions", "no two questions can be asked together: each one's moot facts are needed by the others or always told"
        return
    if sum(trials.spoiled.values()) > _OFTEN_SPOILED * number:
        for reason, count in trials.spoiled.most_common(3):
            yield "text", f"{count} of {number} texts were spoiled: {reason}"
    plan = plan_of(story)
    for place, question in enumerate(story.questions):
        lacking = plan.demand((place,)).lacking
        if lacking is not None:
            yield f"questions[{place}]", f"{question.id} can never be asked: {lacking}; give a wording without it, or a step with p"
        elif place not in plan.askable_in_twos:
            yield f"questions[{place}]", f"{question.id} can be asked with no other question; take facts out of moot, or make steps optional"
        elif not trials.asked[question.id]:
            yield f"questions[{place}]", f"{question.id} never came up in {number} texts{_why(trials)}"
    for name in story.facts:
        if not trials.facts[name]:
            yield f"facts.{name}", f"never told in {number} texts{_why(trials)}; tell it in a step that no question's moot facts shut out"
        elif not any(fact == name for _, fact in trials.high | trials.low):
            yield f"facts.{name}", "is neither high nor low for any question"


def _why(trials: Trials) -> str:
    return f" (spoiled: {trials.spoiled.most_common(1)[0][0]})" if trials.spoiled else ""


def samples(story: Story, locale: str, *, seed: int, number: int) -> Iterator[ToldStory | StoryUntold]:
    """*number* texts by *seed*, and the errors where there is none."""
    for place in range(number):
        try:
            yield tell(story, derive_rng("story", seed, story.id, place), locale=locale)
        except StoryUntold as error:
            yield error
