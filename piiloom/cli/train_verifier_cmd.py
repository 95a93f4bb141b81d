"""``piiloom train verifier-data``: training sets for verifiers, whose reasonings a model writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

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
from piiloom.cli.options import DEFAULT_STORE, JsonOption, examples
from piiloom.cli.train_options import DEFAULT_SEED, ForceOption, SeedOption, TrainingInput
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom train verifier-data --release v1 --provider openai --budget-usd 5 --out outputs/verifier",
    (
        "piiloom train verifier-data --train train.jsonl --provider compatible --model qwen3 --base-url http://localhost:11434/v1 "
        "--unpriced --yes --out outputs/verifier"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierCommand(TrainingInput):
    """What the command line asks for; each field is an option."""

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


@takes(VerifierCommand, ())
def verifier_data(**given: Any) -> None:
    """Make training sets for verifiers I and II, with reasonings that a model writes.

    Each span gives a right candidate and a wrong one. The model judges both, without knowing which is which, until its verdict is right.
    A stopped or killed run goes on with the same command. docs/asking-models.md explains what is written.
    """
    from piiloom.cli.train_verifier_running import make_and_report

    make_and_report(VerifierCommand(**given))
