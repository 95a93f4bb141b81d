"""Write a story many times to find out which questions and facts come up, high and low, and why tries fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.telling import StoryUntold, choose_questions, tell, tell_once
from piiloom.generation.composer.told import ToldStory
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.telling_plan import TellingPlan, plan_of

TRIALS = 200
_OFTEN_SPOILED = 0.5  # share of failed tries from which on it is reported: below it, redrawing costs next to nothing


@dataclass(slots=True)
class Trials:
    """The results of a number of tries: told stories, failures by reason, how often facts and questions came up.

    ``high`` and ``low`` hold (question id, fact) pairs.
    """

    told: list[ToldStory] = field(default_factory=list)
    spoiled: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    high: set[tuple[str, str]] = field(default_factory=set)
    low: set[tuple[str, str]] = field(default_factory=set)


def try_story(story: Story, locale: str, taxonomy: Taxonomy, number: int = TRIALS) -> Trials:
    """Try *number* times to write *story* with two questions; deterministic for a given story."""
    rng = derive_rng("trials", story.id)
    trials, plan = Trials(), plan_of(story)
    for _ in range(number):
        asked = choose_questions(plan, 2, rng)
        if asked is None:
            break
        told = tell_once(story, asked, rng, taxonomy, locale=locale)
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
    """Yield the faults that the trials show, as (key of the story, such as "questions[2]", and message)."""
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
    """Return why the question at index *place* never came up, or never had a low fact; None if nothing is wrong."""
    name = plan.story.questions[place].id
    lacking = plan.demand((place,)).lacking
    if lacking is not None:
        return f"can never be asked: {lacking}; give a wording without it, or a step with p"
    if place not in plan.askable_in_twos:
        return f"can be asked with no other question: {_apart(plan, place)}"
    if not trials.asked[name]:
        return f"never came up{_why(trials)}"
    if plan.story.facts and not any(asked == name for asked, _ in trials.low):
        return "makes everything that is told with it high; let it need less, or tell more"
    return None


def _untold(story: Story, fact: str, trials: Trials) -> str:
    moot = [question.id for question in story.questions if fact in question.moot]
    if not moot:
        return f"never told in {len(trials.told)} texts{_why(trials)}"
    return f"never told: it is moot for {', '.join(moot)}, and no two other questions can be asked together; take it out of one of these"


def _apart(plan: TellingPlan, place: int) -> str:
    """Return why the question at index *place* cannot be asked with any other one, with a reason for each."""
    others = [number for number in range(len(plan.story.questions)) if number != place]
    reasons = ((plan.story.questions[n].id, plan.demand(tuple(sorted((place, n)))).lacking) for n in others)
    return "; ".join(f"with {name}, {reason}" for name, reason in reasons)


def _why(trials: Trials) -> str:
    return f" (spoiled: {trials.spoiled.most_common(1)[0][0]})" if trials.spoiled else ""


def samples(story: Story, locale: str, taxonomy: Taxonomy, *, seed: int, number: int) -> Iterator[ToldStory | StoryUntold]:
    """Yield *number* texts of *story* drawn by *seed*; an error is yielded in place of a text that cannot be made."""
    for place in range(number):
        try:
            yield tell(story, derive_rng("story", seed, story.id, place), taxonomy, locale=locale)
        except StoryUntold as error:
            yield error
