"""Consistent values of one text: a name with an origin or faith, a job with an age, an IBAN with a country, a handle with a name.

The values in a story's lists are independent of the person. These functions narrow the next draw by the values that the text already
has. A word that the lists do not contain narrows nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Final

from piiloom.foundation.words import whole_word
from piiloom.pii_values.heritage import Heritage, families_of, heritages, profile
from piiloom.pii_values.identifiers import draw_iban
from piiloom.pii_values.lexicons import Weighted, gendered, listed, weighted
from piiloom.pii_values.occupations import occupations
from piiloom.pii_values.people import ascii_name

_MAJORITY: Final = "majority"
_NUMBER: Final = re.compile(r"(\d+)(s?)")
_PARTS: Final = {"early": 2, "late": 8}  # years of a decade; in the middle of it otherwise
_MID: Final = 5
_RETIRED: Final = re.compile(r"\bretired\b", re.IGNORECASE)
_RETIRES: Final = 55
_OLDEST: Final = 120
_IN_ONE_PIECE: Final = 0.2  # share of IBANs
_PART_OF_NAME: Final = 3  # letters of a name by which a handle reminds of it
# Words for the countries whose IBANs ``country_facts.yaml`` describes.
_IBAN_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "AE": ("United Arab Emirates", "Emirati", "Dubai"),
    "AT": ("Austria", "Austrian", "Vienna"),
    "BE": ("Belgium", "Belgian", "Brussels", "Ghent"),
    "CH": ("Switzerland", "Swiss", "Zurich"),
    "CZ": ("Czech", "Prague"),
    "DE": ("Germany", "German", "Berlin", "Hamburg"),
    "DK": ("Denmark", "Danish"),
    "EG": ("Egypt", "Egyptian"),
    "ES": ("Spain", "Spanish", "Valencia", "Seville", "Palma"),
    "FI": ("Finland", "Finnish"),
    "FR": ("France", "French", "Lyon", "Bordeaux"),
    "GB": ("United Kingdom", "British", "England", "Scotland"),
    "GR": ("Greece", "Greek", "Athens"),
    "IE": ("Ireland", "Irish"),
    "IL": ("Israel", "Israeli"),
    "IT": ("Italy", "Italian", "Naples", "Palermo"),
    "NL": ("Netherlands", "Dutch"),
    "NO": ("Norway", "Norwegian"),
    "PL": ("Poland", "Polish", "Krakow"),
    "PT": ("Portugal", "Portuguese", "Lisbon", "Porto"),
    "RO": ("Romania", "Romanian"),
    "SA": ("Saudi Arabia", "Saudi"),
    "SE": ("Sweden", "Swedish"),
    "TR": ("Turkey", "Turkish"),
}


@lru_cache(maxsize=1024)
def matching_heritages(locale: str, origins: tuple[str, ...], faiths: tuple[str, ...]) -> Weighted[Heritage] | None:
    """Return the backgrounds that match *origins* ("Irish citizen") and *faiths* ("Sunni"); None if all backgrounds do.

    An origin or faith that matches no background of the ones before it is ignored ("French" after "Filipino").
    """
    everybody = heritages(locale)
    shares = {h.key: upto - before for h, before, upto in zip(everybody.items, (0.0, *everybody.sums), everybody.sums, strict=False)}
    found = shares
    for keys in filter(None, (_keys_of(told, locale) for told in origins)):
        found = {key: share for key, share in found.items() if key in keys} or found
    for families in filter(None, (families_of(told, locale) for told in faiths)):
        of_faith = {h.key: _share(h.religions, families) for h in everybody.items}
        found = {key: share * of_faith[key] for key, share in found.items() if of_faith[key]} or found
    return None if found is shares else weighted((h, found[h.key]) for h in everybody.items if h.key in found)


def _share(religions: Weighted[str], families: frozenset[str]) -> float:
    parts = zip(religions.items, (0.0, *religions.sums), religions.sums, strict=False)
    return sum(upto - before for religion, before, upto in parts if religion in families) / religions.sums[-1]


def _keys_of(told: str, locale: str) -> frozenset[str]:
    """Return the backgrounds that the longest known word in *told* names."""
    known = _origin_words(locale)
    word = max((word for word in known if whole_word(word).search(told.casefold())), key=len, default="")
    return known.get(word, frozenset())


@cache
def _origin_words(locale: str) -> Mapping[str, frozenset[str]]:
    """Return the backgrounds of each nationality, ethnicity and language; the majority only if no other background has the word."""
    own = profile(locale)
    at_home = {own.nationality, *own.citizen, *own.languages[:1]}  # anybody may be a citizen
    found: dict[str, set[str]] = {}
    for heritage in heritages(locale).items:
        nations = (adjective for adjective, _ in heritage.nationalities.items)
        for word in (*nations, *heritage.ethnicities.items, *heritage.languages.items):
            for form in {gendered(word, "male"), gendered(word, "female")} - at_home:
                found.setdefault(form.casefold(), set()).add(heritage.key)
    return {word: frozenset(keys - {_MAJORITY} or keys) for word, keys in found.items()}


def stated_age(text: str, locale: str) -> int | None:
    """Return the age in years that *text* states ("34-year-old", "mid-forties"), None if it states no age."""
    number, low = _NUMBER.search(text), text.casefold()
    if "month" in low:
        return 0
    if number is not None:
        return int(number[1]) + (_years(text) if number[2] else 0) if int(number[1]) <= _OLDEST else None
    for start, decade in enumerate(listed("decades", locale), 1):
        if decade.casefold() in low:
            return 10 * start + _years(low)
    words = [n for n, word in enumerate(listed("numbers", locale)) if whole_word(word).search(low)]
    return max(words, default=None)


def _years(text: str) -> int:
    return next((years for part, years in _PARTS.items() if part in text.casefold()), _MID)


def can_be_done_at(age: int, job: str, locale: str) -> bool:
    """Whether somebody of *age* can have the *job* ("night shift nurse"); True for jobs that are not known."""
    known = _ages_of_jobs(locale)
    words = job.casefold().split()
    youngest, oldest = next((known[end] for at in range(len(words)) if (end := " ".join(words[at:])) in known), (0, 120))
    if _RETIRED.search(job):
        return age >= _RETIRES
    return youngest <= age <= oldest


@cache
def _ages_of_jobs(locale: str) -> Mapping[str, tuple[int, int]]:
    return {job.title.casefold(): (job.min_age, job.max_age) for job in occupations(locale)}


def iban_in(places: Iterable[str], rng: random.Random) -> str | None:
    """Draw an IBAN of the country that one of *places* names ("Germany", "Polish citizen"), None if no place names a country."""
    for place in places:
        last = place.rpartition(",")[2].replace("New England", "")  # not Naples, Florida
        for country, words in _IBAN_WORDS.items():
            if any(whole_word(word).search(last) for word in words):
                number = draw_iban(country, rng)
                return number.replace(" ", "") if number and rng.random() < _IN_ONE_PIECE else number
    return None


def reminds_of(handle: str, given: str, family: str) -> bool:
    """Whether a user name or the name in an address is made of a person's name."""
    written = ascii_name(handle.partition("@")[0])
    return any(ascii_name(name)[:_PART_OF_NAME] in written for name in (given, family))
