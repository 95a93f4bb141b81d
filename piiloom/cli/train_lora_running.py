"""The work behind ``piiloom train lora``."""

from __future__ import annotations

from piiloom.cli.asking_line import AskingLine
from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.cli.train_options import LoraCommand
from piiloom.cli.train_reading import read_and_tell, training_choice
from piiloom.detection.training.lora.lora_settings import CAPID, MARKERS, LoraPlace, LoraSettings
from piiloom.detection.training.lora.lora_training import LoraReport, train_lora
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted


def train_and_report(asked: LoraCommand) -> None:
    """Train and print what came of it; what is wrong with the request or the base comes out before the training."""
    settings, place = settings_of(LoraSettings, asked), settings_of(LoraPlace, asked)
    data = read_and_tell(training_choice(asked, asked.seed), asked.store)
    with AskingLine() as show:
        report = train_lora(data, settings, place, watch=noop if asked.quiet or asked.as_json else show, tell=say_aside)
    if asked.as_json:
        say_json({"out": str(report.out), "base": report.base, "task": report.task, "notes": list(report.notes), **report.figures})
    else:
        _print(report, place)


def _print(report: LoraReport, place: LoraPlace) -> None:
    figures = report.figures
    seen = figures["examples"]
    say(f"trained on {counted(seen['train'], 'example')} of the task {report.task}: {counted(figures['steps'], 'step')}")
    losses = [f"loss {figures['loss']:.3f}"] if figures["loss"] is not None else []
    losses += [f"validation loss {loss:.3f} after epoch {epoch:g}" for epoch, loss in figures["validation_loss"]]
    say(", ".join(losses))
    say(f"{counted(round(figures['seconds']), 'second')} on {figures['device']}; the adapter is in {report.out}")
    use = f"--base {place.base} --adapter {report.out}"
    if report.task in {CAPID, MARKERS}:
        say(f"use it: piiloom detect INPUT --detector {report.task} {use} --out OUT")
    else:
        say(f"use it: piiloom detect INPUT --detector … --verify {report.task[-1]} {use} --out OUT")
