"""Telling a story often, to see what comes up: each question, each fact, high and low, and what spoils a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.telling import StoryUntold, choose_questions, tell, tell_once
from piiloom.generation.composer.telling_plan import TellingPlan, plan_of
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
            trials.low.update((question.id, fact) for fact in facts - question.high.keys())
    return trials


def trial_findings(story: Story, trials: Trials) -> Iterator[tuple[str, str]]:
    """What is wrong with what came up, as (the key of the story that it is about, message)."""
    spoiled = sum(trials.spoiled.values())
    number = len(trials.told) + spoiled
    if not number:
        yield "questions", "no two questions can be asked together: what each needs is moot for the others, or they are too few"
    elif spoiled > _OFTEN_SPOILED * number:
        for reason, count in trials.spoiled.most_common(3):
            yield "text", f"{count} of {number} texts were spoiled: {reason}"
    plan = plan_of(story)
    for place, question in enumerate(story.questions):
        wrong = _unasked(plan, place, trials)
        if wrong is not None:
            yield f"questions[{place}]", f"{question.id} {wrong}"
    if trials.told:
        for name in story.facts:
            if not trials.facts[name] and any(name in wording.tells for step in story.steps for wording in step.wordings):
                yield f"facts.{name}", _untold(story, name, trials)


def _unasked(plan: TellingPlan, place: int, trials: Trials) -> str | None:
    """Why a question never came up, or came up without anything low; None where all is well with it."""
    name = plan.story.questions[place].id
    lacking = plan.demand((place,)).lacking
    if lacking is not None:
        return f"can never be asked: {lacking}; give a wording without it, or a step with p"
    if place not in plan.askable_in_twos:
        return f"can be asked with no other question: {_apart(plan, place)}"
    if not trials.asked[name]:
        return f"never came up{_why(trials)}"
    if not any(asked == name for asked, _ in trials.low):
        return "makes everything that is told with it high; let it need less, or tell more"
    return None


def _untold(story: Story, fact: str, trials: Trials) -> str:
    moot = [question.id for question in story.questions if fact in question.moot]
    if not moot:
        return f"never told in {len(trials.told)} texts{_why(trials)}"
    return f"never told: it is moot for {', '.join(moot)}, and no two other questions can be asked together; take it out of one of these"


def _apart(plan: TellingPlan, place: int) -> str:
    """Why a question can be asked with none of the others, one by one."""
    others = [number for number in range(len(plan.story.questions)) if number != place]
    reasons = ((plan.story.questions[n].id, plan.demand(tuple(sorted((place, n)))).lacking) for n in others)
    return "; ".join(f"with {name}, {reason}" for name, reason in reasons)


def _why(trials: Trials) -> str:
    return f" (spoiled: {trials.spoiled.most_common(1)[0][0]})" if trials.spoiled else ""


def samples(story: Story, locale: str, *, seed: int, number: int) -> Iterator[ToldStory | StoryUntold]:
    """*number* texts by *seed*, and the errors where there is none."""
    for place in range(number):
        try:
            yield tell(story, derive_rng("story", seed, story.id, place), locale=locale)
        except StoryUntold as error:
            yield error
