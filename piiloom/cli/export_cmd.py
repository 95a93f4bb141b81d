"""``piiloom export``: a release as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom export --release v1 --format native --out outputs/v1",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --force",
    "piiloom export --release v1 --format native --format capid --out outputs/v1-all",
    "piiloom export --release v1 --format native --split test --out outputs/v1-test",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --json",
)


def export(
    release: Annotated[str, typer.Option(metavar="NAME", help="The release to write; piiloom release makes one.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to; it must be new or empty.")],
    formats: Annotated[
        list[str],
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How to write it: native, capid … (an unknown one lists all); several go to a folder each, DIR/FORMAT.",
        ),
    ],
    split: Annotated[
        list[str] | None, typer.Option(metavar="SPLIT", help="Only this split (train, validation, test, fold1 …); can be given repeatedly.")
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(metavar="NAME", help="How formats with tokens cut the texts; others have no use for it.")
    ] = "whitespace",
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="For the surrogates of masked: same seed, same ones. Without it they are others at each export."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that is not empty; an export there is replaced, other files never.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write a release to a file a split (train.jsonl, test.jsonl …; an empty one is left out) and release.json.

    The same release gives the same bytes everywhere (but for the surrogates of masked). What a format cannot express is listed in
    release.json.
    """
    from piiloom.cli.exporting import export_and_report

    export_and_report(release, formats, out, store, splits=split or (), tokenizer=tokenizer, seed=seed, force=force, as_json=as_json)
