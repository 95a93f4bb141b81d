"""Bootstrap over records: how much a figure depends on which records people happened to annotate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats
from piiloom.annotation_app.agreement.spans import Integers
from piiloom.foundation.seeding import derive_seed

RESAMPLES = 400
# Computes a figure from sums (last axis); leading axes are draws. NaN where the figure is undefined.
Formula = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
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


class Resampling:
    """Bootstrap draws: each draws *records* records with replacement. Equal seeds give equal draws."""

    def __init__(self, records: int, seed: int, resamples: int = RESAMPLES) -> None:
        self._times = _times_drawn(records, seed, resamples)

    def sums(self, table: Floats, records: Sequence[int] | Integers) -> Floats:
        """Return the column sums of *table* in each draw, shape (resamples, columns); row ``i`` belongs to record ``records[i]``."""
        return self._times[np.asarray(records, dtype=np.int64)].T @ table


def figure(formula: Formula, sums: Floats, drawn: Floats, over: float) -> Figure:
    """Compute a figure from *sums* (columns), with its interval from the *drawn* sums (resamples, columns)."""
    value = float(formula(sums))
    values = formula(drawn)
    values = values[np.isfinite(values)]
    if not np.isfinite(value):
        return Figure(value=None, over=over)
    low, high = np.quantile(values, (0.025, 0.975)) if values.size else (np.nan, np.nan)
    return Figure(value=value, low=None if np.isnan(low) else float(low), high=None if np.isnan(high) else float(high), over=over)


def share(part: int, whole: int) -> Formula:
    """Return the formula column *part* / column *whole*."""
    return lambda sums: _quotient(sums[..., part], sums[..., whole])


def f1(part: int, first: int, second: int) -> Formula:
    """Return the F1 formula ``2 * part / (first + second)``, the harmonic mean of precision and recall, over column numbers."""
    return lambda sums: _quotient(2 * sums[..., part], sums[..., first] + sums[..., second])


def _quotient(part: Floats, whole: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
