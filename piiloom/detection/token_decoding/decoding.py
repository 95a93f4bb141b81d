"""Spans of whole words from the probabilities that a token classifier gives the labels of each token.

A word is judged by its first token, on which classifiers are trained (many never learn what to say of the others). The probabilities of the
labels of one kind are added up, ``B-PER`` and ``I-PER`` say; the likeliest kind, or none, is that of the word. Adjacent words of one kind
are one mention, unless the labels say that a new one begins. **The score of a mention is the mean, over its words, of the probability of
its kind.** Since only whole words are joined, a span never cuts a word, however the tokenizer cut it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from piiloom.detection.token_decoding.label_schemes import LabelScheme
from piiloom.detection.token_decoding.words import Words

Probabilities = NDArray[np.float32]


class TokenWord(NamedTuple):
    """A word, or several that share a token: ``text[start:end]``; *token* is the number of its first token."""

    start: int
    end: int
    token: int


class TokenMention(NamedTuple):
    """``text[start:end]`` is taken for one of *kind*."""

    start: int
    end: int
    kind: str
    score: float


def token_words(text: str, offsets: Sequence[tuple[int, int]]) -> list[TokenWord]:
    """Return the words of *text* that have a token; *offsets* are the ranges of the tokens, ascending.

    Tokens of white space, or of nothing, belong to none.
    """
    words = Words(text)
    found: list[TokenWord] = []
    for number, (start, end) in enumerate(offsets):
        begin, finish = words.around(start, end)
        if begin == finish:
            continue
        if found and begin < found[-1].end:
            if finish > found[-1].end:
                found[-1] = found[-1]._replace(end=finish)
        else:
            found.append(TokenWord(begin, finish, number))
    return found


def mentions_in(words: Sequence[TokenWord], probabilities: Probabilities, scheme: LabelScheme) -> list[TokenMention]:
    """Return the mentions among *words* in text order; *probabilities* has a row a token and a column a label."""
    if not words:
        return []
    rows = np.asarray(probabilities, dtype=np.float64)[[word.token for word in words]]
    outside, by_kind = _by_kind(rows, np.array(scheme.kind_of), len(scheme.kinds))
    best = by_kind.argmax(axis=1)
    chosen = by_kind[np.arange(len(words)), best]
    inside = chosen > outside
    begins = _says(rows, best, scheme, scheme.begins)
    ends = _says(rows, best, scheme, scheme.ends)
    found = []
    for first, last in _runs(inside, best, begins, ends):
        score = float(min(1.0, max(0.0, chosen[first:last].mean())))
        found.append(TokenMention(words[first].start, words[last - 1].end, scheme.kinds[best[first]], score))
    return found


def _by_kind(rows: NDArray[np.float64], kind_of: NDArray[np.int64], kinds: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probability of being no mention, and those of the kinds, a row each."""
    joined = np.stack([rows[:, kind_of == kind].sum(axis=1) for kind in range(kinds)], axis=1)
    return rows[:, kind_of == -1].sum(axis=1), joined


def _says(rows: NDArray[np.float64], best: NDArray[np.int64], scheme: LabelScheme, flags: Sequence[bool]) -> NDArray[np.bool_]:
    """Whether, of the labels of its kind, those with the flag are likelier than the others; a row each."""
    kind_of = np.array(scheme.kind_of)
    weights = np.where(np.array(flags), 1.0, -1.0)
    difference = np.stack([(rows * (weights * (kind_of == kind))).sum(axis=1) for kind in range(len(scheme.kinds))], axis=1)
    said: NDArray[np.bool_] = difference[np.arange(len(rows)), best] > 0
    return said


def _runs(
    inside: NDArray[np.bool_], best: NDArray[np.int64], begins: NDArray[np.bool_], ends: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """The ranges of words that are one mention each."""
    first = -1  # of the open run
    for number in range(len(inside)):
        goes_on = first >= 0 and inside[number] and best[number] == best[first] and not begins[number] and not ends[number - 1]
        if goes_on:
            continue
        if first >= 0:
            yield first, number
        first = number if inside[number] else -1
    if first >= 0:
        yield first, len(inside)
