"""Reading what a ``piiloom train`` command trains on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from piiloom.cli.reading import store_for_reading
from piiloom.cli.terminal import say_aside
from piiloom.cli.train_options import TrainingInput
from piiloom.corpus.releases.sizes import parse_size
from piiloom.corpus.split_names import TRAIN, VALIDATION
from piiloom.detection.training.training_data import TrainingChoice, TrainingData, read_training


def training_choice(asked: TrainingInput, seed: int) -> TrainingChoice:
    """Return the choice that *asked* makes. Raises ``UsageError`` for a size that is none."""
    return TrainingChoice(
        release=asked.release,
        train=tuple(asked.train or ()),
        train_splits=tuple(dict.fromkeys(asked.split)) if asked.split else (TRAIN,),
        validation=asked.validation,
        validation_size=parse_size(asked.validation_size, VALIDATION),
        file_format=asked.file_format,
        skip_values=asked.skip_values,
        seed=seed,
    )


def read_and_tell(choice: TrainingChoice, store: Path, tell: Callable[[str], object] = say_aside) -> TrainingData:
    """Read the records of *choice*, a release from the *store*, and *tell* what is not as one might expect."""
    if choice.release is None:
        data = read_training(choice)
    else:
        with store_for_reading(store) as opened:
            data = read_training(choice, opened)
    for note in data.notes:
        tell(note)
    return data
