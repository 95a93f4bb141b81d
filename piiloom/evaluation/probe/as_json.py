"""The result of a probe as JSON values."""

from __future__ import annotations

from typing import Any

from piiloom.evaluation.probe.run import ProbeResult, TestResult
from piiloom.evaluation.probe.saving import Saved
from piiloom.evaluation.scoring.bootstrap import ends


def result_json(result: ProbeResult, *, by_type: bool) -> dict[str, Any]:
    """Return all figures of *result*, unrounded; figures by entity type only with *by_type*."""
    return {
        "train": {"file": result.corpus.file, "records": len(result.corpus.records), "left_out": dict(result.corpus.left_out)},
        "seed": result.seed,
        "trainings": [
            {
                "records": training.records,
                "spans": training.spans,
                "high_share": training.high / training.spans,
                "tests": [_test_to_json(test, by_type=by_type) for test in training.tests],
            }
            for training in result.trainings
        ],
    }


def saved_json(saved: Saved) -> dict[str, Any]:
    """Return what was saved, and how its scores are calibrated."""
    return {"folder": str(saved.folder), "types": list(saved.types), "records": saved.records, "calibration": saved.calibration}


def _test_to_json(test: TestResult, *, by_type: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "file": test.corpus.file,
        "records": len(test.corpus.records),
        "left_out": dict(test.corpus.left_out),
        "spans": test.spans,
        "high_spans": test.high,
        "low_spans": test.low,
        **test.figures.to_json(),
        "intervals": {name: ends(interval) for name, interval in test.intervals.items()},
    }
    if by_type:
        values["by_type"] = [
            {"type": score.entity_type, "gold": score.gold, "found": score.found, **score.shares()} for score in test.by_type
        ]
    return values
