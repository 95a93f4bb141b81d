"""The options of ``piiloom benchmark write``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from piiloom.cli.detect_options import DEFAULT_REPLIES
from piiloom.cli.options import JsonOption

_MODEL: Final = "Model"
_CALLS: Final = "Paid calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCommand:
    """What the command line asks for; each field is an option."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of carriers: a folder a locale, a YAML file a domain.")]
    locale: Annotated[list[str], typer.Option("--locale", metavar="CODE", help="The locale to write for, as pl_PL. May be repeated.")]
    provider: Annotated[str, typer.Option("--provider", rich_help_panel=_MODEL, help="Who writes: openai, anthropic or compatible.")]
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
    model: Annotated[
        str | None, typer.Option("--model", rich_help_panel=_MODEL, help="The provider's model, as the provider spells it.")
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_MODEL, help="Where a compatible server listens.")
    ] = None
    prompts: Annotated[
        Path | None, typer.Option("--prompts", metavar="DIR", rich_help_panel=_MODEL, help="Prompts of your own (docs/prompts.md).")
    ] = None
    store: Annotated[
        Path,
        typer.Option("--store", metavar="FILE", rich_help_panel=_CALLS, help="Where replies are kept, so that none is paid for twice."),
    ] = DEFAULT_REPLIES
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=_CALLS, help="Stop before more than this is spent.")
    ] = None
    price: Annotated[
        str | None,
        typer.Option(
            "--price", metavar="IN,OUT", rich_help_panel=_CALLS, help="USD per million tokens, if they are not known: input=1,output=2."
        ),
    ] = None
    unpriced: Annotated[bool, typer.Option("--unpriced", rich_help_panel=_CALLS, help="Go on although the model's price is unknown.")] = (
        False
    )
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, rich_help_panel=_CALLS, help="Calls in flight at once; never changes a result.")
    ] = 16
    rpm: Annotated[float | None, typer.Option("--rpm", min=0.1, rich_help_panel=_CALLS, help="At most this many requests a minute.")] = None
    tpm: Annotated[float | None, typer.Option("--tpm", min=1.0, rich_help_panel=_CALLS, help="At most this many tokens a minute.")] = None
    timeout_s: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="S", rich_help_panel=_CALLS, help="Seconds until a call counts as failed.")
    ] = 180.0
    attempts: Annotated[
        int, typer.Option("--max-attempts", min=1, rich_help_panel=_CALLS, help="Tries for one usable carrier before it is given up.")
    ] = 3
    batch: Annotated[
        bool, typer.Option("--batch", rich_help_panel=_CALLS, help="Ask through the provider's batch API, at half the price.")
    ] = False
    as_json: JsonOption = False
