"""``piiloom report``: what a dataset looks like and what it gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom report --run last",
    "piiloom report --release v1 --out outputs/v1-report",
    "piiloom report --input published.jsonl --out outputs/published-report",
    "piiloom report --input published.jsonl --format capid --json",
)


def report(
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace (default outputs/piiloom.duckdb).")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help='Only the records of this run, by its id or "last"; all when not given.')
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="The records of this release, with its splits and what they share.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="A file of records, whoever made it, instead of a store.")
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How the --input is written: any format that piiloom import reads; without it, native or capid by the first row.",
        ),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option("--types", metavar="YAML", help="The own types of the --input, where no release.json beside it defines them."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write report.json, report.md, index.html and plots to this folder, new or empty."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty; a report there is replaced.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the samples of texts (self-BLEU, distinct-n).")] = 7,
    as_json: JsonOption = False,
) -> None:
    """Measure diversity and leakage: wording, values, relevance, and from what relevance can be guessed without reading.

    Plots and self-BLEU need the extra "report" of the package; all else works without. The report quotes frequent values and
    openers of the corpus, its page (index.html) records: keep it as you keep the data.
    """
    from piiloom.cli.reporting import Choice, report_and_print

    choice = Choice(store=store, run=run, release=release, file=file, file_format=file_format, types=types)
    report_and_print(choice, out, force=force, seed=seed, as_json=as_json)
