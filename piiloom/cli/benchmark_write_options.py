"""The options of ``piiloom benchmark write``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.detect_options import DEFAULT_REPLIES
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
from piiloom.cli.options import JsonOption


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCommand:
    """What the command line asks for; each field is an option."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of carriers: a folder a locale, a YAML file a domain.")]
    locale: Annotated[list[str], typer.Option("--locale", metavar="CODE", help="The locale to write for, as pl_PL. May be repeated.")]
    provider: Annotated[str, typer.Option("--provider", rich_help_panel=MODEL, help="Who writes: openai, anthropic or compatible.")]
    domain: Annotated[
        list[str] | None, typer.Option("--domain", help="Only this domain: Finance, Travel, Healthcare, IT, CPG or Media.")
    ] = None
    length: Annotated[
        list[str] | None,
        typer.Option("--length", help="Only this length: tiny (under 21 words), short (to 240), medium (to 1,000) or long (to 4,500)."),
    ] = None
    documents: Annotated[
        int, typer.Option("--documents", min=1, metavar="N", help="Carriers to ask for in each locale; domains and lengths take turns.")
    ] = 24
    seed: Annotated[int, typer.Option("--seed", help="Other orders for another seed; equal ones find the replies that are kept.")] = 7
    force: Annotated[bool, typer.Option("--force", help="Replace the carriers that are there already.")] = False
    model: ModelOption = None
    base_url: BaseUrlOption = None
    prompts: PromptsOption = None
    store: Annotated[
        Path,
        typer.Option("--store", metavar="FILE", rich_help_panel=CALLS, help="Where replies are kept, so that none is paid for twice."),
    ] = DEFAULT_REPLIES
    budget_usd: BudgetOption = None
    price: PriceOption = None
    unpriced: UnpricedOption = False
    concurrency: ConcurrencyOption = 16
    rpm: RpmOption = None
    tpm: TpmOption = None
    timeout_s: TimeoutOption = 180.0
    attempts: Annotated[
        int, typer.Option("--max-attempts", min=1, rich_help_panel=CALLS, help="Tries for one usable carrier before it is given up.")
    ] = 3
    batch: BatchOption = False
    as_json: JsonOption = False
