"""``piiloom trace``: every prompt, reply, attempt and verdict of one record."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom trace 3f9a0c", "piiloom trace r0001-1a2b3c4d:17", "piiloom trace last:17 --json", "piiloom trace last:age+health"
)


def trace(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A record's id or its first 6 letters or more; RUN:INDEX for a plan item, RUN:KEY for a pair or topic."
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help='Look for the record in this run only, by its id or "last".')
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a record or a reject came about: its calls in order, with prompts, replies, retries, verdicts and costs.

    The calls that listed the topics and subtopics of its pair are among them. Prompts and replies are shown in full.
    """
    from piiloom.cli.trace_text import print_trace

    print_trace(store, wanted, run_id=run, as_json=as_json)
