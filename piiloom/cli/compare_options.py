"""The options of ``piiloom compare``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.evaluation_inputs import SCHEME_HELP, InputChoice
from piiloom.cli.options import JsonOption


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareCommand(InputChoice):
    """What the command line asks for; each field is an option (``gold`` and ``predictions`` the arguments)."""

    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="The file as it should be annotated.")]
    predictions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]FILE...", help="Predictions for it, a file a system; without a name, that of the file is taken."),
    ] = None
    detectors: Annotated[
        list[str] | None,
        typer.Option(
            "--detector",
            metavar="'[NAME=]DETECTOR …'",
            help="Run this detector on GOLD, with options of piiloom detect, and take what it finds as a system; can be repeated.",
        ),
    ] = None
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep in DIR what the detectors found; without it, that is removed.")
    ] = None
    plots: Annotated[
        Path | None,
        typer.Option(
            "--plots", metavar="DIR", help="Draw quality against time and cost of the detectors, and how far scores can be trusted."
        ),
    ] = None
    scheme: Annotated[str, typer.Option("--scheme", metavar="SCHEME", help=SCHEME_HELP)] = "exact"
    beta: Annotated[
        list[float] | None, typer.Option("--beta", metavar="B", help="Also give the F that weighs recall B times as much; can be repeated.")
    ] = None
    by: Annotated[str | None, typer.Option("--by", metavar="FIGURE", help="The figure to rank by; F1 if not given.")] = None
    lowest: Annotated[bool, typer.Option("--lowest", help="The lowest figure is the best, as of an error rate.")] = False
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="KIND",
            help="Draw and swap documents as a whole that share a group key: story, persona, text or another kind.",
        ),
    ] = "document"
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="P", help="The confidence of intervals; 1 - P is the level of tests.")
    ] = 0.95
    resamples: Annotated[int, typer.Option("--resamples", min=1, metavar="N", help="How often the bootstrap draws.")] = 1000
    permutations: Annotated[
        int, typer.Option("--permutations", min=1, metavar="N", help="How often the test of a difference swaps systems.")
    ] = 10_000
    seed: Annotated[int, typer.Option("--seed", help="Same seed and data, same intervals and p values.")] = 7
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table", metavar="FILE", help="Write the table to FILE.md, .tex, .html or .json, which is replaced; can be repeated."
        ),
    ] = None
    usage: Annotated[
        list[str] | None,
        typer.Option(
            "--usage",
            metavar="NAME=FILE",
            help="Tokens that a system took, a document a row: its cost beside its quality; can be repeated.",
        ),
    ] = None
    form: Annotated[str | None, typer.Option("--print", metavar="FORM", help="Print the table as md, tex, html or json.")] = None
    as_json: JsonOption = False
