"""The options of ``piiloom utility``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.model_options import (
    CALLS,
    MODEL,
    BaseUrlOption,
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
from piiloom.cli.options import DEFAULT_STORE, JsonOption


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityCommand:
    """What the command line asks for; each field is an option (``source`` the argument)."""

    source: Annotated[str, typer.Argument(metavar="RELEASE|FILE", help="A file of records, or the name of a release of the --store.")]
    store: Annotated[
        Path, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace, which a release is read from.")
    ] = DEFAULT_STORE
    split: Annotated[str | None, typer.Option("--split", metavar="NAME", help="Only this split of the release: train, test …")] = None
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How the file is written: any format that piiloom import reads; without it, native or capid by the first row.",
        ),
    ] = None
    types: Annotated[
        Path | None,
        typer.Option("--types", metavar="YAML", help="The own types of the file, where no release.json beside it defines them."),
    ] = None
    variants: Annotated[str, typer.Option("--variants", metavar="NAME,…", help="What is compared: original and some of the others.")] = (
        "original,relevance_aware,all_masked,surrogates"
    )
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only N of the records, drawn by --seed.")] = None
    seed: Annotated[int, typer.Option("--seed", help="Same seed: same sample, same intervals, and kept replies are used again.")] = 7
    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            rich_help_panel=MODEL,
            help="Who answers: openai, anthropic or compatible; offline asks nobody: a rule stands in for the judge.",
        ),
    ] = "offline"
    model: ModelOption = None
    base_url: BaseUrlOption = None
    judge_provider: Annotated[
        str | None, typer.Option("--judge-provider", rich_help_panel=MODEL, help="Who judges, if it is not the model that answers.")
    ] = None
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", rich_help_panel=MODEL, help="The judge's model; alone: another one of the same provider."),
    ] = None
    judge_base_url: Annotated[
        str | None,
        typer.Option("--judge-base-url", metavar="URL", rich_help_panel=MODEL, help="Where the judge's compatible server listens."),
    ] = None
    prompts: PromptsOption = None
    budget_usd: BudgetOption = None
    price: PriceOption = None
    judge_price: Annotated[
        str | None, typer.Option("--judge-price", rich_help_panel=CALLS, help="The judge's prices, in the form of --price.")
    ] = None
    unpriced: UnpricedOption = False
    concurrency: ConcurrencyOption = 16
    rpm: RpmOption = None
    tpm: TpmOption = None
    timeout_s: TimeoutOption = 60.0
    attempts: Annotated[
        int, typer.Option("--max-attempts", min=1, rich_help_panel=CALLS, help="Tries for one usable reply before it is given up.")
    ] = 3
    replies: Annotated[
        Path,
        typer.Option("--replies", metavar="FILE", rich_help_panel=CALLS, help="Where replies are kept, so that none is paid for twice."),
    ] = Path("outputs/utility.duckdb")
    yes: Annotated[
        bool, typer.Option("--yes", rich_help_panel=CALLS, help="Confirm in advance that the texts may be sent to the providers.")
    ] = False
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate what would be sent and what it costs; send and store nothing, no key needed.")
    ] = False
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write answers, comparisons with reasons, and tables to this folder.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty; a result there is replaced.")] = False
    as_json: JsonOption = False
