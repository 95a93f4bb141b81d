r"""Schemes of true and false positives and false negatives: ``exact``, ``partial``, ``text``, ``token`` and ``nervaluate``.

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

``nervaluate``: the four modes of SemEval-2013 task 9, as the library of that name counts them, in whatever order mentions come.

Each gold mention is paired with one predicted mention at most. Pairs overlap by 1% of the gold mention at least, as is the library's
default. In each mode as many pairs as can be are *correct*, and of the rest as many as can be are pairs at all: *incorrect*, or *partial*
in the mode ``partial``. A gold mention in no pair is *missed*, a predicted one *spurious*. Correct are pairs

- of the same place and type in ``strict``,
- of the same place in ``exact`` and ``partial``, whatever their types,
- of the same type in ``type``; those with the same place as well go first.

The library takes the predictions in their order, and each takes the best gold mention that is left. These counts are what it gives in an
order that is best for the prediction; so they are the library's wherever its own do not depend on the order. By type, only mentions of
that type are looked at on either side. What is counted here are sums of which the counts of all modes follow (``MODES``).
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
from piiloom.evaluation.schemes.span_pairs import (
    Placed,
    compared,
    count_types,
    greatest_weight,
    in_common,
    overlap_edges,
    overlap_groups,
)

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


def by_column(columns: Sequence[str], totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the sums of counts by the name of their column. *totals* has the shape (…, columns)."""
    return dict(zip(columns, np.moveaxis(np.asarray(totals, dtype=float), -1, 0), strict=True))


class ExactScheme(PrecisionRecall):
    """The scheme; see the module docstring. A predicted mention without a place is a false positive."""

    name = "exact"
    needs: Needs = "places"

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        same, missed, spurious = compared(gold, found)
        return count_types((same, spurious, missed), len(COUNTS))


class PartialScheme(PrecisionRecall):
    """The scheme; see the module docstring. A mention without a place is never found."""

    name = "partial"
    needs: Needs = "places"

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type, in halves."""
        same, missed, spurious = compared(gold, found)
        counts = count_types((same, spurious, missed), len(COUNTS))
        for name, pairs in _partial_pairs(missed, spurious).items():
            for row in (counts[OVERALL], counts[name]):
                for column, worth in enumerate(_PARTIAL):
                    row[column] += pairs * worth
        return counts


def _partial_pairs(gold: Sequence[Placed], found: Sequence[Placed]) -> dict[str, int]:
    """Return the number of pairs by type."""
    pairs: dict[str, int] = {}
    for wanted, given in overlap_groups(gold, found):
        for name in {one[0] for one in wanted} & {one[0] for one in given}:
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


_LEAST_PERCENT = 1
_COLUMNS = (
    "same",  # pairs of the same type and place
    "other_gold",  # mentions that are in none of these
    "other_found",
    "overlapping",  # pairs of the others
    "same_place",  # pairs of the others of the same place
    "moved",  # pairs of what those two leave
    "same_type",  # pairs of the others, if as many as can be are of the same type
    "other_type",  # pairs of different types besides these
)
# The mode, and which sums its correct and its other pairs are.
MODES = {
    "strict": (("same",), "overlapping"),
    "exact": (("same", "same_place"), "moved"),
    "partial": (("same", "same_place"), "moved"),
    "type": (("same", "same_type"), "other_type"),
}


class NervaluateScheme:
    """The scheme; see the module docstring. A mention without a place is missed or spurious."""

    name = "nervaluate"
    needs: Needs = "places"
    columns = _COLUMNS
    headline = ("precision", "recall", "f1", "exact_f1", "partial_f1", "type_f1")

    def __init__(self, options: SchemeSettings) -> None:
        self._beta = options.beta

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the sums by type."""
        groups = compared(gold, found)
        counts = count_types(groups, len(_COLUMNS))
        for wanted, given in overlap_groups(*groups[1:]):
            self._count_overlaps(counts, wanted, given)
        return counts

    def _count_overlaps(self, counts: dict[str, list[float]], gold: list[Placed], found: list[Placed]) -> None:
        """Add the pairs of one group."""
        edges = overlap_edges(gold, found, _LEAST_PERCENT)
        if not edges:
            return
        pairs = greatest_weight(edges)
        alike = [edge for edge in edges if gold[edge[0]][0] == found[edge[1]][0]]
        same_type = 0
        for name in {gold[row][0] for row, _, _ in alike}:
            of_type = greatest_weight([edge for edge in alike if gold[edge[0]][0] == name])
            same_type += of_type
            for column in (3, 5, 6):  # among mentions of one type, all three are the same pairs
                counts[name][column] += of_type
        same_place, moved = _places_first(gold, found, pairs)
        other_type = _other_type(edges, set(alike), pairs, same_type)
        overall = counts[OVERALL]
        for column, value in enumerate((pairs, same_place, moved, same_type, other_type), start=3):
            overall[column] += value

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall, F and the five counts of ``strict``, and as ``exact_tp`` and so on those of the others."""
        sums = by_column(_COLUMNS, totals)
        figures: dict[str, NDArray[np.float64]] = {}
        for mode in MODES:
            prefix = "" if mode == "strict" else f"{mode}_"
            figures |= {f"{prefix}{name}": value for name, value in _mode_figures(mode, sums, self._beta).items()}
        return figures


def _mode_figures(mode: str, sums: Mapping[str, NDArray[np.float64]], beta: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Return the figures of one mode. Incorrect pairs are both false positives and false negatives, partial ones half of each."""
    names, other = MODES[mode]
    correct, pairs = np.add.reduce([sums[name] for name in names]), sums[other]
    gold, found = sums["same"] + sums["other_gold"], sums["same"] + sums["other_found"]
    none = np.zeros_like(pairs)
    incorrect, partial = (none, pairs) if mode == "partial" else (pairs, none)
    tp = correct + partial / 2
    return {
        **precision_recall(np.stack([tp, found - tp, gold - tp], axis=-1), beta),
        "correct": correct,
        "incorrect": incorrect,
        "partial": partial,
        "missed": gold - correct - pairs,
        "spurious": found - correct - pairs,
    }


def _places_first(gold: list[Placed], found: list[Placed], pairs: int) -> tuple[int, int]:
    """Return the number of pairs of the same place, whatever the types, and that of pairs of the others."""
    same, wanted, given = in_common([("", *one[1:]) for one in gold], [("", *one[1:]) for one in found])
    return len(same), greatest_weight(overlap_edges(wanted, given, _LEAST_PERCENT)) if same else pairs


def _other_type(edges: Sequence[tuple[int, int, int]], alike: set[tuple[int, int, int]], pairs: int, same_type: int) -> int:
    """Return how many pairs of different types there can be besides *same_type* pairs of the same one."""
    if not alike or same_type == pairs:
        return pairs - same_type
    above_all = len(edges) + 1  # one pair of the same type is worth more than any number of others
    best = greatest_weight([(row, column, above_all if (row, column, weight) in alike else weight) for row, column, weight in edges])
    return best - same_type * above_all
