"""Write the text from chosen steps and values, and record the offsets of every value."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from piiloom.corpus.word_edges import stands_alone
from piiloom.foundation.articles import article
from piiloom.foundation.errors import PiiloomError
from piiloom.generation.composer.story_steps import Told
from piiloom.generation.composer.story_values import StoryValues, subject_of
from piiloom.generation.composer.told import ToldSpan
from piiloom.taxonomy.grammar import Slot, Text, combinations, expansion, parse
from piiloom.taxonomy.stories import LINE_VOICES, Story


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
            text = _capitalised(text)
        elif slot.article is not None:
            chosen = article(text, self._locale)
            self.add(f"{chosen.capitalize() if slot.article == 'A' else chosen} ")
        start = self._length
        self.add(text)
        if not dot:
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


def _capitalised(text: str) -> str:
    """Return *text* with its first letter capitalized, or unchanged if the capital would be more than one letter ("ß")."""
    first = text[:1].upper()
    return first + text[1:] if len(first) == 1 else text


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
