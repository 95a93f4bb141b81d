"""Running over an input of any size: counting it, sharing it out to workers, and writing the outputs.

The same key gives the same bytes for any number of workers and any chunk size. A first reading counts where each chunk begins.

Memory grows with the input only by a few bytes per person, chunk and file. Digests of ids and texts are on disk, eight bytes each. A row,
or a whole .txt or .xml file, is in memory with its record and mirror: about ten times its size, plus 0.9 kB per placeholder. Where one
process does all, rows and findings in the first 16 million code points are kept from the first reading to the second.
"""

from __future__ import annotations

import json
import shutil
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from piiloom.execution.chunk_workers import DoAll, chunk_workers
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.repeated_ids import IdDigests, RepeatedIds
from piiloom.foundation.startup import collecting_at
from piiloom.foundation.version import __version__
from piiloom.surrogates.inputs.column_files import headers_of
from piiloom.surrogates.inputs.json_rows import absent_fields
from piiloom.surrogates.inputs.parts import (
    AUTHORS,
    BAD_ROWS,
    CUT_SPANS,
    DROPPED_SPANS,
    NO_SPANS,
    NO_TEXT,
    PLACEHOLDER_KEYS,
    WHOLE_FILES,
    BratLayout,
    ParquetLayout,
    PartChunk,
    SourceFile,
    SourceSettings,
    TableLayout,
    names_shown,
)
from piiloom.surrogates.inputs.reading import KeptRows, ReadCount
from piiloom.surrogates.inputs.source import InputSource, words_of_name
from piiloom.surrogates.inputs.tables import NO_QUESTION
from piiloom.surrogates.outputs.folder import MAP, MIRROR, RECORDS, REPORT, TOOL, RunFolder, VaultFile
from piiloom.surrogates.outputs.report_page import PAGE, Chosen, RunTally, by_count, report_page
from piiloom.surrogates.outputs.writing import MirrorFolder
from piiloom.surrogates.same_values import FILE_NAMES, HEADERS, known_warnings
from piiloom.surrogates.worker import (
    ChunkReplaced,
    ChunkScanned,
    ChunkWorker,
    Job,
    WorkerSettings,
    chunk_place,
    surrogate_worker,
)

if TYPE_CHECKING:
    from piiloom.surrogates.engine import Engine

SKIPPED: Final = "skipped_rows.jsonl"


class InputCounts:
    """Counts of all files. Chunks are added in input order; afterwards the first line of each part is known."""

    def __init__(self) -> None:
        self.documents = 0
        self.files: dict[int, ReadCount] = {}
        self._chunk_starts = array("Q")
        self._part_lines = array("Q")

    def add(self, chunk: PartChunk, parts: list[ReadCount]) -> None:
        """Add the counts of *chunk*, one for each of its parts."""
        self._chunk_starts.append(self.documents)
        for part, count in zip(chunk.parts, parts, strict=True):
            file = self.files.setdefault(part.file.number, ReadCount())
            self._part_lines.append(file.lines + 1)
            file.add(count)
            self.documents += count.documents

    def placed(self, source: InputSource) -> Iterator[tuple[PartChunk, int]]:
        """Yield the chunks again, with the first line of each part filled in, and the number of each chunk's first document."""
        number = 0
        for chunk in source.chunks():
            parts = []
            for part in chunk.parts:
                parts.append(part._replace(line=self._part_lines[number], ascii=self.files[part.file.number].ascii))
                number += 1
            yield chunk._replace(parts=tuple(parts)), self._chunk_starts[chunk.number]

    def check(self, source: InputSource) -> None:
        """Raise ``UsageError`` if a file has rows but no text, or if a field of ``text_fields`` is in no file."""
        wanted = set(source.settings.text_fields)
        rows = False
        for file in source.files:
            count = self.files[file.number]
            if (bad := count.notes.counts[BAD_ROWS]) and not count.rows and file.format not in WHOLE_FILES:
                where = f"{file.name}:{count.notes.first[BAD_ROWS] + 1}"
                raise DataError(f"no row can be read: {bad} are bad", where=where, remedy="Run without --skip-bad-rows to see why")
            if file.format in WHOLE_FILES or not count.rows or not file.size:  # an empty table still counts one row
                continue
            rows = True
            if not count.documents:
                raise count.no_text(file, source.settings.text_fields)
            wanted -= _fields_in(file, count, wanted)
            if source.settings.question_field and count.notes.counts[NO_QUESTION] >= count.documents:
                where = f"{file.name}:{count.notes.first[NO_QUESTION] + 1}"
                message = f"no row has the field {source.settings.question_field!r}; the first one has: {names_shown(count.keys)}"
                raise UsageError(message, where=where, remedy="Name the field with --question-field")
        if rows and wanted:
            raise UsageError(f"no file has the field {min(wanted)!r}", where="--text-field", remedy="Check the spelling")

    def warnings(self, source: InputSource) -> list[str]:
        """Return warnings for the user about the input."""
        told: list[str] = []
        words = {
            NO_TEXT: "rows without text, which stay as they are",
            PLACEHOLDER_KEYS: "JSON keys that look like placeholders (keys are never replaced)",
            NO_SPANS: "documents in which no span was read",
            CUT_SPANS: "given spans that begin or end inside a word, whose rest stays (are their offsets right?)",
            DROPPED_SPANS: "given spans that overlap a longer one, left out",
            BAD_ROWS: f"bad rows set aside; {SKIPPED} names them, and mirror/ has them not",
            NO_QUESTION: "rows without a question",
            AUTHORS: "Word documents whose properties, comments or changes name their authors, and keep it",
        }
        for what, text in words.items():
            noted = [(file.name, self.files[file.number].notes) for file in source.files if what in self.files[file.number].notes.counts]
            if noted:
                total, (name, first) = sum(notes.counts[what] for _, notes in noted), noted[0]
                told.append(f"{text}: {total} (first: {name}:{first.first[what] + 1})")
        if source.skipped:
            more = f" and {len(source.skipped) - 3} more" if len(source.skipped) > 3 else ""
            told.append(f"files left out: {len(source.skipped)} ({', '.join(source.skipped[:3])}{more})")
        return told

    def file_rows(self, source: InputSource) -> list[dict[str, Any]]:
        """Return the files as ``report.json`` lists them."""
        return [_file_row(file, self.files[file.number]) for file in source.files]


def _fields_in(file: SourceFile, count: ReadCount, wanted: set[str]) -> set[str]:
    if isinstance(file.layout, TableLayout):
        return {name for name, _ in file.layout.columns}
    if isinstance(file.layout, ParquetLayout):
        return set(file.layout.columns)
    return wanted.difference(absent_fields(wanted, count.notes.counts, count.rows))


def _file_row(file: SourceFile, count: ReadCount) -> dict[str, Any]:
    row: dict[str, Any] = {"file": file.name, "format": file.format, "encoding": file.encoding, "documents": count.documents}
    if file.format not in WHOLE_FILES:
        row["rows"] = count.rows
    if isinstance(file.layout, TableLayout):
        row["delimiter"], row["quoted"] = file.layout.delimiter, file.layout.quoted
    notes = {what: {"count": times, "first_line": count.notes.first[what] + 1} for what, times in sorted(count.notes.counts.items())}
    return {**row, "notes": notes} if notes else row


SurrogatePhase = Literal["preparing", "scanning", "replacing", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateProgress:
    """Progress of a run: ``done`` of ``total`` in this phase, in bytes of the input for "scanning", then in documents.

    ``replaced`` counts the surrogates so far.
    """

    phase: SurrogatePhase
    done: int = 0
    total: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Framed):
    """Result of a run. ``report`` is the content of ``report.json``. ``warnings`` has the report's warnings and those about the vault."""

    out: Path
    documents: int
    replaced: int
    report: Mapping[str, Any]
    warnings: tuple[str, ...]
    vault: Path | None = None


SCHEMA: Final = 1
# Plans and rows that are kept between the readings are some hundred thousand objects, and going through them for cycles took 3% of a run.
_OBJECTS: Final = 1_000_000
OnProgress = Callable[[SurrogateProgress], None]
Cautions = Callable[[Mapping[str, int]], Iterable[str]]  # what to warn of, from the number of surrogates of each kind


def run_surrogates(
    inputs: SourceSettings,
    out: Path,
    factory: Callable[[], Engine],
    *,
    locale: str = "en_US",
    workers: int | None = 1,
    ray: bool = False,
    ray_address: str | None = None,
    progress: OnProgress | None = None,
    force: bool = False,
    vault: Path | None = None,
    key: bytes = b"",
    about: Mapping[str, object] | None = None,
    cautions: Cautions | None = None,
    add_files: Callable[[Path], object] | None = None,
    rows: KeptRows | None = None,
) -> RunReport:
    """Put surrogates into all documents of the input and write the folder *out*, which appears only when it is complete.

    *factory* makes the engine in each process and must be picklable. *workers* None: with *ray*, one for each CPU. *force* allows
    replacing an earlier run's folder. *vault* is a file for the originals and the *key* of the run. *about* goes into the report (settings,
    versions), and must be the same for equal runs. *cautions* gives further warnings, *add_files* is called with the folder right before
    it is published. *rows* are those of the input that were read before. Raises ``UsageError``, ``DataError``, ``OutputError`` or
    ``RunError``. On any error, including Ctrl-C, no partial output stays behind.
    """
    if workers is not None and workers < 1:
        raise UsageError("at least one worker is needed", where="--workers", remedy="Give 1 or more")
    settings = WorkerSettings(factory=factory, inputs=inputs, locale=locale, vault=vault is not None)
    with ExitStack() as stack:
        stack.enter_context(collecting_at(_OBJECTS))
        with held_interrupts():  # else Ctrl-C could come after the folder is made and before its removal is registered
            folder = stack.enter_context(RunFolder(out, inputs.path, force=force))
            vault_file = VaultFile(vault, out, inputs.path, key) if vault is not None else None
            if vault_file is not None:
                folder.note_draft(vault_file.draft)
                stack.enter_context(vault_file)
        with ExitStack() as open_files:
            worker = ChunkWorker(settings, (rows or KeptRows()) if workers == 1 and not ray else None)
            open_files.callback(worker.close)
            run = _SurrogateRun(settings, folder.partial, progress, worker, open_files)
            do_all = open_files.enter_context(_workers_of(settings, worker, workers, ray=ray, ray_address=ray_address))
            run.scan(do_all)
            run.replace(do_all, vault_file)
            report = run.write_report(about or {}, cautions)
            warnings = [*report["warnings"], *(vault_file.warnings() if vault_file is not None else [])]
            if vault_file is not None:
                from piiloom.surrogates.outputs.checking import digest_lines  # noqa: PLC0415 - most runs write no vault

                vault_file.write(digest_lines(run.source))
        shutil.rmtree(run.spool)
        if vault_file is not None:
            vault_file.publish()
        if add_files is not None:
            add_files(folder.partial)
        folder.publish()
    run.tell("done", run.tally.documents, run.tally.documents)
    done = run.tally
    return RunReport(out=out, documents=done.documents, replaced=done.replaced, report=report, warnings=tuple(warnings), vault=vault)


def _workers_of(
    settings: WorkerSettings, here: ChunkWorker, workers: int | None, *, ray: bool, ray_address: str | None
) -> AbstractContextManager[DoAll[Job, Any]]:
    """Return the workers that share the chunks: *here* alone, processes, or those of a Ray."""
    return chunk_workers(
        partial(surrogate_worker, settings),
        workers,
        here=here.do,
        place_of=lambda job: chunk_place(job.chunk),
        factories=(settings.factory,),
        ray=ray,
        ray_address=ray_address,
    )


class _SurrogateRun:
    """The steps of one run, in the order in which they are called. The constructor lists, unpacks and converts the input."""

    def __init__(
        self, settings: WorkerSettings, partial: Path, progress: OnProgress | None, worker: ChunkWorker, open_files: ExitStack
    ) -> None:
        self._settings, self._partial, self._progress, self._open_files = settings, partial, progress, open_files
        self._worker = worker
        self.tally = RunTally()
        self.tell("preparing", 0, 0)
        self.spool = partial / "spool"
        self.spool.mkdir()
        self.source = InputSource(settings.inputs, self.spool)
        self.source.prepare()
        self._counts = InputCounts()
        self._ids: RepeatedIds | None = None
        self._texts: RepeatedIds | None = None
        self._repeated = 0
        self._assigned = self.spool / "assigned"
        self._chosen = Chosen()

    def tell(self, phase: SurrogatePhase, done: int, total: int) -> None:
        """Report the progress."""
        if self._progress is not None:
            self._progress(SurrogateProgress(phase=phase, done=done, total=total, replaced=self.tally.replaced))

    def scan(self, do_all: DoAll[Job, Any]) -> None:
        """Count and scan all documents in one reading, and assign what the scans ask for."""
        engine, scans = self._worker.engine, self._scanned(do_all)
        assigned = engine.assign(scans)
        deque(scans, maxlen=0)  # an engine's ``assign`` may not have consumed all scans
        if engine.scan_needs_known:  # scan again, now that the engine can load what is assigned
            known = self._assigned.with_suffix(".known")
            known.write_bytes(assigned)
            assigned = engine.assign(result.scan for _, result in do_all(self._jobs("scan", known)))
        self._assigned.write_bytes(assigned)

    def _scanned(self, do_all: DoAll[Job, Any]) -> Iterator[bytes]:
        """Count all documents, and yield what the engine's scan gave for each chunk."""
        digests, texts = IdDigests(self.spool), IdDigests(self.spool, "texts")
        self._open_files.callback(digests.close)
        self._open_files.callback(texts.close)
        done, total = 0, self.source.size
        scanned: Iterator[tuple[Job, ChunkScanned]] = do_all(Job("scan", chunk) for chunk in self.source.chunks())
        for job, result in scanned:
            documents = sum(part.documents for part in result.parts)
            digests.add(result.ids, documents, result.tildes)
            texts.add(result.texts, documents)
            self._counts.add(job.chunk, result.parts)
            done += sum(map(self.source.bytes_of, job.chunk.parts))
            self.tell("scanning", done, total)
            yield result.scan
        self._counts.check(self.source)
        self._ids, self._repeated = digests.repeated(self._counts.documents)
        self._texts, _ = texts.repeated(self._counts.documents)

    def _jobs(self, task: Literal["scan", "replace"], assigned: Path) -> Iterator[Job]:
        for chunk, first in self._counts.placed(self.source):
            yield Job(task, chunk, first, self._ids, self._texts, assigned)

    def replace(self, do_all: DoAll[Job, Any], vault: VaultFile | None) -> None:
        """Replace the mentions of all documents, and write everything but the report."""
        mirrors = MirrorFolder(self._partial / MIRROR, self.source.archives)
        self._open_files.callback(mirrors.abandon)
        with (self._partial / RECORDS).open("xb") as records, (self._partial / MAP).open("xb") as maps:
            replaced: Iterator[tuple[Job, ChunkReplaced]] = do_all(self._jobs("replace", self._assigned))
            for job, result in replaced:
                records.writelines(result.records)
                maps.writelines(result.maps)
                if result.skipped:
                    with (self._partial / SKIPPED).open("ab") as skipped:
                        skipped.write("".join(result.skipped).encode())
                if vault is not None:
                    vault.write("".join(result.vault).encode())
                for part, data in zip(job.chunk.parts, result.mirrors, strict=True):
                    mirrors.write(part, data)
                self._chosen.add(result.samples)
                self.tally.add(result.tally)
                self.tell("replacing", self.tally.documents, self._counts.documents)
        mirrors.close()

    def write_report(self, about: Mapping[str, object], cautions: Cautions | None) -> dict[str, Any]:
        """Write and return the report."""
        tally, source = self.tally, self.source
        warnings = self._counts.warnings(source)
        if self._repeated:
            warnings.append(f"documents with the id of an earlier one, which got another: {self._repeated}")
        if tally.unknown:
            warnings.append(f"places that look like placeholders of an unknown meaning: {sum(tally.unknown.values())}")
        warnings += self._count_known()
        if equal := {name.partition(" ")[2]: count for name, count in tally.engine.items() if name.startswith("equal ")}:
            kinds = ", ".join(f"{kind} {count}" for kind, count in by_count(equal).items())
            warnings.append(f"surrogates that equal their originals, as other facts of the text require: {sum(equal.values())} ({kinds})")
        if cautions is not None:
            warnings += cautions(tally.by_kind())
        inputs = self._settings.inputs
        report: dict[str, Any] = {
            "schema": SCHEMA,
            "tool": TOOL,
            "version": __version__,
            "locale": self._settings.locale,
            "about": dict(about),
            "input": {"name": inputs.path.resolve().name, "settings": inputs.to_json(), "skipped": source.skipped},
            "documents": tally.documents,
            "repeated_ids": self._repeated,
            "replaced": {"total": tally.replaced, "by_kind": tally.by_kind(), "by_type": tally.by_type()},
            "unknown": {"total": sum(tally.unknown.values()), "tags": by_count(tally.unknown)},
            "left_alone": {"total": sum(tally.left.values()), "brackets": by_count(tally.left)},
            "warnings": warnings,
            "engine": self._worker.engine.report(tally.engine),
            **({"groups_of_documents": tally.groups} if tally.groups else {}),
            "files": self._counts.file_rows(source),
        }
        text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        (self._partial / REPORT).write_text(text, encoding="utf-8", newline="\n")
        (self._partial / PAGE).write_text(report_page(report, self._chosen.samples), encoding="utf-8", newline="\n")
        return report

    def _count_known(self) -> list[str]:
        """Count the known originals in the names and headers of files, which nothing replaces; return the warnings of all that are left."""
        engine, source, tally = self._worker.engine, self.source, self.tally
        if engine.same_values is None:
            return []
        engine.load(self._assigned.read_bytes())
        companions = [file.layout.name for file in source.files if isinstance(file.layout, BratLayout)]
        for name in (source.settings.path.resolve().name, *(file.name for file in source.files), *companions, *source.skipped):
            tally.note(engine.same_values.tallies_of(FILE_NAMES, [words_of_name(name)]), name)
        for file in source.files:
            tally.note(engine.same_values.tallies_of(HEADERS, headers_of(file)), file.name)
        return known_warnings(tally.engine, tally.first, engine.same_values.mode)
