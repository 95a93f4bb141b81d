"""Count, of spans in bands of score, how many are right."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from piiloom.evaluation.inputs.documents import Pair
from piiloom.tagging.calibration import BINS, expected_error, reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The spans whose scores lie in [low, high) (the last one takes 1, too): their mean score, and the share that is right."""

    low: float
    high: float
    spans: int
    mean_score: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFigures:
    """Of ``spans`` with a score (``unscored`` have none).

    ``ece``: the expected calibration error, the mean over spans of how far the mean score of their band is from its share of right ones,
    with ten bands of equal width (Naeini, Cooper and Hauskrecht, 2015). ``brier``: the mean of (score - 1 if right, else 0) squared. Both
    are None without a scored span.
    """

    spans: int
    unscored: int
    ece: float | None
    brier: float | None
    bands: tuple[Band, ...]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        bands = [
            {"from": one.low, "to": one.high, "spans": one.spans, "mean_score": one.mean_score, "right": one.right} for one in self.bands
        ]
        return {"spans": self.spans, "unscored": self.unscored, "ece": self.ece, "brier": self.brier, "bands": bands}


class CalibrationCollector:
    """See ``scoring.collector.Collector``. A predicted span is right if the gold has one of the same place and type, each once."""

    def __init__(self) -> None:
        self._scores, self._right = array("d"), array("b")
        self._unscored = 0

    def add(self, pair: Pair) -> None:
        """See ``Collector``."""
        gold = Counter((one.start, one.end, one.entity_type) for one in pair.gold.mentions)
        surest_first = sorted(pair.found.mentions, key=lambda one: -(one.score or 0.0))
        for one in surest_first:
            if one.score is None:
                self._unscored += 1
                continue
            key = (one.start, one.end, one.entity_type)
            self._scores.append(one.score)
            self._right.append(gold[key] > 0)
            gold[key] -= 1

    def figures(self) -> CalibrationFigures:
        """Return what came of it."""
        scores, right = np.array(self._scores), np.array(self._right, dtype=float)
        if not len(scores):
            return CalibrationFigures(spans=0, unscored=self._unscored, ece=None, brier=None, bands=())
        bins = reliability(self._scores, [bool(one) for one in self._right])
        bands = [
            Band(low=one.tenth / BINS, high=(one.tenth + 1) / BINS, spans=one.count, mean_score=one.said, right=one.right) for one in bins
        ]
        return CalibrationFigures(
            spans=len(scores),
            unscored=self._unscored,
            ece=expected_error(bins),
            brier=float(((scores - right) ** 2).mean()),
            bands=tuple(bands),
        )
