"""One session of a detection: chunks of earlier sessions are skipped, the rest is read, detected, appended and published.

Chunks are detected here, by worker processes, or by a detector that waits for a model, many texts at a time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO

from piiloom.detection.detector import DetectorText, Findings, ModelDetector, ScoredSpan, disjoint_spans, examine_texts
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.registry import make_detector
from piiloom.detection.running.documents import (
    MOST_DOCUMENTS,
    DocumentChunk,
    DocumentReader,
    InputDocument,
    RefusedRow,
    document_chunks,
)
from piiloom.detection.running.outputs import (
    FAILED,
    MASKED,
    REJECTS,
    ROWS,
    SET_ASIDE,
    ExportFolder,
    RowsFile,
    UnfinishedRun,
    output_of,
    unwritable_output,
)
from piiloom.detection.running.request import DetectionProgress, DetectionReport, DetectionRequest, DetectionWatch, detection_locale
from piiloom.detection.running.rows import (
    DOCUMENT,
    ChunkWriter,
    Detected,
    SpanCounts,
    detection_worker,
    unexpected_failures,
    with_unique_ids,
)
from piiloom.execution.chunk_workers import chunk_workers
from piiloom.execution.ordering import OrderedRun, StopSignal, stopped_by_ctrl_c
from piiloom.foundation.errors import DataError, Interrupted, PiiloomError, UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.repeated_ids import IdDigests, digests_of
from piiloom.foundation.whole_files import new_folders
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entities.entity_catalogue import ENGLISH


def model_detector(settings: DetectorSettings, provider: Provider | None = None) -> ModelDetector:
    """Return the detector of *settings*, which waits for a model or a service."""
    detector = make_detector(settings, provider=provider)
    assert isinstance(detector, ModelDetector)  # noqa: S101 - what is made for a model
    return detector


def detect_waiting(
    detector: ModelDetector,
    chunks: Iterator[DocumentChunk],
    take: Callable[[DocumentChunk, list[Findings]], object],
    told: Callable[[int], object] = noop,
    *,
    concurrency: int,
) -> None:
    """Have *detector* do *chunks*, *concurrency* documents at once, and call *take* with each that is done, in their order.

    *told* is called with the number of documents that are done of a chunk. Raises the errors that would hit every document: no key, no
    budget left; and ``Interrupted`` after Ctrl-C.
    """
    stop = StopSignal()
    found: list[Findings] = []

    async def examined(item: tuple[DocumentChunk, InputDocument]) -> tuple[DocumentChunk, Findings]:
        chunk, one = item
        with unexpected_failures(lambda: one.where):
            return chunk, await detector.examine_async(one.text, one.locale, one.question, item_id=one.id, group_keys=one.group_keys)

    def consume(outcome: tuple[DocumentChunk, Findings]) -> None:
        chunk, findings = outcome
        found.append(findings)
        if len(found) == len(chunk.documents):
            take(chunk, found.copy())
            found.clear()
        else:
            told(len(found))

    async def run() -> None:
        items = ((chunk, one) for chunk in chunks for one in chunk.documents)
        async with detector:
            with stopped_by_ctrl_c(stop):
                await OrderedRun(source=items, work=examined, consume=consume, concurrency=concurrency, stop=stop).run()
            if stop.requested:
                raise Interrupted("stopped at once")

    run_in_own_loop(run, on_interrupt=stop.request)


_MODEL_DOCUMENTS: Final = 25  # a chunk is written when it is whole, and models are slow
_UNIQUE: Final = "unique-"


class DetectionSession:
    """The steps of one session. ``replayed`` documents were done by earlier ones; ``model`` is what a model was asked, after ``finish``."""

    def __init__(
        self, request: DetectionRequest, reader: DocumentReader, kept: UnfinishedRun, watch: DetectionWatch, stack: ExitStack
    ) -> None:
        self._request, self._reader, self._kept, self._watch, self._stack = request, reader, kept, watch, stack
        self._writer = ChunkWriter(request)
        self._ids = IdDigests(kept.folder)
        stack.callback(self._ids.close)
        self._rejects: TextIO = stack.enter_context((kept.folder / REJECTS).open("w", encoding="utf-8", newline="\n"))
        self._tally = SpanCounts()
        self._detector: ModelDetector | None = None
        self._done = 0
        self.replayed = 0
        self.model: dict[str, Any] | None = None

    def detect(self, provider: Provider | None, agree: Callable[[], object]) -> None:
        """Detect in all documents that no earlier session has done."""
        self._check_catalogues()
        request = self._request
        if request.waits:
            self._detector = model_detector(request, provider)
            agree()
            detect_waiting(
                self._detector,
                self._jobs(_MODEL_DOCUMENTS),
                lambda chunk, found: self._take(chunk, self._writer.written(chunk, found)),
                self._tell,
                concurrency=request.concurrency,
            )
        else:
            make = partial(detection_worker, request)
            with chunk_workers(make, request.workers, place_of=lambda chunk: chunk.place) as do_all:
                for chunk, detected in do_all(self._jobs(MOST_DOCUMENTS)):
                    self._take(chunk, detected)

    def _check_catalogues(self) -> None:
        """Raise ``ConfigError`` for a fault in a user's catalogue, and ``UsageError`` if one has changed since the run was begun."""
        self._writer.catalogue(self._request.locale or ENGLISH[0])
        for locale, known in self._kept.catalogues.items():
            if self._writer.catalogue(locale) != known:
                raise UsageError(
                    f"the catalogue of {locale} has changed since the unfinished run was begun",
                    where=str(self._request.out),
                    remedy="Begin anew with --force",
                )

    def _jobs(self, most_documents: int) -> Iterator[DocumentChunk]:
        """Yield the chunks that are still to be done; those of earlier sessions are held against their notes."""
        notes = self._kept.notes()
        for chunk in document_chunks(self._reader.read(), self._set_aside, lambda: self._reader.done, most_documents):
            digests, tildes = digests_of(one.id for one in chunk.documents)
            self._ids.add(digests, len(chunk.documents), tildes)
            note = next(notes, None)
            if note is None:
                yield chunk
                continue
            if note.digest != chunk.digest:
                raise UsageError(
                    "the input has changed since the unfinished run was begun", where=chunk.place, remedy="Begin anew with --force"
                )
            self._tally.add(note.tally)
            self.replayed = self._tally.documents + self._tally.failed
            self._tell(0, chunk.done)
        if next(notes, None) is not None:
            raise UsageError(
                "the input has become shorter since the unfinished run was begun",
                where=str(self._request.path),
                remedy="Begin anew with --force",
            )

    def _set_aside(self, refused: RefusedRow) -> None:
        self._rejects.write(json.dumps(refused._asdict(), ensure_ascii=False) + "\n")

    def _take(self, chunk: DocumentChunk, detected: Detected) -> None:
        self._kept.append(chunk, detected)
        self._tally.add(detected.tally)
        self._tell(0, chunk.done)

    def _tell(self, more: int, done: int | None = None) -> None:
        """Report the progress: *more* documents are done, but not yet written."""
        self._done = self._done if done is None else done
        self._watch(
            DetectionProgress(
                documents=self._tally.documents + more,
                spans=self._tally.spans,
                refused=self._reader.refused + self._tally.failed,
                done=self._done,
                total=self._reader.total,
                kept=self.replayed,
                spent_usd=None if self._detector is None else self._detector.totals.spent_usd,
            )
        )

    def how_to_go_on(self) -> str | None:
        """Say how a later session finds what was done; None if that is nothing."""
        done = self._tally.documents + self._tally.failed
        return f"What is done is kept ({done:,} documents): give the same command with --resume" if self._kept.chunks else None

    def _reject_failed(self, lines: Path) -> set[int]:
        """Append the documents that failed to what was rejected, and return their numbers."""
        numbers = set()
        with lines.open(encoding="utf-8") as failed:
            for line in failed:
                told = json.loads(line)
                numbers.add(told.pop(DOCUMENT))
                self._rejects.write(json.dumps(told, ensure_ascii=False) + "\n")
        self._rejects.close()
        return numbers

    def finish(self, target: RowsFile | ExportFolder) -> tuple[dict[str, Any], list[Path]]:
        """Write the result, and return its figures and files."""
        folder = self._kept.folder
        failed = self._reject_failed(folder / FAILED)
        repeated, renamed = self._ids.repeated(self._tally.documents + self._tally.failed)
        lines = {name: folder / name for name in (ROWS, MASKED, SET_ASIDE)}
        if repeated is not None:
            for name, path in list(lines.items()):
                lines[name] = folder / f"{_UNIQUE}{name}"
                with_unique_ids(path, repeated, lines[name], failed)
        rows = lines.pop(ROWS)
        if self._request.mask is None:
            del lines[MASKED]
        beside = {name: path for name, path in (lines | {REJECTS: folder / REJECTS}).items() if name == MASKED or path.stat().st_size}
        figures = self._tally.to_json() | {"rejected": self._reader.refused, "repeated_ids": renamed}
        files, loss = target.finish(self._kept, rows, beside, figures, self._request.about)
        if loss.fields or loss.entries:
            figures["loss"] = loss.to_json()
        if self._detector is not None:
            self.model = asdict(self._detector.totals)
        return figures, files


def run_detection(
    request: DetectionRequest, *, watch: DetectionWatch = noop, provider: Provider | None = None, agree: Callable[[], object] = noop
) -> DetectionReport:
    """Detect, and write what *request* asks for; nothing of it has its name before all is there.

    *watch* is called as documents are done. *provider* replaces that of the settings. *agree* is called when all that can be checked is
    checked, and before a text is sent to a model; if it raises, nothing is.

    Raises ``UsageError``, ``DataError`` and ``OutputError``, ``Interrupted`` after Ctrl-C, and the errors of models that hit every
    document. What was done until then is kept, and the error says how to go on.
    """
    started = time.monotonic()
    out = request.place
    target = output_of(out, request.format, taxonomy=request.taxonomy, tokenizer=request.tokenizer, force=request.force)
    reader = DocumentReader(request)
    with ExitStack() as stack:
        try:
            stack.enter_context(new_folders([out.parent]))
        except OSError as error:
            raise unwritable_output(out, error) from error
        kept = stack.enter_context(UnfinishedRun(out, request.about, resume=request.resume, force=request.force))
        if kept.is_published:
            told = kept.roll_forward()
            return _report(request, told["figures"], [Path(name) for name in told["files"]], told["figures"]["documents"], started)
        target.check(again=kept.is_exporting)
        run = DetectionSession(
            request.named_after([(file.name, file.path.stat().st_size) for file in reader.files]), reader, kept, watch, stack
        )
        try:
            run.detect(provider, agree)
            figures, files = run.finish(target)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted("stopped at once", remedy=run.how_to_go_on() or "Give the same command again") from None
        except PiiloomError as error:
            if (remedy := run.how_to_go_on()) and not isinstance(error, UsageError):
                error.remedy = f"{error.remedy.rstrip('.')}. {remedy}" if error.remedy else remedy
            raise
    return _report(request, figures, files, run.replayed, started, run.model)


def _report(
    request: DetectionRequest, figures: dict[str, Any], files: list[Path], kept: int, started: float, model: dict[str, Any] | None = None
) -> DetectionReport:
    return DetectionReport(
        out=request.place, figures=figures, files=tuple(files), kept=kept, seconds=time.monotonic() - started, model=model
    )


def detect_texts(texts: Sequence[str], locale: str, question: str | None, settings: DetectorSettings) -> list[list[ScoredSpan]]:
    """Return the spans of each text, in text order and without overlaps.

    Raises ``UsageError`` for an unknown locale or without consent to send the texts, and ``DataError`` if a text could not be detected.
    """
    settings.check_agreed()
    locale = detection_locale(locale, any_locale=not settings.family.catalogue)
    found: list[Findings] = []
    if not settings.waits:
        found = examine_texts(make_detector(settings), [DetectorText(text, locale, question) for text in texts])
    elif texts:
        documents = tuple(
            InputDocument(f"text {number}", text, locale, question, "texts", number) for number, text in enumerate(texts, start=1)
        )
        chunks = iter([DocumentChunk(0, 0, documents, len(texts))])
        detect_waiting(model_detector(settings), chunks, lambda _, findings: found.extend(findings), concurrency=settings.concurrency)
    for number, one in enumerate(found, start=1):
        if one.failed is not None:
            raise DataError(f"the text was not detected: {one.failed}", where=f"text {number}")
    return [disjoint_spans(one.spans) for one in found]
