"""The word lists of ``data/lexicons``: groups of entries with a topic, a weight and the people they fit.

American spellings are replaced by what is written in the locale (``spelling.yaml``) when a list is first read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from foundation.words import WORD
from foundation.yaml_files import load_yaml
from pii_values.sampling import Weighted, weighted

Gender = Literal["female", "male", "nonbinary"]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S.*\S$|^\S$")]


class FileModel(BaseModel):
    """What every lexicon file is read with: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Group(FileModel):
    topic: str
    weight: float = Field(gt=0)
    entries: list[Text] = Field(min_length=1)
    min_age: int = 0
    max_age: int = 120
    genders: list[Gender] | None = None
    locales: list[str] | None = None


class _GroupFile(FileModel):
    groups: list[_Group]


class _SpellingFile(FileModel):
    words: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: ages are years inclusive; ``genders`` None fits everybody."""

    text: str
    topic: str
    weight: float
    min_age: int
    max_age: int
    genders: tuple[Gender, ...] | None

    def fits(self, age: int, gender: Gender) -> bool:
        """Whether it can be said of somebody of this age and gender (a nonbinary person: whatever anybody can have)."""
        return self.min_age <= age <= self.max_age and (self.genders is None or gender in self.genders or gender == "nonbinary")


@lru_cache(maxsize=1)
def _spellings() -> dict[str, dict[str, str]]:
    return load_yaml(files("pii_values") / "data" / "lexicons" / "spelling.yaml", _SpellingFile).words


def spelled(text: str, locale: str) -> str:
    """*text* (American spelling) as written in *locale*; a leading capital is kept."""
    changes = _spellings().get(locale)
    if not changes:
        return text

    def swap(word: str) -> str:
        other = changes.get(word.casefold())
        if other is None:
            return word
        return other.capitalize() if word[0].isupper() else other

    return WORD.sub(lambda match: swap(match.group()), text)


@cache
def _groups(lexicon: str) -> tuple[_Group, ...]:
    return tuple(load_yaml(files("pii_values") / "data" / "lexicons" / f"{lexicon}.yaml", _GroupFile).groups)


@cache
def entries(lexicon: str, locale: str) -> tuple[Entry, ...]:
    """All entries of a lexicon that exist in *locale*, in file order."""
    return tuple(
        Entry(
            text=spelled(text, locale),
            topic=group.topic,
            weight=group.weight,
            min_age=group.min_age,
            max_age=group.max_age,
            genders=None if group.genders is None else tuple(group.genders),
        )
        for group in _groups(lexicon)
        if group.locales is None or locale in group.locales
        for text in group.entries
    )


@cache
def fitting(lexicon: str, topic: str | None, locale: str, age: int = 40, gender: Gender = "nonbinary") -> Weighted[Entry]:
    """The entries of one topic (None: of all) that fit a person, ready to draw from. Keys are finite, so the cache is too."""
    found = [e for e in entries(lexicon, locale) if (topic is None or e.topic == topic) and e.fits(age, gender)]
    return merged((e, e.weight) for e in found)


def merged(pairs: Iterable[tuple[Entry, float]]) -> Weighted[Entry]:
    """The pairs as a ``Weighted``; a text that stands in two groups is one item with both weights."""
    first: dict[str, Entry] = {}
    total: dict[str, float] = {}
    for entry, weight in pairs:
        first.setdefault(entry.text, entry)
        total[entry.text] = total.get(entry.text, 0.0) + weight
    return weighted((first[text], weight) for text, weight in total.items())


@cache
def topic_of(lexicon: str, locale: str) -> dict[str, str]:
    """Which topic each text of a lexicon belongs to (the first one, where there are several)."""
    topics: dict[str, str] = {}
    for entry in entries(lexicon, locale):
        topics.setdefault(entry.text, entry.topic)
    return topics
