"""The text of a story from the bank: its steps and wordings, and its values with their offsets.

Values come from lists, rows, numbers and persona generators. Amounts of money keep one spelling within a text: never "$28000" and then
"US$8,800" or "4,000 dollars".
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from piiloom.corpus.mention_search import stands_alone
from piiloom.foundation.articles import article
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.told import ToldSpan
from piiloom.pii_values.consistency import can_be_done_at, iban_in, matching_heritages, reminds_of, stated_age
from piiloom.pii_values.countries import country_of, grouped
from piiloom.pii_values.drawing import SELF
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.languages import Gender
from piiloom.pii_values.lexicons import listed
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.persona_drawing import draw_gender, draw_persona
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import Slot, Text, combinations, expand, expansion, parse
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.pronouns import pronoun
from piiloom.taxonomy.stories import LINE_VOICES, WRITER, Cell, Counted, Fact, FromGenerator, InRows, Listed, Step, Story, Wording
from piiloom.taxonomy.telling_plan import Demand

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
        self._genders: dict[str, Gender] = {}
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
        owner, of_name = self._persona(fact.person), fact.subtype in _HANDLES and self._is_named(fact.person)
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

    def _is_named(self, person: str) -> bool:
        return any(one.entity_type == "name" and one.subtype in _NAMES and one.person == person for one in self._story.facts.values())

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


def choose_steps(steps: Sequence[Step], demand: Demand, rng: random.Random, turns: Turns | None = None) -> list[Told] | None:
    """Draw steps and wordings in text order so that all needed facts are told and no moot one is; None if this draw fails.

    For each needed fact, one of the steps that can tell it is drawn uniformly. Then each step gets an admissible wording that tells the
    facts assigned to it: the first such one in *turns*, or a random one without *turns*.
    """
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
    chosen = forced.union(number for number in demand.optional if rng.random() < steps[number].chance)
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
            text = _capitalised(text)
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
