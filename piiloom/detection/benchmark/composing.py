"""Put values into a carrier: one document with its spans and look-alikes, the persons in it, and the time that it gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
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
    CarrierPart,
    CarrierSlot,
    Length,
    Pace,
    date_form,
    parse_carrier,
    recent_day,
    word_count,
)
from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.dates import age_on
from piiloom.pii_values.entity_values.drawers import amount_of, draw_gender_word, draw_postal_address, money_form
from piiloom.pii_values.entity_values.drawing import draw_entity_value, spoilt_value
from piiloom.pii_values.entity_values.people import (
    GENDERS,
    NamedPerson,
    draw_birth_date_text,
    draw_person,
    email_of,
    locale_words,
    username_of,
)
from piiloom.pii_values.numbering.masks import tells_birth
from piiloom.taxonomy.entities.catalogue_file import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

NAMES: Final = ("person_name", "given_name")
OF_A_PERSON: Final = (*NAMES, "family_name", "email", "username", "gender", "passport_mrz", "id_card_mrz", "boarding_pass")
WORDS_OF_A_PERSON: Final = {"relation": "relations", "occupation": "occupations", "nationality": "nationalities", "belief": "beliefs"}
_NAMESAKES: Final = 3  # draws until somebody is not called as another one of the document
_NEAR: Final = 2  # parts; a relative is named next to the word for them: "her sister Anna", "Anna (sister)"


class DocumentPeople:
    """The persons of one document; those with an index stay the same all through it."""

    def __init__(self, carrier: Carrier, rng: random.Random, telling_birth: frozenset[str]) -> None:
        self._locale, self._rng, self._telling_birth = carrier.locale, rng, telling_birth
        self._of_all = self._genders = _genders(slot for slot in carrier.slots() if (slot.index or 0) < OF_ONE_ENTRY)
        self._indexed: dict[int, NamedPerson] = {}
        self._latest: NamedPerson | None = None

    def next_entry(self) -> None:
        """Forget who is of one entry alone."""
        self._indexed = {index: person for index, person in self._indexed.items() if index < OF_ONE_ENTRY}
        self._latest = None

    def of(self, parts: Sequence[CarrierPart]) -> dict[int, NamedPerson]:
        """Return the person of each slot of *parts* that tells of one, by its place.

        Without an index a name is that of somebody new; an address, a user name, a family name or what tells a birth date belongs to who
        was named last, or is named next. The word for a relative belongs to who is named beside it, another word for a person also to who
        was named last.
        """
        found: dict[int, NamedPerson] = {}
        slots = [(at, part) for at, part in enumerate(parts) if isinstance(part, CarrierSlot)]
        self._genders = self._of_all | _genders(slot for _, slot in slots)
        for at, slot in slots:
            family = self._namesake(parts, at) or self._kin(parts, at, found) if slot.name in NAMES else None
            if slot.index is not None and (slot.name in (*OF_A_PERSON, *WORDS_OF_A_PERSON) or slot.name in self._telling_birth):
                found[at] = self._of_index(slot, like=family)
            elif slot.name in NAMES:
                found[at] = self._new(slot, like=family)
        for at, slot in slots:
            if at not in found and slot.name in OF_A_PERSON:
                found[at] = self._beside(found, at) or self._latest or self._new(slot)
        named = [at for at in sorted(found) if isinstance(parts[at], CarrierSlot) and _name_of(parts[at]) in NAMES]
        for at, slot in slots:
            near = [one for one in _near(parts, at) if one in named]
            beside = found[near[0]] if near else None if slot.name == "relation" else self._beside(found, at) or self._latest
            if slot.name in WORDS_OF_A_PERSON and at not in found and beside is not None:
                found[at] = beside
        self._add_born(slots, named, found)
        self._latest = found[named[-1]] if named else self._latest
        return found

    def _add_born(self, slots: Sequence[tuple[int, CarrierSlot]], named: Sequence[int], found: dict[int, NamedPerson]) -> None:
        """Add who was born when the slots without an index tell; a second number of the same kind is somebody else's."""
        names = {at: found[at] for at in named}
        told: set[tuple[str, int]] = set()
        for at, slot in slots:
            if at in found or slot.kind != "value" or slot.name not in self._telling_birth:
                continue
            person = self._beside(names, at) or self._latest
            if person is not None and (slot.name, id(person)) not in told:
                told.add((slot.name, id(person)))
                found[at] = person

    @staticmethod
    def _beside(found: dict[int, NamedPerson], at: int) -> NamedPerson | None:
        before = [one for one in sorted(found) if one < at]
        after = [one for one in sorted(found) if one > at]
        return found[before[-1]] if before else found[after[0]] if after else None

    def _of_index(self, slot: CarrierSlot, *, like: NamedPerson | None = None) -> NamedPerson:
        index = slot.index or 0
        if index not in self._indexed:
            taken = {person.given for person in self._indexed.values()}
            drawn = [draw_person(self._locale, self._rng, self._genders.get(index), like=like) for _ in range(_NAMESAKES)]
            self._indexed[index] = next((one for one in drawn if one.given not in taken), drawn[0])
        return self._indexed[index]

    def _namesake(self, parts: Sequence[CarrierPart], at: int) -> NamedPerson | None:
        """Whose family name stands right behind a given name: "father: {given_name@m} {family_name@1}"."""
        behind = parts[at + 2] if len(parts) > at + 2 and parts[at + 1] == " " else None
        is_namesake = isinstance(behind, CarrierSlot) and behind.name == "family_name" and behind.index is not None
        return self._of_index(behind) if is_namesake and isinstance(behind, CarrierSlot) else None

    def _kin(self, parts: Sequence[CarrierPart], at: int, found: Mapping[int, NamedPerson]) -> NamedPerson | None:
        """Whose relative is named beside the word for one: who was named last, or the first of the document."""
        if not any(_name_of(parts[one]) == "relation" for one in _near(parts, at) if 0 <= one < len(parts)):
            return None
        before = [one for one in sorted(found) if one < at]
        return found[before[-1]] if before else self._latest or self._indexed.get(1)

    def _new(self, slot: CarrierSlot, *, like: NamedPerson | None = None) -> NamedPerson:
        return draw_person(self._locale, self._rng, slot.gender, like=like)


def _near(parts: Sequence[CarrierPart], at: int) -> tuple[int, ...]:
    """The places beside a word for a relative: who is named next ("aunt Ann") comes first only right behind it, not in "Ann (aunt)"."""
    after, before = range(at + 1, at + 1 + _NEAR), range(at - 1, at - 1 - _NEAR, -1)
    return (*after, *before) if at + 1 < len(parts) and parts[at + 1] in (" ", ", ") else (*before, *after)


def _genders(slots: Iterable[CarrierSlot]) -> dict[int, str]:
    """The gender of each index for which one of *slots* gives it: what a later slot says holds for an earlier one, too."""
    return {slot.index: slot.gender for slot in slots if slot.index is not None and slot.gender is not None and slot.name in OF_A_PERSON}


def _name_of(part: CarrierPart) -> str:
    return part.name if isinstance(part, CarrierSlot) else ""


# Minutes between two entries: of a log, of the notes of a ward, of a statement.
_STEPS: Final[Mapping[Pace, tuple[int, ...]]] = MappingProxyType({"minutes": (4, 25), "hours": (90, 600), "days": (1500, 4000)})
_OFFICE_HOURS: Final = (7, 20)


class DocumentClock:
    """The time that a document tells: later in each entry, and each date in one way of writing it."""

    def __init__(self, carrier: Carrier, rng: random.Random) -> None:
        self._rng, self._form = rng, date_form(carrier.locale, rng)
        self._now = datetime.combine(recent_day(rng), time(rng.randint(6, 20), rng.randint(0, 59)))
        steps = _STEPS[carrier.pace] if carrier.pace else tuple(step for some in _STEPS.values() for step in some)
        self._step = rng.choice(steps) if carrier.entries else 1500
        self._at_night = carrier.pace not in ("hours", "days")
        self._ahead, self._times, self._entries = 0, 0, False

    def next_entry(self) -> None:
        """Go on to the next entry; where there is one every few hours or days, nobody writes at night."""
        self._now += timedelta(minutes=1 + self._rng.random() * 2 * self._step)
        opens, closes = _OFFICE_HOURS
        if not self._at_night and not opens <= self._now.hour < closes:
            day = self._now.date() + timedelta(days=self._now.hour >= closes)
            self._now = datetime.combine(day, time(opens + self._rng.randint(0, 3), self._rng.randint(0, 59)))
        self.close()
        self._entries = True

    @property
    def today(self) -> date:
        """The day that the document has reached."""
        return self._now.date()

    def close(self) -> None:
        """The next date is the day of the last entry, the next time soon after it."""
        self._ahead, self._times, self._entries = 0, 0, False

    def told(self, what: str) -> str:
        """One of ``MOMENTS``: a time of day, or a date."""
        match what:
            case "time":
                return self._time()
            case "due_time":  # a quarter of an hour of the day, as of an appointment
                return f"{self._rng.randint(8, 18):02}:{self._rng.choice((0, 0, 15, 30, 30, 45)):02}"
            case "due_date":  # of the next weeks, as of an appointment or the end of a term
                day = self._now + timedelta(days=self._rng.randint(3, 25))
            case "case_date":  # of the last two months
                day = self._now - timedelta(days=self._rng.randint(1, 60))
            case _:  # the day of the entry; each further one in it is some days later, as of an appointment
                day = self._now + timedelta(days=self._ahead)
                self._ahead += self._rng.randint(2, 20)
        return day.strftime(self._form)

    def _time(self) -> str:
        """The time of day, a few minutes after the last one; each further one in an entry is that of an appointment later that day."""
        self._times += 1
        if self._entries and self._times > 1:
            quarters = self._now.hour * 4 + self._now.minute // 15 + self._rng.randint(2, 12) + 8 * (self._times - 2)
            return f"{min(quarters, 95) // 4:02}:{min(quarters, 95) % 4 * 15:02}"
        self._now += timedelta(minutes=self._rng.randint(0, 9)) if self._now.hour < 23 else timedelta()
        return self._now.strftime("%H:%M")


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


class _Composing:
    """The composition of one document: what is written so far, and the persons and values that have an index."""

    def __init__(self, carrier: Carrier, catalogue: LocaleCatalogue, rng: random.Random) -> None:
        self.carrier, self.catalogue, self.rng = carrier, catalogue, rng
        self.clock = DocumentClock(carrier, rng)
        self.people = DocumentPeople(carrier, rng, _telling_birth(catalogue))
        self.money = money_form(carrier.locale, rng)
        self.city = rng.choice(list(locale_words(carrier.locale).cities)) if carrier.local else None
        self.text = ""
        self.values: list[ValuePlace] = []
        self.look_alikes: list[ValuePlace] = []
        self.fixed: dict[tuple[str, str, int], str] = {}  # by kind, name and index

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
                self.people.next_entry()
                self.fixed = {key: value for key, value in self.fixed.items() if key[2] < OF_ONE_ENTRY}
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
        """Label what is written since *start*: a given or family name as a person's name; both side by side are one."""
        last = self.values[-1] if self.values else None
        between = {"family_name": (" ",), "given_name": ("", " ")}.get(name, ())
        if last and last.what == "person_name" and self.text[last.end : start] in between:
            start = self.values.pop().start
        self.values.append(ValuePlace(start, len(self.text), "person_name" if name in ("given_name", "family_name") else name))

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
            return draw_postal_address(locale, self.rng, self.city) if slot.name == "address" else self.city
        if slot.name == "age" and person is not None:
            return str(age_on(person.born, self.clock.today))
        made = _of_person(slot.name, person, self.rng) if person is not None else None
        return made or self._unused(lambda: draw_entity_value(self._entity(slot.name), locale, self.rng, slot.begins, person))

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

    def _entity(self, name: str) -> Entity:
        entity = self.catalogue.entities.get(name)
        if entity is None:
            where = f"{self.carrier.file} ({self.carrier.id})"
            raise ConfigError(f"the entity {name!r} is not in force: its format is unconfirmed", where=where)
        return entity


def _telling_birth(catalogue: LocaleCatalogue) -> frozenset[str]:
    """The entities that tell when somebody was born: the date, the age, and numbers that hold the date."""
    numbers = {
        one.id for one in catalogue.entities.values() if one.generator is not None and any(map(tells_birth, one.generator.masks or ()))
    }
    return frozenset(numbers | {"date_of_birth", "age"})


_MADE_OF_A_PERSON: Final[Mapping[str, Callable[[NamedPerson, random.Random], str]]] = MappingProxyType(
    {
        "email": email_of,
        "username": username_of,
        "gender": lambda person, rng: draw_gender_word(person.locale, rng, person.gender),
        "date_of_birth": lambda person, rng: draw_birth_date_text(person.locale, rng, person.born),
    }
)


def _of_person(name: str, person: NamedPerson, rng: random.Random) -> str | None:
    """What a slot *name* says of *person*; None if it says nothing of a person's name."""
    names = {"person_name": person.full, "given_name": person.given, "family_name": person.family}
    made = _MADE_OF_A_PERSON.get(name)
    return names.get(name) or (made(person, rng) if made is not None else None)
