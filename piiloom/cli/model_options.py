"""The options of commands that ask a model, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

MODEL: Final = "Model"
CALLS: Final = "Paid calls"

ModelOption = Annotated[str | None, typer.Option("--model", rich_help_panel=MODEL, help="The provider's model, as the provider spells it.")]
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=MODEL, help="Where a compatible server listens.")
]
PromptsOption = Annotated[
    Path | None, typer.Option("--prompts", metavar="DIR", rich_help_panel=MODEL, help="Prompts of your own (docs/prompts.md).")
]
BudgetOption = Annotated[
    float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=CALLS, help="Stop before more than this is spent.")
]
PriceOption = Annotated[
    str | None,
    typer.Option("--price", metavar="IN,OUT", rich_help_panel=CALLS, help="USD per million tokens, if not known: input=1,output=2."),
]
UnpricedOption = Annotated[bool, typer.Option("--unpriced", rich_help_panel=CALLS, help="Go on although a model's price is unknown.")]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, rich_help_panel=CALLS, help="Calls in flight at once; never changes a result.")
]
RpmOption = Annotated[float | None, typer.Option("--rpm", min=0.1, rich_help_panel=CALLS, help="At most this many requests a minute.")]
TpmOption = Annotated[float | None, typer.Option("--tpm", min=1.0, rich_help_panel=CALLS, help="At most this many tokens a minute.")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="S", rich_help_panel=CALLS, help="Seconds until a call counts as failed.")
]
BatchOption = Annotated[
    bool, typer.Option("--batch", rich_help_panel=CALLS, help="Ask through the provider's batch API, at half the price.")
]
