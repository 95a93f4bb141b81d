"""``piiloom locales``: which locales there are, and which command takes which."""

from __future__ import annotations

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

_LIST = ("piiloom locales list", "piiloom locales list --json")

locales_app = typer.Typer(
    help="List the locales that commands take.", epilog=examples(*_LIST), no_args_is_help=True, pretty_exceptions_enable=False
)


@locales_app.callback()
def _group() -> None:
    """Keep ``list`` a command of its own."""


@locales_app.command("list", epilog=examples(*_LIST))
def list_locales(as_json: JsonOption = False) -> None:
    """List the locales for which piiloom has data, and what each can be used for.

    Every --locale also takes pt-BR, pt_br and pt_BR.UTF-8, and a language alone where it has one locale only.
    """
    from piiloom.cli.listing import print_locales

    print_locales(as_json=as_json)
