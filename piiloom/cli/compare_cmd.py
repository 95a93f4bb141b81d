"""``piiloom compare``: systems ranked by their predictions for the same gold file."""

from __future__ import annotations

from typing import Any

from piiloom.cli.compare_options import CompareCommand
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom compare outputs/v1/test.jsonl crf.jsonl bert.jsonl rules.jsonl",
    "piiloom compare test.jsonl 'Our CRF=crf.jsonl' BERT=bert.jsonl --by recall --cluster story",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --table outputs/systems.tex --table outputs/systems.html",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --print md",
    "piiloom compare test.jsonl --detector patterns --detector 'with rules=hybrid-offline' --plots outputs/plots",
)


@takes(CompareCommand, ())
def compare(**given: Any) -> None:
    """Rank systems by their predictions for GOLD, with intervals, and say which differences may be chance.

    Systems are files of predictions, or detectors that are run on GOLD, each in a process of its own; of these it also tells how many
    documents they do in a second, how much memory they take, and what they cost.

    Intervals are by bootstrap, p values by approximate randomisation, both over whole clusters of documents. Systems that do not
    differ share a rank. docs/evaluation.md says how to read the table.
    """
    from piiloom.cli.comparing import compare_and_report

    compare_and_report(CompareCommand(**given))
