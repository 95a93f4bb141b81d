"""``piiloom utility``: what masking and surrogates cost in the quality of answers."""

from __future__ import annotations

from typing import Any

from piiloom.cli.terminal import examples
from piiloom.cli.utility_options import UtilityCommand
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom utility outputs/v1/test.jsonl",
    "piiloom utility v1 --split test --provider openai --estimate",
    "piiloom utility v1 --split test --provider openai --budget-usd 2 --out outputs/v1-utility",
    "piiloom utility published.jsonl --format capid --provider openai --judge-provider anthropic --limit 200",
    "piiloom utility test.jsonl --variants original,relevance_aware --json",
)


@takes(UtilityCommand, ())
def utility(**given: Any) -> None:
    """Compare answers to each record's question from its original, masked and surrogate contexts, and what each gives away.

    One model answers from every variant; a judge compares the answers pair by pair, in both orders, and grades how complete each is and how
    much of the irrelevant personal data it gives away. Without a provider, a rule stands in, and is labelled so.
    docs/utility.md says how to read the figures.
    """
    from piiloom.cli.utility_running import utility_and_report

    utility_and_report(UtilityCommand(**given))
