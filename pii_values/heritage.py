"""Where a person's family comes from: names, nationality, ethnicity, languages and religion that go together.

Majority names are Faker's lists (``faker.providers.person``), read once per locale and drawn from with our own generator:
a Faker call costs twenty times as much. Faker's frequencies are flattened by a square root, so that no name dominates.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import sqrt
from typing import TypeVar

from pydantic import Field

from foundation.errors import UsageError
from foundation.words import STOP_WORDS
from foundation.yaml_files import load_yaml
from pii_values.lexicons import FileModel, Gender, Text
from pii_values.sampling import Weighted, weighted
from taxonomy.locales import get_locale

# Names that are also everyday words or words of another type: whole-word search would find them where no name stands.
_AMBIGUOUS = frozenset(
    "april august may june will mark christian israel jordan faith hope joy grace summer autumn forum date more master doctor gay rich "
    "price young long short white black brown green gray grey king park church day winter rice english french merchant contractor "
    "dear love bishop pope hunter farmer carpenter baker cook butcher fisher gardener porter taylor tailor potter miller mason "
    "sikh khan shah son sunny penny dallas austin charlotte savannah virginia georgia carolina florence madison houston chad sydney "
    "victoria adelaide bush wood woods hill lake rivers stone street marsh moss fields banks berry rose lily daisy violet ivy holly".split()
)
_FALLBACK_FAKER = "en_US"

T = TypeVar("T")


class _Heritage(FileModel):
    female: list[Text] = Field(min_length=15)
    male: list[Text] = Field(min_length=15)
    family: list[Text] = Field(min_length=15)
    nationalities: dict[str, str]
    ethnicities: list[Text]
    languages: list[Text]
    religions: dict[str, float]
    dark_features: bool = False


class _Profile(FileModel):
    nationality: str
    country: str
    ethnicities: list[Text]
    languages: list[Text]
    religions: dict[str, float]
    kinship: dict[str, str]
    shares: dict[str, float]
    dark_features: bool = False


class _HeritageFile(FileModel):
    heritages: dict[str, _Heritage]
    profiles: dict[str, _Profile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heritage:
    """One family background as it occurs in a locale.

    ``nationalities`` are (adjective, country); ``dark_features``: hair and eyes are dark unless dyed or gray.
    """

    key: str
    given: dict[Gender, Weighted[str]]
    family: Weighted[str]
    nationalities: Weighted[tuple[str, str]]
    ethnicities: Weighted[str]
    languages: Weighted[str]
    religions: Weighted[str]
    dark_features: bool


@lru_cache(maxsize=1)
def _file() -> _HeritageFile:
    return load_yaml(files("pii_values") / "data" / "lexicons" / "heritages.yaml", _HeritageFile)


def profile(locale: str) -> _Profile:
    """What a locale's majority is; raises ``UsageError`` for a locale without values."""
    found = _file().profiles.get(locale)
    if found is None:
        raise UsageError(f"no values for locale {locale!r}", remedy=f"Known: {', '.join(_file().profiles)}.")
    return found


@cache
def heritages(locale: str) -> Weighted[Heritage]:
    """The backgrounds that occur in *locale*, weighted by how often."""
    here = profile(locale)
    found = [(_majority(locale), here.shares["majority"])]
    found += [(_minority(key, _file().heritages[key]), share) for key, share in here.shares.items() if key != "majority"]
    return weighted(found)


@cache
def heritage_named(locale: str, key: str) -> Heritage:
    """The background *key* of *locale*, for people of one family."""
    return next(h for h in heritages(locale).items if h.key == key)


@cache
def countries() -> tuple[str, ...]:
    """Every country that some nationality belongs to, in file order."""
    known = [c for h in _file().heritages.values() for c in h.nationalities.values()]
    return tuple(dict.fromkeys(known + [p.country for p in _file().profiles.values()]))


def _majority(locale: str) -> Heritage:
    here = profile(locale)
    female, male, family = (_faker_names(locale, kind) for kind in ("first_names_female", "first_names_male", "last_names"))
    # A nationality is worth telling when it is not everybody's, so the home one is drawn far below its census share.
    nations = [((here.nationality, here.country), 2.0), *(((a, c), 1.0) for a, c in here.kinship.items())]
    return Heritage(
        key="majority",
        given=_by_gender(female, male),
        family=family,
        nationalities=weighted(nations),
        ethnicities=_even(here.ethnicities),
        languages=_even(here.languages),
        religions=weighted(here.religions.items()),
        dark_features=here.dark_features,
    )


def _minority(key: str, source: _Heritage) -> Heritage:
    return Heritage(
        key=key,
        given=_by_gender(_even(source.female), _even(source.male)),
        family=_even(source.family),
        nationalities=_even(source.nationalities.items()),
        ethnicities=_even(source.ethnicities),
        languages=_even(source.languages),
        religions=weighted(source.religions.items()),
        dark_features=source.dark_features,
    )


def _even(items: Iterable[T]) -> Weighted[T]:
    return weighted((item, 1.0) for item in items)


def _by_gender(female: Weighted[str], male: Weighted[str]) -> dict[Gender, Weighted[str]]:
    both = weighted((name, 1.0) for name in dict.fromkeys(female.items + male.items))
    return {"female": female, "male": male, "nonbinary": both}


def _faker_names(locale: str, kind: str) -> Weighted[str]:
    """One of Faker's name lists with square roots of its frequencies; locales without own list use ``en_US``."""
    try:
        module = importlib.import_module(f"faker.providers.person.{get_locale(locale).faker}")
    except ModuleNotFoundError:
        module = importlib.import_module(f"faker.providers.person.{_FALLBACK_FAKER}")
    listed = getattr(module.Provider, kind)
    pairs = listed.items() if hasattr(listed, "items") else ((name, 1.0) for name in dict.fromkeys(listed))
    return weighted((name, sqrt(weight)) for name, weight in pairs if _usable(name))


def _usable(name: str) -> bool:
    plain = name.casefold()
    return len(name) > 2 and name.isascii() and name.isalpha() and plain not in STOP_WORDS and plain not in _AMBIGUOUS
