"""``piiloom probe``: what a data set teaches a detector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom probe outputs/v1/train.jsonl outputs/v1/test.jsonl",
    "piiloom probe train.jsonl people.jsonl web.jsonl --sizes 250,500,1000,2107",
    "piiloom probe train.jsonl people.jsonl --by-type --errors outputs/errors.jsonl",
    "piiloom probe train.jsonl people.jsonl --limit 500 --json",
    "piiloom probe outputs/v1/train.jsonl people.jsonl --save outputs/detector",
    "piiloom probe outputs/v1-capid/train.jsonl outputs/v1-capid/test.jsonl --format capid",
)


def probe(
    train: Annotated[Path, typer.Argument(metavar="TRAIN", help="The data to train on.")],
    tests: Annotated[
        list[Path] | None, typer.Argument(metavar="TEST...", help="One or more files to test on; with --save, none will do.")
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How the files are written: any format that piiloom import reads; without it, native or CAPID by each row.",
        ),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Train once for each of these numbers of records: a learning curve.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Train on the first N records of the shuffled data only.")] = None,
    by_type: Annotated[bool, typer.Option("--by-type", help="Also print recall and precision of each type (of the largest size).")] = False,
    errors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write missed, spurious and wrong spans to this JSONL file, which is replaced. It holds corpus text."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed and data, same order of training and same intervals.")] = 7,
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save the detector (of the largest size) to this new folder: piiloom detect --detector probe."),
    ] = None,
    calibrate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Learn from this file what the saved detector's scores mean; else from a part of TRAIN."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the detector that is in the folder of --save.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train a small fixed detector on TRAIN and say how well it does on each TEST.

    The detector never changes (a CRF finds spans, a regression judges their relevance), so what varies is only the data: two
    sets that are probed with the same tests can be compared. Needs piiloom's extra "probe". Takes about a minute for 2,000 records.
    docs/probe.md says how to read the figures.
    """
    from piiloom.cli.probing import Keeping, probe_and_report

    probe_and_report(
        train,
        tests or [],
        file_format=file_format,
        sizes=sizes,
        limit=limit,
        by_type=by_type,
        errors=errors,
        seed=seed,
        keeping=Keeping(save=save, calibrate=calibrate, force=force),
        as_json=as_json,
    )
