"""``piiloom train spacy``: the entity recognizer of a spaCy pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples
from piiloom.cli.train_options import DEFAULT_SEED, ForceOption, OutOption, QuietOption, ResumeOption, SeedOption, TrainingInput
from piiloom.generation.settings.command_line_options import takes

EPILOG = examples(
    "piiloom train spacy --release v1 --out outputs/pipeline",
    "piiloom train spacy --release v1 --base en_core_web_lg --out outputs/pipeline",
    "piiloom train spacy --train outputs/v1/train.jsonl --out outputs/pipeline --resume",
)
_HOW = "How it is trained"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyCommand(TrainingInput):
    """What the command line asks for; each field is an option."""

    out: OutOption
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="NAME|DIR", help="Begin with the tokenizer, vectors and word layers of this pipeline; without it, blank."
        ),
    ] = None
    store: StoreOption = DEFAULT_STORE
    epochs: Annotated[int, typer.Option("--epochs", metavar="N", rich_help_panel=_HOW, help="End after so many epochs at the latest.")] = 30
    patience: Annotated[
        int,
        typer.Option("--patience", metavar="N", rich_help_panel=_HOW, help="End when F1 on validation has not risen for so many epochs."),
    ] = 5
    words: Annotated[int, typer.Option("--words", metavar="N", rich_help_panel=_HOW, help="Tokens of a step, at most.")] = 2000
    dropout: Annotated[float, typer.Option("--dropout", metavar="SHARE", rich_help_panel=_HOW, help="Share of values left out.")] = 0.1
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", metavar="X", rich_help_panel=_HOW, help="The learning rate of Adam.")
    ] = 1e-3
    seed: SeedOption = DEFAULT_SEED
    resume: ResumeOption = False
    force: ForceOption = False
    quiet: QuietOption = False
    as_json: JsonOption = False


@takes(SpacyCommand, ())
def spacy(**given: Any) -> None:
    """Train the entity recognizer of a spaCy pipeline on a release or on files.

    The pipeline is written as spacy.load takes it. It learns spans and their types, no relevance. Needs piiloom's extra "spacy".
    docs/training-llm.md tells more.
    """
    from piiloom.cli.train_spacy_running import train_and_report

    train_and_report(SpacyCommand(**given))
