"""What a worker does with a chunk of the input: count and scan its documents, or replace their mentions and make the output lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from piiloom.foundation.errors import DataError, PiiloomError, RunError
from piiloom.foundation.portable_errors import place_of_error
from piiloom.foundation.repeated_ids import digests_of, ordinals_of, text_digest, unique_ids
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.inputs.parts import NO_SPANS, CannotSpell, Chunk, ParquetLayout, Parsed, Part, Skip, line_at
from piiloom.surrogates.inputs.reading import KeptRows, PartReader, documents_of, given_id, plain_of
from piiloom.surrogates.inputs.text_cells import parted, parted_document
from piiloom.surrogates.jobs import ChunkReplaced, ChunkResult, ChunkScanned, Job, PartCount, RunEngine, WorkerSettings
from piiloom.surrogates.outputs.folder import check_replaced, map_parts, record_parts, skipped_line, source_line, vault_lines
from piiloom.surrogates.outputs.report_page import Tally, samples_of
from piiloom.surrogates.same_values import FIELDS


class Worker:
    """Does jobs in one process. The engine is made on first use.

    ``alone``: no other process does any, so that chunks that were scanned here are replaced here.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._reader = PartReader(settings.inputs)
        self._engine: RunEngine | None = None
        self._loaded: Path | None = None
        self.alone = False

    def be_alone(self, kept: KeptRows) -> None:
        """Be told that no other process does jobs: what is read and found for one job is kept for a later one, rows in *kept*."""
        self.alone = True
        self._reader = PartReader(self._settings.inputs, kept)

    @property
    def engine(self) -> RunEngine:
        """The engine of this process, made by the factory on first access."""
        if self._engine is None:
            self._engine = self._settings.factory()
        return self._engine

    def do(self, job: Job) -> ChunkResult:
        """Do *job* and return its result.

        ``PiiloomError`` and ``OSError`` are passed on. Any other exception becomes a ``RunError`` that names file and lines, never text.
        """
        try:
            return self._replace(job) if job.task == "replace" else self._scan(job)
        except (PiiloomError, OSError):
            raise
        except Exception as error:
            raise RunError(
                f"a part of the input could not be processed ({type(error).__name__}{place_of_error(error)})",
                where=place_of(job.chunk),
                remedy="Please report this as a bug in piiloom. The input can be processed without the documents named here",
            ) from error

    def close(self) -> None:
        """Close open files."""
        self._reader.close()

    def _load(self, job: Job) -> None:
        if job.assigned is not None and self._loaded != job.assigned:
            self.engine.load(job.assigned.read_bytes())
            self._loaded = job.assigned

    def _scan(self, job: Job) -> ChunkScanned:
        self._load(job)
        parts = [self._reader.read(part, note_keys=True) for part in job.chunk.parts]
        documents = _documents(job, parts)
        scan = self._scan_people(job, parts, documents)
        ids, tildes = digests_of(given_id(one) for parsed in parts for one in parsed.found)
        found = [_counted(part, parsed) for part, parsed in zip(job.chunk.parts, parts, strict=True)]
        return ChunkScanned(found, ids, tildes, b"".join([text_digest(one.text) for one in documents]), scan)

    def _scan_people(self, job: Job, parts: Sequence[Parsed], documents: Sequence[Document]) -> bytes:
        with suppress(PiiloomError):
            return self.engine.scan(documents, job.chunk.number if self.alone else None)
        # Nothing was counted yet, so the error may name a wrong line. Scan again with the right lines, so that it names the right one.
        chunk = job.chunk._replace(parts=tuple(part._replace(line=_line(part, part.start)) for part in job.chunk.parts))
        return self.engine.scan(_documents(job._replace(chunk=chunk), parts))

    def _replace(self, job: Job) -> ChunkReplaced:
        self._load(job)
        parts = [self._reader.read(part, again=False) for part in job.chunk.parts]
        documents = _documents(job, parts)
        replaced = self.engine.replace(documents, job.chunk.number)
        if len(replaced) != len(documents):
            raise RunError(
                "the engine returned a wrong number of documents",
                where=place_of(job.chunk),
                remedy="Please report this as a bug in piiloom",
            )
        tally = Tally()
        records: list[bytes] = []
        maps: list[bytes] = []
        vault: list[str] = []
        for document, done in zip(documents, replaced, strict=True):
            check_replaced(document, done)
            tally.take(document, done)
            question: tuple[Document, Replaced] | None = None
            if document.question_at is not None:
                (document, other), (done, asked) = parted_document(document), _parted(document, done)  # noqa: PLW2901 - the text alone
                question = other, asked
            records += record_parts(document, done, self._settings.locale, question[1].text if question else None)
            maps += map_parts(document, done, question[1] if question else None)
            if self._settings.vault:
                lines = vault_lines(document, done)
                vault.append(lines if question is None else lines + vault_lines(*question, field="question"))
        mirrors = _mirrors(parts, documents, replaced)
        if self._settings.vault:
            vault = self._with_sources(job, parts, mirrors, documents, replaced, vault)
        if self.engine.same_values is not None:
            for part, parsed in zip(job.chunk.parts, parts, strict=True):
                for line, text in parsed.beside():
                    tally.note(self.engine.same_values.tallies_of(FIELDS, [plain_of(part, text)]), f"{part.file.name}:{part.line + line}")
        skipped = "".join([skipped_line(part.file.name, part.line + skip.line, skip.reason) for part, skip in _skips(job, parts)])
        samples = samples_of(zip(documents, replaced, strict=True))
        if len(documents) > 1:  # a long document is alone in its chunk
            records, maps = [b"".join(records)], [b"".join(maps)]
        return ChunkReplaced(records, maps, "".join(vault).encode(), mirrors, tally, skipped.encode(), samples)

    def _with_sources(
        self,
        job: Job,
        parts: Sequence[Parsed],
        mirrors: Sequence[bytes],
        documents: Sequence[Document],
        replaced: Sequence[Replaced],
        vault: Sequence[str],
    ) -> list[str]:
        """Return the lines of the *vault* with the sources of the texts that cannot be restored without them."""
        from piiloom.surrogates.outputs.restoring import sources_kept  # noqa: PLC0415 - most runs write no vault

        lines = list(vault)
        at = 0
        for part, parsed, mirror in zip(job.chunk.parts, parts, mirrors, strict=True):
            count = len(parsed.found)
            for number, raw in enumerate(sources_kept(self._reader, part, parsed, mirror, replaced[at : at + count]), at):
                if raw is not None:
                    lines[number] += source_line(documents[number], raw)
            at += count
        return lines


def _parted(document: Document, done: Replaced) -> list[Replaced]:
    assert document.question_at is not None  # noqa: S101 - asked only of documents with a question
    try:
        return parted(done, document.question_at)
    except DataError as error:
        raise DataError(error.message, where=document.id, remedy=error.remedy) from error


def make_worker(settings: WorkerSettings) -> Callable[[Job], ChunkResult]:
    """Return what does jobs in a process of its own."""
    return Worker(settings).do


class InlineExecutor:
    """Does all jobs in this process, one after another."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, ChunkResult]]:
        """See ``jobs.Executor``."""
        for job in jobs:
            yield job, self._worker.do(job)

    def close(self) -> None:
        """See ``jobs.Executor``."""


def _documents(job: Job, parts: Sequence[Parsed]) -> list[Document]:
    first = job.first or 0
    documents: list[Document] = []
    for part, parsed in zip(job.chunk.parts, parts, strict=True):
        documents += documents_of(part, parsed, first + len(documents))
    if job.texts is not None:
        before = ordinals_of(first, len(documents), job.texts)
        documents = [one._replace(ordinal=ordinal) if ordinal else one for one, ordinal in zip(documents, before, strict=True)]
    if job.ids is not None:
        ids = unique_ids([one.id for one in documents], first, job.ids)
        documents = [one._replace(id=new) for one, new in zip(documents, ids, strict=True)]
    return documents


def _skips(job: Job, parts: Sequence[Parsed]) -> Iterator[tuple[Part, Skip]]:
    for part, parsed in zip(job.chunk.parts, parts, strict=True):
        yield from ((part, skip) for skip in parsed.skips)


def _counted(part: Part, parsed: Parsed) -> PartCount:
    for one in parsed.found:
        if one.mentions == ():
            parsed.notes.add(NO_SPANS, one.line)
    ascii_only = part.file.format in {"json", "jsonl"} and parsed.raw.isascii()
    return PartCount(len(parsed.found), parsed.rows, parsed.lines, ascii_only, parsed.notes, parsed.keys)


def _mirrors(parts: Sequence[Parsed], documents: Sequence[Document], replaced: Sequence[Replaced]) -> list[bytes]:
    mirrors: list[bytes] = []
    at = 0
    for parsed in parts:
        count = len(parsed.found)
        try:
            mirrors.append(parsed.mirrored(replaced[at : at + count]))
        except DataError as error:
            raise DataError(error.message, where=documents[at].file, remedy=error.remedy) from error
        except CannotSpell as error:
            raise DataError(str(error), where=documents[at].file, remedy="Give the table with quoted fields, or as JSONL") from error
        at += count
    return mirrors


def place_of(chunk: Chunk) -> str:
    """Return the file names and lines of a chunk for messages; none of its text."""
    first, last = chunk.parts[0], chunk.parts[-1]
    start, end = _line(first, first.start), _line(last, max(last.end - 1, last.start))
    if first.file.number == last.file.number:
        return f"{first.file.name}, lines {start} to {end}"
    return f"{first.file.name}, line {start}, to {last.file.name}, line {end}"


def _line(part: Part, offset: int) -> int:
    if isinstance(part.file.layout, ParquetLayout):
        return offset + 1
    with suppress(OSError):
        return line_at(part.file.path, offset)
    return 0
