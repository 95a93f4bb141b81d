"""The options of ``piiloom evaluate``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from piiloom.cli.evaluation_inputs import SCHEME_HELP, InputChoice
from piiloom.cli.options import JsonOption

FIGURES: Final = "Figures"
UNCERTAINTY: Final = "Uncertainty"
MORE: Final = "More views"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateCommand(InputChoice):
    """What the command line asks for; each field is an option (``gold`` and ``predictions`` the arguments)."""

    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="The file as it should be annotated.")]
    predictions: Annotated[Path, typer.Argument(metavar="PRED", help="The predictions for the same documents.")]
    schemes: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="NAME,…",
            help=SCHEME_HELP,
            rich_help_panel=FIGURES,
        ),
    ] = None
    beta: Annotated[
        list[float] | None,
        typer.Option(
            "--beta", metavar="B", help="Also give the F that weighs recall B times as much; can be repeated.", rich_help_panel=FIGURES
        ),
    ] = None
    undefined: Annotated[
        str,
        typer.Option(
            "--undefined",
            metavar="zero|skip|one",
            help="What 0/0 of a sample counts as in a mean over samples (capid).",
            rich_help_panel=FIGURES,
        ),
    ] = "zero"
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="KIND",
            help="Also by locale, or by a kind of group keys (story, pair …), and their mean.",
            rich_help_panel=FIGURES,
        ),
    ] = None
    weight: Annotated[
        str,
        typer.Option("--weight", metavar="documents|entities|equal", help="What a group weighs in that mean.", rich_help_panel=FIGURES),
    ] = "documents"
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            metavar="YAML",
            help="Direct or quasi and how sensitive, by type, over piiloom's own table.",
            rich_help_panel=FIGURES,
        ),
    ] = None
    token_probabilities: Annotated[
        Path | None,
        typer.Option(
            "--token-probabilities",
            metavar="JSONL",
            help="A language model's token probabilities, for precision under tab.",
            rich_help_panel=FIGURES,
        ),
    ] = None
    may_stay: Annotated[
        str | None,
        typer.Option(
            "--may-stay", metavar="WORD,…", help="Words that may stay unmasked within a mention, under tab.", rich_help_panel=FIGURES
        ),
    ] = None
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="KIND",
            help="Draw documents that share a group key as a whole: story, persona, text or another kind.",
            rich_help_panel=UNCERTAINTY,
        ),
    ] = "document"
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples", min=0, metavar="N", help="How often the bootstrap draws; 0 for no intervals.", rich_help_panel=UNCERTAINTY
        ),
    ] = 1000
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="P", help="The confidence of intervals.", rich_help_panel=UNCERTAINTY)
    ] = 0.95
    seed: Annotated[int, typer.Option("--seed", help="Same seed and data, same intervals.", rich_help_panel=UNCERTAINTY)] = 7
    bias: Annotated[
        str | None,
        typer.Option(
            "--bias", metavar="TYPE", help="Recall of this type of names by gender and region of the names.", rich_help_panel=MORE
        ),
    ] = None
    bias_match: Annotated[
        str,
        typer.Option(
            "--bias-match",
            metavar="multiset|membership",
            help="Whether equal names of a document are found one by one.",
            rich_help_panel=MORE,
        ),
    ] = "multiset"
    usage: Annotated[
        Path | None,
        typer.Option(
            "--usage", metavar="FILE", help="Tokens that the predictions took, a document a row: tells their cost.", rich_help_panel=MORE
        ),
    ] = None
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Estimate the cost of predictions by this model.", rich_help_panel=MORE)
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write figures, errors and plots there, and a page of the errors in their text.",
            rich_help_panel=MORE,
        ),
    ] = None
    gallery_limit: Annotated[
        int | None,
        typer.Option("--gallery-limit", min=1, metavar="N", help="The most documents that the page shows.", rich_help_panel=MORE),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier evaluation in --out.", rich_help_panel=MORE)] = False
    as_json: JsonOption = False
