"""What a date is the date of: birth, admission, discharge, visit, death, by the words before it or in its tag.

The words are in ``data/words/day_words.yaml``.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, Literal

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.documents import Mention

Told = Literal["birth", "start", "end", "visit", "death", "later", "until"]
Role = Literal["birth", "start", "end", "visit", "death", "later", "until", ""]

_BEFORE: Final = 40  # code points before a date that may say what it is the date of
_SIGNS: Final = " \t\n\r\u00a0:=.,;(\"'*#-[<{|_"
_LONGEST: Final = 4  # words
_TAG_WORD: Final = re.compile(r"[^\W\d_]+")


class _WordsFile(FileModel):
    words: dict[Told, list[str]]
    small: list[str]


@cache
def _file() -> _WordsFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "day_words.yaml", _WordsFile)


@cache
def _words() -> dict[str, Role]:
    return {
        " ".join(part.strip(_SIGNS) for part in word.casefold().split()): role
        for role, words in _file().words.items()
        if role != "until"
        for word in words
    }


@cache
def _last_words() -> frozenset[str]:
    return frozenset(words.rpartition(" ")[2] for words in _words())


@cache
def _small() -> frozenset[str]:
    return frozenset(_file().small)


@cache
def _telling_ends() -> frozenset[str]:
    """Return the words of which one stands right before a date, where the words before it tell anything."""
    return _last_words() | _small()


@cache
def until() -> frozenset[str]:
    """Return the words and signs that join two dates to a range."""
    return frozenset(_file().words["until"])


def role_before(text: str, start: int, after: int) -> Role:
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


def role_of(text: str, mention: Mention, after: int) -> Role:
    """Return what the date at *mention* is the date of, by the words before it, else by those of its tag."""
    told = role_before(text, mention.start, after)
    if told:
        return told
    return _role_of_rule(mention.rule)


@lru_cache(maxsize=1 << 12)
def _role_of_rule(rule: str) -> Role:
    words = [word.casefold() for word in _TAG_WORD.findall(rule)]
    for count in (3, 2, 1):
        for at in range(len(words) - count + 1):
            role = _words().get(" ".join(words[at : at + count]))
            if role and len(words) > 1 and role != "later":
                return role
    return ""
