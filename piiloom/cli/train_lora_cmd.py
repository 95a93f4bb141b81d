"""``piiloom train lora``: an adapter for a language model on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples
from piiloom.cli.train_options import DEFAULT_SEED, ForceOption, OutOption, QuietOption, ResumeOption, SeedOption, TrainingInput
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom train lora --release v1 --base models/llama --out outputs/capid-adapter",
    "piiloom train lora --train outputs/v1/train.jsonl --base models/llama --task markers --out outputs/markers-adapter",
    "piiloom train lora --release v1 --base models/llama --out outputs/capid-adapter --resume",
)
_HOW = "How it is trained"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraCommand(TrainingInput):
    """What the command line asks for; each field is an option."""

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


@takes(LoraCommand, ())
def lora(**given: Any) -> None:
    """Train an adapter (LoRA) for a language model on this machine, on the rows that piiloom export writes.

    The loss is on the answers only. Needs piiloom's extra "train" and the memory for the base model: a GPU for models of some billion
    weights. docs/training-llm.md tells more.
    """
    from piiloom.cli.train_lora_running import train_and_report

    train_and_report(LoraCommand(**given))
