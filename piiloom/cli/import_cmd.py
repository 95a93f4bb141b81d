"""``piiloom import``: records from a file into the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import TypesOption

EPILOG = examples(
    "piiloom import corpus.jsonl --format capid",
    "piiloom import corpus.jsonl --format capid --skip-values",
    "piiloom import outputs/v1/train.jsonl --format native --store other.duckdb",
    "piiloom import corrected.jsonl --format native --on-conflict update",
    "piiloom import corpus.jsonl --format capid --locale en_GB --rejects refused.jsonl --json",
    "piiloom import corpus.jsonl --format native --types my_types.yaml",
    "piiloom import corpus.jsonl --format native --label-map my_labels.yaml",
)


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read, or the folder of a format of folders.")],
    file_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="How it is written: native, capid … (an unknown one lists all).")
    ],
    store: StoreOption = DEFAULT_STORE,
    locale: Annotated[str, typer.Option(help="The locale of rows that name none.")] = "en_US",
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where refused rows go, with line and reason (beside the store: <FILE's name>.rejects.jsonl)."),
    ] = None,
    on_conflict: Annotated[
        Literal["fail", "skip", "update", "new"],
        typer.Option(
            "--on-conflict",
            help="A row has a stored record's id and other text, question or labels: import nothing (fail), leave it out, "
            "store a new revision, or a record of its own.",
        ),
    ] = "fail",
    skip_values: Annotated[
        bool,
        typer.Option("--skip-values", help="Keep a row whose values are not all whole words of its text, without those values; list them."),
    ] = False,
    columns: Annotated[
        str | None, typer.Option(metavar="FIELD=COLUMN,…", help="The columns of a table by field, for example context=text,question=q.")
    ] = None,
    label_map: Annotated[
        str | None,
        typer.Option(
            "--label-map", metavar="NAME|FILE", help="What the file's labels mean: a map that ships with piiloom, or a YAML file."
        ),
    ] = None,
    types: TypesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a file and report what became of every row and value.

    A row whose values cannot all be found as whole words is refused, never silently skipped: a record with an unmarked
    value would be wrong. --skip-values keeps such rows; the values are listed beside the rejected rows.
    """
    from piiloom.cli.importing import ReadingChoice, import_and_report, parse_columns

    reading = ReadingChoice(
        format=file_format,
        locale=locale,
        skip_values=skip_values,
        columns={} if columns is None else parse_columns(columns),
        label_map=label_map,
        types=types,
    )
    import_and_report(file, reading, store, rejects=rejects, on_conflict=on_conflict, as_json=as_json)
