"""The work behind ``piiloom train spacy``."""

from __future__ import annotations

from piiloom.cli.asking_line import AskingLine
from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.cli.train_options import SpacyCommand
from piiloom.cli.train_reading import read_and_tell, training_choice
from piiloom.detection.spacy_pipeline.spacy_settings import SpacyPlace, SpacySettings
from piiloom.detection.spacy_pipeline.spacy_training import SpacyReport, train_spacy
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted


def train_and_report(asked: SpacyCommand) -> None:
    """Train and print what came of it; what is wrong with the request or the base comes out before the training."""
    settings, place = settings_of(SpacySettings, asked), settings_of(SpacyPlace, asked)
    data = read_and_tell(training_choice(asked, asked.seed), asked.store)
    with AskingLine() as show:
        report = train_spacy(data, settings, place, watch=noop if asked.quiet or asked.as_json else show, tell=say_aside)
    if asked.as_json:
        say_json({"out": str(report.out), "base": report.base, "notes": list(report.notes), **report.figures})
    else:
        _print(report, records=len(data.train), validation=len(data.validation))


def _print(report: SpacyReport, *, records: int, validation: int) -> None:
    figures = report.figures
    trained = f"trained on {counted(records, 'record')}, from {report.base}"
    say(f"{trained}; kept is epoch {figures['best_epoch']} of {figures['epochs']}")
    if (found := figures.get("validation")) is not None:
        say(f"on {counted(validation, 'validation record')}: precision {found['p']:.3f}, recall {found['r']:.3f}, F1 {found['f']:.3f}")
    say(f"{counted(round(figures['seconds']), 'second')}; the pipeline is in {report.out}")
    say(f"use it: piiloom detect INPUT --detector spacy --model-path {report.out} --out OUT")
