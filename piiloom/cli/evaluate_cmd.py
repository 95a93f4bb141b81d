"""``piiloom evaluate``: how good predictions are, in the figures that papers print."""

from __future__ import annotations

from typing import Any

from piiloom.cli.evaluate_options import EvaluateCommand
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom evaluate outputs/v1/test.jsonl predictions.jsonl --scheme capid",
    "piiloom evaluate test.jsonl predictions.jsonl --scheme exact,nervaluate,privacy --out outputs/evaluation",
    "piiloom evaluate gold.csv found.csv --scheme text --columns document=file_idx,text=entity_text --map types.yaml --types NAME_STUDENT",
    "piiloom evaluate test.jsonl predictions.jsonl --by locale --cluster story --json",
    "piiloom evaluate gold.csv found.csv --scheme text --bias NAME_STUDENT --bias-match membership",
)


@takes(EvaluateCommand, ())
def evaluate(**given: Any) -> None:
    """Compare PRED with GOLD: figures with intervals, by type, and on request by group, bias, cost and a page of the errors.

    Both can be in any format that piiloom reads, or a table with one row a mention.
    docs/evaluation.md shows how to read the figures, docs/schemes.md defines them.
    """
    from piiloom.cli.evaluating import evaluate_and_report

    evaluate_and_report(EvaluateCommand(**given))
