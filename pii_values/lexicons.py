"""The word lists of a language: groups of entries with a topic, a weight and the people they fit.

``data/<language>/lexicons/<name>.yaml`` holds one lexicon each, ``data/<language>/wording.yaml`` the forms in which numbers,
dates and amounts are put. An entry may hold slots: ``{topic}`` stands for an entry of another topic of the same lexicon,
``{lexicon.topic}`` for one of another lexicon, and a name that the caller gives a text for stands for that text.
``<a|b>`` in an entry stands for the form said of a man and of others. Topics that begin with "_" are only parts of
others. Spellings of the file are replaced by those of the locale (``spelling.yaml``) when a list is first read.
"""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Protocol

from pydantic import Field

from piiloom.foundation.yaml_files import load_yaml
from piiloom.pii_values.languages import FileModel, Gender, Text, gendered, spelled
from piiloom.pii_values.sampling import Weighted, weighted
from piiloom.taxonomy.locales import get_locale

_SLOT: Final = re.compile(r"\{([\w.]+)\}")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class _Group(FileModel):
    topic: str
    weight: float = Field(default=1, gt=0)
    entries: list[Text] = Field(min_length=1)
    min_age: int = 0
    max_age: int = 120
    genders: list[Gender] | None = None
    locales: list[str] | None = None


class _GroupFile(FileModel):
    groups: list[_Group] = Field(default_factory=list)
    lists: dict[str, list[Text]] = Field(default_factory=dict)


class Fitted(Protocol):
    """Somebody or something that entries must fit."""

    @property
    def locale(self) -> str:
        """The locale's code."""

    @property
    def age(self) -> int:
        """Completed years."""

    @property
    def gender(self) -> Gender:
        """The gender that words must fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whom an entry is drawn for, where there is no persona (yet)."""

    locale: str
    age: int = 40
    gender: Gender = "nonbinary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: ages are years inclusive; ``genders`` None fits everybody; ``parts`` alternate text and slot names.

    ``form``: the entry is what an entry with forms for men and others is put as, so it fits these genders and no more.
    """

    text: str
    topic: str
    weight: float
    min_age: int
    max_age: int
    genders: tuple[Gender, ...] | None
    parts: tuple[str, ...] | None
    form: bool = False

    def fits(self, age: int, gender: Gender) -> bool:
        """Whether it can be said of somebody of this age and gender (a nonbinary person: whatever anybody can have)."""
        anything = self.genders is None or (gender == "nonbinary" and not self.form)
        return self.min_age <= age <= self.max_age and (anything or gender in (self.genders or ()))


class Choices:
    """The entries of one topic; which of them fit somebody is worked out once for each span of ages."""

    __slots__ = ("_cuts", "_entries", "_fitting", "_gendered")

    def __init__(self, found: Iterable[Entry]) -> None:
        self._entries = tuple(found)
        self._cuts = sorted({cut for e in self._entries for cut in (e.min_age, e.max_age + 1)})
        self._gendered = any(e.genders is not None for e in self._entries)
        self._fitting: dict[tuple[int, Gender], Weighted[Entry]] = {}

    def fitting(self, age: int, gender: Gender) -> Weighted[Entry]:
        """The entries that fit, ready to draw from; a text that stands in two groups is one item with both weights."""
        key = (bisect(self._cuts, age), gender if self._gendered else "nonbinary")
        known = self._fitting.get(key)
        if known is None:
            known = self._fitting[key] = merged((e, e.weight) for e in self._entries if e.fits(age, gender))
        return known


@cache
def _file(language: str, lexicon: str) -> _GroupFile:
    here = files("piiloom.pii_values") / "data" / language
    return load_yaml(here / "wording.yaml" if lexicon == "wording" else here / "lexicons" / f"{lexicon}.yaml", _GroupFile)


@cache
def listed(name: str, locale: str) -> tuple[str, ...]:
    """A list of ``wording.yaml`` whose order counts: months, number words."""
    return tuple(_file(get_locale(locale).language, "wording").lists[name])


@cache
def entries(lexicon: str, locale: str) -> tuple[Entry, ...]:
    """All entries of a lexicon that exist in *locale*, in file order."""
    groups = _file(get_locale(locale).language, lexicon).groups
    found = (g for g in groups if g.locales is None or locale in g.locales)
    return tuple(entry for group in found for text in group.entries for entry in _read(text, group, locale))


def _read(text: str, group: _Group, locale: str) -> Iterator[Entry]:
    """The entry that *text* stands for, or one for men and one for others where its forms differ."""
    if "<" not in text:
        yield _entry(text, group, None if group.genders is None else tuple(group.genders), locale)
        return
    forms: tuple[tuple[Gender, ...], ...] = (("male",), ("female", "nonbinary"))
    for genders in forms:
        if group.genders is None or genders[0] in group.genders:
            yield replace(_entry(gendered(text, genders[0]), group, genders, locale), form=True)


def _entry(text: str, group: _Group, genders: tuple[Gender, ...] | None, locale: str) -> Entry:
    pieces = _SLOT.split(text)
    parts = tuple(piece if number % 2 else spelled(piece, locale) for number, piece in enumerate(pieces))
    whole = "".join("{" + part + "}" if number % 2 else part for number, part in enumerate(parts))
    return Entry(
        text=whole,
        topic=group.topic,
        weight=group.weight,
        min_age=group.min_age,
        max_age=group.max_age,
        genders=genders,
        parts=parts if len(parts) > 1 else None,
    )


@cache
def choices(lexicon: str, topic: str | None, locale: str) -> Choices:
    """The entries of one topic; None: of all topics that are no mere parts."""
    found = entries(lexicon, locale)
    return Choices(e for e in found if (e.topic == topic if topic is not None else not e.topic.startswith("_")))


def fitting(lexicon: str, topic: str | None, locale: str, age: int = 40, gender: Gender = "nonbinary") -> Weighted[Entry]:
    """The entries of one topic (None: of all) that fit a person, ready to draw from."""
    return choices(lexicon, topic, locale).fitting(age, gender)


def phrase(lexicon: str, topic: str | None, who: Fitted, rng: random.Random, given: Mapping[str, str] = _NOTHING) -> str:
    """One entry that fits *who*, its slots filled; *given* are texts for slots by name."""
    entry = choices(lexicon, topic, who.locale).fitting(who.age, who.gender).draw(rng)
    return entry.text if entry.parts is None else filled(entry.parts, lexicon, who, rng, given)


def topical(lexicon: str, who: Fitted, rng: random.Random) -> tuple[str, str]:
    """Any entry of a lexicon that fits *who*, with its topic."""
    entry = choices(lexicon, None, who.locale).fitting(who.age, who.gender).draw(rng)
    return entry.topic, entry.text if entry.parts is None else filled(entry.parts, lexicon, who, rng)


def filled(parts: tuple[str, ...], lexicon: str, who: Fitted, rng: random.Random, given: Mapping[str, str] = _NOTHING) -> str:
    """*parts* of an entry as one text."""
    pieces = list(parts)
    for number in range(1, len(parts), 2):
        slot = parts[number]
        known = given.get(slot)
        if known is None:
            other, dot, topic = slot.partition(".")
            known = phrase(other, topic, who, rng, given) if dot else phrase(lexicon, slot, who, rng, given)
        pieces[number] = known
    return "".join(pieces)


def has_topic(lexicon: str, topic: str, who: Fitted) -> bool:
    """Whether any entry of the topic fits *who*."""
    return bool(choices(lexicon, topic, who.locale).fitting(who.age, who.gender).items)


def merged(pairs: Iterable[tuple[Entry, float]]) -> Weighted[Entry]:
    """The pairs as a ``Weighted``; a text that stands in two groups is one item with both weights."""
    first: dict[str, Entry] = {}
    total: dict[str, float] = {}
    for entry, weight in pairs:
        first.setdefault(entry.text, entry)
        total[entry.text] = total.get(entry.text, 0.0) + weight
    return weighted((first[text], weight) for text, weight in total.items())
