"""Put values into a carrier: one document with its spans and look-alikes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from piiloom.corpus.mention_search import SearchableText
from piiloom.detection.benchmark.carriers import LENGTHS, Carrier, Length, word_count
from piiloom.detection.benchmark.document_clock import DocumentClock
from piiloom.detection.benchmark.plain_values import LOOK_ALIKES, MOMENTS, PLAIN, SUMS
from piiloom.detection.benchmark.slots import Part, Slot, parse_carrier
from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.entity_values.drawers import amount_of, draw_address, money_form
from piiloom.pii_values.entity_values.drawing import draw_value, spoilt_value
from piiloom.pii_values.entity_values.locale_words import GENDERS, locale_words
from piiloom.pii_values.entity_values.named_person import NamedPerson, draw_person, email_of, username_of
from piiloom.taxonomy.entities.entity import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

_NAMES: Final = ("person_name", "given_name")
_PERSONAL: Final = (*_NAMES, "family_name", "email", "username")
_TRIES: Final = 12
_OF_ONE_ENTRY: Final = 50  # slots with this index or a higher one tell of somebody else in the next entry
_LEAST_REPEAT: Final = 4  # code points; shorter values stand in many words and numbers by chance


@dataclass(frozen=True, slots=True)
class Place:
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
    values: tuple[Place, ...]
    look_alikes: tuple[Place, ...]


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
    city: str | None = field(init=False)
    money: str = field(init=False)
    text: str = ""
    values: list[Place] = field(default_factory=list)
    look_alikes: list[Place] = field(default_factory=list)
    persons: dict[int | Slot, NamedPerson] = field(default_factory=dict)
    named: NamedPerson | None = None  # who was written last
    fixed: dict[Slot, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = DocumentClock(self.carrier, self.rng)
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
        self.persons = {key: person for key, person in self.persons.items() if isinstance(key, int) and key < _OF_ONE_ENTRY}
        self.fixed = {slot: value for slot, value in self.fixed.items() if (slot.index or 0) < _OF_ONE_ENTRY}

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
        for at, part in enumerate(parts):
            if isinstance(part, str):
                self.text += part
                continue
            value, start = self._indexed(part, parts, at), len(self.text)
            self.text += value
            if part.name in _NAMES and part.index is not None:
                self.named = self._person(part)
            if part.kind == "value":
                self.values.append(Place(start, len(self.text), _labeled_as(part.name)))
            elif part.kind != "plain":
                self.look_alikes.append(Place(start, len(self.text), part.name if part.kind == "look-alike" else f"bad {part.name}"))

    def _indexed(self, slot: Slot, parts: Sequence[Part], at: int) -> str:
        """The value of *slot*: the one that stands already, if it has an index."""
        if slot.index is None:
            return self._relation(slot, parts, at) if slot.name == "relation" else self._value(slot)
        if slot not in self.fixed:
            self.fixed[slot] = self._relation(slot, parts, at) if slot.name == "relation" else self._value(slot)
        return self.fixed[slot]

    def _relation(self, slot: Slot, parts: Sequence[Part], at: int) -> str:
        """The word for a relative: for the person of its index, or who is named next ("aunt Ann") or before ("Ann (aunt)"), or anybody."""
        after = parts[at + 1 : at + 3]
        follows = next((one for one in after if isinstance(one, Slot) and one.name in _NAMES), None)
        person = self.named if any(isinstance(one, Slot) and one.name in _NAMES for one in parts[max(0, at - 2) : at]) else None
        if slot.index is not None:
            person = self._person(slot)
        elif follows is not None and (person is None or after[0] in (" ", ", ")):
            person = self._person(follows)
        known = slot.gender or (person.gender if person is not None else None)
        gender = known or self.rng.choice(GENDERS)
        return locale_words(self.carrier.locale).relation(gender, self.rng)

    def _person(self, slot: Slot) -> NamedPerson:
        """The person of a slot; that of one without an index is kept until it is written."""
        key = slot.index if slot.index is not None else slot
        if key not in self.persons:
            taken = {person.given for person in self.persons.values()}
            drawn = [draw_person(self.carrier.locale, self.rng, slot.gender) for _ in range(3)]
            self.persons[key] = next((one for one in drawn if one.given not in taken), drawn[0])
        return self.persons[key]

    def _value(self, slot: Slot) -> str:
        locale = self.carrier.locale
        if slot.kind == "plain":
            return self._plain(slot.name)
        if slot.kind == "look-alike":
            return LOOK_ALIKES[slot.name](locale, self.rng)
        if slot.kind == "bad":
            return spoilt_value(self._entity(slot.name), locale, self.rng)
        if self.city is not None and slot.name in ("address", "city"):
            return draw_address(locale, self.rng, self.city) if slot.name == "address" else self.city
        made = _of_person(slot.name, self._person(slot), self.rng) if slot.name in _PERSONAL else None
        if slot.name in _NAMES:
            self.named = self._person(slot)
        if slot.index is None:
            self.persons.pop(slot, None)
        return made or draw_value(self._entity(slot.name), locale, self.rng, slot.begins)

    def _plain(self, name: str) -> str:
        if name in MOMENTS:
            return self.clock.date() if name == "date" else self.clock.time()
        if name in SUMS:
            return self.money.format(amount_of(self.carrier.locale, self.rng, *SUMS[name]))
        return PLAIN[name](self.carrier.locale, self.rng)

    @property
    def _where(self) -> str:
        return f"{self.carrier.file} ({self.carrier.id})"

    def _entity(self, name: str) -> Entity:
        entity = self.catalogue.entities.get(name)
        if entity is None:
            raise ConfigError(f"the entity {name!r} is not in force: its format is unconfirmed", where=self._where)
        return entity


def _labeled_as(name: str) -> str:
    """A given or a family name alone is labeled as a person's name."""
    return "person_name" if name in ("given_name", "family_name") else name


def _of_person(name: str, person: NamedPerson, rng: random.Random) -> str | None:
    match name:
        case "person_name":
            return person.full
        case "given_name":
            return person.given
        case "family_name":
            return person.family
        case "email":
            return email_of(person, rng)
        case "username":
            return username_of(person, rng)
        case _:
            return None
