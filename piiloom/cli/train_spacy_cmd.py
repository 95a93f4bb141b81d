"""``piiloom train spacy``: the entity recognizer of a spaCy pipeline."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples
from piiloom.cli.train_options import (
    DEFAULT_SEED,
    DEFAULT_VALIDATION_SIZE,
    ForceOption,
    FormatOption,
    OutOption,
    QuietOption,
    ReleaseOption,
    SeedOption,
    SkipValuesOption,
    SplitOption,
    TrainOption,
    ValidationOption,
    ValidationSizeOption,
)

EPILOG = examples(
    "piiloom train spacy --release v1 --out outputs/pipeline",
    "piiloom train spacy --release v1 --base en_core_web_lg --out outputs/pipeline",
    "piiloom train spacy --train outputs/v1/train.jsonl --out outputs/pipeline --resume",
)
_HOW = "How it is trained"


def spacy(
    out: OutOption,
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="NAME|DIR", help="Begin with the tokenizer, vectors and word layers of this pipeline; without it, blank."
        ),
    ] = None,
    release: ReleaseOption = None,
    split: SplitOption = None,
    train: TrainOption = None,
    validation: ValidationOption = None,
    validation_size: ValidationSizeOption = DEFAULT_VALIDATION_SIZE,
    file_format: FormatOption = None,
    skip_values: SkipValuesOption = False,
    store: StoreOption = DEFAULT_STORE,
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", rich_help_panel=_HOW, help="End after so many epochs at the latest.")
    ] = 30,
    patience: Annotated[
        int,
        typer.Option("--patience", metavar="N", rich_help_panel=_HOW, help="End when F1 on validation has not risen for so many epochs."),
    ] = 5,
    words: Annotated[int, typer.Option("--words", metavar="N", rich_help_panel=_HOW, help="Tokens of a step, at most.")] = 2000,
    dropout: Annotated[float, typer.Option("--dropout", metavar="SHARE", rich_help_panel=_HOW, help="Share of values left out.")] = 0.1,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", metavar="X", rich_help_panel=_HOW, help="The learning rate of Adam.")
    ] = 1e-3,
    seed: SeedOption = DEFAULT_SEED,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished training in --out, if there is one.")] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train the entity recognizer of a spaCy pipeline on a release or on files.

    The pipeline is written as spacy.load takes it. It learns spans and their types, no relevance. Needs piiloom's extra "spacy".
    docs/training-llm.md tells more.
    """
    from piiloom.cli.train_reading import training_choice
    from piiloom.cli.train_spacy_running import train_and_report
    from piiloom.detection.spacy_pipeline.spacy_settings import SpacyPlace, SpacySettings

    settings = SpacySettings(epochs=epochs, patience=patience, words=words, dropout=dropout, learning_rate=learning_rate, seed=seed)
    choice = training_choice(
        release=release,
        splits=split,
        train=train,
        validation=validation,
        validation_size=validation_size,
        file_format=file_format,
        skip_values=skip_values,
        seed=seed,
    )
    place = SpacyPlace(out=out, base=base, resume=resume, force=force)
    train_and_report(choice, settings, place, store, quiet=quiet or as_json, as_json=as_json)
