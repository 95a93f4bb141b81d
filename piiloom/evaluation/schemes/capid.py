"""The schemes ``capid`` (values without offsets, compared leniently) and ``capid-strict`` (the same on places, with the best pairing).

``capid``: each predicted value, in the order of the file, takes the gold value that is most like it; the first wins a tie. They match if
their similarity is over 0.2 and that gold value is not taken yet; there is no second choice. All figures are of one sample; those of a set
are plain means over samples, in which 0/0 is 0 unless ``SchemeSettings.undefined`` gives another value. Two facts of the published script
decide single cells. Similarities are computed in floating point as 2PR/(P + R): where two values of five characters share one, the result
is a little over 0.2. And relevance is compared as it is written: "high" differs from "1", and only "1" counts as high and "0" as low.
``relevance_warnings`` counts the other spellings. Types are compared unchanged. A value without a word (blank, or punctuation only) counts
as a value, and matches nothing. A pair without a predicted type has the wrong type, and one without a predicted relevance the wrong one.

``capid-strict``: similarities are exact, and relevance has one meaning however a file spells it. Gold and predicted mentions are paired one
to one with the greatest total similarity of their places (``place_pairs``). ``span_…`` are of the pairs whose places are equal,
``overlap_…`` of all pairs, ``coverage`` is their mean similarity. Accuracies are over pairs; those that end in ``_of_gold`` are over all
gold mentions, so that one that was not found counts as wrong. Relevance is judged where the gold states it. Figures are of all mentions of
the set; ``macro_…`` are plain means over samples, as those of ``capid``. By type both are of all mentions.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs, SideSummary
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings, Undefined
from piiloom.evaluation.schemes.precision_recall import by_column, ratio
from piiloom.evaluation.schemes.span_pairs import PAIR_COUNTS, MentionPair, count_pairs, place_pairs
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THRESHOLD = 0.2
RATIOS = {
    "span_precision": ("found_matched", "found"),
    "span_recall": ("gold_matched", "gold"),
    "span_f1": ("mentions_matched", "mentions"),
    "coverage": ("similarity", "gold_matched"),
    "type_accuracy": ("type_right", "gold_matched"),
    "relevance_accuracy": ("relevance_right", "gold_matched"),
    "low_accuracy": ("low_right", "low_matched"),
    "high_accuracy": ("high_right", "high_matched"),
}
_MALFORMED = {"malformed": "malformed", "gold_malformed": "gold_malformed"}
_COUNTS = {"samples": "samples", "gold": "gold", "predicted": "found", "matched": "gold_matched"} | _MALFORMED
# The spellings of relevance that the published script counts.
_SPELLINGS = {"1": "high", "0": "low"}
_PUNCTUATION = str.maketrans("", "", string.punctuation)
STRICT_RATIOS = {
    "span_precision": ("found_exact", "found"),
    "span_recall": ("gold_exact", "gold"),
    "span_f1": ("mentions_exact", "mentions"),
    "overlap_precision": ("found_matched", "found"),
    "overlap_recall": ("gold_matched", "gold"),
    "overlap_f1": ("mentions_matched", "mentions"),
    "coverage": ("similarity", "gold_matched"),
    "type_accuracy": ("type_right", "gold_matched"),
    "relevance_accuracy": ("judged_right", "judged_matched"),
    "low_accuracy": ("low_right", "low_matched"),
    "high_accuracy": ("high_right", "high_matched"),
    "type_accuracy_of_gold": ("type_right", "gold"),
    "relevance_accuracy_of_gold": ("judged_right", "judged"),
    "low_accuracy_of_gold": ("low_right", "low"),
    "high_accuracy_of_gold": ("high_right", "high"),
}
_STRICT_COUNTS = {"samples": "samples", "gold": "gold", "predicted": "found", "exact": "gold_exact", "matched": "gold_matched"} | _MALFORMED


class SampleMeans:
    """A scheme whose figures are ratios of two counts. Adds columns to a sample's counts, from whose sums means over samples are computed.

    For each ratio that is its value in the sample, and for each denominator whether the sample enters the means of its ratios (1 or 0).
    Where a denominator is 0, *undefined* decides: the value is 0 (``zero``) or 1 (``one``), or the sample doesn't enter (``skip``).
    """

    def __init__(self, ratios: Mapping[str, tuple[str, str]], undefined: Undefined) -> None:
        """*ratios*: (numerator, denominator) by the name of the figure, both names of ``PAIR_COUNTS``."""
        denominators = tuple(dict.fromkeys(below for _, below in ratios.values()))
        self.columns = (*PAIR_COUNTS, *(f"{name}, summed" for name in ratios), *(f"samples with {name}" for name in denominators))
        self._ratios = ratios
        self._at = [(PAIR_COUNTS.index(above), PAIR_COUNTS.index(below)) for above, below in ratios.values()]
        self._below = [PAIR_COUNTS.index(name) for name in denominators]
        self._parts = itemgetter(*(above for above, _ in self._at), *self._below)
        self._default = 1.0 if undefined == "one" else 0.0
        self._skips = undefined == "skip"

    def rows(self, counts: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
        """Return the row of each type, and that of the sample under ``OVERALL``, from the counts of one sample by type.

        Each ratio of a type enters with the weight of its denominator, so that the mean is that of all.
        """
        return {name: [*row, *self._parts(row)] if name != OVERALL else self._sample_row(row) for name, row in counts.items()}

    def _sample_row(self, counts: Sequence[float]) -> list[float]:
        """Return the row of a whole sample: its *counts*, ratios and weights."""
        ratios = [counts[above] / counts[below] if counts[below] else self._default for above, below in self._at]
        return [*counts, *ratios, *(0.0 if self._skips and not counts[at] else 1.0 for at in self._below)]

    def means(self, of: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Return the mean of each ratio over the samples. *of*: sums of rows by column."""
        return {name: ratio(of[f"{name}, summed"], of[f"samples with {below}"]) for name, (_, below) in self._ratios.items()}


class CapidScheme(SampleMeans):
    """The scheme; see the module docstring.

    By type, the figures are those of all values of the type, not means over samples: recall, coverage and accuracies are of gold values
    of the type, precision is of predictions that say it.
    """

    name = "capid"
    needs: Needs = "values"
    headline = tuple(RATIOS)

    def __init__(self, options: SchemeSettings) -> None:
        super().__init__(RATIOS, options.undefined)

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the counts and figures of one sample, and counts by type. It takes time in proportion to gold times found values."""
        pairs = _pairs(gold.mentions, found.mentions)
        malformed = gold.malformed, found.malformed
        return self.rows(count_pairs(gold.mentions, found.mentions, pairs, malformed=malformed, relevance_of=_relevance))

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the means over samples, and the numbers of samples, values, matches and malformed entries."""
        of = by_column(self.columns, totals)
        return {**self.means(of), **{figure: of[name] for figure, name in _COUNTS.items()}}


def relevance_warnings(sides: Mapping[str, SideSummary]) -> tuple[str, ...]:
    """Return a warning for each of *sides*, by name, whose file spells relevances otherwise than 1 and 0."""
    warnings = []
    for name, side in sides.items():
        others = {spelling: count for spelling, count in sorted(side.relevances.items()) if spelling not in _SPELLINGS}
        if others:
            counts = ", ".join(f"{spelling} {count:,}" for spelling, count in others.items())
            warnings.append(
                f"{sum(others.values()):,} of {counted(side.relevances.total(), 'relevance')} in {name} are not spelled 1 or 0 ({counts}): "
                "capid compares spellings, as the published script does, and counts these as neither high nor low; "
                "capid-strict reads all spellings"
            )
    return tuple(warnings)


def _relevance(mention: AnnotatedMention) -> str | None:
    """Return the class that the published script counts; a mention of another format counts as its export to CAPID would."""
    written = mention.written_relevance
    return mention.relevance if written is None else _SPELLINGS.get(written, f"spelled {written}")


def _pairs(gold: Sequence[AnnotatedMention], found: Sequence[AnnotatedMention]) -> list[MentionPair]:
    wanted = [_normalised(one.text) for one in gold]
    free = set(range(len(gold)))
    pairs: list[MentionPair] = []
    for mention in found:
        value = _normalised(mention.text)
        best, similarity = 0, 0.0
        for at, other in enumerate(wanted):
            this = _similarity(value, other)
            if this > similarity:
                best, similarity = at, this
                if similarity == 1:  # none is greater
                    break
        if similarity > THRESHOLD and best in free:
            free.remove(best)
            pairs.append((gold[best], mention, similarity))
    return pairs


def _similarity(one: _NormalisedValue, other: _NormalisedValue) -> float:
    if one.is_word and other.is_word:
        if one.text == other.text:
            return 1.0
        shared = sum([min(one.text.count(letter), other.text.count(letter)) for letter in set(one.text)])
        here, there = len(one.text), len(other.text)
    else:
        shared, here, there = len(one.words & other.words), len(one.words), len(other.words)
    if not shared:
        return 0.0
    precision, recall = shared / here, shared / there
    return 2 * precision * recall / (precision + recall)


class _NormalisedValue(NamedTuple):
    """A normalised value. If it ``is_word``, all its characters count, with the blanks that deleted punctuation left at its ends."""

    text: str
    words: frozenset[str]
    is_word: bool


def _normalised(text: str) -> _NormalisedValue:
    text = text.strip().lower().translate(_PUNCTUATION)
    words = text.split()
    return _NormalisedValue(text, frozenset(words), len(words) == 1)


class CapidStrictScheme(SampleMeans):
    """The scheme; see the module docstring. A mention without a place matches nothing."""

    name = "capid-strict"
    needs: Needs = "places"
    headline = tuple(STRICT_RATIOS)

    def __init__(self, options: SchemeSettings) -> None:
        super().__init__(STRICT_RATIOS, options.undefined)

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the counts and figures of one sample, and counts by type."""
        pairs = place_pairs(gold.mentions, found.mentions)
        return self.rows(count_pairs(gold.mentions, found.mentions, pairs, malformed=(gold.malformed, found.malformed)))

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the figures of all mentions, the means over samples, and the numbers of samples, mentions, pairs and malformed entries."""
        of = by_column(self.columns, totals)
        ratios = {name: ratio(of[above], of[below]) for name, (above, below) in STRICT_RATIOS.items()}
        macro = {f"macro_{name}": value for name, value in self.means(of).items()}
        return {**ratios, **macro, **{figure: of[name] for figure, name in _STRICT_COUNTS.items()}}
