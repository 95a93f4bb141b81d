"""Chance-corrected agreement: Krippendorff's alpha for any number of people, Cohen's kappa for two.

The figures of a whole project are computed by the library *krippendorff*, kappas by *scikit-learn* where it is installed. The
library holds units times classes squared numbers in memory. For the characters of a corpus, very large projects and the thousands
of resampled corpora behind an interval that is too much: there alpha comes from sums over units, which the tests hold to the
library's figures.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats
from piiloom.annotation_app.agreement.units import unit_sums

# Units times classes squared; 0.1 s.
_LIBRARY_UP_TO = 2_000_000


def krippendorff_alpha(counts: Floats) -> float | None:
    """Nominal alpha of units (rows) that people put into classes (columns); None where fewer than two classes occur."""
    pairable = counts[counts.sum(axis=1) > 1]
    used = pairable[:, pairable.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    if len(used) * used.shape[1] ** 2 > _LIBRARY_UP_TO:
        return float(alpha_of_sums(unit_sums(used, np.zeros(len(used), dtype=np.int64), 1)[0]))
    library: Any = importlib.import_module("krippendorff")
    return float(library.alpha(value_counts=used, level_of_measurement="nominal"))


def alpha_of_sums(sums: Floats) -> Floats:
    """Nominal alpha of sums as ``units.unit_sums`` makes them (last axis); NaN where fewer than two classes occur."""
    equal, by_class = sums[..., 0], sums[..., 1:]
    judgements = by_class.sum(axis=-1)
    by_chance = judgements**2 - (by_class**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance > 0, 1 - (judgements - 1) * (judgements - equal) / by_chance, np.nan)


def cohen_kappa(ones: Sequence[int], others: Sequence[int]) -> float | None:
    """Kappa of what two people said of the same things; None without scikit-learn, and where it is undefined."""
    if find_spec("sklearn") is None or len(set(ones) | set(others)) < 2:
        return None
    library: Any = importlib.import_module("sklearn.metrics")
    return float(library.cohen_kappa_score(ones, others))
