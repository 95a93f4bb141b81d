"""The options of the ``piiloom train`` commands: one class per command, and types for the options that several have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from piiloom.cli.model_options import (
    CALLS,
    MODEL,
    BaseUrlOption,
    BatchOption,
    BudgetOption,
    ConcurrencyOption,
    ModelOption,
    PriceOption,
    PromptsOption,
    RpmOption,
    TimeoutOption,
    TpmOption,
    UnpricedOption,
)
from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption

DEFAULT_VALIDATION_SIZE: Final = "0.1"
DEFAULT_SEED: Final = 7
_HOW: Final = "How it is trained"
_JOB: Final = "The job"
_DO: Final = "Instead of training"

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the trained model; it must be new or empty.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Begin anew in a folder that is not empty; its files are replaced.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Another order of the records, and other random numbers, for another seed.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with a training that was stopped: give the same options.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInput:
    """What is trained on, as it was typed: a release of a store, or files."""

    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="The release to train on: its split train. Or give --train.")
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(
            "--split", metavar="SPLIT", help="Train on this split of the release instead (fold1, fold2 …); can be given repeatedly."
        ),
    ] = None
    train: Annotated[
        list[Path] | None,
        typer.Option("--train", metavar="FILE", help="A file of records to train on, instead of a release; can be given repeatedly."),
    ] = None
    validation: Annotated[
        Path | None,
        typer.Option(
            "--validation",
            metavar="FILE",
            help="A file of validation records; without it, the release's validation split, or a part of the training records.",
        ),
    ] = None
    validation_size: Annotated[
        str,
        typer.Option(
            "--validation-size", metavar="N|SHARE", help="How much to take off for validation where there is none; 0 trains without any."
        ),
    ] = DEFAULT_VALIDATION_SIZE
    file_format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="How the files are written (default: native or CAPID, by the first row)."),
    ] = None
    skip_values: Annotated[
        bool, typer.Option("--skip-values", help="CAPID files: leave values without an exact place out, and keep their records.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderCommand(TrainingInput):
    """Arguments of ``piiloom train encoder``; each field is an option."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyCommand(TrainingInput):
    """Arguments of ``piiloom train spacy``; each field is an option."""

    out: OutOption
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="NAME|DIR", help="Begin with the tokenizer, vectors and word layers of this pipeline; without it, blank."
        ),
    ] = None
    store: StoreOption = DEFAULT_STORE
    epochs: Annotated[int, typer.Option("--epochs", metavar="N", rich_help_panel=_HOW, help="End after so many epochs at the latest.")] = 30
    patience: Annotated[
        int,
        typer.Option("--patience", metavar="N", rich_help_panel=_HOW, help="End when F1 on validation has not risen for so many epochs."),
    ] = 5
    words: Annotated[int, typer.Option("--words", metavar="N", rich_help_panel=_HOW, help="Tokens of a step, at most.")] = 2000
    dropout: Annotated[float, typer.Option("--dropout", metavar="SHARE", rich_help_panel=_HOW, help="Share of values left out.")] = 0.1
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", metavar="X", rich_help_panel=_HOW, help="The learning rate of Adam.")
    ] = 1e-3
    seed: SeedOption = DEFAULT_SEED
    resume: ResumeOption = False
    force: ForceOption = False
    quiet: QuietOption = False
    as_json: JsonOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraCommand(TrainingInput):
    """Arguments of ``piiloom train lora``; each field is an option."""

    base: Annotated[Path, typer.Option("--base", metavar="DIR", help="The folder of a causal language model with its tokenizer.")]
    out: OutOption
    store: StoreOption = DEFAULT_STORE
    task: Annotated[
        str, typer.Option("--task", metavar="TASK", help="What the model learns to answer: capid, markers, verifier-1 or verifier-2.")
    ] = "capid"
    rank: Annotated[int, typer.Option("--rank", metavar="N", rich_help_panel=_HOW, help="The rank of the adapter's matrices.")] = 32
    alpha: Annotated[int, typer.Option("--alpha", metavar="N", rich_help_panel=_HOW, help="The adapter counts alpha / rank.")] = 32
    dropout: Annotated[float, typer.Option("--dropout", metavar="SHARE", rich_help_panel=_HOW, help="Dropout in the adapter.")] = 0.0
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", rich_help_panel=_HOW, help="Examples that go through the model at once.")
    ] = 2
    accumulation: Annotated[int, typer.Option("--accumulation", metavar="N", rich_help_panel=_HOW, help="Batches for each step.")] = 4
    epochs: Annotated[float, typer.Option("--epochs", metavar="X", rich_help_panel=_HOW, help="How often each example is seen.")] = 2.0
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", metavar="X", rich_help_panel=_HOW, help="The learning rate of AdamW.")
    ] = 2e-4
    warmup: Annotated[
        float, typer.Option("--warmup", metavar="SHARE", rich_help_panel=_HOW, help="The share of steps in which the learning rate rises.")
    ] = 0.03
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", metavar="N", rich_help_panel=_HOW, help="End after so many steps, for a trial.")
    ] = None
    max_length: Annotated[
        int | None,
        typer.Option(
            "--max-length",
            metavar="N",
            rich_help_panel=_HOW,
            help="Leave out examples of more tokens; without it, of more than the model takes.",
        ),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            "--precision", metavar="NAME", rich_help_panel=_HOW, help="Of the base: 4bit, 16bit, 32bit; auto is 4bit on a GPU, else 32bit."
        ),
    ] = "auto"
    device: Annotated[str, typer.Option("--device", metavar="NAME", rich_help_panel=_HOW, help="auto, cpu or cuda.")] = "auto"
    seed: SeedOption = DEFAULT_SEED
    resume: ResumeOption = False
    force: ForceOption = False
    quiet: QuietOption = False
    as_json: JsonOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneCommand(TrainingInput):
    """Arguments of ``piiloom train openai``; each field is an option, None if it was not given."""

    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder of the job: new, or that of a job to go on with, which needs no data."),
    ] = None
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="FILE", help="The DuckDB file of the release, and where costs are booked (default outputs/piiloom.duckdb)."
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option("--task", rich_help_panel=_JOB, help="What is learnt: markers (default), capid, verifier-1 or verifier-2."),
    ] = None
    model: Annotated[
        str | None, typer.Option("--model", rich_help_panel=_JOB, help="The base model (default gpt-4.1-mini-2025-04-14), or a tuned one.")
    ] = None
    suffix: Annotated[
        str | None, typer.Option("--suffix", rich_help_panel=_JOB, help="Part of the tuned model's name (default piiloom-TASK).")
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", rich_help_panel=_JOB, help="OpenAI's seed, and that of what is taken off for validation.")
    ] = None
    epochs: Annotated[
        str | None,
        typer.Option("--epochs", metavar="N|auto", rich_help_panel=_JOB, help="Passes over the data (default 3); auto: OpenAI chooses."),
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", min=1, max=256, rich_help_panel=_JOB, help="Examples in a batch; OpenAI chooses by default."),
    ] = None
    learning_rate: Annotated[
        float | None,
        typer.Option(
            "--learning-rate", min=0.0, metavar="X", rich_help_panel=_JOB, help="Multiplier of the learning rate; OpenAI's by default."
        ),
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_JOB, help="Another server with OpenAI's fine-tuning API.")
    ] = None
    budget_usd: BudgetOption = None
    training_price: Annotated[
        float | None,
        typer.Option(
            "--training-price", min=0.0, metavar="USD", rich_help_panel=CALLS, help="USD per million trained tokens, if not as listed."
        ),
    ] = None
    unpriced: UnpricedOption = False
    timeout_s: TimeoutOption = 60.0
    poll_s: Annotated[
        float | None,
        typer.Option("--poll", min=0.01, metavar="S", rich_help_panel=CALLS, help="Seconds between two looks (default 5, growing to 60)."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", rich_help_panel=CALLS, help="Confirm in advance that the texts may be sent to OpenAI.")] = (
        False
    )
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Make the job and leave; look later with --status.")] = False
    estimate: Annotated[
        bool, typer.Option("--estimate", rich_help_panel=_DO, help="Say what it would cost; send and write nothing, no key needed.")
    ] = False
    status: Annotated[bool, typer.Option("--status", rich_help_panel=_DO, help="Ask how the job in --out stands.")] = False
    cancel: Annotated[bool, typer.Option("--cancel", rich_help_panel=_DO, help="Cancel the job in --out.")] = False
    unpause: Annotated[bool, typer.Option("--unpause", rich_help_panel=_DO, help="Let the paused job in --out go on, and follow it.")] = (
        False
    )
    delete_files: Annotated[
        bool, typer.Option("--delete-files", rich_help_panel=_DO, help="Delete the files that were uploaded for the job in --out.")
    ] = False
    listing: Annotated[bool, typer.Option("--list", rich_help_panel=_DO, help="List the newest jobs of the account.")] = False
    as_json: JsonOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierCommand(TrainingInput):
    """Arguments of ``piiloom train verifier-data``; each field is an option."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the training sets; it must be new or empty.")]
    provider: Annotated[str, typer.Option("--provider", rich_help_panel=MODEL, help="Who reasons: openai, anthropic or compatible.")]
    seed: SeedOption = DEFAULT_SEED
    default: Annotated[
        str,
        typer.Option("--default", metavar="T|drop", help="What a wrong candidate gets that the model always takes for right: T or no row."),
    ] = "T"
    force: ForceOption = False
    model: ModelOption = None
    base_url: BaseUrlOption = None
    prompts: PromptsOption = None
    store: Annotated[
        Path,
        typer.Option("--store", metavar="FILE", help="The store with the release; replies are kept there, so that none is paid for twice."),
    ] = DEFAULT_STORE
    budget_usd: BudgetOption = None
    price: PriceOption = None
    unpriced: UnpricedOption = False
    concurrency: ConcurrencyOption = 16
    rpm: RpmOption = None
    tpm: TpmOption = None
    timeout_s: TimeoutOption = 60.0
    attempts: Annotated[
        int,
        typer.Option("--max-attempts", min=1, rich_help_panel=CALLS, help="Tries for a reasoning that ends in the right verdict."),
    ] = 6
    batch: BatchOption = False
    yes: Annotated[bool, typer.Option("--yes", help="Send the texts to the provider without asking.")] = False
    as_json: JsonOption = False
