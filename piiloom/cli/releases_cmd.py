"""``piiloom releases``: the releases of a store: listed, shown, compared, deleted. ``piiloom release`` makes one."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.paging import LimitOption, OffsetOption
from piiloom.cli.terminal import examples

_LIST = ("piiloom releases list", "piiloom releases list --json")
_SHOW = ("piiloom releases show v1", "piiloom releases show v1 --json")
_DIFF = ("piiloom releases diff v1 v2", "piiloom releases diff v1 v2 --limit 0", "piiloom releases diff v1 v2 --json")
_DELETE = ("piiloom releases delete v1", "piiloom releases delete v1 --yes --json")

releases_app = typer.Typer(
    help="List, show, compare and delete the releases of a store.",
    epilog=examples(*_LIST, *_SHOW, *_DIFF, *_DELETE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The release; piiloom releases list names them.")]


@releases_app.command("list", epilog=examples(*_LIST))
def list_all(store: StoreOption = DEFAULT_STORE, limit: LimitOption = 20, offset: OffsetOption = 0, as_json: JsonOption = False) -> None:
    """List releases, newest first, with the sizes of their splits."""
    from piiloom.cli.releases_view import print_releases

    print_releases(store, limit=limit, offset=offset, as_json=as_json)


@releases_app.command("show", epilog=examples(*_SHOW))
def show(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show one release: its version and hash, how it was chosen, what its splits hold by pair, type and relevance, what it withholds.

    What its splits share, and what judges said of its records, is told, too. piiloom report --release measures more.
    """
    from piiloom.cli.releases_view import print_release

    print_release(store, name, as_json=as_json)


@releases_app.command("diff", epilog=examples(*_DIFF))
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier release.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The later release.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Name this many records of each kind; 0 names all.")] = 10,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Tell what leads from release A to release B: settings, records, splits, labels and texts.

    Records are compared by their ids. With --json all are listed.
    """
    from piiloom.cli.releases_diff import print_diff

    print_diff(store, before, after, limit=limit, as_json=as_json)


@releases_app.command("delete", epilog=examples(*_DELETE))
def delete(
    name: _Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete a release from the store; its records stay, and so does what was exported of it.

    The same records, seed and sizes give the same release again.
    """
    from piiloom.cli.deleting import delete_release_and_report

    if not delete_release_and_report(store, name, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)
