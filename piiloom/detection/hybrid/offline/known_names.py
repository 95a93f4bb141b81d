"""Which words are given or family names in a country, by the built-in names index.

The built-in one, whatever index the user has built: a text gives the same spans on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from piiloom.detection.hybrid.offline.cues import language_cues
from piiloom.pii_values.names.index import builtin, plain_key


@dataclass(frozen=True, slots=True)
class CountryNames:
    """Names of one country in the form of ``plain_key``; family names also as they are written; both in the country's own script."""

    given: frozenset[str]
    family: frozenset[str]
    family_as_written: frozenset[str]
    given_native: frozenset[str]
    family_native: frozenset[str]

    def is_given_anywhere(self, word: str) -> bool:
        """Whether *word* is a given name in any country."""
        return builtin().first.find(word) is not None

    def is_given(self, word: str) -> bool:
        """Whether *word* is a given name, with or without its accents."""
        return plain_key(word) in self.given

    def is_family(self, word: str) -> bool:
        """Whether *word* is a family name, or a part of one that has several."""
        return plain_key(word) in self.family


@lru_cache(maxsize=32)
def known_names(country: str, language: str) -> CountryNames:
    """The names of *country* (ISO 3166 alpha-2), those in the cues of *language* among them."""
    index, cues = builtin(), language_cues(language)
    given = [name for gender in ("F", "M") for name in index.first_names(country, gender)]
    family = [part for name in index.last_names(country) for part in name.split() if len(part) > 2]
    given_native = [name for gender in ("F", "M") for name in index.first_names(country, gender, script="native")]
    family_native = index.last_names(country, script="native")
    return CountryNames(
        frozenset(map(plain_key, given)),
        frozenset(map(plain_key, family)),
        frozenset(index.last_names(country)),
        frozenset((*given_native, *cues.given)),
        frozenset((*family_native, *cues.family)),
    )
