"""``piiloom runs``: the runs of a store: listed, shown, deleted."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.paging import LimitOption, OffsetOption
from piiloom.cli.terminal import examples

_LIST = ("piiloom runs list", "piiloom runs list --limit 0 --json")
_SHOW = ("piiloom runs show", "piiloom runs show r0001-1a2b3c4d --json")
_DELETE = ("piiloom runs delete r0001-1a2b3c4d", "piiloom runs delete r0001-1a2b3c4d --with-journal --yes")

runs_app = typer.Typer(
    help="List, show and delete the runs of a store.",
    epilog=examples(*_LIST, *_SHOW, *_DELETE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@runs_app.command("list", epilog=examples(*_LIST))
def list_all(store: StoreOption = DEFAULT_STORE, limit: LimitOption = 20, offset: OffsetOption = 0, as_json: JsonOption = False) -> None:
    """List runs, newest first: the status, provider, number of records and cost of each."""
    from piiloom.cli.runs_view import print_runs

    print_runs(store, limit=limit, offset=offset, as_json=as_json)


@runs_app.command("show", epilog=examples(*_SHOW))
def show(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help='The run, by its id or "last".')] = "last",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one run: its settings, its stages with rejects by reason, its balance and cost, and the releases that hold its records.

    piiloom rejects lists each reject, piiloom cost the costs by stage and model, piiloom records list the records.
    """
    from piiloom.cli.run_view import print_run

    print_run(store, run, as_json=as_json)


@runs_app.command("delete", epilog=examples(*_DELETE))
def delete(
    run: Annotated[str, typer.Argument(metavar="RUN", help='The run, by its id or "last".')],
    with_journal: Annotated[
        bool, typer.Option("--with-journal", help="Also delete what was asked and answered; later runs would pay for it again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete a run with its records, its plan and its rejects; first shows what would be deleted.

    Paid replies stay in the journal, for later runs and for the sums, unless --with-journal is given. A run is not deleted while
    it has open batches or partitions, while a release holds its records, or when people annotate them.
    """
    from piiloom.cli.deleting import delete_run_and_report

    if not delete_run_and_report(store, run, with_journal=with_journal, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)
