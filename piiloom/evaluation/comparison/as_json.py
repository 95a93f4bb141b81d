"""A comparison as JSON values, unrounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piiloom.evaluation.calibration.calibrating import CalibrationFigures
from piiloom.evaluation.comparison.comparing import Comparison, RankedSystem
from piiloom.evaluation.scoring.bootstrap import ends


def comparison_json(
    comparison: Comparison,
    extra_columns: Mapping[str, Mapping[str, str]] | None = None,
    calibrations: Mapping[str, CalibrationFigures] | None = None,
) -> dict[str, Any]:
    """Return *comparison*; *extra_columns* (see ``comparison_table``) go under "extra" of each system, its calibration beside it."""
    ranking, resampling = comparison.ranking, comparison.ranking.resampling
    extra, known = extra_columns or {}, calibrations or {}
    return {
        "scheme": comparison.scheme,
        "by": comparison.by,
        "best": "lowest" if ranking.lowest else "highest",
        "documents": comparison.documents,
        "cluster": {"by": ranking.cluster, "clusters": comparison.clusters, "documents_with_key": comparison.keyed},
        "confidence": resampling.confidence,
        "resamples": resampling.rounds,
        "permutations": ranking.permutations,
        "seed": resampling.seed,
        "systems": [
            _system(one, {title: cells[one.name] for title, cells in extra.items() if one.name in cells}, known.get(one.name))
            for one in comparison.systems
        ],
        "pairs": [
            {"systems": [test.first, test.second], "difference": test.difference, "p": test.p, "p_adjusted": test.adjusted}
            for test in comparison.tests
        ],
    }


def _system(one: RankedSystem, extra: Mapping[str, str], calibration: CalibrationFigures | None) -> dict[str, Any]:
    return {
        "name": one.name,
        "rank": one.rank,
        "tied": one.tied,
        "metrics": one.figures,
        "intervals": {name: ends(interval) for name, interval in one.intervals.items()},
        "difference": one.difference,
        "difference_interval": ends(one.difference_interval),
        "p_adjusted": one.p,
        **({"extra": dict(extra)} if extra else {}),
        **({"calibration": calibration.to_json()} if calibration else {}),
    }
