"""The pieces in which two texts are compared: words, single signs, and, in scripts without blanks between words, single letters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from rapidfuzz.distance import Levenshtein

_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|\\+|(?:(?![{_UNSPACED}])\w)+|.", re.DOTALL)
_ONE_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")


class Token(NamedTuple):
    """``text[start:end]``, which is compared by its ``key``."""

    start: int
    end: int
    key: str


class Change(NamedTuple):
    """``one[a_start:a_end]`` has become ``other[b_start:b_end]``; ``equal``: it has stayed."""

    equal: bool
    a_start: int
    a_end: int
    b_start: int
    b_end: int


def tokens_of(text: str, whole: Iterable[tuple[int, int]] = ()) -> list[Token]:
    """Return the tokens of *text*, which cover it; the ranges *whole* (disjoint, in order) are one token each."""
    found: list[Token] = []
    done = 0
    for start, end in (*whole, (len(text), len(text))):
        found += (Token(match.start(), match.end(), match.group()) for match in _TOKEN.finditer(text, done, start))
        if end > start:
            found.append(Token(start, end, text[start:end]))
        done = end
    return found


def is_unspaced(character: str) -> bool:
    """Whether *character* is of a script without blanks between words."""
    return _ONE_UNSPACED.match(character) is not None


def token_changes(one: list[Token], other: list[Token]) -> list[tuple[bool, int, int, int, int]]:
    """Return what has stayed and what has changed between two lists of tokens, as ranges of both lists."""
    codes = Levenshtein.opcodes([token.key for token in one], [token.key for token in other])
    return [(code.tag == "equal", code.src_start, code.src_end, code.dest_start, code.dest_end) for code in codes]


def text_changes(one: str, other: str) -> list[Change]:
    """Return what has stayed and what has changed between two texts, by tokens, in turn; the changes cover both."""
    first, second = tokens_of(one), tokens_of(other)
    a_ends, b_ends = [0, *(token.end for token in first)], [0, *(token.end for token in second)]
    found: list[Change] = []
    for equal, a_start, a_end, b_start, b_end in token_changes(first, second):
        change = Change(equal, a_ends[a_start], a_ends[a_end], b_ends[b_start], b_ends[b_end])
        if found and not equal and not found[-1].equal:
            found[-1] = found[-1]._replace(a_end=change.a_end, b_end=change.b_end)
        else:
            found.append(change)
    return found
