"""The work behind ``piiloom detect --to annotation``: look through records of a store, and offer what is found to its annotators.

One process at a time can write a store. So it is not held while the detector works: records are read first (from a copy, if the app has
the store), and suggestions are stored at the end. If somebody has the store then, what was found stays in a file, which the app takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.annotation_app.worklist.suggestion_intake import SuggestionIntake
from piiloom.cli.detect_options import ANNOTATION, DEFAULT_REPLIES, DetectCommand
from piiloom.cli.detect_progress import shown_detection
from piiloom.cli.detecting import detect_files, detector_settings
from piiloom.cli.options import DEFAULT_STORE
from piiloom.cli.reading import store_for_reading
from piiloom.cli.terminal import harmless, say, say_json
from piiloom.corpus.formats.native_rows import write_rows
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, base_records, load_items, newest_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import get_release, places_of
from piiloom.corpus.store.shared import SharedStore
from piiloom.corpus.suggesting import SuggestionReport
from piiloom.detection.running.progress import DetectionReport
from piiloom.detection.running.unfinished import REJECTS, SET_ASIDE
from piiloom.foundation.errors import DataError, OutputError, StoreLocked, UsageError
from piiloom.foundation.words import counted

ACTOR: Final = "piiloom detect"
_OF_FILES: Final = {
    "text_field": "--text-field",
    "id_field": "--id-field",
    "question_field": "--question-field",
    "locale_field": "--locale-field",
    "input_format": "--input-format",
    "lines": "--lines",
    "file_format": "--format",
    "mask": "--mask",
    "mask_char": "--mask-char",
}


def suggest_and_report(asked: DetectCommand) -> None:
    """Detect, store what is found as suggestions, and print what came of it."""
    workspace = _workspace(asked)
    folder = workspace.with_name(f"{workspace.name}.detecting")
    rows = asked.out or folder / f"{asked.detector}.jsonl"
    source = folder / "records.jsonl"
    with store_for_reading(workspace) as store:
        count = _write_records(_chosen(store, asked), source)
    if not count:
        source.unlink()
        _remove_if_empty(folder)
        raise UsageError(_nothing(asked), where=str(workspace), remedy="Put records into the work list, on the page Admin of the app")
    report = _detected(replace(asked, source=source, out=rows, store=workspace), is_ours=asked.out is None)
    stored = _stored(workspace, rows, asked)
    source.unlink(missing_ok=True)
    if asked.out is None:
        rows.unlink(missing_ok=True)
    _remove_if_empty(folder)
    _print(report, stored, asked, workspace)


def _workspace(asked: DetectCommand) -> Path:
    for field, option in _OF_FILES.items():
        if getattr(asked, field):
            raise UsageError(f"it says nothing with --to {ANNOTATION}", where=option, remedy="Leave it out: records of a store are read")
    if asked.out is not None and asked.out.suffix != ".jsonl":
        raise UsageError("suggestions are native rows", where="--out", remedy="Name a .jsonl file, or leave it out")
    if asked.release is not None and asked.record:
        raise UsageError("--release and --record both say what to look through", remedy="Give one of them")
    named = None if asked.store == DEFAULT_REPLIES else asked.store
    if asked.source is not None and named is not None and asked.source.resolve() != named.resolve():
        raise UsageError(
            "INPUT and --store are two stores", where=str(asked.source), remedy="Name the workspace with --store, and no INPUT"
        )
    return asked.source or named or DEFAULT_STORE


def _chosen(store: Store, asked: DetectCommand) -> Iterator[Record]:
    """Yield the records to look through: with the text that annotation begins with, and the newest one if they are not on the work list."""
    if asked.release is None and not asked.record:
        listed = load_items(store, roles=["work"])
        if not listed:  # nobody has put records into the work list yet: an admin will
            yield from (record for _, record in newest_records(store))
            return
        yield from base_records(store, [item.record_id for item in listed if item.status in OPEN_STATUSES]).values()
        return
    names = list(asked.record or ()) if asked.release is None else list(places_of(store, get_release(store, asked.release)))
    found = {record.id: record for _, record in newest_records(store, record_ids=names)} | base_records(store, names)
    for name in dict.fromkeys(names):
        if name not in found:
            raise UsageError("there is no such record", where=f"--record {name}", remedy="piiloom records list shows the ids")
        yield found[name]


def _nothing(asked: DetectCommand) -> str:
    return "no record waits for annotation" if asked.release is None else "the release has no records"


def _write_records(records: Iterator[Record], path: Path) -> int:
    """Write what a detector may know of *records*: text, question and locale, no labels. Return how many there are."""
    count = 0

    def told() -> Iterator[dict[str, Any]]:
        nonlocal count
        for record in records:
            count += 1
            yield {"id": record.id, "locale": record.locale, "context": record.context, "question": record.question}

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(told(), path)
    except OSError as error:
        raise OutputError(f"the texts cannot be written ({error.strerror})", where=str(path.parent), remedy="Make room there") from error
    return count


def _detected(asked: DetectCommand, *, is_ours: bool) -> DetectionReport | None:
    """Run the detector; None if an earlier command has done it and only could not store the result."""
    if asked.resume and asked.written_to.exists():
        return None
    if is_ours and not asked.resume:
        for path in (asked.written_to, *_asides(asked.written_to)):
            path.unlink(missing_ok=True)  # of an earlier command
    try:
        with shown_detection(wanted=not asked.as_json) as watch:
            return detect_files(asked, watch)
    except StoreLocked as error:
        remedy = (
            f"Stop it, or give the replies another file: piiloom detect {asked.read_from} --detector {asked.detector} … --out found.jsonl, "
            "and upload that in the app (Admin, Suggestions)"
        )
        raise StoreLocked(error.message, where=error.where, remedy=remedy) from error


def _stored(workspace: Path, rows: Path, asked: DetectCommand) -> SuggestionReport:
    if not rows.stat().st_size:
        raise DataError("no record could be detected", where=str(_asides(rows)[-1]), remedy="That file has the reasons")
    rejects = rows.with_name(f"{rows.stem}-rejects.jsonl")
    try:
        store = Store.open(workspace, create=False)
    except StoreLocked as error:
        remedy = f"What was found is in {rows}: upload it in the app (Admin, Suggestions), or stop it and repeat the command with --resume"
        raise StoreLocked(error.message, where=error.where, remedy=remedy) from error
    shared = SharedStore(store)
    try:
        log = EventLog(shared)
        settings = SettingsStore(shared, log)
        intake = SuggestionIntake(shared, log, settings, Pool(shared, log, settings))
        return intake.add(ACTOR, rows, detector=asked.detector, model=_model(asked), rejects=rejects)
    finally:
        shared.close()


def _model(asked: DetectCommand) -> str | None:
    settings = detector_settings(asked)
    if settings.model is not None:
        return settings.model.name
    return None if settings.local is None else Path(settings.local.path).name


def _asides(rows: Path) -> list[Path]:
    """Where the detection of *rows* writes what it could not read or use."""
    return [rows.with_name(f"{rows.stem}.{name}") for name in (SET_ASIDE, REJECTS)]


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _print(report: DetectionReport | None, stored: SuggestionReport, asked: DetectCommand, workspace: Path) -> None:
    if asked.as_json:
        found = {} if report is None else {"detection": report.figures}
        say_json({"store": str(workspace), **stored.to_json(), **found})
        return
    counts = stored.counts
    said = f"{counted(counts.added, 'new suggestion')} by {harmless(stored.run.detector)} for {counted(stored.records, 'record')}"
    say(f"{said}; {counts.known:,} were there before, {counts.withdrawn:,} are withdrawn")
    if stored.unknown_types:
        say(f"left out, since the store has no such type: {', '.join(map(harmless, sorted(stored.unknown_types)))}")
    if stored.rejected:
        say(f"rejected: {counted(len(stored.rejected), 'row')}, the first one since {harmless(stored.rejected[0][1])}")
    for path in () if report is None else report.files:
        if path.exists():
            say(f"  {path}")
    say(f"Annotators see them: piiloom annotate --store {workspace}")
