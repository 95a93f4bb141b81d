"""Shares, chance-corrected agreement, and their intervals: Wilson's, Krippendorff's alpha, a bootstrap over records.

The type and relevance alphas of a whole project are computed by the library *krippendorff*. It needs memory for units x classes²
numbers, which is too much for the characters of a corpus, for very large projects and for the resampled corpora behind an interval.
There, ``alpha_of_sums`` computes alpha from sums over units; tests compare it with the library.

A unit of alpha is one item that several people have put into a class. For types and relevance, a unit is a mention that two or more
people have marked. For boundaries, it is a character of the text (classes: inside a span, outside); not a word, since some scripts have
no blanks between words. For verdicts, it is the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import krippendorff
import numpy as np

from piiloom.annotation_app.figures.spans import Floats, Integers, SpansTable
from piiloom.foundation.seeding import derive_seed

# Standard normal quantile for a two-sided 95% interval.
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The proportion ``part`` of ``whole``, with its Wilson 95% interval ``low`` to ``high``. ``value`` is None if ``whole`` is 0."""

    part: int
    whole: int
    value: float | None
    low: float
    high: float

    @classmethod
    def of(cls, part: int, whole: int) -> Share:
        """The share that *part* is of *whole*."""
        low, high = wilson(part, whole)
        return cls(part=part, whole=whole, value=part / whole if whole else None, low=low, high=high)


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """Return the 95% score interval of *hits* / *tries* (Wilson 1927), or (0, 1) if *tries* is 0."""
    if tries == 0:
        return 0.0, 1.0
    share, square = hits / tries, Z95 * Z95
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    half = Z95 / (1 + square / tries) * sqrt(share * (1 - share) / tries + square / (4 * tries * tries))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == tries else min(1.0, middle + half)


# Maximum of units x classes² for which the library is used; this takes about 0.1 s.
_LIBRARY_UP_TO = 2_000_000


def krippendorff_alpha(counts: Floats) -> float | None:
    """Return nominal alpha, or None if fewer than two classes occur.

    *counts* has shape (units, classes): how many people put each unit into each class. Units with fewer than two are ignored.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    used = pairable[:, pairable.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    if len(used) * used.shape[1] ** 2 > _LIBRARY_UP_TO:
        return float(alpha_of_sums(unit_sums(used, np.zeros(len(used), dtype=np.int64), 1)[0]))
    return float(krippendorff.alpha(value_counts=used, level_of_measurement="nominal"))


def alpha_of_sums(sums: Floats) -> Floats:
    """Return nominal alpha from sums of ``unit_sums`` (last axis: 1 + classes); NaN where fewer than two classes occur.

    With n judgments, n_c of them of class c, and sum E of the diagonal of the coincidence matrix, this is Krippendorff's
    ``1 - (n - 1)(n - E) / (n² - sum of n_c²)``.
    """
    equal, by_class = sums[..., 0], sums[..., 1:]
    judgements = by_class.sum(axis=-1)
    by_chance = judgements**2 - (by_class**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance > 0, 1 - (judgements - 1) * (judgements - equal) / by_chance, np.nan)


def value_counts(table: SpansTable, mentions: Integers, values: Integers, classes: int) -> tuple[Floats, Integers]:
    """Return how many people put each mention into each class, shape (mentions, classes), and a row of the table for each mention.

    *values* is the class of each span; below 0 means no judgment. If a chain of pairs brings two spans of one person into a mention,
    the first counts. Mentions with fewer than two judgments are left out.
    """
    judged = np.flatnonzero(values >= 0)
    _, first = np.unique(np.stack([mentions[judged], table.document[judged]]), axis=1, return_index=True)
    rows = judged[first]
    names, unit, times = np.unique(mentions[rows], return_inverse=True, return_counts=True)
    counts = np.bincount(unit * classes + values[rows], minlength=len(names) * classes).reshape(len(names), classes)
    return counts[times > 1].astype(float), names[times > 1]


def unit_sums(counts: Floats, owners: Integers, size: int, times: Floats | None = None) -> Floats:
    """Return the sums that alpha needs, by owner: shape (*size*, 1 + classes).

    *counts* (units, classes) has the number of people per class; ``owners[i]`` is the owner of row ``i``, which stands for
    ``times[i]`` units (default: 1). Column 0 is the diagonal of the coincidence matrix, summed over classes; the others are the
    numbers of judgments per class. Units with a single judgment are left out.
    """
    people = counts.sum(axis=1)
    weight = (np.ones(len(counts)) if times is None else times) * (people > 1)
    equal = (counts * (counts - 1)).sum(axis=1) / np.maximum(people - 1, 1)
    columns = [equal, *counts.T]
    return np.stack([np.bincount(owners, weights=column * weight, minlength=size) for column in columns], axis=1)


def character_counts(table: SpansTable, record: Integers, people: Integers, lengths: Integers) -> tuple[Floats, Integers, Floats]:
    """Return runs of characters that the same number of people have inside a span.

    *record* is the record of each document; *people* (number of documents) and *lengths* (of the text, in code points) have one
    entry per record. The results have one row per run: (people inside, people outside), the record, the length in code points.
    The last rows, one per record, are for the characters in no span.
    """
    owner = record[table.document]
    far = int(max(table.end.max(initial=0), lengths.max(initial=0))) + 1
    edges = np.concatenate([owner * far + table.start, owner * far + table.end])
    steps = np.concatenate([np.ones(len(owner)), -np.ones(len(owner))])
    order = np.argsort(edges, kind="stable")
    inside = np.cumsum(steps[order])[:-1] if len(order) else np.zeros(0)
    stretch = np.diff(edges[order]) * (inside > 0)
    whose = edges[order][:-1] // far if len(order) else np.zeros(0, dtype=np.int64)
    covered = np.bincount(whose, weights=stretch, minlength=len(lengths))
    counts = np.stack([inside, people[whose] - inside], axis=1) if len(inside) else np.zeros((0, 2))
    empty = np.stack([np.zeros(len(people)), people], axis=1)
    return (
        np.concatenate([counts, empty]).astype(float),
        np.concatenate([whose, np.arange(len(lengths))]).astype(np.int64),
        np.concatenate([stretch, np.maximum(lengths - covered, 0)]),
    )


RECORD_RESAMPLES = 400
# Computes a figure from sums (last axis); leading axes are draws. NaN where the figure is undefined.
Formula = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigure:
    """A value with its 95% bootstrap interval (percentiles); None where nothing could be measured.

    ``over`` is the number of spans, pairs of spans or judgments behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    over: float = 0


@lru_cache(maxsize=1)
def _times_drawn(records: int, seed: int, resamples: int) -> Floats:
    """Return how often each record is in each draw, shape (records, resamples), so that selecting a group of records is fast."""
    rng = np.random.default_rng(derive_seed("agreement", "bootstrap", seed))
    drawn = rng.integers(0, max(records, 1), size=(resamples, records))
    cells = drawn * resamples + np.arange(resamples)[:, None]
    times: Floats = np.bincount(cells.ravel(), minlength=resamples * records).reshape(records, resamples).astype(np.float64)
    times.setflags(write=False)
    return times


class RecordResampling:
    """Bootstrap draws: each draws *records* records with replacement. Equal seeds give equal draws."""

    def __init__(self, records: int, seed: int, resamples: int = RECORD_RESAMPLES) -> None:
        self._times = _times_drawn(records, seed, resamples)

    def sums(self, table: Floats, records: Sequence[int] | Integers) -> Floats:
        """Return the column sums of *table* in each draw, shape (resamples, columns); row ``i`` belongs to record ``records[i]``."""
        return self._times[np.asarray(records, dtype=np.int64)].T @ table


def figure(formula: Formula, sums: Floats, drawn: Floats, over: float) -> AgreementFigure:
    """Compute a figure from *sums* (columns), with its interval from the *drawn* sums (resamples, columns)."""
    value = float(formula(sums))
    values = formula(drawn)
    values = values[np.isfinite(values)]
    if not np.isfinite(value):
        return AgreementFigure(value=None, over=over)
    low, high = np.quantile(values, (0.025, 0.975)) if values.size else (np.nan, np.nan)
    return AgreementFigure(value=value, low=None if np.isnan(low) else float(low), high=None if np.isnan(high) else float(high), over=over)


def ratio_formula(part: int, whole: int) -> Formula:
    """Return the formula column *part* / column *whole*."""
    return lambda sums: _quotient(sums[..., part], sums[..., whole])


def f1(part: int, first: int, second: int) -> Formula:
    """Return the F1 formula ``2 * part / (first + second)``, the harmonic mean of precision and recall, over column numbers."""
    return lambda sums: _quotient(2 * sums[..., part], sums[..., first] + sums[..., second])


def _quotient(part: Floats, whole: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
