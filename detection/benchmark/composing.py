"""Put values into a carrier: one document with its spans and look-alikes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Final

from piiloom.corpus.mention_search import SearchableText
from piiloom.detection.benchmark.carriers import LENGTHS, Carrier, Length, word_count
from piiloom.detection.benchmark.document_people import DocumentPeople
from piiloom.detection.benchmark.plain_values import LOOK_ALIKES, MOMENTS, PLAIN, date_form, recent_day
from piiloom.detection.benchmark.slots import Slot, parse_carrier
from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.entity_values.drawing import draw_value, spoilt_value
from piiloom.pii_values.entity_values.locale_words import GENDERS, locale_words
from piiloom.pii_values.entity_values.named_person import NamedPerson, email_of, username_of
from piiloom.taxonomy.entities.entity import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

_TRIES: Final = 12
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


class _Clock:
    """The time that a document tells: later in each entry, and each date in one way of writing it."""

    def __init__(self, locale: str, rng: random.Random, *, entries: bool) -> None:
        self._rng, self._form = rng, date_form(locale, rng)
        self._now = datetime.combine(recent_day(rng), time(rng.randint(6, 20), rng.randint(0, 59)))
        # A diary with an entry every few days, or a log with one every few minutes.
        self._step = rng.choice((4, 25, 90, 600, 1500, 4000)) if entries else 1500
        self._dates = 0

    def next_entry(self) -> None:
        """Go on to the next entry."""
        self._now += timedelta(minutes=1 + self._rng.random() * 2 * self._step)
        self._dates = 0

    def told(self, what: str) -> str:
        """One of ``MOMENTS``."""
        return self._time() if what == "time" else self._date() if what == "date" else self._past_date()

    def _date(self) -> str:
        """The day of the entry; each further one in it is some days later, as of an appointment."""
        day = self._now + timedelta(days=self._rng.randint(2, 20) * self._dates)
        self._dates += 1
        return day.strftime(self._form)

    def _past_date(self) -> str:
        """A day of the last two months."""
        return (self._now - timedelta(days=self._rng.randint(1, 60))).strftime(self._form)

    def _time(self) -> str:
        """The time of day, a few minutes after the last one."""
        self._now += timedelta(minutes=self._rng.randint(0, 9)) if self._now.hour < 23 else timedelta()
        return self._now.strftime("%H:%M")


@dataclass(slots=True)
class _Composing:
    """The composition of one document: what is written so far, and the persons and values that have an index."""

    carrier: Carrier
    catalogue: LocaleCatalogue
    rng: random.Random
    clock: _Clock = field(init=False)
    people: DocumentPeople = field(init=False)
    text: str = ""
    values: list[Place] = field(default_factory=list)
    look_alikes: list[Place] = field(default_factory=list)
    fixed: dict[Slot, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = _Clock(self.carrier.locale, self.rng, entries=bool(self.carrier.entries))
        self.people = DocumentPeople(self.carrier.locale, self.rng)

    def composed(self, length: Length) -> Composed:
        """Write the document."""
        self._write(self.carrier.opening)
        if self.carrier.entries:
            low, high = LENGTHS[length]
            wanted = low + (high - low) * (0.1 + 0.7 * self.rng.random())
            for entry in self._deck():
                if word_count(self.text, self.carrier.locale) >= wanted:
                    break
                self.clock.next_entry()
                self._write(("" if self.text.endswith("\n") or not self.text else "\n") + entry)
            self._write(("" if self.text.endswith("\n") or not self.carrier.closing else "\n") + self.carrier.closing)
        return Composed(
            carrier=self.carrier,
            length=length,
            text=self.text.rstrip(),
            values=tuple(self.values),
            look_alikes=tuple(self.look_alikes),
        )

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
            value, start = self._value(part, people.get(at)), len(self.text)
            self.text += value
            if part.kind == "value":
                self.values.append(Place(start, len(self.text), _labeled_as(part.name)))
            elif part.kind != "plain":
                self.look_alikes.append(Place(start, len(self.text), part.name if part.kind == "look-alike" else f"bad {part.name}"))

    def _value(self, slot: Slot, person: NamedPerson | None) -> str:
        if slot.kind != "value":
            return self._unlabeled_text(slot)
        if slot in self.fixed:
            return self.fixed[slot]
        if slot.name == "relation":
            gender = person.gender if person is not None else self.rng.choice(GENDERS)
            return locale_words(self.carrier.locale).relation(gender, self.rng)
        value = _of_person(slot.name, person, self.rng) if person else None
        value = value or draw_value(self._entity(slot.name), self.carrier.locale, self.rng)
        if slot.index is not None:
            self.fixed[slot] = value
        return value

    def _unlabeled_text(self, slot: Slot) -> str:
        """What is no personal information: a moment, a plain text, a look-alike or a faulty id."""
        if slot.kind == "bad":
            return spoilt_value(self._entity(slot.name), self.carrier.locale, self.rng)
        if slot.name in MOMENTS:
            return self.clock.told(slot.name)
        drawers = PLAIN if slot.kind == "plain" else LOOK_ALIKES
        return drawers[slot.name](self.carrier.locale, self.rng)

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
