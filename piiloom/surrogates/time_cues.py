"""Cues in a text to dates and ages: what a date is the date of, and ages that were not redacted ("a 54-year-old man", "Edad: 54 años").

The words right before a date or in its tag tell that it is of a birth, an admission, a discharge, a visit or a death. They are in
``data/words/day_words.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.surrogates.documents import Mention

_ToldRole = Literal["birth", "start", "end", "visit", "death", "later", "until"]
DayRole = Literal["birth", "start", "end", "visit", "death", "later", "until", ""]

_BEFORE: Final = 40  # code points before a date that may say what it is the date of
_SIGNS: Final = " \t\n\r\u00a0:=.,;(\"'*#-[<{|_"
_LONGEST: Final = 4  # words
_TAG_WORD: Final = re.compile(r"[^\W\d_]+")


class _DayWordsFile(FileModel):
    words: dict[_ToldRole, list[str]]
    small: list[str]


@cache
def _day_words() -> _DayWordsFile:
    return load_data("piiloom.surrogates", "words/day_words.yaml", _DayWordsFile)


@cache
def _words() -> dict[str, DayRole]:
    return {
        " ".join(part.strip(_SIGNS) for part in word.casefold().split()): role
        for role, words in _day_words().words.items()
        if role != "until"
        for word in words
    }


@cache
def _last_words() -> frozenset[str]:
    return frozenset(words.rpartition(" ")[2] for words in _words())


@cache
def _small() -> frozenset[str]:
    return frozenset(_day_words().small)


@cache
def _telling_ends() -> frozenset[str]:
    """Return the words of which one stands right before a date, where the words before it tell anything."""
    return _last_words() | _small()


@cache
def until() -> frozenset[str]:
    """Return the words and signs that join two dates to a range."""
    return frozenset(_day_words().words["until"])


def role_before(text: str, start: int, after: int) -> DayRole:
    """Return what a date at *start* is the date of, by the words before it; *after* is where the mention before it ends."""
    window = text[max(after, start - _BEFORE) : start]
    nearest = window.rsplit(maxsplit=1)
    if not nearest or ((last := nearest[-1].casefold().strip(_SIGNS)) and last not in _telling_ends()):
        return ""  # as nearly everywhere
    words = window.casefold().split()
    known, last_words = _words(), _last_words()
    for _ in range(3):  # a small word may stand between: "died on", "overleden op de datum"
        if words:
            words[-1] = words[-1].strip(_SIGNS)
            if words[-1] in last_words:
                several = [word.strip(_SIGNS) for word in words[-_LONGEST:]]
                for count in range(len(several), 0, -1):
                    role = known.get(" ".join(several[-count:]))
                    if role:
                        return role
        if not words or (words[-1] and words[-1] not in _small()):
            return ""
        words.pop()
    return ""


def role_of(text: str, mention: Mention, after: int) -> DayRole:
    """Return what the date at *mention* is the date of, by the words before it, else by those of its tag."""
    told = role_before(text, mention.start, after)
    if told:
        return told
    return _role_of_rule(mention.rule)


@lru_cache(maxsize=1 << 12)
def _role_of_rule(rule: str) -> DayRole:
    words = [word.casefold() for word in _TAG_WORD.findall(rule)]
    for count in (3, 2, 1):
        for at in range(len(words) - count + 1):
            role = _words().get(" ".join(words[at : at + count]))
            if role and len(words) > 1 and role != "later":
                return role
    return ""


_NEAR: Final = 600  # code points on either side of the birth date
_OLDEST: Final = 119
_PHRASE: Final = 40


class _AgesFile(FileModel):
    patterns: list[str]
    months: list[str]
    children: list[str]


@cache
def _age_words() -> _AgesFile:
    return load_data("piiloom.surrogates", "words/stated_ages.yaml", _AgesFile)


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of stated ages; the group "months" is there if it is one in months."""
    years, months = (
        "|".join(pattern.replace("{n}", r"(?<![\d.,/-])(?:1[01])?\d{1,2}") for pattern in patterns)
        for patterns in (_age_words().patterns, _age_words().months)
    )
    return re.compile(f"(?P<months>{months})|{years}")


_NUMBER: Final = re.compile(r"\d{1,3}")


class StatedAge(NamedTuple):
    """An age in years, or in ``months``."""

    number: int
    months: bool


@cache
def _child() -> re.Pattern[str]:
    words = _age_words().children
    return re.compile(rf"[\])}}>*]*[- ](?:[\w.’'-]+ ){{0,4}}?(?:{'|'.join(words)})\b", re.IGNORECASE)


def child_follows(text: str, end: int) -> bool:
    """Whether a word for a child follows the age that ends at *end*, in the same noun phrase: "year old boy", "-jarig meisje"."""
    return _child().match(text, end, end + _PHRASE) is not None


def nearest_age(text: str, mentions: Sequence[Mention], number: int) -> StatedAge | None:
    """Return the age that the text states nearest to the birth date at mention *number*, or None.

    The next person named on either side ends the search if the birth date has a person of its own between.
    """
    start, end = mentions[number].start, mentions[number].end
    low, high = max(0, start - _NEAR), min(len(text), end + _NEAR)
    other = next((one.start for one in mentions[number + 1 :] if one.kind == mentions[number].kind), high)
    before = next((one.end for one in reversed(mentions[:number]) if one.kind == mentions[number].kind), low)
    best: tuple[int, StatedAge] | None = None
    for found in _pattern().finditer(text, max(low, before), min(high, other)):
        stated = StatedAge(int(_NUMBER.findall(found.group())[0]), found["months"] is not None)
        distance = start - found.end() if found.end() <= start else found.start() - end
        if stated.number <= _OLDEST and distance >= 0 and (best is None or distance < best[0]):
            best = distance, stated
    return best[1] if best is not None else None
