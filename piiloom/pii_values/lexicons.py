"""The word lists (lexicons) of a language: groups of entries with a topic, a weight and the people they fit.

``data/<language>/lexicons/<name>.yaml`` holds one lexicon each; ``data/<language>/wording.yaml`` holds the forms of numbers,
dates and amounts. An entry may have slots: ``{topic}`` is filled with an entry of another topic of the same lexicon,
``{lexicon.topic}`` with one of another lexicon, and a name for which the caller gives a text with that text.
``<a|b>`` in an entry gives the form for a man and the form for others. Topics that begin with "_" are only used as parts of
other entries. Spellings are converted to those of the locale (``spelling.yaml``) when a list is first read.

Helpers for the data files of a language: their folder, spelling by locale, and gendered forms.

Weighted draws that cost one random number and one bisection.
"""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import accumulate
from types import MappingProxyType
from typing import Final, Generic, Literal, Protocol, TypeVar

from pydantic import Field

from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.words import WORD
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.taxonomy.locales import get_locale

PersonGender = Literal["female", "male", "nonbinary"]

_GENDERED: Final = re.compile(r"<([^|<>]*)\|([^|<>]*)>")


class _SpellingFile(FileModel):
    words: dict[str, dict[str, str]]


@cache
def folder(locale: str) -> Traversable:
    """Return the data folder of a locale's language."""
    return files("piiloom.pii_values") / "data" / get_locale(locale).language


@cache
def _spellings(locale: str) -> Mapping[str, str]:
    source = folder(locale) / "spelling.yaml"
    return load_yaml(source, _SpellingFile).words.get(locale, {}) if source.is_file() else {}


def spelled(text: str, locale: str) -> str:
    """Convert *text* to the spelling of *locale*; an initial capital is kept."""
    changes = _spellings(locale)
    if not changes:
        return text

    def swap(word: str) -> str:
        other = changes.get(word.casefold())
        if other is None:
            return word
        return other.capitalize() if word[0].isupper() else other

    return WORD.sub(lambda match: swap(match.group()), text)


def gendered(text: str, gender: PersonGender) -> str:
    """Replace each ``<a|b>`` in *text* by its first form for men, by its second for others."""
    return _GENDERED.sub(lambda m: m[1] if gender == "male" else m[2], text) if "<" in text else text


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Weighted(Generic[T]):
    """Items with the cumulative sums of their weights (same length, increasing)."""

    items: tuple[T, ...]
    sums: tuple[float, ...]

    def draw(self, rng: random.Random) -> T:
        """Draw one item by weight; raises ``PiiloomError`` if there is none."""
        if not self.items:
            raise PiiloomError("no value fits what is asked for", remedy="Widen the age range or ask for another subtype.")
        return self.items[bisect(self.sums, rng.random() * self.sums[-1], 0, len(self.items) - 1)]


def weighted(pairs: Iterable[tuple[T, float]]) -> Weighted[T]:
    """Build a ``Weighted`` from (item, weight) pairs in the given order; weights must be positive."""
    found = tuple(pairs)
    return Weighted(tuple(item for item, _ in found), tuple(accumulate(weight for _, weight in found)))


def spread(rng: random.Random, low: float, high: float) -> float:
    """Draw a number in [*low*, *high*) with a peak in the middle: the mean of two uniform draws."""
    return low + (high - low) * (rng.random() + rng.random()) / 2


_SLOT: Final = re.compile(r"\{([\w.]+)\}")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class _Group(FileModel):
    topic: str
    weight: float = Field(default=1, gt=0)
    entries: list[Text] = Field(min_length=1)
    min_age: int = 0
    max_age: int = 120
    genders: list[PersonGender] | None = None
    locales: list[str] | None = None


class _GroupFile(FileModel):
    groups: list[_Group] = Field(default=[])
    lists: dict[str, list[Text]] = Field(default={})


class Fitted(Protocol):
    """A person (or stand-in) that entries must fit."""

    @property
    def locale(self) -> str:
        """The locale's code."""

    @property
    def age(self) -> int:
        """Completed years."""

    @property
    def gender(self) -> PersonGender:
        """The gender that words must fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """A minimal ``Fitted`` for drawing entries when there is no persona (yet)."""

    locale: str
    age: int = 40
    gender: PersonGender = "nonbinary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a lexicon.

    Ages are in years, inclusive. ``genders`` None fits everybody. ``parts`` alternates text and slot names (None: no slots). ``form``: the
    entry is one of the two forms of a ``<a|b>`` entry, so it fits exactly ``genders``.
    """

    text: str
    topic: str
    weight: float
    min_age: int
    max_age: int
    genders: tuple[PersonGender, ...] | None
    parts: tuple[str, ...] | None
    form: bool = False

    def fits(self, age: int, gender: PersonGender) -> bool:
        """Whether the entry fits a person of this age and gender. A nonbinary person fits every gender, except for a ``form``."""
        anything = self.genders is None or (gender == "nonbinary" and not self.form)
        return self.min_age <= age <= self.max_age and (anything or gender in (self.genders or ()))


class Choices:
    """The entries of one topic; the fitting ones are computed once per age interval and gender."""

    __slots__ = ("_cuts", "_entries", "_fitting", "_gendered")

    def __init__(self, found: Iterable[Entry]) -> None:
        self._entries = tuple(found)
        self._cuts = sorted({cut for e in self._entries for cut in (e.min_age, e.max_age + 1)})
        self._gendered = any(e.genders is not None for e in self._entries)
        self._fitting: dict[tuple[int, PersonGender], Weighted[Entry]] = {}

    def fitting(self, age: int, gender: PersonGender) -> Weighted[Entry]:
        """Return the fitting entries, ready to draw from; a text in two groups becomes one item with the sum of both weights."""
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
    """Return an ordered list of ``wording.yaml``, such as months or number words."""
    return tuple(_file(get_locale(locale).language, "wording").lists[name])


@cache
def entries(lexicon: str, locale: str) -> tuple[Entry, ...]:
    """Return all entries of a lexicon that exist in *locale*, in file order."""
    groups = _file(get_locale(locale).language, lexicon).groups
    found = (g for g in groups if g.locales is None or locale in g.locales)
    return tuple(entry for group in found for text in group.entries for entry in _read(text, group, locale))


def _read(text: str, group: _Group, locale: str) -> Iterator[Entry]:
    """Yield the entry of *text*, or two entries if it has a form for men and one for others."""
    if "<" not in text:
        yield _entry(text, group, None if group.genders is None else tuple(group.genders), locale)
        return
    forms: tuple[tuple[PersonGender, ...], ...] = (("male",), ("female", "nonbinary"))
    for genders in forms:
        if group.genders is None or genders[0] in group.genders:
            yield replace(_entry(gendered(text, genders[0]), group, genders, locale), form=True)


def _entry(text: str, group: _Group, genders: tuple[PersonGender, ...] | None, locale: str) -> Entry:
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
    """Return the entries of one topic (None: of all topics that do not begin with "_")."""
    found = entries(lexicon, locale)
    return Choices(e for e in found if (e.topic == topic if topic is not None else not e.topic.startswith("_")))


def fitting(lexicon: str, topic: str | None, locale: str, age: int = 40, gender: PersonGender = "nonbinary") -> Weighted[Entry]:
    """Return the entries of one topic (None: of all) that fit a person, ready to draw from."""
    return choices(lexicon, topic, locale).fitting(age, gender)


def phrase(lexicon: str, topic: str | None, who: Fitted, rng: random.Random, given: Mapping[str, str] = _NOTHING) -> str:
    """Draw one entry that fits *who* and fill its slots; *given* are texts for slots by name."""
    entry = choices(lexicon, topic, who.locale).fitting(who.age, who.gender).draw(rng)
    return entry.text if entry.parts is None else filled(entry.parts, lexicon, who, rng, given)


def topical(lexicon: str, who: Fitted, rng: random.Random) -> tuple[str, str]:
    """Draw any entry of a lexicon that fits *who*; returns (topic, text)."""
    entry = choices(lexicon, None, who.locale).fitting(who.age, who.gender).draw(rng)
    return entry.topic, entry.text if entry.parts is None else filled(entry.parts, lexicon, who, rng)


def filled(parts: tuple[str, ...], lexicon: str, who: Fitted, rng: random.Random, given: Mapping[str, str] = _NOTHING) -> str:
    """Join the *parts* of an entry into one text, with slots filled from *given* or by drawing entries that fit *who*."""
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
    """Build a ``Weighted`` from (entry, weight) pairs; entries with the same text become one item with the sum of their weights."""
    first: dict[str, Entry] = {}
    total: dict[str, float] = {}
    for entry, weight in pairs:
        first.setdefault(entry.text, entry)
        total[entry.text] = total.get(entry.text, 0.0) + weight
    return weighted((first[text], weight) for text, weight in total.items())
