"""The interface of a scheme: counts of one document, and figures from sums of counts.

Since all figures come from sums, a bootstrap over documents needs no document again, and figures by type, locale or group cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs
from piiloom.foundation.settings import Converted, OptionalPath, Settings, Words, setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIGURES: Final = "Figures"
# Figures that count mentions or values; all others are shares.
_OF_MENTIONS = ("tp", "fp", "fn", "correct", "incorrect", "partial", "missed", "spurious")
_OF_VALUES = ("samples", "gold", "predicted", "matched", "exact", "malformed")
_COUNTS = frozenset((*_OF_MENTIONS, *_OF_VALUES))

_OF_PREDICTED = re.compile(r"precision|(?:^|_)f\d")

# The key of the counts over all types.
OVERALL = ""
# The key of the counts of mentions whose type the file does not state.
NO_TYPE = "(no type)"
# What a sample adds to a mean if its figure is 0/0: 0, nothing (it does not enter the mean), or 1.
Undefined = Literal["zero", "skip", "one"]


class SchemeSettings(Settings):
    """Settings of schemes.

    ``weights`` replaces the kinds of identifiers and their weights in ``taxonomy.identifying``. ``token_information`` reads
    ``token_probabilities``. ``may_stay`` are words that a masker may leave unmasked within a mention.
    """

    beta: Converted[tuple[float, ...], Sequence[float]] = setting(
        (), "Also give the F in which recall counts B times as much; repeatable.", metavar="B", panel=FIGURES
    )
    undefined: Undefined = setting("zero", "Value of 0/0 in a mean over samples (scheme capid).", panel=FIGURES, advanced=True)
    weights: OptionalPath = setting(
        None,
        "Types that identify directly or in combination, and their sensitivity, in place of piiloom's own table (tab, privacy).",
        metavar="YAML",
        panel=FIGURES,
        advanced=True,
    )
    token_probabilities: OptionalPath = setting(
        None, "Token probabilities of a language model, for precision (tab).", metavar="JSONL", panel=FIGURES, advanced=True
    )
    may_stay: Words = setting(
        (), "Words that may stay unmasked within a mention (tab).", metavar="WORD,…", panel=FIGURES, kind=str, advanced=True
    )


def type_key(mention: AnnotatedMention) -> str:
    """Return the key of the counts of *mention*'s type."""
    return mention.entity_type or NO_TYPE


class Figured(Protocol):
    """Whatever has figures that come from sums of counts."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is counted."""
        ...

    @property
    def headline(self) -> tuple[str, ...]:
        """The figures that get intervals."""
        ...

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the figures of sums of counts. *totals* has the shape (…, columns), each figure (…). 0/0 counts as 0."""
        ...


def figures_of(what: Figured, totals: NDArray[np.float64]) -> dict[str, float]:
    """Return the figures of one row of sums, of the shape (columns,)."""
    return {name: float(value) for name, value in what.figures(totals).items()}


def asks_predicted_types(name: str) -> bool:
    """Whether the figure *name* by type has a denominator only where predictions state types: precision, and every F."""
    return _OF_PREDICTED.search(name) is not None


def asks_types(name: str) -> bool:
    """Whether the figure *name* measures stated types alone, so that predictions without any have none."""
    return "type_accuracy" in name


def is_count(name: str) -> bool:
    """Whether the figure *name* of some scheme is a count and no share."""
    return name in _COUNTS or name.partition("_")[2] in _COUNTS


class Scheme(Figured, Protocol):
    """Interface of a scheme; all properties may be class attributes."""

    @property
    def name(self) -> str:
        """The name on the command line."""
        ...

    @property
    def needs(self) -> Needs:
        """Which kind of mentions it compares."""
        ...

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the counts of one document by type, each with one number per column; those over all types under ``OVERALL``."""
        ...
