"""Religions: the words for their members, their names and what people do; ``data/<language>/creeds.yaml``."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pydantic import Field

from piiloom.foundation.words import whole_word
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.languages import folder, spelled
from piiloom.pii_values.sampling import Weighted, weighted


class _Creed(FileModel):
    family: str
    weight: float = Field(default=1, gt=0)
    members: list[Text] = Field(min_length=1)
    faiths: list[Text] = Field(min_length=1)
    practices: list[str] = Field(min_length=1)


class _CreedsFile(FileModel):
    creeds: list[_Creed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Creed:
    """One religion or school of it: adjectives for members, its names, and the topics of the practices lexicon that fit."""

    family: str
    members: tuple[str, ...]
    faiths: tuple[str, ...]
    practices: tuple[str, ...]


@cache
def creeds(locale: str, family: str) -> Weighted[Creed]:
    """Return the weighted creeds of a family of religions ("christian"); creeds with more words for their members weigh more."""
    found = load_yaml(folder(locale) / "creeds.yaml", _CreedsFile).creeds
    return weighted(
        (
            Creed(
                family=c.family,
                members=tuple(spelled(word, locale) for word in c.members),
                faiths=tuple(spelled(word, locale) for word in c.faiths),
                practices=tuple(c.practices),
            ),
            c.weight * len(c.members),
        )
        for c in found
        if c.family == family
    )


_OTHER_WORDS: Final = {"Jewish": "jewish", "Coptic": "eastern_christian"}  # which the lists of creeds do not have alone


@lru_cache(maxsize=1024)
def families_of(told: str, locale: str) -> frozenset[str]:
    """Return the families of religions to which *told* ("Sunni", "Orthodox Jewish", "Islam") belongs; empty if it is not known."""
    known = _families_by_word(locale)
    longest = max((word for word in known if whole_word(word).search(told)), key=len, default=None)
    if longest is not None:
        return frozenset(known[longest])
    return frozenset(family for word, families in known.items() if whole_word(told).search(word) for family in families)


@cache
def _families_by_word(locale: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for creed in load_yaml(folder(locale) / "creeds.yaml", _CreedsFile).creeds:
        for word in (*creed.members, *creed.faiths):
            found.setdefault(spelled(word, locale), set()).add(creed.family)
    for word, family in _OTHER_WORDS.items():
        found.setdefault(word, set()).add(family)
    return found


def one_of(words: tuple[str, ...], rng: random.Random) -> str:
    """Draw one of *words*."""
    return words[int(rng.random() * len(words))]
