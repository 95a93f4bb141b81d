"""``piiloom entities``: the entity catalogue: listed, shown, tried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

_LIST = ("piiloom entities list --locale pl_PL", "piiloom entities list --domain Healthcare --json")
_SHOW = ("piiloom entities show pl_pesel",)
_TEST = ("piiloom entities test", "piiloom entities test --locale pt_BR", "piiloom entities test --types my_entities.yaml --locale nl_NL")

entities_app = typer.Typer(
    help="Look up and try the entity catalogue: the kinds of personal information that detectors know.",
    epilog=examples(*_LIST, *_SHOW, *_TEST),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

LocaleChoice = Annotated[
    str | None, typer.Option("--locale", metavar="CODE", help='Only entities of this locale, as pl_PL; "universal" for those of all.')
]
OwnOption = Annotated[
    list[Path] | None,
    typer.Option("--types", metavar="YAML", help="A file with entities of your own, in the form of the catalogue. May be repeated."),
]


@entities_app.command("list", epilog=examples(*_LIST))
def list_all(
    locale: LocaleChoice = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="Only of this domain: Finance, Travel, Healthcare, IT, CPG or Media.")
    ] = None,
    types: OwnOption = None,
    as_json: JsonOption = False,
) -> None:
    """List entities: the id, names, type, validator and source of each."""
    from piiloom.cli.entities_view import print_entities

    print_entities(locale, domain, types or [], as_json=as_json)


@entities_app.command("show", epilog=examples(*_SHOW))
def show(
    entity: Annotated[str, typer.Argument(metavar="ID", help="The id of an entity, as pl_pesel.", show_default=False)],
    types: OwnOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one entity: its patterns and scores, context words, validator and source, with values drawn for it."""
    from piiloom.cli.entities_view import print_entity

    print_entity(entity, types or [], as_json=as_json)


@entities_app.command("test", epilog=examples(*_TEST))
def try_all(
    locale: LocaleChoice = None,
    only: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Only this entity. May be repeated.")] = None,
    types: OwnOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Other values for another seed.")] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show each text that went wrong.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Try entities: 20 drawn values of each must be found as what they are, 10 look-alikes refused. Exit code 1 if one fails."""
    from piiloom.cli.entities_view import print_trials

    if not print_trials(locale, only or [], types or [], seed=seed, verbose=verbose, as_json=as_json):
        raise typer.Exit(1)
