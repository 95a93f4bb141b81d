"""``piiloom import``: records from a file into the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, TypesOption, examples

EPILOG = examples(
    "piiloom import corpus.jsonl --format capid",
    "piiloom import outputs/v1/train.jsonl --format native --store other.duckdb",
    "piiloom import corpus.jsonl --format capid --locale en_GB --rejects refused.jsonl --json",
    "piiloom import corpus.jsonl --format native --types my_types.yaml",
)


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read: JSONL, UTF-8, one record a line.")],
    file_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="How the file is written: native or capid.")],
    store: StoreOption = DEFAULT_STORE,
    locale: Annotated[str, typer.Option(help="The locale of rows that name none.")] = "en_US",
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where refused rows go, with line and reason (beside the store: <FILE's name>.rejects.jsonl)."),
    ] = None,
    types: TypesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a file and report what became of every row and value.

    A row whose values cannot all be found as whole words is refused, never silently skipped: a record with an unmarked
    value would be wrong.
    """
    from piiloom.cli.importing import import_and_report

    import_and_report(file, file_format, store, locale=locale, rejects=rejects, types=types, as_json=as_json)
