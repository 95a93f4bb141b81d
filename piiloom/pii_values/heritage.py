"""Family backgrounds: names, nationality, ethnicity, languages and religion that go together.

Names come from ``data/names.yaml`` and from lists of Faker in ``data/faker_names.yaml``. Those are a copy: a list of another version
of Faker would change what a seed draws. Faker's frequencies are flattened by a square root, so that no name dominates. Words of
origin are in ``data/<language>/origins.yaml``; the majority of a locale is described in ``data/people/<locale>.yaml``.

Religions: the words for their members, their names and what people do; ``data/<language>/creeds.yaml``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import sqrt
from typing import Final, Literal, TypeVar

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import STOP_WORDS, whole_word
from piiloom.foundation.yaml_files import FileModel, Text, load_data, load_yaml
from piiloom.pii_values.lexicons import PersonGender, Weighted, folder, listed, spelled, weighted

T = TypeVar("T")


class _Names(FileModel):
    female: list[Text] = Field(min_length=15)
    male: list[Text] = Field(min_length=15)
    family: list[Text] = Field(min_length=10)
    faker: list[str] = Field(default=[])
    dark_features: bool = False


class _NamesFile(FileModel):
    heritages: dict[str, _Names]


class _FakerLists(FileModel):
    """Names in one text each, separated by blanks. A name may be followed by a colon and its frequency."""

    female: str
    male: str
    family: str


class FakerFile(FileModel):
    """The copied lists, by Faker's locale."""

    lists: dict[str, _FakerLists]


class _Origin(FileModel):
    nationalities: dict[str, str]
    ethnicities: list[Text]
    languages: list[Text]
    religions: dict[str, float]


class _OriginsFile(FileModel):
    origins: dict[str, _Origin]


class Profile(FileModel):
    """What a locale's majority is. ``citizen``: words before "citizen"; ``shares`` of the heritages; ``names``: a heritage's."""

    nationality: str
    citizen: list[Text]
    country: str
    ethnicities: list[Text]
    ancestries: list[Text]
    languages: list[Text]
    religions: dict[str, float]
    kinship: dict[str, str]
    shares: dict[str, float]
    faker: list[str] = Field(default=[])
    names: str | None = None
    dark_features: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heritage:
    """One family background in a locale.

    ``nationalities``: (adjective, country) pairs. ``ancestries``: adjectives of origin. ``dark_features``: hair and eyes are dark
    unless dyed or gray.
    """

    key: str
    given: dict[PersonGender, Weighted[str]]
    family: Weighted[str]
    nationalities: Weighted[tuple[str, str]]
    ethnicities: Weighted[str]
    ancestries: Weighted[str]
    languages: Weighted[str]
    religions: Weighted[str]
    dark_features: bool


@lru_cache(maxsize=1)
def _names() -> dict[str, _Names]:
    return load_data("piiloom.pii_values", "names.yaml", _NamesFile).heritages


@cache
def _origins(locale: str) -> dict[str, _Origin]:
    return load_yaml(folder(locale) / "origins.yaml", _OriginsFile).origins


@cache
def profile(locale: str) -> Profile:
    """Return the description of a locale's majority; raises ``UsageError`` for a locale without values."""
    people = files("piiloom.pii_values") / "data" / "people"
    source = people / f"{locale}.yaml"
    if not source.is_file():
        known = sorted(f.name.removesuffix(".yaml") for f in people.iterdir())
        raise UsageError(f"no values for locale {locale!r}", remedy=f"Known: {', '.join(known)}.")
    return load_yaml(source, Profile)


@cache
def heritages(locale: str) -> Weighted[Heritage]:
    """Return the backgrounds in *locale*, weighted by their shares."""
    here = profile(locale)
    found = [(_majority(locale), here.shares["majority"])]
    found += [(_minority(key, locale), share) for key, share in here.shares.items() if key != "majority"]
    return weighted(found)


@cache
def countries(locale: str) -> tuple[str, ...]:
    """Return the countries of all nationalities, in file order, named in the locale's language."""
    here = profile(locale)
    known = [c for origin in _origins(locale).values() for c in origin.nationalities.values()]
    return tuple(dict.fromkeys([*known, here.country, *here.kinship.values()]))


def _majority(locale: str) -> Heritage:
    here = profile(locale)
    # People mention a nationality if it is not the usual one, so the home nationality is drawn far below its census share.
    nations = [((here.nationality, here.country), 2.0), *(((a, c), 1.0) for a, c in here.kinship.items())]
    names = _names()[here.names] if here.names else None
    return Heritage(
        key="majority",
        given=_given(names, tuple(here.faker), locale),
        family=_family(names, tuple(here.faker), locale),
        nationalities=weighted(nations),
        ethnicities=_even(here.ethnicities),
        ancestries=_even(here.ancestries),
        languages=_even(here.languages),
        religions=weighted(here.religions.items()),
        dark_features=here.dark_features,
    )


def _minority(key: str, locale: str) -> Heritage:
    names, origin = _names()[key], _origins(locale)[key]
    return Heritage(
        key=key,
        given=_given(names, tuple(names.faker), locale),
        family=_family(names, tuple(names.faker), locale),
        nationalities=_even(origin.nationalities.items()),
        ethnicities=_even(origin.ethnicities),
        ancestries=_even(dict.fromkeys([*origin.nationalities, *origin.ethnicities])),
        languages=_even(origin.languages),
        religions=weighted(origin.religions.items()),
        dark_features=names.dark_features,
    )


def _even(items: Iterable[T]) -> Weighted[T]:
    return weighted((item, 1.0) for item in items)


def _given(names: _Names | None, faker: tuple[str, ...], locale: str) -> dict[PersonGender, Weighted[str]]:
    female = _joined(names.female if names else [], "female", faker, locale)
    male = _joined(names.male if names else [], "male", faker, locale)
    both = _even(dict.fromkeys(female.items + male.items))
    return {"female": female, "male": male, "nonbinary": both}


def _family(names: _Names | None, faker: tuple[str, ...], locale: str) -> Weighted[str]:
    return _joined(names.family if names else [], "family", faker, locale)


def _joined(own: list[str], kind: Literal["female", "male", "family"], faker: tuple[str, ...], locale: str) -> Weighted[str]:
    """Join our names and Faker's, each with half of the weight if there are both, without names that are words of the language."""
    found: dict[str, float] = {}
    for source in faker:
        for name, weight in _faker_names(source, kind):
            found[name] = found.get(name, 0.0) + weight
    share = (sum(found.values()) or 1.0) / max(1, len(own))
    for name in dict.fromkeys(own):
        found[name] = found.get(name, 0.0) + share
    words = _words(locale)
    return weighted((name, weight) for name, weight in found.items() if name.casefold() not in words)


@cache
def _words(locale: str) -> frozenset[str]:
    """Return words to exclude as names, since a whole-word search would find them where no name is meant."""
    return STOP_WORDS.union(listed("no_names", locale))


@lru_cache(maxsize=1)
def _faker_lists() -> dict[str, _FakerLists]:
    return load_data("piiloom.pii_values", "faker_names.yaml", FakerFile).lists


@cache
def _faker_names(source: str, kind: Literal["female", "male", "family"]) -> tuple[tuple[str, float], ...]:
    """Return one of Faker's name lists, weighted by the square roots of its frequencies, normalized to a sum of 1."""
    entries = (entry.partition(":") for entry in getattr(_faker_lists()[source], kind).split())
    weighed = [(name, sqrt(float(frequency or 1))) for name, _, frequency in entries]
    total = sum(weight for _, weight in weighed)
    return tuple((name, weight / total) for name, weight in weighed)


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
