"""The text of a story from the bank: its steps and wordings, and its values with their offsets."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from piiloom.corpus.mention_search import stands_alone
from piiloom.foundation.articles import article
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.scenario_texts import capitalised
from piiloom.generation.composer.story_values import StoryValues, subject_of
from piiloom.taxonomy.grammar import Slot, Text, combinations, expansion, parse
from piiloom.taxonomy.stories import LINE_VOICES, Step, Story, Wording
from piiloom.taxonomy.telling_plan import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSpan:
    """A value in the text, at ``text[start:end]``; ``fact`` is its name in the story."""

    start: int
    end: int
    value: str
    entity_type: str
    subtype: str
    fact: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question about the text. ``high``: the told facts that matter to it, each with the reason; all others are low."""

    id: str
    text: str
    high: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStory:
    """A text with its spans in order, and its questions; ``habit`` is the writer's orthographic habit, None if there is none.

    ``lookalikes`` are the (kind, value) of the look-alikes in the text.
    """

    story: str
    text: str
    spans: tuple[ToldSpan, ...]
    questions: tuple[AskedQuestion, ...]
    habit: str | None = None
    lookalikes: tuple[tuple[str, str], ...] = ()

    def bracketed(self) -> str:
        """Return the text with each value in square brackets."""
        text = self.text
        for span in reversed(self.spans):
            text = f"{text[: span.start]}[{span.value}]{text[span.end :]}"
        return text


Told = tuple[Step, Wording]
Turns = Sequence[Sequence[Wording]]


def wordings_in_turn(story: Story, telling: int, seed: int) -> Turns:
    """Return, for each step, its wordings in the order of preference for text number *telling* (from 0) of *story* in a run.

    Successive texts begin with different wordings until all have been first, then in a new random order.
    """
    turns: list[Sequence[Wording]] = []
    for place, step in enumerate(story.steps):
        turn, at = divmod(telling, len(step.wordings))
        order = derive_rng("wordings in turn", seed, story.id, place, turn).sample(step.wordings, len(step.wordings))
        turns.append(order[at:] + order[:at])
    return turns


def choose_steps(story: Story, demand: Demand, rng: random.Random, turns: Turns | None = None) -> list[Told] | None:
    """Draw steps and wordings in text order so that all needed facts are told and no moot one is; None if this draw fails.

    For each needed fact, one of the steps that can tell it is drawn uniformly. Then each step gets an admissible wording that tells the
    facts assigned to it: the first such one in *turns*, or a random one without *turns*. A text draws how much detail it tells, from 0
    to 1; the chances of optional steps with values are multiplied by that, but for those with a code, which a form has or has not.
    """
    steps = story.steps
    codes = {name for name, fact in story.facts.items() if fact.entity_type == "code"}
    options = list(demand.wordings)
    forced = set(demand.forced)
    open_needs = list(demand.needs)
    if demand.one_of:
        open_needs.append(demand.one_of[int(rng.random() * len(demand.one_of))])
    rng.shuffle(open_needs)
    while open_needs:
        fact = open_needs.pop()
        if any(_always_tells(options[number], fact) for number in forced):
            continue
        able = [number for number, found in enumerate(options) if any(fact in wording.tells for wording in found)]
        if not able:
            return None
        number = able[int(rng.random() * len(able))]
        options[number] = tuple(wording for wording in options[number] if fact in wording.tells)
        if number not in forced:
            forced.add(number)
            open_needs.extend(steps[number].after)
    detail = rng.random()  # some writers tell little beside the matter, others much

    def chance(number: int) -> float:
        full = steps[number].chance
        told = frozenset[str]().union(*(one.tells for one in options[number]))
        return full * detail if full < 1 and told and told.isdisjoint(codes) else full

    chosen = forced.union(number for number in demand.optional if rng.random() < chance(number))
    return _in_order(steps, options, [n for n in _order(steps, rng) if n in chosen], forced, rng, turns)


def _always_tells(wordings: Sequence[Wording], fact: str) -> bool:
    return all(fact in wording.tells for wording in wordings)


def _order(steps: Sequence[Step], rng: random.Random) -> list[int]:
    """Return the indexes of all steps; adjacent steps of the same group are shuffled."""
    order: list[int] = []
    for group, found in groupby(range(len(steps)), key=lambda number: steps[number].group):
        numbers = list(found)
        if group is not None:
            rng.shuffle(numbers)
        order += numbers
    return order


def _in_order(
    steps: Sequence[Step],
    options: Sequence[Sequence[Wording]],
    order: Sequence[int],
    forced: set[int],
    rng: random.Random,
    turns: Turns | None,
) -> list[Told] | None:
    """Choose the wordings in *order*. A step whose ``after`` facts are not told yet is left out; if it is in *forced*, return None."""
    told: set[str] = set()
    found: list[Told] = []
    for number in order:
        step, wordings = steps[number], options[number]
        if not step.after <= told:
            if number in forced:
                return None
            continue
        turn = wordings if turns is None else [one for one in turns[number] if one in wordings]
        wording = turn[int(rng.random() * len(turn)) if turns is None else 0]
        told |= wording.tells
        found.append((step, wording))
    return found


class _Page:
    """A text under construction, with the spans of the values added so far."""

    def __init__(self, story: Story, values: StoryValues, locale: str) -> None:
        self._story = story
        self._values = values
        self._locale = locale
        self._pieces: list[str] = []
        self._length = 0
        self.spans: list[ToldSpan] = []

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def fill(self, slot: Slot) -> None:
        owner, dot, word = slot.name.partition(".")
        text = self._values.agreeing(owner, word) if dot else self._values.value(owner)
        if slot.article == "^":
            text = capitalised(text)
        elif slot.article is not None:
            chosen = article(text, self._locale)
            self.add(f"{chosen.capitalize() if slot.article == 'A' else chosen} ")
        start = self._length
        self.add(text)
        if owner in self._story.facts and not dot:
            fact = self._story.facts[owner]
            self.spans.append(
                ToldSpan(
                    start=start,
                    end=self._length,
                    value=text,
                    entity_type=fact.entity_type,
                    subtype=fact.subtype,
                    fact=owner,
                    subject=subject_of(fact),
                )
            )

    @property
    def text(self) -> str:
        return "".join(self._pieces)


def write_text(
    story: Story, told: Sequence[Told], values: StoryValues, rng: random.Random, locale: str
) -> tuple[str, tuple[ToldSpan, ...]]:
    """Write the text of the steps *told*; returns it and its spans in order."""
    page = _Page(story, values, locale)
    between = "\n" if story.voice in LINE_VOICES else "\n\n"
    for number, (step, wording) in enumerate(told):
        if number:
            page.add(between if step.paragraph else " ")
        total = combinations(wording.pattern)
        for part in _parts(wording.pattern, int(rng.random() * total) if total > 1 else 0):
            if isinstance(part, str):
                page.add(part)
            else:
                page.fill(part)
    text = page.text
    for span in page.spans:
        if text[span.start : span.end] != span.value:
            raise PiiloomError(
                f"the span of {span.fact} is not exact", where=story.origin, remedy="Please report this as a bug in piiloom."
            )
    return text, tuple(page.spans)


@lru_cache(maxsize=65_536)
def _parts(pattern: str, number: int) -> tuple[str | Slot, ...]:
    """Return expansion *number* of a wording as a sequence of fixed texts and slots."""
    parts = parse(expansion(pattern, number)).parts
    return tuple(part.text if isinstance(part, Text) else part for part in parts if isinstance(part, Text | Slot))


def clash(text: str, spans: Iterable[ToldSpan], values: Mapping[str, str]) -> str | None:
    """Return why the spans of *text* are invalid, None if they are valid.

    Each span must be a whole word or number, and each occurrence of a value (*values* by fact) must be a span of its own fact.
    """
    places = {(span.start, span.end): span.fact for span in spans}
    small = folded(text)
    for (start, end), fact in places.items():
        if not stands_alone(text, start, end):
            return f"the value of {fact} is part of a longer word or number"
    for fact in dict.fromkeys(places.values()):
        value = values[fact]
        for found in mentions(value, text, small):
            other = places.get(found)
            if other != fact:
                inside = other or next((f for (s, e), f in places.items() if s < found[1] and found[0] < e), None)
                return f"the values of {fact} and {inside} are alike" if inside else f"the value of {fact} also stands in a sentence"
    return None


def mentions(value: str, text: str, small: str | None = None) -> list[tuple[int, int]]:
    """Return the (start, end) offsets at which *text* holds *value* as whole words.

    The search ignores case if *value* is all lower case. *small*: ``folded(text)``, if it is known already.
    """
    low = value == value.lower()
    where, needle = (small or folded(text), folded(value)) if low else (text, value)
    found: list[tuple[int, int]] = []
    at = where.find(needle)
    while at >= 0:
        end = at + len(needle)
        if stands_alone(text, at, end):
            found.append((at, end))
        at = where.find(needle, end)
    return found


def folded(text: str) -> str:
    """Return *text* in lower case with every letter at the same offset."""
    if text.isascii():
        return text.lower()
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
