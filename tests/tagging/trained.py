"""A small detector for tests, trained in a fraction of a second."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from piiloom.foundation.noop import noop
from piiloom.tagging.model import Calibration, GoldSpan, TaggingExample, TaggingModel
from piiloom.tagging.model_folder import save_model
from piiloom.tagging.training import train_relevance, train_spans
from tests.evaluation.probe_corpora import native_row


def example(seed: int, **more) -> TaggingExample:
    """One example; equal for equal seeds."""
    row = native_row(seed)
    spans = [
        GoldSpan(start=one["start"], end=one["end"], entity_type=one["type"].replace("_", " "), relevance=one["relevance"])
        for one in row["spans"]
    ]
    return TaggingExample(context=row["context"], question=row["question"], spans=tuple(spans), **more)


@cache
def small_model() -> TaggingModel:
    """A detector that has learnt from 40 examples."""
    learnt = [example(seed) for seed in range(40)]
    calibrations = {"span_calibration": Calibration(slope=0.9, offset=-0.1), "relevance_calibration": Calibration(slope=0.8, offset=-0.4)}
    return TaggingModel(spans=train_spans(learnt, noop), relevance=train_relevance(learnt), **calibrations)


def save_small_model(folder: Path) -> Path:
    """Write it to *folder*, as ``piiloom probe --out`` does."""
    save_model(folder, small_model(), {"python-crfsuite": "0"}, data={"records": 40}, settings={"seed": 7}, figures={})
    return folder
