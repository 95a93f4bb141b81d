"""The options of trainings: the records to train on, the folder of the result, and the reasonings of verifiers.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import field_validator

from piiloom.corpus.markers import MarkerChoice
from piiloom.corpus.record import TRAIN
from piiloom.corpus.store import DEFAULT_STORE
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.families import MARKERS
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, Converted, OptionalPath, Settings, setting
from piiloom.providers.model_calls import CALLS, MODEL

DATA: Final = "Data"
HOW: Final = "Training"
DEFAULT_EPOCHS: Final = 3
DEFAULT_SEED: Final = 7


def check_markers(asked: MarkerChoice, task: str) -> None:
    """Raise ``UsageError`` for a choice of markers without the *task* that learns them."""
    if asked.marker_set.pairs and task != MARKERS:
        raise UsageError(f"the task {task!r} has no markers", where="--markers", remedy=f"Add --task {MARKERS}, or leave it out")


class TrainingInput(Settings):
    """The records to train on: a release of a store, or files."""

    release: str | None = setting(None, "Release to train on: its split train. Or give --train.", metavar="NAME", panel=DATA)
    split: Converted[tuple[str, ...], Sequence[str]] = setting(
        (), f"Split of the release to train on ({TRAIN}, fold1 …; default {TRAIN}); repeatable.", metavar="SPLIT", panel=DATA
    )
    train: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (), "File of records to train on, instead of a release; repeatable.", metavar="FILE", panel=DATA
    )
    validation: OptionalPath = setting(
        None,
        "File of validation records; by default the release's validation split, or a part of the training records.",
        metavar="FILE",
        panel=DATA,
    )
    validation_size: Converted[str, str | float] = setting(
        "0.1", "Size of the part for validation where there is none; 0 trains without validation.", metavar="N|SHARE", panel=DATA
    )
    input_format: str | None = setting(
        None, "Format of the files (default native or capid, by the first row).", metavar="FORMAT", panel=DATA
    )
    skip_values: bool = setting(False, "CAPID files: leave out values without an exact place, and keep their records.", panel=DATA)
    store: AnyPath = setting(DEFAULT_STORE, "The DuckDB file of the release.", metavar="FILE", panel=DATA)

    @field_validator("validation_size", mode="before")
    @classmethod
    def _words(cls, size: Any) -> Any:
        return str(size) if isinstance(size, int | float) else size


class Continuing(Settings):
    """Options for a folder that is not empty: ``resume`` continues an unfinished training there, ``force`` begins anew."""

    resume: bool = setting(False, "Continue a training that was stopped: give the same options.")
    force: bool = setting(False, "Begin anew in a folder that is not empty; its files are replaced.")


class TrainingPlace(Continuing):
    """The folder of the trained model."""

    out: AnyPath = setting(..., "Folder for the trained model; it must be new or empty.", flags="--out -o", metavar="DIR")


class ReasoningOptions(ModelSettings, TrainingInput):
    """The options of training sets for verifiers, with reasonings that a model writes."""

    provider: str | None = setting(
        None, "Provider of the model that reasons: openai, anthropic, compatible or local. Without it, rules reason.", panel=MODEL
    )
    predictions: OptionalPath = setting(
        None,
        "Findings of a detector in the same texts, native rows: each is a candidate, which is right if the records have it.",
        metavar="FILE",
        panel=DATA,
    )
    invented: bool = setting(
        True,
        "With --predictions, add also a right and an invented wrong candidate for each span.",
        flags="--invented/--no-invented",
        panel=DATA,
    )
    replies: AnyPath = setting(
        DEFAULT_STORE, "The DuckDB file in which replies are kept, so that none is paid for twice.", metavar="FILE", panel=CALLS
    )
    max_attempts: int = setting(6, "Calls for a reasoning that ends in the right verdict.", panel=CALLS, ge=1, le=20, advanced=True)
    seed: int = setting(DEFAULT_SEED, "Seed of the part for validation and of the draws of the model.")
    default: str = setting(
        "T", "Verdict on a wrong candidate that the model always takes for right: T, or drop for no row.", metavar="T|drop"
    )
