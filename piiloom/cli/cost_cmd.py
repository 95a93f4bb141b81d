"""``piiloom cost``: what runs have cost."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom cost",
    "piiloom cost --run r0001-1a2b3c4d",
    "piiloom cost --run all --store outputs/piiloom.duckdb",
    "piiloom cost --run last --json",
)


def cost(
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help='The run, by its id or "last" (the newest; default), or "all" runs of the store.')
    ] = "last",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show what runs have cost: by stage, by model, and for each accepted record.

    Everything is added up from the journal, which holds every paid reply. Replies of unknown price are counted apart,
    never as free. Calls that may have been billed without an answer are set apart, too: they count against a budget in full.
    """
    from piiloom.cli.cost_view import print_costs

    print_costs(store, run, as_json=as_json)
