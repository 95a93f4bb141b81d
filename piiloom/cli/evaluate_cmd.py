"""``piiloom evaluate``: how good predictions are, in the figures that papers print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.evaluation_inputs import (
    ColumnsOption,
    FormatOption,
    GoldFormatOption,
    InputChoice,
    LocaleOption,
    MapOption,
    PredictionsFormatOption,
    SkipValuesOption,
    TypesOption,
)
from piiloom.cli.options import JsonOption, examples

EPILOG = examples(
    "piiloom evaluate outputs/v1/test.jsonl predictions.jsonl --scheme capid",
    "piiloom evaluate test.jsonl predictions.jsonl --scheme exact,nervaluate,privacy --out outputs/evaluation",
    "piiloom evaluate gold.csv found.csv --scheme text --columns document=file_idx,text=entity_text --map types.yaml --types NAME_STUDENT",
    "piiloom evaluate test.jsonl predictions.jsonl --by locale --cluster story --json",
    "piiloom evaluate gold.csv found.csv --scheme text --bias NAME_STUDENT --bias-match membership",
)
FIGURES, UNCERTAINTY, MORE = "Figures", "Uncertainty", "More views"


def evaluate(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="The file as it should be annotated.")],
    predictions: Annotated[Path, typer.Argument(metavar="PRED", help="The predictions for the same documents.")],
    schemes: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="NAME,…",
            help="What counts as found: exact (if not given), partial, token, nervaluate, text, capid, capid-strict, tab, privacy.",
            rich_help_panel=FIGURES,
        ),
    ] = None,
    file_format: FormatOption = None,
    gold_format: GoldFormatOption = None,
    predictions_format: PredictionsFormatOption = None,
    columns: ColumnsOption = None,
    type_map: MapOption = None,
    types: TypesOption = None,
    locale: LocaleOption = None,
    skip_values: SkipValuesOption = False,
    beta: Annotated[
        list[float] | None,
        typer.Option(metavar="B", help="Also give the F that weighs recall B times as much; can be repeated.", rich_help_panel=FIGURES),
    ] = None,
    undefined: Annotated[
        str,
        typer.Option(
            metavar="zero|skip|one", help="What 0/0 of a sample counts as in a mean over samples (capid).", rich_help_panel=FIGURES
        ),
    ] = "zero",
    by: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Also by locale, or by a kind of group keys (story, pair …), and their mean.", rich_help_panel=FIGURES
        ),
    ] = None,
    weight: Annotated[
        str,
        typer.Option(metavar="documents|entities|equal", help="What a group weighs in that mean.", rich_help_panel=FIGURES),
    ] = "documents",
    weights: Annotated[
        Path | None,
        typer.Option(metavar="YAML", help="Direct or quasi and how sensitive, by type, over piiloom's own table.", rich_help_panel=FIGURES),
    ] = None,
    token_probabilities: Annotated[
        Path | None,
        typer.Option(metavar="JSONL", help="A language model's token probabilities, for precision under tab.", rich_help_panel=FIGURES),
    ] = None,
    may_stay: Annotated[
        str | None,
        typer.Option(metavar="WORD,…", help="Words that may stay unmasked within a mention, under tab.", rich_help_panel=FIGURES),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Draw documents that share a group key as a whole: story, persona, text or another kind.",
            rich_help_panel=UNCERTAINTY,
        ),
    ] = "document",
    resamples: Annotated[
        int, typer.Option(min=0, metavar="N", help="How often the bootstrap draws; 0 for no intervals.", rich_help_panel=UNCERTAINTY)
    ] = 1000,
    confidence: Annotated[float, typer.Option(metavar="P", help="The confidence of intervals.", rich_help_panel=UNCERTAINTY)] = 0.95,
    seed: Annotated[int, typer.Option(help="Same seed and data, same intervals.", rich_help_panel=UNCERTAINTY)] = 7,
    bias: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Recall of this type of names by gender and region of the names.", rich_help_panel=MORE),
    ] = None,
    bias_match: Annotated[
        str,
        typer.Option(metavar="multiset|membership", help="Whether equal names of a document are found one by one.", rich_help_panel=MORE),
    ] = "multiset",
    usage: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Tokens that the predictions took, a document a row: tells their cost.", rich_help_panel=MORE),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Estimate the cost of predictions by this model.", rich_help_panel=MORE)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write figures, errors and plots there, and a page of the errors in their text.", rich_help_panel=MORE
        ),
    ] = None,
    gallery_limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The most documents that the page shows.", rich_help_panel=MORE)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier evaluation in --out.", rich_help_panel=MORE)] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare PRED with GOLD: figures with intervals, by type, and on request by group, bias, cost and a page of the errors.

    Both can be in any format that piiloom reads, or a table with one row a mention. docs/evaluation.md defines all figures.
    """
    from piiloom.cli.evaluating import EvaluateRequest, evaluate_and_report

    evaluate_and_report(
        EvaluateRequest(
            gold=gold,
            predictions=predictions,
            schemes=tuple(schemes or ()),
            inputs=InputChoice(
                file_format=file_format,
                gold_format=gold_format,
                predictions_format=predictions_format,
                columns=columns or (),
                type_map=type_map,
                types=types,
                locale=locale,
                skip_values=skip_values,
            ),
            beta=tuple(beta or ()),
            undefined=undefined,
            by=by,
            weight=weight,
            weights=weights,
            token_probabilities=token_probabilities,
            may_stay=may_stay,
            cluster=cluster,
            resamples=resamples,
            confidence=confidence,
            seed=seed,
            bias=bias,
            bias_match=bias_match,
            usage=usage,
            model=model,
            out=out,
            gallery_limit=gallery_limit,
            force=force,
        ),
        as_json=as_json,
    )
