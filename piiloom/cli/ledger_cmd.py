"""``piiloom rejects``: the ledger of rows: what came in, what was accepted, and each reject with its reason."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom rejects",
    "piiloom rejects --run r0001-1a2b3c4d --stage question",
    "piiloom rejects --code invalid_request --show 0",
    "piiloom rejects --run last --json",
)


def rejects(
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    stage: Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Only what this stage has rejected.")] = None,
    code: Annotated[str | None, typer.Option("--code", metavar="CODE", help="Only rejects with this reason code.")] = None,
    show: Annotated[int, typer.Option("--show", min=0, metavar="N", help="How many rejects to print; 0 prints all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the rejects of a run, with stage, reason, calls made, cost, and the command that tries each again.

    The first line is the balance: rows in = accepted + rejected + open. It is counted anew from the store each time.
    """
    from piiloom.cli.ledger import print_rejects

    if not print_rejects(store, run_id=run or "last", stage=stage, code=code, show=show, as_json=as_json):
        raise typer.Exit(1)
