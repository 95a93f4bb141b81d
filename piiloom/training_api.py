"""``piiloom.train_encoder``, which ``piiloom.api`` offers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from piiloom.cli.keyword_checks import checked_keywords, known_keywords
from piiloom.cli.train_options import EncoderCommand
from piiloom.foundation.noop import noop

if TYPE_CHECKING:
    from collections.abc import Callable

    from piiloom.detection.encoder.training_history import TrainingProgress
    from piiloom.tagging.model_card import About

_PATHS = ("validation", "store")


class EncoderOptions(TypedDict, total=False):
    """The options of ``piiloom train encoder``, named as there; its ``--help`` says what each does.

    ``file_format`` is ``--format``, ``train`` is a list of files.
    """

    release: str | None
    split: list[str] | None
    train: list[str | Path] | None
    validation: str | Path | None
    validation_size: str
    file_format: str | None
    skip_values: bool
    relevance: bool
    contrast: bool
    class_weights: bool
    hide_question: bool
    epochs: int | None
    patience: int | None
    batch_size: int
    learning_rate: float
    max_tokens: int
    precision: str
    device: str
    threads: int
    checkpoint_minutes: float
    resume: bool
    onnx: bool
    seed: int
    force: bool
    store: str | Path


@known_keywords(EncoderOptions)
def train_encoder(
    base: str | Path, out: str | Path, *, watch: Callable[[TrainingProgress], None] | None = None, **options: Unpack[EncoderOptions]
) -> About:
    """Train the local encoder in the folder *base* on a ``release`` or on files (``train``), and write a detector to the folder *out*.

    *options* are those of ``piiloom train encoder``, with its defaults. *watch* is called with the progress. Gives what ``piiloom.json``
    in *out* says: data, settings and ``figures`` (``validation`` among them). ``piiloom.detect(text, detector="encoder",
    model_path=out, locale=…)`` uses it. Needs the extra ``train``. Raises ``UsageError`` for a base that is none or a library that
    is missing, ``DataError`` for records that cannot be learnt from, and ``OutputError`` if *out* cannot be written.
    """
    from piiloom.cli.train_encoder_running import train_as_asked  # noqa: PLC0415 - few scripts want it, all would load it

    values = checked_keywords(EncoderOptions, (EncoderCommand,), options, command="piiloom train encoder")
    values |= {name: Path(values[name]) for name in _PATHS if values[name] is not None}
    values["train"] = [Path(path) for path in values["train"] or ()] or None
    return train_as_asked(EncoderCommand(base=Path(base), out=Path(out), **values), watch or noop, noop)[0]
