"""``piiloom train openai``: fine-tune a model at OpenAI."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.model_options import CALLS, BudgetOption, TimeoutOption, UnpricedOption
from piiloom.cli.options import JsonOption, examples
from piiloom.cli.train_options import TrainingInput
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom train openai --release v1 --estimate",
    "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    "piiloom train openai --out outputs/tuned                 (again: goes on where it was)",
    "piiloom train openai --out outputs/tuned --status --json",
    "piiloom train openai --out outputs/tuned --cancel",
    "piiloom train openai --train train.jsonl --task capid --epochs 2 --out outputs/tuned-capid",
    "piiloom train openai --list",
)
_JOB = "The job"
_DO = "Instead of training"


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneCommand(TrainingInput):
    """What the command line asks for; each field is an option. None: not given."""

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


@takes(TuneCommand, ())
def openai(**given: Any) -> None:
    """Fine-tune a model at OpenAI on the rows that an export writes: upload, job, events, and the command that uses the model.

    All is kept in the folder --out. Give the same command again after a kill or Ctrl-C: nothing is uploaded or paid for twice. Costs are
    estimated first, a --budget-usd holds before anything is sent, and what was paid is booked for piiloom cost. OpenAI is ending this
    service in January 2027 (docs/openai-tuning.md).
    """
    from piiloom.cli.train_openai_running import tune_and_report

    tune_and_report(TuneCommand(**given))
