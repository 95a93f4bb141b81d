"""Precomputed constraints on texts of a story, by set of questions, so that writing a text needs random draws only.

A set of questions demands that certain facts are told, others (moot ones) are not, and certain steps are present. Under
a demand, a wording is admissible if it tells no moot fact, and a step if it has an admissible wording.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.stories import Step, Story, StoryQuestion, Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question by its index in the story, and the index of its wording (None: any)."""

    question: int
    wording: int | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a set of questions demands of the text.

    ``needs``: the facts to tell. ``one_of``: facts of which one more is told. ``wordings``: the admissible wordings of each step.
    ``forced``: indexes of steps that are always told; ``optional``: those that chance decides on. ``lacking``: why no text can meet the
    demand, None if one may.
    """

    needs: tuple[str, ...]
    one_of: tuple[str, ...]
    wordings: tuple[tuple[Wording, ...], ...]
    forced: frozenset[int]
    optional: tuple[int, ...]
    lacking: str | None


class TellingPlan:
    """The demands of a story's questions, computed on first use."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._demands: dict[tuple[int, ...], Demand] = {}
        self._partners: dict[tuple[int, ...], tuple[int, ...]] = {}

    def demand(self, questions: tuple[int, ...]) -> Demand:
        """Return the joint demand of the questions with these indexes (in ascending order)."""
        found = self._demands.get(questions)
        if found is None:
            found = self._demands[questions] = _demand(self.story, [self.story.questions[number] for number in questions])
        return found

    def sets_of_questions(self, number: int) -> set[tuple[int, ...]]:
        """Return the largest sets of up to *number* questions that can be asked together and differ in what is high, if possible."""
        found: set[tuple[int, ...]] = {(place,) for place in self.askable}
        for _ in range(number - 1):
            larger = {tuple(sorted((*one, other))) for one in found for other in self.partners(one)}
            if not larger:
                break
            found = larger
        return found

    def partners(self, questions: tuple[int, ...]) -> tuple[int, ...]:
        """Return the questions that can be asked together with *questions*; only those with other high facts, if there are any."""
        found = self._partners.get(questions)
        if found is None:
            found = self._partners[questions] = self._find_partners(questions)
        return found

    def _find_partners(self, questions: tuple[int, ...]) -> tuple[int, ...]:
        known = self.story.questions
        others = [number for number in range(len(known)) if number not in questions]
        possible = [number for number in others if self.demand(tuple(sorted((*questions, number)))).lacking is None]
        contrasting = [number for number in possible if all(contrasts(known[number], known[asked]) for asked in questions)]
        return tuple(contrasting or possible)

    @cached_property
    def askable(self) -> tuple[int, ...]:
        """The questions that can be asked alone."""
        return tuple(number for number in range(len(self.story.questions)) if self.demand((number,)).lacking is None)

    @cached_property
    def askable_in_twos(self) -> tuple[int, ...]:
        """The questions that can be asked together with another one."""
        return tuple(number for number in self.askable if self.partners((number,)))


@lru_cache(maxsize=1024)
def plan_of(story: Story) -> TellingPlan:
    """Return the (cached) plan of a story."""
    return TellingPlan(story)


def contrasts(one: StoryQuestion, other: StoryQuestion) -> bool:
    """Whether one of the questions needs a fact that is low for the other."""
    return any(not other.decides(fact) for fact in one.needs) or any(not one.decides(fact) for fact in other.needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A narrow request: values of the types ``only`` (empty: any), in each text one of a subtype in ``kinds`` (empty: any)."""

    only: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def allows(self, entity_type: str) -> bool:
        """Return whether values may be of *entity_type*."""
        return not self.only or entity_type in self.only

    def slots(self, taxonomy: Taxonomy) -> list[tuple[str, str]]:
        """Return the (type, subtype) of ``kinds``, of allowed types: subtypes of *taxonomy* and catalogue entities.

        Raises ``UsageError`` for a kind that is neither.
        """
        found = [(kind.name, one.name) for kind in taxonomy.types.values() for one in kind.subtypes if one.name in self.kinds]
        entities = [(entity.entity_type, entity.id) for entity in map(find_shipped, sorted(self.kinds)) if entity is not None]
        fit = [slot for slot in dict.fromkeys([*found, *entities]) if self.allows(slot[0])]
        for name in sorted(self.kinds - {subtype for _, subtype in fit}):
            known = [one.name for kind in taxonomy.types.values() if self.allows(kind.name) for one in kind.subtypes]
            remedy = f"Known: {', '.join(known)}, and the ids of piiloom entities list"
            raise UsageError(f"unknown kind {name!r}, or not of the types that are asked for", where="--with", remedy=remedy)
        return fit


ANYTHING = Narrowing()


@lru_cache(maxsize=4096)
def narrowed(story: Story, narrowing: Narrowing, together: int) -> Story | None:
    """Return *story* cut to what *narrowing* allows; None if *together* questions cannot be asked of one such text."""
    unwanted = frozenset(name for name, fact in story.facts.items() if not narrowing.allows(fact.entity_type))
    demanded = frozenset(name for name, fact in story.facts.items() if fact.subtype in narrowing.kinds) - unwanted
    questions = [replace(one, moot=one.moot | unwanted) for one in story.questions if unwanted.isdisjoint(one.needs)]
    if narrowing.kinds and not demanded:
        return None
    found = replace(story, questions=tuple(questions), demanded=demanded)
    return found if any(len(one) == together for one in plan_of(found).sets_of_questions(together)) else None


def _demand(story: Story, questions: list[StoryQuestion]) -> Demand:
    steps = story.steps
    needs = tuple(dict.fromkeys(fact for question in questions for fact in question.needs))
    moot = frozenset().union(*(question.moot for question in questions))
    said = frozenset().union(*(question.said for question in questions))
    wordings = tuple(() if step.after & moot else tuple(w for w in step.wordings if not w.tells & moot) for step in steps)
    forced = frozenset(n for n, step in enumerate(steps) if (step.chance >= 1 and not step.after) or step.name in said)
    optional = tuple(n for n in range(len(steps)) if n not in forced and wordings[n])
    one_of = () if story.demanded.intersection(needs) else tuple(sorted(story.demanded & _tellable(wordings)))
    lacking = _lacking(steps, needs, moot, wordings, forced)
    if story.demanded and not one_of and story.demanded.isdisjoint(needs):
        lacking = lacking or f"none of {', '.join(sorted(story.demanded))} can be told"
    return Demand(needs, one_of, wordings, forced, optional, lacking)


def _tellable(wordings: Iterable[Iterable[Wording]]) -> frozenset[str]:
    return frozenset().union(*(wording.tells for found in wordings for wording in found))


def _lacking(
    steps: tuple[Step, ...],
    needs: tuple[str, ...],
    moot: frozenset[str],
    wordings: tuple[tuple[Wording, ...], ...],
    forced: Iterable[int],
) -> str | None:
    both = [fact for fact in needs if fact in moot]
    if both:
        return f"{both[0]} is needed and moot"
    shut_out = f"a moot fact ({', '.join(sorted(moot))})"
    for number in sorted(forced):
        if not wordings[number]:
            return f"text[{number}] is always told and has no wording without {shut_out}"
    for fact in needs:
        if not any(fact in wording.tells for step in steps for wording in step.wordings):
            return f"no wording tells {fact}, which is needed"
        if not any(fact in wording.tells for found in wordings for wording in found):
            return f"{fact} is needed, and every wording that tells it tells {shut_out} too"
    return None
