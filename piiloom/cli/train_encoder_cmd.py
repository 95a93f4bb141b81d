"""``piiloom train encoder``: a local encoder that marks spans and reads from the question which of them matter."""

from __future__ import annotations

from pathlib import Path
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
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder",
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder --resume",
    "piiloom train encoder --train train.jsonl --validation dev.jsonl --base models/MiniLM-L6 --out outputs/encoder --onnx",
    "piiloom train encoder --train capid.jsonl --skip-values --no-relevance --base models/MiniLM-L6 --out outputs/spans-only",
)


def encoder(
    base: Annotated[
        Path, typer.Option("--base", metavar="DIR", help="The folder of a local encoder: config.json, tokenizer, model.safetensors.")
    ],
    out: OutOption,
    release: ReleaseOption = None,
    split: SplitOption = None,
    train: TrainOption = None,
    validation: ValidationOption = None,
    validation_size: ValidationSizeOption = DEFAULT_VALIDATION_SIZE,
    file_format: FormatOption = None,
    skip_values: SkipValuesOption = False,
    relevance: Annotated[
        bool, typer.Option("--relevance/--no-relevance", help="Learn the relevance to the question, or spans and types only.")
    ] = True,
    contrast: Annotated[
        bool,
        typer.Option("--contrast/--no-contrast", help="Learn what tells the questions of one text apart, where a text has several."),
    ] = True,
    class_weights: Annotated[
        bool, typer.Option("--class-weights/--no-class-weights", help="Let rare types and the rarer relevance count for more.")
    ] = True,
    hide_question: Annotated[
        bool, typer.Option("--hide-question", help="An ablation: never show the question, and see how relevance is guessed without it.")
    ] = False,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often all records are read, at most.")] = 4,
    patience: Annotated[
        int, typer.Option("--patience", min=0, help="End after so many epochs without progress in validation; 0: never early.")
    ] = 2,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Windows that one step learns from.")] = 16,
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="Of the encoder; larger ones want 1e-5 to 3e-5.")] = 8e-5,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=32, help="Tokens of a window; longer texts are read in several, which overlap.")
    ] = 384,
    precision: Annotated[
        str, typer.Option("--precision", help="auto, fp32, bf16 or fp16; auto: bf16 where the device is quick at it.")
    ] = "auto",
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads on the processor; 0: as PyTorch chooses.")] = 0,
    checkpoint_minutes: Annotated[
        float, typer.Option("--checkpoint-minutes", min=0, help="How often the state is kept (besides after each epoch).")
    ] = 5.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a training that was stopped: give the same options; the result is the same.")
    ] = False,
    onnx: Annotated[bool, typer.Option("--onnx", help="Also write model.onnx, for detection without PyTorch.")] = False,
    seed: SeedOption = DEFAULT_SEED,
    force: ForceOption = False,
    store: StoreOption = DEFAULT_STORE,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train an encoder on a release or on files: spans of each type, and their relevance to the question.

    Needs the extra train, and a base model on this machine. piiloom detect --detector encoder --model-path DIR uses what it writes.
    """
    from piiloom.cli.train_encoder_running import train_and_report
    from piiloom.cli.train_reading import training_choice
    from piiloom.detection.encoder.encoder_settings import EncoderSettings

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
    settings = EncoderSettings(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        relevance=relevance,
        contrast=contrast,
        class_weights=class_weights,
        hide_question=hide_question,
        patience=patience,
        precision=precision,
        device=device,
        threads=threads,
        max_tokens=max_tokens,
        seed=seed,
        checkpoint_minutes=checkpoint_minutes,
    )
    train_and_report(choice, store, base, out, settings, resume=resume, force=force, onnx=onnx, quiet=quiet, as_json=as_json)
