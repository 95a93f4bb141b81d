"""The work behind ``piiloom train encoder``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.cli.train_options import EncoderCommand
from piiloom.cli.train_progress import TrainingLines, shown
from piiloom.cli.train_reading import read_and_tell, training_choice
from piiloom.detection.encoder.encoder_settings import CHECKPOINT, EncoderSettings
from piiloom.detection.encoder.encoder_training import train_encoder
from piiloom.detection.training.base_model import base_facts
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.whole_files import write_folder
from piiloom.foundation.words import counted
from piiloom.tagging.model_card import About

if TYPE_CHECKING:
    from piiloom.detection.encoder.training_history import History, TrainingProgress

NO_RELEVANCE = "Train spans and types alone with --no-relevance"


def train_and_report(asked: EncoderCommand) -> None:
    """Train, say how it goes on standard error, and print what came of it."""
    about, history = train_as_asked(asked, TrainingLines(quiet=asked.quiet).watch, say_aside)
    out = asked.out
    plotted = _plotted(out, history)
    if asked.as_json:
        told = {name: getattr(about, name) for name in ("family", "base", "data", "settings", "figures", "piiloom")}
        say_json({"out": str(out), "types": list(about.types), **told})
        return
    _print(about, out, plot=plotted)


def train_as_asked(
    asked: EncoderCommand, watch: Callable[[TrainingProgress], None], tell: Callable[[str], object]
) -> tuple[About, History]:
    """Train; *watch* hears of the progress, *tell* of what is not as one might expect. See ``train_encoder`` for what it raises."""
    settings, out = settings_of(EncoderSettings, asked), asked.out
    choice = replace(training_choice(asked, asked.seed), relevance=settings.relevance, without_relevance=NO_RELEVANCE)
    base_facts(asked.base)  # before the records, which take longer to read
    data = read_and_tell(choice, asked.store, tell)
    try:
        return train_encoder(data, asked.base, out, settings, watch=watch, resume=asked.resume, force=asked.force, onnx=asked.onnx)
    except KeyboardInterrupt:
        if not (out / CHECKPOINT).exists():
            raise
        remedy = "Give the same command with --resume, and it goes on from there"
        raise Interrupted("the training was stopped; its last checkpoint is kept", where=str(out), remedy=remedy) from None


def _print(about: About, out: Path, *, plot: bool) -> None:
    figures = about.figures
    counts = about.data["counts"]
    took = f"{counted(figures['epochs'], 'epoch')}, {figures['seconds']:,.0f} s on {about.settings['device_used']}"
    say(f"trained on {counted(counts['train'], 'record')}, {took}")
    if figures["validation"]:
        say(f"validation ({counted(counts['validation'], 'record')}, epoch {figures['best_epoch']}): {shown(figures['validation'])}")
    else:
        say("no validation records: the last epoch is kept, and scores are not calibrated")
    say(f"model  {out}" + (", with plot.png" if plot else ""))
    say(f"next   piiloom detect INPUT --detector encoder --model-path {out} --out FOUND.jsonl")


def _plotted(out: Path, history: History) -> bool:
    """Draw losses and validation where matplotlib is there; it comes with the extra ``report``, and a training does not need it."""
    with suppress(ImportError):
        from piiloom.cli.train_encoder_plot import draw_history  # noqa: PLC0415 - needs matplotlib

        plot = draw_history(history)
        write_folder(out, {"plot.svg": plot.svg, "plot.png": plot.png})
        return True
    say_aside("no plot of the losses: it needs matplotlib (the extra report)")
    return False
