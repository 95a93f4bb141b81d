"""Normalize the text of a tag into words and an index, so that LAST_NAME, LastName and "last name" are equal."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from piiloom.surrogates.known_names import folded

_POSSESSIVE: Final = re.compile(r"['’´`]s?\s*$", re.IGNORECASE)
_INNER_POSSESSIVE: Final = re.compile(r"['’]s\b", re.IGNORECASE)
_GLUED_ENDING: Final = re.compile(r"(?<=\w)\(\w{1,8}\)")  # "eiser(es)", "PROFESSOR(A)"
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]{2})|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")
_TOKEN: Final = re.compile(r"\d+[a-z](?![a-z])|\d+|[^\W\d_]+")
_ROMAN: Final = frozenset("ii iii iv vi vii viii ix".split())
_LONGEST_NUMBER: Final = 9


class Folded(NamedTuple):
    """A tag's words in lower case without accents, the index at its end ("" if none), and whether a possessive 's ends it.

    ``dropped`` are the words before the index that only announce it ("no", "sub").
    """

    words: tuple[str, ...]
    index: str  # type: ignore[assignment]
    possessive: bool
    dropped: tuple[str, ...] = ()


@cache
def phrase_of(text: str) -> str:
    """Return a vocabulary entry in the normalized form used as lookup key: "ex-man" becomes "ex man"."""
    return " ".join(_tokens(text))


def _tokens(text: str) -> list[str]:
    if text.isascii() and text.islower() and text.replace(" ", "").isalpha():
        return text.split()  # what the rest would come to: most of a vocabulary is so
    spaced = _CAMEL.sub(" ", _GLUED_ENDING.sub("", _INNER_POSSESSIVE.sub("", text)))
    return _TOKEN.findall(folded(spaced.replace("_", " ")))


def fold_tag(text: str, index_words: frozenset[str]) -> Folded:
    """Split *text* into words and index: "appellant sub 18 B" gives ("appellant",), "18b"; "NAME_1" gives ("name",), "1".

    The last token is an index if it is a number (leading zeros are dropped), a single letter, a number with a letter or a Roman
    numeral from II to IX. *index_words* such as "sub" or "no" are dropped before it.
    """
    bare = _POSSESSIVE.sub("", text)
    tokens = _tokens(bare)
    index = ""
    dropped: list[str] = []
    if len(tokens) > 1:
        last = tokens[-1]
        if len(last) == 1 and last.isalpha() and tokens[-2].isdigit() and len(tokens) > 2:
            index = tokens[-2] + last
            del tokens[-2:]
        elif (last[0].isdigit() and len(last) <= _LONGEST_NUMBER) or len(last) == 1 or last in _ROMAN:
            index = last.lstrip("0") or "0" if last.isdigit() else last
            del tokens[-1]
        while index and len(tokens) > 1 and tokens[-1] in index_words:
            dropped.insert(0, tokens.pop())
    return Folded(tuple(tokens), index, len(bare) < len(text.rstrip()) and bare != text, tuple(dropped))
