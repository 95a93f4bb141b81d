"""``piiloom detect``: find personal information in texts."""

from __future__ import annotations

from typing import Any

from piiloom.cli.detect_options import ANNOTATION, DetectCommand
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom detect notes/ --locale pl_PL --out outputs/found.jsonl",
    "piiloom detect tickets.csv --text-field message --id-field ticket --locale-field lang --out outputs/found.jsonl --workers 2",
    "piiloom detect outputs/v1/test.jsonl --detector hybrid-offline --out outputs/predictions.jsonl",
    "piiloom detect chats.txt --lines --locale pt_BR --out outputs/masked.jsonl --mask subtype",
    "piiloom detect mails.parquet --locale nl_NL --out outputs/to-review --format label-studio",
    "piiloom detect notes/ --locale pl_PL --out outputs/found.jsonl --resume",
    "piiloom detect --store work.duckdb --to annotation --detector hybrid-offline",
    "piiloom detect notes/ --locale fi_FI --detector hybrid --provider openai --budget-usd 5 --out outputs/found.jsonl",
)


@takes(DetectCommand, ())
def detect(**given: Any) -> None:
    """Find personal information in the texts of INPUT, and write them with what was found: where, of which kind, how surely.

    OUT gets its name when all is there. What is done of a stopped or killed run is kept; --resume goes on with it.
    docs/detection.md explains the detectors and what is written. With --to annotation, what is found in the records of --store that wait
    for annotation is offered to the annotators as suggestions (docs/annotation.md).
    """
    asked = DetectCommand(**given)
    if asked.to == ANNOTATION:
        from piiloom.cli.preannotating import suggest_and_report

        suggest_and_report(asked)
    else:
        from piiloom.cli.detecting import detect_and_report

        detect_and_report(asked)
