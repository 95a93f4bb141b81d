"""From answers of a model that came true or not to the calibration of the next. Importing this module needs scikit-learn.

It comes with the extras ``probe`` and ``train``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

from sklearn.linear_model import LogisticRegression

from piiloom.tagging.calibration import Calibration

# With fewer answers than this, a calibration would be a guess.
LEAST: Final = 15


class ScoredAnswer(NamedTuple):
    """What a model said, as log-odds, and whether it came true."""

    log_odds: float
    right: bool


def fit_calibration(answers: Sequence[ScoredAnswer]) -> Calibration | None:
    """Platt's sigmoid, with his smoothed targets: each answer counts a little as its opposite, so that certainty is never learnt.

    None: there are too few answers. Where what the model said tells nothing, all have the same probability.
    """
    if len(answers) < LEAST:
        return None
    right = sum(answer.right for answer in answers)
    yes, no = (right + 1) / (right + 2), 1 / (len(answers) - right + 2)
    targets = [yes if answer.right else no for answer in answers]
    rows = [[answer.log_odds] for answer in answers]
    fitted = LogisticRegression(C=100.0).fit(
        rows + rows, [1] * len(rows) + [0] * len(rows), sample_weight=targets + [1 - target for target in targets]
    )
    slope, offset = float(fitted.coef_[0][0]), float(fitted.intercept_[0])
    if slope > 0:
        return Calibration(slope=slope, offset=offset)
    share = (right + 1) / (len(answers) + 2)
    return Calibration(slope=0.0, offset=log(share / (1 - share)))
