"""Chance-corrected agreement: Krippendorff's alpha for any number of people, Cohen's kappa for two.

The type and relevance alphas of a whole project are computed by the library *krippendorff*, kappas by *scikit-learn* if it is
installed. *krippendorff* needs memory for units x classes² numbers, which is too much for the characters of a corpus, for very
large projects and for the resampled corpora behind an interval. There, ``alpha_of_sums`` computes alpha from sums over units; tests
compare it with the library.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats
from piiloom.annotation_app.agreement.units import unit_sums

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
    library: Any = importlib.import_module("krippendorff")
    return float(library.alpha(value_counts=used, level_of_measurement="nominal"))


def alpha_of_sums(sums: Floats) -> Floats:
    """Return nominal alpha from sums of ``units.unit_sums`` (last axis: 1 + classes); NaN where fewer than two classes occur.

    With n judgments, n_c of them of class c, and sum E of the diagonal of the coincidence matrix, this is Krippendorff's
    ``1 - (n - 1)(n - E) / (n² - sum of n_c²)``.
    """
    equal, by_class = sums[..., 0], sums[..., 1:]
    judgements = by_class.sum(axis=-1)
    by_chance = judgements**2 - (by_class**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance > 0, 1 - (judgements - 1) * (judgements - equal) / by_chance, np.nan)


def cohen_kappa(ones: Sequence[int], others: Sequence[int]) -> float | None:
    """Return Cohen's kappa of two people's labels of the same items; None without scikit-learn or if fewer than two labels occur."""
    if find_spec("sklearn") is None or len(set(ones) | set(others)) < 2:
        return None
    library: Any = importlib.import_module("sklearn.metrics")
    return float(library.cohen_kappa_score(ones, others))
