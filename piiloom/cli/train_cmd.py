"""``piiloom train``: detectors that learn from a release, each a sub-command."""

from __future__ import annotations

from typing import Any

import typer

from piiloom.cli.terminal import examples
from piiloom.cli.train_options import EncoderCommand, LoraCommand, SpacyCommand, TuneCommand, VerifierCommand
from piiloom.generation.settings.command_line_options import takes

train_app = typer.Typer(
    help="Train a detector on a release or on files: an encoder, a spaCy pipeline, an adapter for a language model.",
    epilog=examples(
        "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder",
        "piiloom detect texts.jsonl --detector encoder --model-path outputs/encoder --out outputs/found.jsonl",
        "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_ENCODER_EXAMPLES = examples(
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder",
    "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder --resume",
    "piiloom train encoder --train train.jsonl --validation dev.jsonl --base models/MiniLM-L6 --out outputs/encoder --onnx",
    "piiloom train encoder --train capid.jsonl --skip-values --no-relevance --base models/MiniLM-L6 --out outputs/spans-only",
)
_SPACY_EXAMPLES = examples(
    "piiloom train spacy --release v1 --out outputs/pipeline",
    "piiloom train spacy --release v1 --base en_core_web_lg --out outputs/pipeline",
    "piiloom train spacy --train outputs/v1/train.jsonl --out outputs/pipeline --resume",
)
_LORA_EXAMPLES = examples(
    "piiloom train lora --release v1 --base models/llama --out outputs/capid-adapter",
    "piiloom train lora --train outputs/v1/train.jsonl --base models/llama --task markers --out outputs/markers-adapter",
    "piiloom train lora --release v1 --base models/llama --out outputs/capid-adapter --resume",
)
_OPENAI_EXAMPLES = examples(
    "piiloom train openai --release v1 --estimate",
    "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    "piiloom train openai --out outputs/tuned                 (again: goes on where it was)",
    "piiloom train openai --out outputs/tuned --status --json",
    "piiloom train openai --out outputs/tuned --cancel",
    "piiloom train openai --train train.jsonl --task capid --epochs 2 --out outputs/tuned-capid",
    "piiloom train openai --list",
)
_VERIFIER_EXAMPLES = examples(
    "piiloom train verifier-data --release v1 --provider openai --budget-usd 5 --out outputs/verifier",
    (
        "piiloom train verifier-data --train train.jsonl --provider compatible --model qwen3 --base-url http://localhost:11434/v1 "
        "--unpriced --yes --out outputs/verifier"
    ),
)


@train_app.command("encoder", epilog=_ENCODER_EXAMPLES)
@takes(EncoderCommand, ())
def encoder(**given: Any) -> None:
    """Train an encoder on a release or on files: spans of each type, and their relevance to the question.

    Needs the extra train, and a base model on this machine. piiloom detect --detector encoder --model-path DIR uses what it writes.
    """
    from piiloom.cli.train_encoder_running import train_and_report

    train_and_report(EncoderCommand(**given))


@train_app.command("spacy", epilog=_SPACY_EXAMPLES)
@takes(SpacyCommand, ())
def spacy(**given: Any) -> None:
    """Train the entity recognizer of a spaCy pipeline on a release or on files.

    The pipeline is written as spacy.load takes it. It learns spans and their types, no relevance. Needs piiloom's extra "spacy".
    docs/training-llm.md tells more.
    """
    from piiloom.cli.train_spacy_running import train_and_report

    train_and_report(SpacyCommand(**given))


@train_app.command("lora", epilog=_LORA_EXAMPLES)
@takes(LoraCommand, ())
def lora(**given: Any) -> None:
    """Train an adapter (LoRA) for a language model on this machine, on the rows that piiloom export writes.

    The loss is on the answers only. Needs piiloom's extra "train" and the memory for the base model: a GPU for models of some billion
    weights. docs/training-llm.md tells more.
    """
    from piiloom.cli.train_lora_running import train_and_report

    train_and_report(LoraCommand(**given))


@train_app.command("openai", epilog=_OPENAI_EXAMPLES)
@takes(TuneCommand, ())
def openai(**given: Any) -> None:
    """Fine-tune a model at OpenAI on the rows that an export writes: upload, job, events, and the command that uses the model.

    All is kept in the folder --out. Give the same command again after a kill or Ctrl-C: nothing is uploaded or paid for twice. Costs are
    estimated first, a --budget-usd holds before anything is sent, and what was paid is booked for piiloom cost. OpenAI is ending this
    service in January 2027 (docs/openai-tuning.md).
    """
    from piiloom.cli.train_openai_running import tune_and_report

    tune_and_report(TuneCommand(**given))


@train_app.command("verifier-data", epilog=_VERIFIER_EXAMPLES)
@takes(VerifierCommand, ())
def verifier_data(**given: Any) -> None:
    """Make training sets for verifiers I and II, with reasonings that a model writes.

    Each span gives a right candidate and a wrong one. The model judges both, without knowing which is which, until its verdict is right.
    A stopped or killed run goes on with the same command. docs/asking-models.md explains what is written.
    """
    from piiloom.cli.train_verifier_running import make_and_report

    make_and_report(VerifierCommand(**given))
