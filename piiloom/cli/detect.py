"""``piiloom detect``: personal information in texts, and the detectors that ``piiloom annotate`` offers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import typer
from pydantic import model_validator
from typer.exceptions import TyperException

from piiloom.cli.options import json_setting, store_for_reading
from piiloom.cli.progress import shown
from piiloom.cli.terminal import (
    agree_to_send,
    dollars,
    duration_text,
    examples,
    harmless,
    rate_text,
    say_aside,
    say_result,
    table_of,
)
from piiloom.corpus.store import store_setting
from piiloom.detection.families import FAMILIES, RECOGNIZERS
from piiloom.detection.running.request import READING, DetectionRequest
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import PiiloomError, StoreLocked, UsageError
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from piiloom.annotation_app.worklist.detection_runs import OfferedDetector
    from piiloom.corpus.suggesting import SuggestionReport
    from piiloom.detection.running.request import DetectionProgress, DetectionReport

_DETECTORS = "\n".join(["Detectors:", *(f"  {name}: {family.about}" for name, family in FAMILIES.items()), ""])
DETECT_EXAMPLES = _DETECTORS + examples(
    "piiloom detect notes/ --locale pl_PL --out outputs/found.jsonl",
    "piiloom detect tickets.csv --text-field message --id-field ticket --locale-field lang --out outputs/found.jsonl --workers 2",
    "piiloom detect outputs/v1/test.jsonl --detector hybrid-offline --out outputs/predictions.jsonl",
    "piiloom detect chats.txt --lines --locale pt_BR --out outputs/masked.jsonl --mask subtype",
    "piiloom detect mails.parquet --locale nl_NL --out outputs/to-review --format label-studio",
    "piiloom detect notes/ --locale pl_PL --out outputs/found.jsonl --resume",
    "piiloom detect --store work.duckdb --to annotation --detector hybrid-offline",
    "piiloom detect notes/ --locale fi_FI --detector hybrid --provider openai --budget-usd 5 --out outputs/found.jsonl",
)
_TYPES_SHOWN: Final = 15
_FEW: Final = 100  # documents: of fewer, most of the time is taken by reading the catalogue
_OF_FILES: Final = (
    *("text_field", "id_field", "question_field", "locale_field", "input_format", "lines"),
    *("format", "mask", "mask_char"),
)
_OPTION: Final = "--detect"
_EVERY_S: Final = 0.2
_PATIENCE_S: Final = 5.0


class Detect(DetectionRequest):
    """The options of ``piiloom detect``."""

    to: Literal["files", "annotation"] = setting(
        "files", "Place of the findings: files at --out, or suggestions for annotators in the workspace --store."
    )
    store: Path = store_setting()
    release: str | None = setting(
        None,
        "With --to annotation: the records of this release, instead of those that wait (all, if there is no work list yet).",
        metavar="NAME",
        panel=READING,
    )
    record: tuple[str, ...] = setting((), "With --to annotation: this record only. May be repeated.", metavar="ID", panel=READING)
    as_json: bool = json_setting()

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = self.model_fields_set
        if self.to == "files":
            for name in given.intersection(("store", "release", "record")):
                raise UsageError(
                    "it says nothing without --to annotation", where=Detect.option_name(name), remedy="Add that, or leave it out"
                )
            return self
        for name in filter(given.__contains__, _OF_FILES):
            remedy = "Leave it out: records of a store are read"
            raise UsageError("it says nothing with --to annotation", where=Detect.option_name(name), remedy=remedy)
        if self.out is not None and self.out.suffix != ".jsonl":
            raise UsageError("suggestions are native rows", where="--out", remedy="Name a .jsonl file, or leave it out")
        if self.release is not None and self.record:
            raise UsageError("--release and --record both say what to look through", remedy="Give one of them")
        if self.source is not None and "store" in given and self.source.resolve() != self.store.resolve():
            remedy = "Name the workspace with --store, and no INPUT"
            raise UsageError("INPUT and --store are two stores", where=str(self.source), remedy=remedy)
        return self


@takes(Detect)
def detect(asked: Detect) -> None:
    """Find personal information in the texts of INPUT, and write it: where it is, of which type, how surely.

    OUT gets its name when all is there. The part that a stopped or killed run has done is kept; --resume continues with it.
    docs/detection.md explains the detectors and the files. With --to annotation, findings in the records of --store that wait
    for annotation are offered to the annotators as suggestions (docs/annotation.md).
    """
    if asked.to == "annotation":
        _suggest(asked)
        return
    report = _detected(asked, as_json=asked.as_json)
    _print(report, asked)
    if asked.family.catalogue:
        from piiloom.taxonomy.own_entities import without_pattern
        from piiloom.taxonomy.own_types import UNTYPED

        if lacking := without_pattern(tuple(one for one in asked.own_types if one != UNTYPED)):
            say_aside(f"not looked for, since no pattern says how their values look: {', '.join(lacking)}")


def _detected(request: DetectionRequest, *, as_json: bool) -> DetectionReport:
    from piiloom.detection.running.running import run_detection

    def agree() -> None:
        for line in request.sent(f"the texts of {request.path}"):
            agree_to_send(line, yes=request.yes)

    with shown(_Rate().described, wanted=not as_json, share=lambda one: (one.done, one.total)) as watch:
        return run_detection(request, watch=watch, agree=agree)


class _Rate:
    """Documents a second of this session, and the time that is left; the part of earlier sessions does not count."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._before: tuple[int, int] = (0, 0)

    def described(self, progress: DetectionProgress) -> str:
        """Describe *progress* in one line."""
        now = time.monotonic()
        if progress.kept == progress.documents and progress.documents:
            self._started, self._before = now, (progress.documents, progress.done)
            return f"{counted(progress.documents, 'document')} done by earlier sessions"
        documents, done = self._before
        seconds = max(now - self._started, 1e-6)
        parts = [counted(progress.documents, "document")]
        if progress.total:
            parts.append(f"{min(progress.done / progress.total, 1.0):.0%} of the input")
        parts.append(rate_text((progress.documents - documents) / seconds))
        if progress.total and progress.done > done:
            parts.append(f"ETA {duration_text((progress.total - progress.done) * seconds / (progress.done - done))}")
        parts.append(counted(progress.spans, "span"))
        if progress.refused:
            parts.append(f"{counted(progress.refused, 'row')} set aside")
        if progress.spent_usd is not None:
            parts.append(dollars(progress.spent_usd))
        return " · ".join(parts)


def _print(report: DetectionReport, asked: Detect) -> None:
    from piiloom.foundation.peak_memory import peak_bytes

    figures = report.figures
    kinds = figures["subtypes"] or figures["types"]  # not all detectors know the catalogue
    rows = [(name, f"{count:,}") for name, count in list(kinds.items())[:_TYPES_SHOWN]]
    if rest := figures["spans"] - sum(list(kinds.values())[:_TYPES_SHOWN]):
        rows.append(("all others", f"{rest:,}"))
    table = table_of(f"{asked.detector} in {asked.path.name}", ("type", "spans"), rows, right=(1,))
    data = {"input": str(asked.path), "detector": asked.detector, **report.to_json(), "peak_bytes": peak_bytes()}
    files = (f"  {path}" for path in report.files)
    say_result(data, table, _documents(report), *_asides(report), *files, as_json=asked.as_json)


def _documents(report: DetectionReport) -> str:

    figures, rate = report.figures, report.documents_per_second
    words = f"{counted(figures['documents'], 'document')}, {counted(figures['spans'], 'span')} in {figures['with_spans']:,} of them"
    if figures["validated"]:
        words += f", {figures['validated']:,} with a valid check digit or the like"
    words += f"; {report.seconds:.1f} s"
    if rate is not None and figures["documents"] - report.kept >= _FEW:
        words += f", {rate_text(rate)}"
    return words + (f", {counted(report.kept, 'document')} done before" if report.kept else "")


def _asides(report: DetectionReport) -> Iterator[str]:

    figures = report.figures
    rejects = next((path.name for path in report.files if path.name.endswith("detect-rejects.jsonl")), "detect-rejects.jsonl")
    if figures["rejected"]:
        yield f"not read: {figures['rejected']:,} of the rows or files, with their lines and reasons in {rejects}"
    if figures["failed"]:
        yield f"not detected: {counted(figures['failed'], 'document')}, with the reasons in {rejects}"
    if figures["repeated_ids"]:
        yield f"{counted(figures['repeated_ids'], 'document')} had the id of an earlier one, and got another: ID~2 …"
    if figures["overlapping"]:
        yield f"{counted(figures['overlapping'], 'span')} left out: they overlap a surer one"
    if figures["set_aside"]:
        yield f"set aside by the detector: {', '.join(f'{harmless(name)} {count:,}' for name, count in figures['set_aside'].items())}"
    if report.model is not None:
        cost = dollars(report.model["cost_usd"] + report.model["charged_usd"])
        yield f"model: {counted(report.model['answered'], 'answer')}, {report.model['replayed']:,} taken from the store, {cost}"
    if (loss := figures.get("loss")) is not None:
        yield f"the format does not keep: {', '.join(loss['fields'])}"
        if loss["entries"]:
            yield f"lost in the format: {counted(len(loss['entries']), 'value')} (release.json lists them)"


def _suggest(asked: Detect) -> None:
    """Detect in records of a store, and store the findings as suggestions. Raises ``UsageError`` for a detector that states no types."""
    if asked.family.untyped:
        problem = f"suggestions need types, and the detector {asked.detector!r} states none"
        raise UsageError(problem, where="--detector", remedy="Choose another detector")
    from piiloom.annotation_app.worklist.detection_runs import StoreDetection

    workspace = asked.source or asked.store
    work = StoreDetection(workspace, detector=asked.detector, rows=asked.out, resume=asked.resume)
    reports: list[DetectionReport] = []

    def detect_in(source: Path, out: Path) -> None:
        replies = asked.replies if "replies" in asked.model_fields_set else workspace
        request = DetectionRequest.of({**asked.part(DetectionRequest).given(), "source": source, "out": out, "replies": replies})
        try:
            reports.append(_detected(request, as_json=asked.as_json))
        except StoreLocked as error:
            remedy = "Stop it, or keep the replies in another file with --replies"
            raise StoreLocked(error.message, where=error.where, remedy=remedy) from error

    with store_for_reading(workspace) as store:
        work.take(store, asked.release, asked.record)
    work.run(detect_in)
    stored = work.store(asked.model_name)
    found = {"detection": reports[0].figures} if reports else {}
    lines = _stored_lines(stored, [path for one in reports for path in one.files if path.exists()], workspace)
    say_result({"store": str(workspace), **stored.to_json(), **found}, *lines, as_json=asked.as_json)


def _stored_lines(stored: SuggestionReport, files: Sequence[Path], workspace: Path) -> Iterator[str]:
    counts = stored.counts
    words = f"{counted(counts.added, 'new suggestion')} by {harmless(stored.run.detector)} for {counted(stored.records, 'record')}"
    yield f"{words}; {counts.known:,} were there before, {counts.withdrawn:,} are withdrawn"
    if stored.unknown_types:
        yield f"left out, since the store has no such type: {', '.join(map(harmless, sorted(stored.unknown_types)))}"
    if stored.rejected:
        yield f"rejected: {counted(len(stored.rejected), 'row')}, the first one since {harmless(stored.rejected[0][1])}"
    yield from (f"  {path}" for path in files)
    yield f"Annotators see them: piiloom annotate --store {workspace}"


class CommandDetectors:
    """The detectors that the annotation app offers: those that need nothing, and those that ``piiloom annotate --detect`` names.

    Each run is a ``piiloom detect`` in a process of its own: it takes no time from those who annotate, can be stopped, and may fail.
    *named* are texts of options: ``"--detector encoder --model-path outputs/encoder"``. Raises ``UsageError`` if one of them makes no
    detector, or makes one that sends texts away without ``--yes``.
    """

    def __init__(self, named: Sequence[str] = ()) -> None:
        free = [("--detector", name) for name, family in FAMILIES.items() if not (family.needs or family.untyped or name == "presidio")]
        self._named = {one.label: (one, words, takes) for one, words, takes in map(_offered, [*map(_split, named), *free])}

    @property
    def offered(self) -> Sequence[OfferedDetector]:
        """The detectors that can be chosen, the named ones first."""
        return [one for one, _, _ in self._named.values()]

    def detect(self, chosen: OfferedDetector, source: Path, out: Path, types: Path | None, stopping: threading.Event) -> None:
        """See ``Detectors``. Own types are for detectors that take a types file, unless their options name another."""
        _, words, takes_types = self._named[chosen.label]
        own = () if types is None or not takes_types else ("--types", str(types))
        options = ["detect", str(source), *words, *own, "--out", str(out), "--workers", "1", "--json"]
        command = [sys.executable, "-m", "piiloom", *options]  # words of the person who started the app; a browser only chooses among them
        silent, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(command, stdin=silent, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603 - see above
            printed: list[str] = []
            reader = threading.Thread(target=lambda: printed.extend(process.communicate()), name="detection output")
            reader.start()
            while reader.is_alive():
                reader.join(_EVERY_S)
                if stopping.is_set():
                    process.terminate()
                    reader.join(_PATIENCE_S)
                    process.kill()
                    reader.join()
        if process.returncode and not stopping.is_set():
            raise _fault(printed, process.returncode)


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"the options cannot be read ({error})", where=f"{_OPTION} {text!r}", remedy="Close the quotation mark") from error


def _offered(words: tuple[str, ...]) -> tuple[OfferedDetector, tuple[str, ...], bool]:
    """Return the detector that *words*, options of ``piiloom detect``, make, the words, and whether it takes a types file."""
    from piiloom.annotation_app.worklist.detection_runs import OfferedDetector

    where = f"{_OPTION} {shlex.join(words)!r}"
    try:
        asked = _parsed(words)
    except UsageError as error:
        raise UsageError(error.message, where=f"{where}: {error.where}" if error.where else where, remedy=error.remedy) from error
    if asked.source is not None or asked.out is not None or asked.to == "annotation" or asked.as_json:
        raise UsageError("the app says what is read and written", where=where, remedy="Leave INPUT, --out, --to and --json out")
    if asked.sends and not asked.yes:
        remedy = "Add --yes to its options if whoever is an admin may do that"
        raise UsageError(f"the detector {asked.detector!r} sends texts away", where=where, remedy=remedy)
    label = shlex.join(word for word in words if word not in {"--detector", "--yes", "-y"})
    offered = OfferedDetector(label=label, detector=asked.detector, about=asked.family.about, model=asked.model_name, sends=asked.sends)
    return offered, words, asked.family.own != RECOGNIZERS and not asked.types


def _parsed(words: Sequence[str]) -> Detect:
    """Return the options that *words* make; nothing is run."""
    caught: list[Detect] = []
    app = typer.Typer(add_completion=False)
    app.command()(takes(Detect)(caught.append))
    try:
        typer.main.get_command(app).main(args=list(words), prog_name="piiloom detect", standalone_mode=False)
    except TyperException as error:
        raise UsageError(error.format_message(), remedy="See piiloom detect --help") from error
    if not caught:  # it was asked for help
        raise UsageError("these options make no detector", remedy="See piiloom detect --help")
    return caught[0]


def _fault(printed: Sequence[str], code: int) -> PiiloomError:
    """Return the error that the command printed."""
    with suppress(ValueError, KeyError, TypeError, IndexError):
        error: dict[str, Any] = json.loads(printed[0])["error"]
        return PiiloomError(str(error["message"]), where=error.get("where"), remedy=error.get("remedy"))
    return PiiloomError(f"the detector ended with exit code {code}", remedy="Run piiloom detect by hand to see why")
