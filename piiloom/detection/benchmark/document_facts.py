"""The facts of a composed document: the person of each slot, and the time that goes on from entry to entry."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

from piiloom.detection.benchmark.carriers import OF_ONE_ENTRY, Carrier, CarrierPart, CarrierSlot, Pace, date_form, recent_day
from piiloom.pii_values.entity_values.named_person import NamedPerson, draw_person

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
        """One of ``MOMENTS``."""
        told = {"date": self.date, "time": self.time, "due_date": self.due_date, "due_time": self.due_time, "case_date": self.past_date}
        return told[what]()

    def date(self) -> str:
        """The day of the entry; each further one in it is some days later, as of an appointment."""
        day = self._now + timedelta(days=self._ahead)
        self._ahead += self._rng.randint(2, 20)
        return day.strftime(self._form)

    def due_date(self) -> str:
        """A day of the next weeks, as of an appointment or the end of a term."""
        return (self._now + timedelta(days=self._rng.randint(3, 25))).strftime(self._form)

    def due_time(self) -> str:
        """A quarter of an hour of the day, as of an appointment."""
        return f"{self._rng.randint(8, 18):02}:{self._rng.choice((0, 0, 15, 30, 30, 45)):02}"

    def past_date(self) -> str:
        """A day of the last two months."""
        return (self._now - timedelta(days=self._rng.randint(1, 60))).strftime(self._form)

    def time(self) -> str:
        """The time of day, a few minutes after the last one; each further one in an entry is that of an appointment later that day."""
        self._times += 1
        if self._entries and self._times > 1:
            quarters = self._now.hour * 4 + self._now.minute // 15 + self._rng.randint(2, 12) + 8 * (self._times - 2)
            return f"{min(quarters, 95) // 4:02}:{min(quarters, 95) % 4 * 15:02}"
        self._now += timedelta(minutes=self._rng.randint(0, 9)) if self._now.hour < 23 else timedelta()
        return self._now.strftime("%H:%M")
