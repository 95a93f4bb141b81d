"""The detectors that the annotation app offers: those that need nothing, and those that ``piiloom annotate --detect`` names.

Each run is a ``piiloom detect`` in a process of its own: it takes no time from those who annotate, can be stopped, and may fail.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer
from typer.exceptions import TyperException

from piiloom.annotation_app.worklist.detection_runs import OfferedDetector
from piiloom.cli.detect_options import ANNOTATION, DetectCommand
from piiloom.cli.detecting import detector_settings
from piiloom.detection.families import FAMILIES, RECOGNIZERS
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.generation.settings.command_line_options import takes

_OPTION: Final = "--detect"
_EVERY_S: Final = 0.2
_PATIENCE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Named:
    """A detector and the options of ``piiloom detect`` that make it."""

    offered: OfferedDetector
    words: tuple[str, ...]
    takes_types: bool


class CommandDetectors:
    """See the module. *named* are texts of options: ``"--detector encoder --model-path outputs/encoder"``.

    Raises ``UsageError`` if one of them makes no detector, or makes one that sends texts away without saying ``--yes``.
    """

    def __init__(self, named: Sequence[str] = ()) -> None:
        free = [_named(("--detector", name)) for name, family in FAMILIES.items() if not family.needs and name != "presidio"]
        given = [_named(_split(text)) for text in named]
        self._named = {one.offered.label: one for one in (*given, *free)}

    @property
    def offered(self) -> Sequence[OfferedDetector]:
        """Those that can be chosen, the named ones first."""
        return [one.offered for one in self._named.values()]

    def detect(self, chosen: OfferedDetector, source: Path, out: Path, types: Path | None, stopping: threading.Event) -> None:
        """See ``Detectors``. Own types are for detectors that take a types file, unless their options name another."""
        named = self._named[chosen.label]
        own = () if types is None or not named.takes_types else ("--types", str(types))
        words = ["detect", str(source), *named.words, *own, "--out", str(out), "--workers", "1", "--json"]
        command = [sys.executable, "-m", "piiloom", *words]  # words of whoever started the app; a browser only chooses among them
        silent, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(command, stdin=silent, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603 - see above
            told: list[str] = []
            reader = threading.Thread(target=lambda: told.extend(process.communicate()), name="detection output")
            reader.start()
            while reader.is_alive():
                reader.join(_EVERY_S)
                if stopping.is_set():
                    process.terminate()
                    reader.join(_PATIENCE_S)
                    process.kill()
                    reader.join()
        if process.returncode and not stopping.is_set():
            raise _fault(told, process.returncode)


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"the options cannot be read ({error})", where=f"{_OPTION} {text!r}", remedy="Close the quotation mark") from error


def _named(words: tuple[str, ...]) -> _Named:
    asked = _parsed(words)
    where = f"{_OPTION} {shlex.join(words)!r}"
    if asked.source is not None or asked.out is not None or asked.to == ANNOTATION or asked.as_json:
        raise UsageError("the app says what is read and written", where=where, remedy="Leave INPUT, --out, --to and --json out")
    try:
        settings = detector_settings(asked)
    except UsageError as error:
        raise UsageError(error.message, where=f"{where}: {error.where}" if error.where else where, remedy=error.remedy) from error
    if settings.sends and not asked.yes:
        raise UsageError(
            f"the detector {asked.detector!r} sends texts away",
            where=where,
            remedy="Add --yes to its options if whoever is an admin may do that",
        )
    model = settings.model.name if settings.model is not None else None if settings.local is None else Path(settings.local.path).name
    label = shlex.join(word for word in words if word not in {"--detector", "--yes"})
    offered = OfferedDetector(label=label, detector=asked.detector, about=settings.family.about, model=model, sends=settings.sends)
    return _Named(offered, words, takes_types=settings.family.own != RECOGNIZERS and not asked.types)


def _parsed(words: Sequence[str]) -> DetectCommand:
    """Return the command that *words*, options of ``piiloom detect``, ask for; nothing is run."""
    caught: list[DetectCommand] = []

    @takes(DetectCommand, ())
    def take(**given: Any) -> None:
        caught.append(DetectCommand(**given))

    app = typer.Typer(add_completion=False)
    app.command()(take)
    try:
        typer.main.get_command(app).main(args=list(words), prog_name="piiloom detect", standalone_mode=False)
    except TyperException as error:
        raise UsageError(error.format_message(), where=f"{_OPTION} {shlex.join(words)!r}", remedy="See piiloom detect --help") from error
    if not caught:  # it was asked for help
        raise UsageError("these options make no detector", where=f"{_OPTION} {shlex.join(words)!r}", remedy="See piiloom detect --help")
    return caught[0]


def _fault(told: Sequence[str], code: int) -> PiiloomError:
    """Return what the command said went wrong."""
    with suppress(ValueError, KeyError, TypeError, IndexError):
        error = json.loads(told[0])["error"]
        return PiiloomError(str(error["message"]), where=error.get("where"), remedy=error.get("remedy"))
    return PiiloomError(f"the detector ended with exit code {code}", remedy="Run piiloom detect by hand to see why")
