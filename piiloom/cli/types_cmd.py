"""``piiloom types``: which entity types there are, which command takes which, and a type of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import TypesOption

_LIST = ("piiloom types list", "piiloom types list --types my_types.yaml --json")
_NEW = ('piiloom types new "badge number"', "piiloom types new plate --out my_types.yaml --force")

types_app = typer.Typer(
    help="List entity types, and begin one of your own.",
    epilog=examples(_LIST[0], _NEW[0]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@types_app.command("list", epilog=examples(*_LIST))
def list_types(types: TypesOption = None, as_json: JsonOption = False) -> None:
    """List the entity types, with those of a types file, and what each can be used for."""
    from piiloom.cli.listing import print_types

    print_types(types, as_json=as_json)


@types_app.command("new", epilog=examples(*_NEW))
def new_type(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the type, such as badge number.", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The file to write (NAME.yaml when not given).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a types file with a new type, a pattern for its values and a story that tells of it: a working example to change.

    generate, detect, import, annotate and stories check read the file as it is (docs/own-types.md).
    """
    from piiloom.cli.listing import write_new_type

    write_new_type(name, out, force=force, as_json=as_json)
