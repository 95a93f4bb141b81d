"""``piiloom compare``: systems ranked by their predictions for the same gold file."""

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
    "piiloom compare outputs/v1/test.jsonl crf.jsonl bert.jsonl rules.jsonl",
    "piiloom compare test.jsonl 'Our CRF=crf.jsonl' BERT=bert.jsonl --by recall --cluster story",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --table outputs/systems.tex --table outputs/systems.html",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --print md",
)


def compare(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="The file as it should be annotated.")],
    predictions: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]FILE...", help="Predictions for it, a file a system; without a name, that of the file is taken."),
    ],
    scheme: Annotated[str, typer.Option(metavar="SCHEME", help="What counts as found; docs/evaluation.md has the schemes.")] = "exact",
    beta: Annotated[
        list[float] | None, typer.Option(metavar="B", help="Also give the F that weighs recall B times as much; can be repeated.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="FIGURE", help="The figure to rank by; F1 if not given.")] = None,
    lowest: Annotated[bool, typer.Option("--lowest", help="The lowest figure is the best, as of an error rate.")] = False,
    file_format: FormatOption = None,
    gold_format: GoldFormatOption = None,
    predictions_format: PredictionsFormatOption = None,
    columns: ColumnsOption = None,
    type_map: MapOption = None,
    types: TypesOption = None,
    locale: LocaleOption = None,
    skip_values: SkipValuesOption = False,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="Draw and swap documents as a whole that share a group key: story, persona, text or another kind."
        ),
    ] = "document",
    confidence: Annotated[float, typer.Option(metavar="P", help="The confidence of intervals; 1 - P is the level of tests.")] = 0.95,
    resamples: Annotated[int, typer.Option(min=1, metavar="N", help="How often the bootstrap draws.")] = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="How often the test of a difference swaps systems.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Same seed and data, same intervals and p values.")] = 7,
    table: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Write the table to FILE.md, .tex, .html or .json, which is replaced; can be repeated."),
    ] = None,
    form: Annotated[str | None, typer.Option("--print", metavar="FORM", help="Print the table as md, tex, html or json.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank systems by their predictions for GOLD, with intervals, and say which differences may be chance.

    Intervals are by bootstrap, p values by approximate randomisation, both over whole clusters of documents. Systems that do not
    differ share a rank. docs/evaluation.md says how to read the table.
    """
    from piiloom.cli.comparing import compare_and_report
    from piiloom.evaluation.comparison.comparing import Ranking
    from piiloom.evaluation.schemes.base import SchemeOptions
    from piiloom.evaluation.schemes.registry import make_scheme
    from piiloom.evaluation.scoring.bootstrap import Resampling

    compare_and_report(
        gold,
        predictions,
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
        scheme=make_scheme(scheme, SchemeOptions(beta=tuple(beta or ()))),
        ranking=Ranking(
            by=by,
            lowest=lowest,
            cluster=cluster,
            resampling=Resampling(rounds=resamples, confidence=confidence, seed=seed),
            permutations=permutations,
        ),
        tables=table or (),
        form=form,
        as_json=as_json,
    )
