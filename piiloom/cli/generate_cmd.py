"""``piiloom generate``: records from plan to screened, in one go."""

from __future__ import annotations

from typing import Any

import typer

from piiloom.cli.generate_options import GenerateOptions
from piiloom.cli.options import examples
from piiloom.generation.settings.command_line_options import collected, takes

EPILOG = examples(
    "piiloom generate --samples 200 --seed 7 --show 5",
    "piiloom generate --pairs health+occupation,age+belief --locale en_GB",
    "piiloom generate --provider openai --samples 50 --max-attempts 5",
    "piiloom generate --provider compatible --base-url http://localhost:11434/v1 --model MODEL",
    "piiloom generate --provider openai --samples 2307 --estimate",
    "piiloom generate --provider openai --samples 2307 --budget-usd 25 --concurrency 64",
    "piiloom generate --provider anthropic --samples 2307 --batch --judge relevance",
    "piiloom generate --provider openai --judge-provider anthropic --samples 500",
    "piiloom generate --recipe staged --samples 500",
    "piiloom generate --bank my_bank --samples 500",
    "piiloom generate --types my_types.yaml --bank my_bank",
    "piiloom generate --config run.yaml",
    "piiloom generate --resume last --budget-usd 40",
    "piiloom generate --resume last --retry question.content_word,17",
)


@takes(GenerateOptions)
def generate(**given: Any) -> None:
    """Generate records: plan, compose, repair and screen until the wanted number is accepted.

    The default provider is the composer, a template-based generator that needs no key, no network and no model.
    Ctrl-C stops cleanly; the run can be resumed.
    """
    from piiloom.cli.generating import generate_records

    if not generate_records(collected(GenerateOptions, given)):
        raise typer.Exit(1)
