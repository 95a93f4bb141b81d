"""Put values into a carrier: one document with its spans and look-alikes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from piiloom.corpus.mention_search import SearchableText
from piiloom.detection.benchmark.carriers import (
    LENGTHS,
    LOOK_ALIKES,
    MOMENTS,
    OF_ONE_ENTRY,
    PLAIN,
    SUMS,
    Carrier,
    CarrierSlot,
    Length,
    parse_carrier,
    word_count,
)
from piiloom.detection.benchmark.document_facts import WORDS_OF_A_PERSON, DocumentClock, DocumentPeople
from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.entity_values.birth_dates import age_at, draw_birth_date_text
from piiloom.pii_values.entity_values.drawers import amount_of, draw_address, draw_gender, money_form
from piiloom.pii_values.entity_values.drawing import draw_value, spoilt_value
from piiloom.pii_values.entity_values.locale_words import GENDERS, locale_words
from piiloom.pii_values.entity_values.masks import tells_birth
from piiloom.pii_values.entity_values.named_person import NamedPerson, email_of, username_of
from piiloom.taxonomy.entities.entity import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

_TRIES: Final = 12
_TRIES_UNUSED: Final = 4  # of a value that the document has already
_LEAST_REPEAT: Final = 4  # code points; shorter values stand in many words and numbers by chance


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """``text[start:end]`` is a value of the entity ``what``; of a look-alike, ``what`` says which."""

    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A document: its text, the places of values in text order, and those of look-alikes."""

    carrier: Carrier
    length: Length
    text: str
    values: tuple[ValuePlace, ...]
    look_alikes: tuple[ValuePlace, ...]


def compose(carrier: Carrier, length: Length, catalogue: LocaleCatalogue, rng: random.Random) -> Composed:
    """Make a document of *length*. No value stands in it unlabeled.

    Raises ``ConfigError`` (file, id) if the carrier does not give one of that length in several tries.
    """
    words = 0
    for _ in range(_TRIES):
        document = _Composing(carrier, catalogue, rng).composed(length)
        words = word_count(document.text, carrier.locale)
        low, high = LENGTHS[length]
        if low <= words < high and not _unlabeled(document):
            return document
    raise ConfigError(f"the carrier gives no document of the length {length!r} ({words} words)", where=f"{carrier.file} ({carrier.id})")


def _unlabeled(document: Composed) -> bool:
    """Whether a value stands somewhere else, too, without being labeled there."""
    text = SearchableText(document.text)
    labeled = [(place.start, place.end) for place in document.values]
    for value in {document.text[start:end] for start, end in labeled if end - start >= _LEAST_REPEAT}:
        for start, end in text.mentions(value):
            if not any(first < end and start < last for first, last in labeled):
                return True
    return False


@dataclass(slots=True)
class _Composing:
    """The composition of one document: what is written so far, and the persons and values that have an index."""

    carrier: Carrier
    catalogue: LocaleCatalogue
    rng: random.Random
    clock: DocumentClock = field(init=False)
    people: DocumentPeople = field(init=False)
    city: str | None = field(init=False)
    money: str = field(init=False)
    text: str = ""
    values: list[ValuePlace] = field(default_factory=list)
    look_alikes: list[ValuePlace] = field(default_factory=list)
    fixed: dict[tuple[str, str, int], str] = field(default_factory=dict)  # by kind, name and index

    def __post_init__(self) -> None:
        self.clock = DocumentClock(self.carrier, self.rng)
        self.people = DocumentPeople(self.carrier, self.rng, _telling_birth(self.catalogue))
        self.money = money_form(self.carrier.locale, self.rng)
        self.city = self.rng.choice(list(locale_words(self.carrier.locale).cities)) if self.carrier.local else None

    def composed(self, length: Length) -> Composed:
        """Write the document."""
        self._write(self.carrier.opening)
        if self.carrier.entries:
            low, high = LENGTHS[length]
            wanted = low + (high - low) * (0.1 + 0.7 * self.rng.random())
            for entry in self._deck():
                if word_count(self.text, self.carrier.locale) >= wanted:
                    break
                self._next_entry()
                self._write(("" if self.text.endswith("\n") or not self.text else "\n") + entry)
            self.clock.close()
            self.people.next_entry()
            self._write(("" if self.text.endswith("\n") or not self.carrier.closing else "\n") + self.carrier.closing)
        return Composed(
            carrier=self.carrier,
            length=length,
            text=self.text.rstrip(),
            values=tuple(self.values),
            look_alikes=tuple(self.look_alikes),
        )

    def _next_entry(self) -> None:
        self.clock.next_entry()
        self.people.next_entry()
        self.fixed = {key: value for key, value in self.fixed.items() if key[2] < OF_ONE_ENTRY}

    def _deck(self) -> Iterator[str]:
        """The entries in a shuffled order; then again, in another, without one twice in a row."""
        last = ""
        while True:
            deck = list(self.carrier.entries)
            self.rng.shuffle(deck)
            if deck[0] == last:
                deck.append(deck.pop(0))
            yield from deck
            last = deck[-1]

    def _write(self, template: str) -> None:
        parts = parse_carrier(template)
        people = self.people.of(parts)
        for at, part in enumerate(parts):
            if isinstance(part, str):
                self.text += part
                continue
            value, start = self._indexed(part, people.get(at)), len(self.text)
            self.text += value
            if part.kind == "value":
                self._label(start, part.name)
            elif part.kind != "plain":
                self.look_alikes.append(ValuePlace(start, len(self.text), part.name if part.kind == "look-alike" else f"bad {part.name}"))

    def _label(self, start: int, name: str) -> None:
        """Label what is written since *start*; a family and a given name side by side are one name."""
        last = self.values[-1] if self.values else None
        between = {"family_name": (" ",), "given_name": ("", " ")}.get(name, ())
        if last and last.what == "person_name" and self.text[last.end : start] in between:
            start = self.values.pop().start
        self.values.append(ValuePlace(start, len(self.text), _labeled_as(name)))

    def _indexed(self, slot: CarrierSlot, person: NamedPerson | None) -> str:
        """The value of *slot*: the one that stands already, if it has an index."""
        if slot.index is None:
            return self._value(slot, person)
        key = (slot.kind, slot.name, slot.index)
        if key not in self.fixed:
            self.fixed[key] = self._value(slot, person)
        return self.fixed[key]

    def _value(self, slot: CarrierSlot, person: NamedPerson | None) -> str:
        locale = self.carrier.locale
        if slot.kind != "value":
            return self._unlabeled_text(slot)
        if slot.name in WORDS_OF_A_PERSON:
            known = slot.gender or (person.gender if person is not None else None)
            words, gender = locale_words(locale), known or self.rng.choice(GENDERS)
            community = person.community if person is not None else 0
            return self._unused(lambda: words.of_person(WORDS_OF_A_PERSON[slot.name], gender, community, self.rng))
        if self.city is not None and slot.name in ("address", "city"):
            return draw_address(locale, self.rng, self.city) if slot.name == "address" else self.city
        if slot.name == "age" and person is not None:
            return str(age_at(person.born, self.clock.today))
        made = _of_person(slot.name, person, self.rng) if person is not None else None
        return made or self._unused(lambda: draw_value(self._entity(slot.name), locale, self.rng, slot.begins, person))

    def _unlabeled_text(self, slot: CarrierSlot) -> str:
        """What is no personal information: a moment, a plain text, a look-alike or a faulty id."""
        if slot.kind == "bad":
            return spoilt_value(self._entity(slot.name), self.carrier.locale, self.rng)
        if slot.name in MOMENTS:
            return self.clock.told(slot.name)
        if slot.name in SUMS:
            return self.money.format(amount_of(self.carrier.locale, self.rng, *SUMS[slot.name]))
        drawers = PLAIN if slot.kind == "plain" else LOOK_ALIKES
        return self._unused(lambda: drawers[slot.name](self.carrier.locale, self.rng))

    def _unused(self, draw: Callable[[], str]) -> str:
        """What *draw* gives that does not stand in the text yet, if it gives such in a few tries: nobody travels from one town to it."""
        for _ in range(_TRIES_UNUSED):
            value = draw()
            if value not in self.text:
                break
        return value

    @property
    def _where(self) -> str:
        return f"{self.carrier.file} ({self.carrier.id})"

    def _entity(self, name: str) -> Entity:
        entity = self.catalogue.entities.get(name)
        if entity is None:
            raise ConfigError(f"the entity {name!r} is not in force: its format is unconfirmed", where=self._where)
        return entity


def _telling_birth(catalogue: LocaleCatalogue) -> frozenset[str]:
    """The entities that tell when somebody was born: the date, the age, and numbers that hold the date."""
    numbers = {
        one.id for one in catalogue.entities.values() if one.generator is not None and any(map(tells_birth, one.generator.masks or ()))
    }
    return frozenset(numbers | {"date_of_birth", "age"})


def _labeled_as(name: str) -> str:
    """A given or a family name alone is labeled as a person's name."""
    return "person_name" if name in ("given_name", "family_name") else name


def _gender_of(person: NamedPerson, rng: random.Random) -> str:
    return draw_gender(person.locale, rng, person.gender)


def _birth_date_of(person: NamedPerson, rng: random.Random) -> str:
    return draw_birth_date_text(person.locale, rng, person.born)


_MADE_OF_A_PERSON: Final[Mapping[str, Callable[[NamedPerson, random.Random], str]]] = MappingProxyType(
    {"email": email_of, "username": username_of, "gender": _gender_of, "date_of_birth": _birth_date_of}
)


def _of_person(name: str, person: NamedPerson, rng: random.Random) -> str | None:
    """What a slot *name* says of *person*; None if it says nothing of a person's name."""
    names = {"person_name": person.full, "given_name": person.given, "family_name": person.family}
    made = _MADE_OF_A_PERSON.get(name)
    return names.get(name) or (made(person, rng) if made is not None else None)
