"""The values of one text of a story: drawn from lists, rows, numbers and persona generators, once each.

Amounts of money keep one spelling within a text: never "$28000" and then "US$8,800" or "4,000 dollars".
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from piiloom.pii_values.consistency import can_be_done_at, iban_in, matching_heritages, reminds_of, stated_age
from piiloom.pii_values.countries import country_of, grouped
from piiloom.pii_values.drawing import SELF
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.lexicons import PersonGender, listed
from piiloom.pii_values.persona import Persona, draw_gender, draw_persona
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import combinations, expand
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.stories import WRITER, Cell, Counted, Fact, FromGenerator, InRows, Listed, Story
from piiloom.taxonomy.text_shapes import pronoun

_CURRENCY: Final = re.compile(r"[A-Z]*[$£€]|USD|bucks|dollars|reais|kronor|kr\b")
_GROUPED: Final = "{n:,}"
_FIRST_GROUPED: Final = 1000  # below it, both ways look the same


class MoneyStyle:
    """How amounts are written in one text; the first amount decides."""

    def __init__(self) -> None:
        self._currency: str | None = None
        self._grouped: bool | None = None

    def fitting(self, spellings: Sequence[str], number: float) -> Sequence[str]:
        """Return those of the *spellings* of *number* that match the earlier amounts; all if none does."""
        same = spellings if self._currency is None else _as(spellings, self._currency)
        if self._grouped is None or number < _FIRST_GROUPED:
            return same
        return [one for one in same if (_GROUPED in one) == self._grouped] or same

    def keep(self, spelling: str, number: float) -> None:
        """Note that *number* is written in the text as *spelling*."""
        if self._currency is None:
            self._currency = _currency(spelling)
        if self._grouped is None and number >= _FIRST_GROUPED:
            self._grouped = _GROUPED in spelling


def _as(spellings: Sequence[str], currency: str) -> Sequence[str]:
    """Return the spellings with *currency*; else those with a currency of the same form (sign or word); else all."""
    same = [one for one in spellings if _currency(one) == currency]
    return same or [one for one in spellings if _currency(one).isalpha() == currency.isalpha()] or spellings


def _currency(spelling: str) -> str:
    found = _CURRENCY.search(spelling)
    return found.group() if found else ""


_ADULTS: Final = (18, 90)
_TOWNS: Final = frozenset({"city", "region", "city_region", "area", "country"})
_ORIGINS: Final = ("heritage", "ethnicity", "nationality", "citizen", "language")  # those that say most of a name come first
_FAITHS: Final = ("religion", "faith")
_HOMES: Final = ("country", "nationality", "citizen", "city", "city_region")  # of accounts
_ATTEMPTS: Final = 12  # draws of a handle that reminds of a name; each has a better chance
_HANDLES: Final = frozenset({"email", "username"})
_OFFICIAL: Final = frozenset({"office", "log", "call", "cv", "form"})  # voices in which user names are given by firms, so made of names
_NAMES: Final = frozenset({"full_name", "first_name", "last_name"})


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
        self._genders: dict[str, PersonGender] = {}
        self._people: dict[str, Persona] = {}
        self._money = MoneyStyle()

    def value(self, name: str) -> str:
        """Return the value of the fact or look-alike *name*."""
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = self._draw(self._story.named[name])
        return found

    def agreeing(self, owner: str, word: str) -> str:
        """Return a word that agrees with *owner*: an attribute of a value ("tie", "she"), or a pronoun of a person ("friend", "he")."""
        if owner in self._story.named:
            self.value(owner)
            return self._cells[owner].attributes[word]
        return pronoun(word, self._gender(owner), self._language)

    def _draw(self, fact: Fact) -> str:
        source = fact.source
        if isinstance(source, Listed):
            cells = self._possible(fact, source.cells)
            return self._written(fact.name, cells[int(self._rng.random() * len(cells))])
        if isinstance(source, InRows):
            return self._written(fact.name, self._row(source.rows)[source.column])
        if isinstance(source, Counted):
            return self._spelled(source, self._number(fact.name, source), money=fact.entity_type == "finance" or fact.subtype == "price")
        if fact.subtype == "address" and any(one.subtype in _TOWNS for one in self._story.facts.values()):
            return self._persona(fact.person).street_address  # another town behind it would contradict the story's
        if fact.subtype == "iban" and (account := iban_in(self._listed_values(_HOMES), self._rng)) is not None:
            return account
        kind = kinds_for(fact.entity_type, (fact.subtype,), self._taxonomy).draw(self._rng)
        owner, of_name = self._persona(fact.person), fact.subtype in _HANDLES and self._has_official_handles(fact.person)
        for attempt in range(_ATTEMPTS if of_name else 1):
            value = kind.draw(owner, self._rng, attempt)
            if of_name and reminds_of(value, owner.given_name, owner.family_name):
                break
        return value

    def _possible(self, fact: Fact, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return those of *cells* that fit the person's age, where *fact* is a job and the story tells the age; all if none does."""
        age = self._age(fact.person) if fact.entity_type == "occupation" else None
        if age is None:
            return cells
        return [cell for cell in cells if can_be_done_at(age, cell.text, self._locale)] or cells

    def _age(self, person: str) -> int | None:
        for fact in self._story.facts.values():
            if fact.person == person and not isinstance(fact.source, InRows):
                if fact.entity_type == "age":
                    return stated_age(self.value(fact.name), self._locale)
                if fact.subtype == "date_of_birth" and isinstance(fact.source, FromGenerator):
                    return self._persona(person).age
        return None

    def _has_official_handles(self, person: str) -> bool:
        """Return whether the handles of *person* are made of the name: where the story has the name, and in some voices."""
        named = (one.person for one in self._story.facts.values() if one.entity_type == "name" and one.subtype in _NAMES)
        return self._story.voice in _OFFICIAL or person in named

    def _listed_values(self, subtypes: Sequence[str], person: str | None = None) -> list[str]:
        """Return the values that the story lists for *subtypes*, in their order, of *person* if one is given."""
        return [
            self.value(fact.name)
            for subtype in subtypes
            for fact in self._story.facts.values()
            if fact.subtype == subtype and isinstance(fact.source, Listed | InRows) and person in (None, fact.person)
        ]

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
            based_on = self._story.named[source.of].source
            number = self._number(source.of, based_on) if isinstance(based_on, Counted) else 0
            if source.times:
                number *= source.times[int(self._rng.random() * len(source.times))]
            else:
                number += source.plus[int(self._rng.random() * len(source.plus))]
            number = round(number / (source.round or 1)) * (source.round or 1)
        self._numbers[name] = number
        return number

    def _gender(self, name: str) -> PersonGender:
        """Return the gender of a cast member: the story's, or a drawn one. People called "he" or "she" get female or male only."""
        if name not in self._genders:
            told = self._story.cast[name].gender
            spoken_of = name in _spoken_of(self._story)
            drawn: PersonGender = ("female" if self._rng.random() < 0.5 else "male") if spoken_of else draw_gender(self._rng)
            self._genders[name] = told or drawn
        return self._genders[name]

    def _persona(self, name: str) -> Persona:
        if name not in self._people:
            youngest, oldest = self._story.cast[name].ages or _ADULTS
            origins, faiths = (tuple(self._listed_values(subtypes, name)) for subtypes in (_ORIGINS, _FAITHS))
            fitting = matching_heritages(self._locale, origins, faiths)
            self._people[name] = draw_persona(
                self._rng,
                self._locale,
                min_age=youngest,
                max_age=oldest,
                gender=self._gender(name),
                heritage=fitting.draw(self._rng) if fitting else None,
            )
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
