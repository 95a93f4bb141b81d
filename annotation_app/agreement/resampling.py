"""Bootstrap over records: how much a figure hangs on which records people happened to work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats
from piiloom.annotation_app.agreement.spans_table import Integers
from piiloom.foundation.seeding import derive_seed

RESAMPLES = 400
# From a row of sums, or each of several, to a figure; NaN where there is none.
Formula = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value and the range in which 95% of the bootstrap's values lie; None where nothing could be measured.

    ``over`` is the number of things it was measured on (spans, pairs of spans, units).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    over: float = 0


@lru_cache(maxsize=1)
def _times_drawn(records: int, seed: int, resamples: int) -> Floats:
    """How often each record (row) is in each draw (column); rows, so that those of a group of records are soon at hand."""
    rng = np.random.default_rng(derive_seed("agreement", "bootstrap", seed))
    drawn = rng.integers(0, max(records, 1), size=(resamples, records))
    cells = drawn * resamples + np.arange(resamples)[:, None]
    times: Floats = np.bincount(cells.ravel(), minlength=resamples * records).reshape(records, resamples).astype(np.float64)
    times.setflags(write=False)
    return times


class Resampling:
    """Draws, with replacement and as many as there are, from *records* records; equal seeds give equal draws."""

    def __init__(self, records: int, seed: int, resamples: int = RESAMPLES) -> None:
        self._times = _times_drawn(records, seed, resamples)

    def sums(self, table: Floats, records: Sequence[int] | Integers) -> Floats:
        """The column sums of *table* in each draw; ``records[i]`` is the record that row ``i`` belongs to."""
        return self._times[np.asarray(records, dtype=np.int64)].T @ table


def figure(formula: Formula, sums: Floats, drawn: Floats, over: float) -> Figure:
    """The figure of *sums*, with the interval of its values over the *drawn* sums."""
    value = float(formula(sums))
    values = formula(drawn)
    values = values[np.isfinite(values)]
    if not np.isfinite(value):
        return Figure(value=None, over=over)
    low, high = np.quantile(values, (0.025, 0.975)) if values.size else (np.nan, np.nan)
    return Figure(value=value, low=None if np.isnan(low) else float(low), high=None if np.isnan(high) else float(high), over=over)


def share(part: int, whole: int) -> Formula:
    """The quotient of two columns."""
    return lambda sums: _quotient(sums[..., part], sums[..., whole])


def f1(part: int, first: int, second: int) -> Formula:
    """Twice a column over the sum of two others: the harmonic mean of the shares of either side."""
    return lambda sums: _quotient(2 * sums[..., part], sums[..., first] + sums[..., second])


def _quotient(part: Floats, whole: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
