"""From the probabilities of tags to spans with exact offsets, at word boundaries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from piiloom.corpus.mention_search import is_word_character
from piiloom.foundation.words import is_unspaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TINY = 1e-9
_JOINTS = frozenset({"", " ", "-"})
_NO_BEGINNING = frozenset(".,;:!?)]}-–—/")
_NO_END = frozenset(",;:!?([{-–—/")
_IN_NUMBERS = frozenset(".,:/")
# An address of mail or the internet, whole: a part of one is none.
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]*[\w/]|(?<![\w.+-])[\w.+-]++@\w[\w.-]*\w")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A span that was found: its place in the text and among the tokens, the number of its type, and how sure the tags are of it."""

    start: int
    end: int
    first: int
    last: int
    type_number: int
    confidence: float


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def decode(text: str, offsets: Sequence[tuple[int, int]], logits: NDArray[np.floating], *, outside_bias: float = 0.0) -> list[Decoded]:
    """Return the spans of *text* by the tag *logits* of its tokens, in order and disjoint. More *outside_bias* gives fewer spans.

    Where a span begins and ends is decided by all types together, its type by all of its tokens: so a span never falls apart because
    its tokens lean towards two types. The confidence is that of the least sure token times that of the type.
    """
    if not len(offsets):
        return []
    biased = logits.astype(np.float64)
    biased[:, 0] += outside_bias
    probabilities = softmax(biased)
    begins, goes_on = probabilities[:, 1::2], probabilities[:, 2::2]
    parts = np.stack([probabilities[:, 0], begins.sum(axis=1), goes_on.sum(axis=1)], axis=1)
    found: list[Decoded] = []
    for first, last in _runs(parts.argmax(axis=1), offsets):
        by_type = (begins[first:last] + goes_on[first:last]).sum(axis=0)
        number = int(by_type.argmax())
        inside = float((1 - parts[first:last, 0]).min())
        confidence = inside * float(by_type[number] / max(_TINY, by_type.sum())) * float(max(parts[first, 1], parts[first, 2]))
        start, end = offsets[first][0], offsets[last - 1][1]
        found.append(Decoded(start, end, first, last, number, min(1.0, max(0.0, confidence))))
    return _repaired(text, found)


def _runs(tags: NDArray[np.intp], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs of tokens that a span has: a 1 begins one, a 2 goes on, or begins one where none is open."""
    runs: list[tuple[int, int]] = []
    is_open = False
    for at, tag in enumerate(tags.tolist()):
        if tag == 0:
            is_open = False
        # A piece of a word begins no span within the word of the span that is open.
        elif is_open and (tag == 2 or offsets[at][0] < offsets[at - 1][1]):
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
            is_open = True
    return runs


def _repaired(text: str, found: Sequence[Decoded]) -> list[Decoded]:
    """Let spans begin and end where words do; those that so meet in one word, or had been one of a type, become one."""
    repaired: list[Decoded] = []
    addresses = [match.span() for match in _ADDRESS.finditer(text)]
    for one in found:
        start, end = _whole_words(text, one.start, one.end)
        for first, last in addresses:
            if start < last and end > first:
                start, end = min(start, first), max(end, last)
        if start >= end:
            continue
        before = repaired[-1] if repaired else None
        if before is not None and _is_one(text, before, one, start):
            surer = one if one.confidence > before.confidence else before
            sure = min(one.confidence, before.confidence)
            repaired[-1] = Decoded(before.start, max(end, before.end), before.first, one.last, surer.type_number, sure)
        else:
            repaired.append(Decoded(start, end, one.first, one.last, one.type_number, one.confidence))
    return repaired


def _is_one(text: str, before: Decoded, one: Decoded, start: int) -> bool:
    """Whether *one*, which begins at *start*, goes on with *before*: they share a word, or only a blank or a hyphen parts two of a type."""
    return start < before.end or (one.type_number == before.type_number and text[before.end : start] in _JOINTS)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return [start, end) without blanks and marks that no value has at its ends, and with the rest of words that it has a part of."""
    while start < end and (text[start].isspace() or text[start] in _NO_BEGINNING):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in _NO_END):
        end -= 1
    if start == end:
        return start, end
    while start > 0 and (_one_word(text[start - 1], text[start]) or _within_number(text, start) or _before_ending(text, start)):
        start -= 1
    while end < len(text) and (_one_word(text[end - 1], text[end]) or _within_number(text, end)):
        end += 1
    return start, end


def _within_number(text: str, at: int) -> bool:
    """Whether a number goes on at *at*, before or behind a mark in it: 0.3, 12,466, 15:05, 5/14."""
    for mark in (at - 1, at):
        if 0 < mark < len(text) - 1 and text[mark] in _IN_NUMBERS and text[mark - 1].isdigit() and text[mark + 1].isdigit():
            return True
    return False


def _before_ending(text: str, at: int) -> bool:
    """Whether *at* is before the ending of a word behind an apostrophe (master's), at which no value begins."""
    return text[at] in "'’" and text[at - 1].isalpha() and at + 1 < len(text) and text[at + 1].isalpha()


def _one_word(left: str, right: str) -> bool:
    """Whether two neighbours are of one word: not in scripts that write no blanks, where characters stand for themselves."""
    if unicodedata.combining(right):
        return True
    return is_word_character(left) and is_word_character(right) and not (is_unspaced(left) or is_unspaced(right))
