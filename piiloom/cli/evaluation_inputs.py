"""The options by which ``piiloom evaluate`` and ``piiloom compare`` read their files. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

SCHEME_HELP: Final = (
    "What counts as found: exact (if not given), partial, token, nervaluate, text, capid, capid-strict, tab, privacy; docs/schemes.md."
)
_PANEL: Final = "Reading"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChoice:
    """What the options say, as it was typed."""

    file_format: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="The format of all files, if they don't tell.", rich_help_panel=_PANEL)
    ] = None
    gold_format: Annotated[
        str | None, typer.Option("--gold-format", metavar="FORMAT", help="The format of GOLD, if it is another.", rich_help_panel=_PANEL)
    ] = None
    predictions_format: Annotated[
        str | None,
        typer.Option("--pred-format", metavar="FORMAT", help="The format of predictions, if it is another.", rich_help_panel=_PANEL),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="FIELD=COLUMN,…",
            help="Where a table has what: document, text, type, start, end of an entity table, or the fields of a table of records.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    type_map: Annotated[
        Path | None,
        typer.Option("--map", metavar="YAML", help="Rename types on both sides: PERSON: NAME_STUDENT.", rich_help_panel=_PANEL),
    ] = None
    types: Annotated[
        str | None,
        typer.Option("--types", metavar="A,B,…", help="Look at these types only, on both sides, once renamed.", rich_help_panel=_PANEL),
    ] = None
    locale: Annotated[
        str | None, typer.Option("--locale", metavar="LOCALE", help="The locale of documents that name none.", rich_help_panel=_PANEL)
    ] = None
    skip_values: Annotated[
        bool,
        typer.Option("--skip-values", help="Leave gold values out that are not in the text; without it, an error.", rich_help_panel=_PANEL),
    ] = False
