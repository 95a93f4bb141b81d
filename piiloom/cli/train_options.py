"""The options of ``piiloom train`` commands that several have, declared once; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_VALIDATION_SIZE: Final = "0.1"
DEFAULT_SEED: Final = 7

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the trained model; it must be new or empty.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Begin anew in a folder that is not empty; its files are replaced.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Another order of the records, and other random numbers, for another seed.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with a training that was stopped: give the same options.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInput:
    """What is trained on, as it was typed: a release of a store, or files."""

    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="The release to train on: its split train. Or give --train.")
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(
            "--split", metavar="SPLIT", help="Train on this split of the release instead (fold1, fold2 …); can be given repeatedly."
        ),
    ] = None
    train: Annotated[
        list[Path] | None,
        typer.Option("--train", metavar="FILE", help="A file of records to train on, instead of a release; can be given repeatedly."),
    ] = None
    validation: Annotated[
        Path | None,
        typer.Option(
            "--validation",
            metavar="FILE",
            help="A file of validation records; without it, the release's validation split, or a part of the training records.",
        ),
    ] = None
    validation_size: Annotated[
        str,
        typer.Option(
            "--validation-size", metavar="N|SHARE", help="How much to take off for validation where there is none; 0 trains without any."
        ),
    ] = DEFAULT_VALIDATION_SIZE
    file_format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="How the files are written (default: native or CAPID, by the first row)."),
    ] = None
    skip_values: Annotated[
        bool, typer.Option("--skip-values", help="CAPID files: leave values without an exact place out, and keep their records.")
    ] = False
