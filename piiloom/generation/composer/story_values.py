"""The values of one text of a story, from lists, rows, numbers and persona generators; each is drawn on first use."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Final

from piiloom.generation.composer.money_style import MoneyStyle
from piiloom.pii_values.countries import country_of, grouped
from piiloom.pii_values.drawing import SELF
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.languages import Gender
from piiloom.pii_values.lexicons import listed
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.persona_drawing import draw_gender, draw_persona
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import combinations, expand
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.pronouns import pronoun
from piiloom.taxonomy.stories import WRITER, Cell, Counted, Fact, InRows, Listed, Story

_ADULTS: Final = (18, 90)


class StoryValues:
    """The values for the slots of one text; each is drawn once, so the same name always gives the same words."""

    def __init__(self, story: Story, rng: random.Random, locale: str, taxonomy: Taxonomy) -> None:
        self._story = story
        self._rng = rng
        self._locale, self._taxonomy = locale, taxonomy
        self._language = get_locale(locale).language
        self._values: dict[str, str] = {}
        self._cells: dict[str, Cell] = {}
        self._rows: dict[str, tuple[Cell, ...]] = {}
        self._numbers: dict[str, float] = {}
        self._genders: dict[str, Gender] = {}
        self._people: dict[str, Persona] = {}
        self._money = MoneyStyle()

    def value(self, name: str) -> str:
        """Return the value of the fact *name*."""
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = self._draw(self._story.facts[name])
        return found

    def agreeing(self, owner: str, word: str) -> str:
        """Return a word that agrees with *owner*: an attribute of a fact ("tie", "she"), or a pronoun of a cast member ("friend", "he")."""
        if owner in self._story.facts:
            self.value(owner)
            return self._cells[owner].attributes[word]
        return pronoun(word, self._gender(owner), self._language)

    def _draw(self, fact: Fact) -> str:
        source = fact.source
        if isinstance(source, Listed):
            return self._written(fact.name, source.cells[int(self._rng.random() * len(source.cells))])
        if isinstance(source, InRows):
            return self._written(fact.name, self._row(source.rows)[source.column])
        if isinstance(source, Counted):
            return self._spelled(source, self._number(fact.name, source), money=fact.entity_type == "finance")
        kind = kinds_for(fact.entity_type, (fact.subtype,), self._taxonomy).draw(self._rng)
        return kind.draw(self._persona(fact.person), self._rng, 0)

    def _written(self, name: str, cell: Cell) -> str:
        self._cells[name] = cell
        return cell.text if _is_plain(cell.text) else expand(cell.text, self._rng)

    def _spelled(self, source: Counted, number: float, *, money: bool) -> str:
        usual = self._money.fitting(source.spellings, number) if money else source.spellings
        spelling = usual[int(self._rng.random() * len(usual))]
        if money:
            self._money.keep(spelling, number)
        return spelled_number(spelling, number, self._locale)

    def _row(self, name: str) -> tuple[Cell, ...]:
        if name not in self._rows:
            rows = self._story.rows[name]
            self._rows[name] = rows[int(self._rng.random() * len(rows))]
        return self._rows[name]

    def _number(self, name: str, source: Counted) -> float:
        if name in self._numbers:
            return self._numbers[name]
        if source.of is None:
            steps = int((source.high - source.low) / source.step + 1e-9)
            number = source.low + source.step * int(self._rng.random() * (steps + 1))
        else:
            based_on = self._story.facts[source.of].source
            number = self._number(source.of, based_on) if isinstance(based_on, Counted) else 0
            if source.times:
                number *= source.times[int(self._rng.random() * len(source.times))]
            else:
                number += source.plus[int(self._rng.random() * len(source.plus))]
            number = round(number / (source.round or 1)) * (source.round or 1)
        self._numbers[name] = number
        return number

    def _gender(self, name: str) -> Gender:
        """Return the gender of a cast member: the story's, or a drawn one. People called "he" or "she" get female or male only."""
        if name not in self._genders:
            told = self._story.cast[name].gender
            spoken_of = name in _spoken_of(self._story)
            drawn: Gender = ("female" if self._rng.random() < 0.5 else "male") if spoken_of else draw_gender(self._rng)
            self._genders[name] = told or drawn
        return self._genders[name]

    def _persona(self, name: str) -> Persona:
        if name not in self._people:
            youngest, oldest = self._story.cast[name].ages or _ADULTS
            self._people[name] = draw_persona(self._rng, self._locale, min_age=youngest, max_age=oldest, gender=self._gender(name))
        return self._people[name]


def subject_of(fact: Fact) -> str:
    """Return the person a fact belongs to, in the form used by spans."""
    return SELF if fact.person == WRITER else fact.person.replace("_", " ")


def spelled_number(spelling: str, number: float, locale: str) -> str:
    """Fill *number* into *spelling*: ``{n}`` plain, ``{n:,}`` with thousands separators, ``{words}`` in words."""
    whole = round(number)
    if abs(number - whole) > 1e-6:
        places = 1 if abs(number * 10 - round(number * 10)) < 1e-6 and "$" not in spelling else 2  # "3.7", but "$17.50"
        plain = separated = f"{number:.{places}f}".replace(".", country_of(locale).decimal)
    else:
        plain, separated = str(whole), grouped(whole, locale)
    text = spelling.replace("{n}", plain).replace("{n:,}", separated)
    return text.replace("{words}", _in_words(whole, locale)) if "{words}" in text else text


def _in_words(number: int, locale: str) -> str:
    known = listed("numbers", locale)
    return known[number] if 0 <= number < len(known) else str(number)


@lru_cache(maxsize=65_536)
def _is_plain(pattern: str) -> bool:
    return combinations(pattern) == 1


@lru_cache(maxsize=1024)
def _spoken_of(story: Story) -> frozenset[str]:
    """Return the members of the cast for whom a wording uses an agreeing word, such as he or she."""
    words = (owner for step in story.steps for wording in step.wordings for owner, _ in wording.agreements)
    return frozenset(owner for owner in words if owner in story.cast)
