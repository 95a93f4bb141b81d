"""``piiloom train encoder``: a local encoder that marks spans and reads from the question which of them matter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples
from piiloom.cli.train_options import DEFAULT_SEED, ForceOption, OutOption, QuietOption, ResumeOption, SeedOption, TrainingInput
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder",
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder --resume",
    "piiloom train encoder --train train.jsonl --validation dev.jsonl --base models/MiniLM-L6 --out outputs/encoder --onnx",
    "piiloom train encoder --train capid.jsonl --skip-values --no-relevance --base models/MiniLM-L6 --out outputs/spans-only",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderCommand(TrainingInput):
    """What the command line asks for; each field is an option."""

    base: Annotated[
        Path, typer.Option("--base", metavar="DIR", help="The folder of a local encoder: config.json, tokenizer, model.safetensors.")
    ]
    out: OutOption
    relevance: Annotated[
        bool, typer.Option("--relevance/--no-relevance", help="Learn the relevance to the question, or spans and types only.")
    ] = True
    contrast: Annotated[
        bool,
        typer.Option("--contrast/--no-contrast", help="Learn also by what tells the questions of one text apart, at a price in spans."),
    ] = False
    class_weights: Annotated[
        bool, typer.Option("--class-weights/--no-class-weights", help="Let rare types and the rarer relevance count for more.")
    ] = True
    hide_question: Annotated[
        bool, typer.Option("--hide-question", help="An ablation: never show the question, and see how relevance is guessed without it.")
    ] = False
    epochs: Annotated[
        int | None,
        typer.Option("--epochs", min=1, help="How often all records are read, at most (default: 4; fewer than 1,900 up to 24 times)."),
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(
            "--patience",
            min=0,
            help="End after so many epochs without progress in validation; 0: never early (default: a third of the epochs, at least 2).",
        ),
    ] = None
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Windows that one step learns from.")] = 16
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="Of the encoder; larger ones want 1e-5 to 3e-5.")] = 8e-5
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=32, help="Tokens of a window; longer texts are read in several, which overlap.")
    ] = 384
    precision: Annotated[str, typer.Option("--precision", help="auto, fp32, bf16 or fp16; auto: bf16 where the device is quick at it.")] = (
        "auto"
    )
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto"
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads on the processor; 0: as PyTorch chooses.")] = 0
    checkpoint_minutes: Annotated[
        float, typer.Option("--checkpoint-minutes", min=0, help="How often the state is kept (besides after each epoch).")
    ] = 5.0
    resume: ResumeOption = False
    onnx: Annotated[bool, typer.Option("--onnx", help="Also write model.onnx, for detection without PyTorch.")] = False
    seed: SeedOption = DEFAULT_SEED
    force: ForceOption = False
    store: StoreOption = DEFAULT_STORE
    quiet: QuietOption = False
    as_json: JsonOption = False


@takes(EncoderCommand, ())
def encoder(**given: Any) -> None:
    """Train an encoder on a release or on files: spans of each type, and their relevance to the question.

    Needs the extra train, and a base model on this machine. piiloom detect --detector encoder --model-path DIR uses what it writes.
    """
    from piiloom.cli.train_encoder_running import train_and_report

    train_and_report(EncoderCommand(**given))
