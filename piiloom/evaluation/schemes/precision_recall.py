r"""Schemes of true and false positives and false negatives: ``exact``, ``partial``, ``text`` and ``token``.

- ``exact``: a mention is found if one of the same place and type is predicted. Each is found once at most.
- ``partial``: like ``exact``, but a mention found with other boundaries counts half (partial matches of MUC-5 and SemEval-2013 task 9).
  Mentions of one type that share a character are paired, each once at most, as many as can be; the same place goes first. A pair is
  worth 1 if its places are the same, else 1/2 as found, 1/2 as a false positive and 1/2 as a false negative. So precision is
  (correct + partial / 2) / predicted, and recall (correct + partial / 2) / gold.
- ``text``: a mention is found if the same string of the same type is predicted in the same document, as often as it is there. It needs no
  places. Strings are compared unchanged: case, blanks and all. The sums over all types are those of the types: a string that is predicted
  under another type is a false positive of that type and a false negative of its own.
- ``token``: each token has the types of the mentions that cover it, wholly or in part, and each type of a token is found or not. Tokens
  are ``\w+|[^\w\s]``. Counts are of (token, type): tokens without a type on either side are in none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings, type_key
from piiloom.evaluation.schemes.span_pairs import Placed, add_by_type, compared, greatest_weight, overlap_edges, overlap_groups, types_at

COUNTS: tuple[str, ...] = ("tp", "fp", "fn")
_ALWAYS = (1.0, 5.0)
_PARTIAL = (0.5, -0.5, -0.5)  # what a partial pair adds to tp, fp, and fn, where both its mentions are in the latter two
_TOKEN = re.compile(r"\w+|[^\w\s]")
# From the range [start, end) to the starts of the tokens that have a character in it.
Cover = Callable[[int, int], Iterable[int]]


class PrecisionRecall:
    """What the schemes share that count true and false positives and false negatives."""

    columns = COUNTS
    headline: tuple[str, ...] = ("precision", "recall", "f1")

    def __init__(self, options: SchemeSettings) -> None:
        self._beta = options.beta

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall and F."""
        return precision_recall(totals, self._beta)


def precision_recall(totals: NDArray[np.float64], beta: Sequence[float] = ()) -> dict[str, NDArray[np.float64]]:
    """Return tp, fp, fn, precision, recall, f1, f5 and an F for each *beta*. *totals*: shape (…, 3), in the order of ``COUNTS``.

    F is (1 + β²) P R / (β² P + R), that is (1 + β²) tp / ((1 + β²) tp + β² fn + fp). 0/0 counts as 0.
    """
    tp, fp, fn = (totals[..., at].astype(float) for at in range(3))
    found = {"tp": tp, "fp": fp, "fn": fn, "precision": ratio(tp, tp + fp), "recall": ratio(tp, tp + fn)}
    for weight in dict.fromkeys((*_ALWAYS, *beta)):
        square = weight * weight
        found[f"f{weight:g}"] = ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp)
    return found


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return part / whole, 0 where the whole is 0."""
    result: NDArray[np.float64] = np.divide(part, whole, out=np.zeros_like(part, dtype=float), where=whole != 0)
    return result


class ExactScheme(PrecisionRecall):
    """The scheme; see the module docstring. A predicted mention without a place is a false positive."""

    name = "exact"
    needs: Needs = "places"

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        same, missed, spurious = compared(gold, found)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for column, mentions in enumerate((same, spurious, missed)):
            add_by_type(counts, column, types_at(mentions), 3)
        return counts


class PartialScheme(PrecisionRecall):
    """The scheme; see the module docstring. A mention without a place is never found."""

    name = "partial"
    needs: Needs = "places"

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type, in halves."""
        same, missed, spurious = compared(gold, found)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for column, mentions in enumerate((same, spurious, missed)):
            add_by_type(counts, column, types_at(mentions), 3)
        for name, pairs in _partial_pairs(missed, spurious).items():
            for row in (counts[OVERALL], counts[name]):
                for column, worth in enumerate(_PARTIAL):
                    row[column] += pairs * worth
        return counts


def _partial_pairs(gold: Sequence[Placed], found: Sequence[Placed]) -> dict[str, int]:
    """Return the number of pairs by type."""
    pairs: dict[str, int] = {}
    for wanted, given in overlap_groups(gold, found):
        for name in set(types_at(wanted)).intersection(types_at(given)):
            edges = overlap_edges([one for one in wanted if one[0] == name], [one for one in given if one[0] == name])
            pairs[name] = pairs.get(name, 0) + greatest_weight(edges)
    return pairs


class TextScheme(PrecisionRecall):
    """The scheme; see the module docstring. Mentions without a type are a type of their own (``NO_TYPE``)."""

    name = "text"
    needs: Needs = "mentions"
    headline = ("precision", "recall", "f1", "f5")

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        wanted, given = _strings(gold), _strings(found)
        overall = [0.0, 0.0, 0.0]
        counts: dict[str, list[float]] = {OVERALL: overall}
        for key in wanted.keys() | given.keys():
            there, predicted = wanted.get(key, 0), given.get(key, 0)
            hits = min(there, predicted)
            for row in (overall, counts.setdefault(key[0], [0.0, 0.0, 0.0])):
                row[0] += hits
                row[1] += predicted - hits
                row[2] += there - hits
        return counts


def _strings(document: AnnotatedDocument) -> Counter[tuple[str, str]]:
    return Counter((type_key(one), one.text) for one in document.mentions)


def token_cover(gold: AnnotatedDocument, found: AnnotatedDocument) -> Cover:
    """Return what finds the tokens of two readings of a document: those of its text, or of the mentions' values if neither has a text."""
    text = gold.text if gold.text is not None else found.text
    if text is not None:
        return _in_text(text)
    return _in_values([*gold.mentions, *found.mentions])


def token_count(value: str) -> int:
    """Return the number of tokens of *value*, 1 at least."""
    return sum(1 for _ in _TOKEN.finditer(value)) or 1


def _in_text(text: str) -> Cover:
    def starts(start: int, end: int) -> list[int]:
        # To its right, a token that is cut has the right start all the same.
        while 0 < start < len(text) and _in_word(text[start - 1]) and _in_word(text[start]):
            start -= 1
        return [token.start() for token in _TOKEN.finditer(text, start, end)]

    return starts


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _in_values(mentions: Iterable[AnnotatedMention]) -> Cover:
    """Tokens of the values, each at its place; those that overlap are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted({place for mention in mentions for place in _token_places(mention)}):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    ends = [end for _, end in merged]

    def starts(start: int, end: int) -> Iterator[int]:
        for begin, _ in merged[bisect_right(ends, start) :]:
            if begin >= end:
                return
            yield begin

    return starts


def _token_places(mention: AnnotatedMention) -> Iterator[tuple[int, int]]:
    if mention.start is None or mention.end is None:
        return
    if len(mention.text) != mention.end - mention.start:  # the value is not what stands there
        yield mention.start, mention.end
        return
    for token in _TOKEN.finditer(mention.text):
        yield mention.start + token.start(), mention.start + token.end()


class TokenScheme(PrecisionRecall):
    """The scheme; see the module docstring. A mention without a place counts with the tokens of its value, none of which is found."""

    name = "token"
    needs: Needs = "places"

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        cover = token_cover(gold, found)
        wanted, lost = _labels(gold, cover)
        given, idle = _labels(found, cover)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for name in wanted.keys() | given.keys():
            tokens, others = wanted.get(name, set()), given.get(name, set())
            hits = len(tokens & others)
            row = (hits, len(others) - hits + idle[name], len(tokens) - hits + lost[name])
            counts[OVERALL] = [sum(two) for two in zip(counts[OVERALL], row, strict=True)]
            counts[name] = list(row)
        return counts


def _labels(document: AnnotatedDocument, cover: Cover) -> tuple[dict[str, set[int]], Counter[str]]:
    """Return the starts of the tokens of each type, and how many tokens of each type are in mentions without a place."""
    tokens: dict[str, set[int]] = {}
    without: Counter[str] = Counter()
    for one in document.mentions:
        name = type_key(one)
        starts = tokens.setdefault(name, set())
        if one.start is None or one.end is None:
            without[name] += token_count(one.text)
        else:
            starts.update(cover(one.start, one.end))
    return tokens, without
