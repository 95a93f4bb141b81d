"""``piiloom export``: a release as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples

EPILOG = examples(
    "piiloom export --release v1 --format native --out outputs/v1",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --force",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --json",
)


def export(
    release: Annotated[str, typer.Option(metavar="NAME", help="The release to write; piiloom release makes one.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to; it must be new or empty.")],
    file_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="How to write it: native or capid.")],
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that is not empty; an export there is replaced, other files never.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write a release to train.jsonl and test.jsonl (an empty split is left out) and release.json.

    The same release gives the same bytes everywhere. What a format cannot express is listed in release.json.
    """
    from piiloom.cli.releasing import export_and_report

    export_and_report(release, file_format, out, store, force=force, as_json=as_json)
