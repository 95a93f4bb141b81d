"""``piiloom batch``: what of a run is out at its provider's batch API, and ending it there."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from piiloom.cli.terminal import examples

_LIST = ("piiloom batch list", "piiloom batch list --run last --json")
_CANCEL = ("piiloom batch cancel", "piiloom batch cancel --run r0001-1a2b3c4d", "piiloom batch cancel --run last --forget")

batch_app = typer.Typer(
    help="List the batches of runs made with --batch, and cancel the open ones.",
    epilog=examples(*_LIST, *_CANCEL),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@batch_app.command("list", epilog=examples(*_LIST))
def list_batches(
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help='Only this run, by its id or "last"; all runs when not given.')
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List batches with their state as this store knows it, oldest first; the provider is not asked.

    States: preparing (being made, or made without a confirmation), submitted, ended (results are being kept), collected,
    cancelled, failed. The first three are open: `piiloom generate --resume` continues them.
    """
    from piiloom.cli.batching import print_batches

    print_batches(store, run_id=run, as_json=as_json)


@batch_app.command("cancel", epilog=examples(*_CANCEL))
def cancel(
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Do not ask the provider: give the batches up, and count what they may have cost as spent."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Cancel the open batches of a run at the provider, and keep the replies that are ready by then, which are paid for.

    It can take the provider ten minutes. After Ctrl-C the same command goes on. The run can be resumed afterwards: what
    was answered is not sent again.
    """
    from piiloom.cli.batching import end_batches

    end_batches(store, run_id=run or "last", forget=forget, as_json=as_json)
