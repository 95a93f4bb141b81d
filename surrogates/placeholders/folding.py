"""From the text of a tag to its words and index: LAST_NAME, LastName and "last name" are one."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, NamedTuple

_POSSESSIVE: Final = re.compile(r"['’´`]s?\s*$", re.IGNORECASE)
_INNER_POSSESSIVE: Final = re.compile(r"['’]s\b", re.IGNORECASE)
_GLUED_ENDING: Final = re.compile(r"(?<=\w)\(\w{1,8}\)")  # "eiser(es)", "PROFESSOR(A)"
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]{2})|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")
_TOKEN: Final = re.compile(r"\d+[a-z](?![a-z])|\d+|[^\W\d_]+")
_ROMAN: Final = frozenset("ii iii iv vi vii viii ix".split())
_LONGEST_NUMBER: Final = 9


class Folded(NamedTuple):
    """The words of a tag in lower case without accents, the index behind them, and whether a genitive 's ends it."""

    words: tuple[str, ...]
    index: str  # type: ignore[assignment]
    possessive: bool


def plain(text: str) -> str:
    """Lower case, without accents."""
    return "".join(char for char in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(char))


@cache
def phrase_of(text: str) -> str:
    """The words of a vocabulary entry as they are looked up: "ex-man" is "ex man"."""
    return " ".join(_tokens(text))


def _tokens(text: str) -> list[str]:
    spaced = _CAMEL.sub(" ", _GLUED_ENDING.sub("", _INNER_POSSESSIVE.sub("", text)))
    return _TOKEN.findall(plain(spaced.replace("_", " ")))


def fold_tag(text: str, index_words: frozenset[str]) -> Folded:
    """Take *text* apart. "appellant sub 18 B" gives ("appellant",), "18b"; "NAME_1" gives ("name",), "1".

    A number, a single letter, a number with a letter and a Roman number from II on are an index when they stand last.
    """
    bare = _POSSESSIVE.sub("", text)
    tokens = _tokens(bare)
    index = ""
    if len(tokens) > 1:
        last = tokens[-1]
        if len(last) == 1 and last.isalpha() and tokens[-2].isdigit() and len(tokens) > 2:
            index = tokens[-2] + last
            del tokens[-2:]
        elif (last[0].isdigit() and len(last) <= _LONGEST_NUMBER) or len(last) == 1 or last in _ROMAN:
            index = last.lstrip("0") or "0" if last.isdigit() else last
            del tokens[-1]
        while index and len(tokens) > 1 and tokens[-1] in index_words:
            del tokens[-1]
    return Folded(tuple(tokens), index, possessive=len(bare) < len(text.rstrip()) and bare != text)
