"""Names, places, employers and the like of a locale, in its own script: ``data/entity_words/<locale>.yaml``."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml

Words = Annotated[list[Text], Field(min_length=10)]
Gendered = Annotated[dict[str, list[Text]], Field(min_length=2, max_length=2)]
GENDERS = ("female", "male")


class Community(FileModel):
    """People whose given and family names go together. What it leaves out is as in the whole locale."""

    family_names: Gendered | list[Text]
    given_names: Gendered
    names: Gendered | list[Text] = Field(default=[])
    nationalities: Gendered | list[Text] = Field(default=[])
    beliefs: Gendered | list[Text] = Field(default=[])


class LocaleWords(FileModel):
    """One file. ``names`` are ways of writing a full name, ``addresses`` an address; ``houses`` and the values of ``cities`` are masks.

    ``communities`` are people whose names do not mix with ``family_names`` and ``given_names``, which are everybody else's.
    ``latin`` gives names of another script in Latin letters, for addresses and as ``{latin_given}`` and ``{latin_family}`` in ``names``.
    """

    locale: str
    language: str
    family_names: Gendered | Words
    given_names: Gendered
    communities: list[Community] = Field(default=[])
    names: Gendered | Annotated[list[Text], Field(min_length=1)]
    latin: dict[str, str] = Field(default={})
    streets: Words
    houses: list[Text] = Field(min_length=1)
    cities: dict[str, str] = Field(min_length=10)
    addresses: list[Text] = Field(min_length=1)
    employers: Words
    occupations: Gendered | Words
    conditions: Words
    medications: Words
    schools: Words
    nationalities: Gendered | Words
    beliefs: Gendered | Annotated[list[Text], Field(min_length=5)]
    relations: Gendered | Words
    departments: Words
    products: Words
    media_titles: Words

    def name_of(self, gender: str, rng: random.Random, community: int | None = None) -> tuple[str, str, int]:
        """Draw a given name, a family name in its form for *gender*, and the number of their community, if it is not *community*."""
        groups: tuple[LocaleWords | Community, ...] = (self, *self.communities)
        weights = [len(_words(one.family_names, gender)) for one in groups]
        number = rng.choices(range(len(groups)), weights=weights)[0] if community is None else community
        group = groups[number]
        return rng.choice(group.given_names[gender]), rng.choice(_words(group.family_names, gender)), number

    def names_in(self, community: int, gender: str) -> list[str]:
        """The ways in which people of *community* write a full name."""
        return _words(self._in(community).names or self.names, gender)

    def of_person(self, field: str, gender: str, community: int, rng: random.Random) -> str:
        """Draw one of the words of *field* ("relations", "beliefs" …), in the form for *gender*, that fits people of *community*."""
        return rng.choice(_words(getattr(self._in(community), field, None) or getattr(self, field), gender))

    def any_of(self, field: str, rng: random.Random) -> str:
        """Draw one of the words of *field*, of any gender."""
        return rng.choice(_words(getattr(self, field), rng.choice(GENDERS)))

    def _in(self, community: int) -> LocaleWords | Community:
        return self.communities[community - 1] if community else self


def _words(words: Mapping[str, list[str]] | list[str], gender: str) -> list[str]:
    return words[gender] if isinstance(words, Mapping) else words


@cache
def locale_words(locale: str) -> LocaleWords:
    """Return the words of *locale*; raises ``UsageError`` if there are none, ``ConfigError`` (file, line) for a malformed file."""
    folder = files("piiloom.pii_values") / "data" / "entity_words"
    known = sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    if locale not in known:
        raise UsageError(f"there are no words for the locale {locale!r}", remedy=f"Known: {', '.join(known)}")
    return load_yaml(folder / f"{locale}.yaml", LocaleWords)
