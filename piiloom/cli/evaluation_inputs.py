"""How ``piiloom evaluate`` and ``piiloom compare`` are told to read their files. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

_PANEL = "Reading"

FormatOption = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="The format of all files, if they don't tell.", rich_help_panel=_PANEL)
]
GoldFormatOption = Annotated[
    str | None, typer.Option("--gold-format", metavar="FORMAT", help="The format of GOLD, if it is another.", rich_help_panel=_PANEL)
]
PredictionsFormatOption = Annotated[
    str | None,
    typer.Option("--pred-format", metavar="FORMAT", help="The format of predictions, if it is another.", rich_help_panel=_PANEL),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="FIELD=COLUMN,…",
        help="Where a table has what: document, text, type, start, end of an entity table, or the fields of a table of records.",
        rich_help_panel=_PANEL,
    ),
]
MapOption = Annotated[
    Path | None,
    typer.Option("--map", metavar="YAML", help="Rename types on both sides: PERSON: NAME_STUDENT.", rich_help_panel=_PANEL),
]
TypesOption = Annotated[
    str | None,
    typer.Option("--types", metavar="A,B,…", help="Look at these types only, on both sides, once renamed.", rich_help_panel=_PANEL),
]
LocaleOption = Annotated[
    str | None, typer.Option("--locale", metavar="LOCALE", help="The locale of documents that name none.", rich_help_panel=_PANEL)
]
SkipValuesOption = Annotated[
    bool,
    typer.Option("--skip-values", help="Leave gold values out that are not in the text; without it, an error.", rich_help_panel=_PANEL),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChoice:
    """What the options say, as it was typed."""

    file_format: str | None = None
    gold_format: str | None = None
    predictions_format: str | None = None
    columns: Sequence[str] = ()
    type_map: Path | None = None
    types: str | None = None
    locale: str | None = None
    skip_values: bool = False
