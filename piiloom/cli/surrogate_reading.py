"""How ``piiloom surrogate`` reads its input: options that several commands have, declared once. Imports nothing heavy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

import typer

_PANEL: Final = "What is read"
_OF_SPANS: Final = ("spans", "spans_field")

Command = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the command line says of the input; each field is an option (``source`` the argument)."""

    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A .txt, .jsonl, .json, .csv, .tsv, .parquet, .xml or .zip file, or a folder of these.")
    ]
    text_field: Annotated[
        list[str] | None,
        typer.Option(
            "--text-field",
            metavar="NAME",
            rich_help_panel=_PANEL,
            help="Field or column of the text (may be repeated; note.text goes deeper; columns also by number).",
        ),
    ] = None
    id_field: Annotated[
        str | None, typer.Option("--id-field", metavar="NAME", rich_help_panel=_PANEL, help="Field of the id (default id).")
    ] = None
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", rich_help_panel=_PANEL, help="txt, jsonl, json, csv, tsv, parquet, xml or zip, where the suffix tells none."
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", rich_help_panel=_PANEL, help="Of files that are not UTF-8 (cp1252, latin-1 …).")
    ] = None
    header: Annotated[
        bool, typer.Option("--header/--no-header", rich_help_panel=_PANEL, help="Whether the first row of a table names its columns.")
    ] = True
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", rich_help_panel=_PANEL, help="What separates the columns of a table (found out when not given)."),
    ] = None
    quoting: Annotated[
        Literal["auto", "csv", "none"], typer.Option("--quoting", rich_help_panel=_PANEL, help="Whether fields of tables are quoted.")
    ] = "auto"
    max_unpacked: Annotated[
        int, typer.Option("--max-unpacked", metavar="MB", min=1, rich_help_panel=_PANEL, help="The most that zip files may unpack to.")
    ] = 4096
    spans: Annotated[
        bool,
        typer.Option(
            "--spans", rich_help_panel=_PANEL, help="Rows bring spans (start, end, type): replace what they mark instead of placeholders."
        ),
    ] = False
    spans_field: Annotated[
        str | None, typer.Option("--spans-field", metavar="NAME", rich_help_panel=_PANEL, help="Field of the spans (default spans).")
    ] = None


def reads_input(*, spans: bool = True) -> Callable[[Command], Command]:
    """Give a command the options of ``Reading`` where its parameter ``reading`` stands; those of spans only with *spans*."""
    hints = get_type_hints(Reading, include_extras=True)
    taken = [_option(field, hints[field.name]) for field in fields(Reading) if spans or field.name not in _OF_SPANS]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> None:
            told = {option.name: given.pop(option.name) for option in taken}
            command(reading=Reading(**told), **given)

        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for own in signature.parameters.values():
            parameters += taken if own.name == "reading" else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        vars(call)["__signature__"] = signature.replace(parameters=parameters)  # where Typer looks for the options
        return call

    return decorate


def _option(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
