"""Jobs over chunks of the input, and the worker that does them.

A run reads the input twice: to count the documents and scan them for people, and to replace their mentions and make the output lines. The
documents are the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from piiloom.foundation.errors import DataError, PiiloomError, RunError
from piiloom.foundation.portable_errors import unexpected_errors
from piiloom.foundation.repeated_ids import RepeatedIds, digests_of, ordinals_of, text_digest, unique_ids
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.inputs.parts import NO_SPANS, CannotSpell, FilePart, ParquetLayout, Parsed, PartChunk, SourceSettings, line_at
from piiloom.surrogates.inputs.reading import KeptRows, PartReader, ReadCount, documents_of, given_id, plain_of
from piiloom.surrogates.inputs.tables import parted_document, parted_texts
from piiloom.surrogates.outputs.report_page import RunTally, Sample, samples_of
from piiloom.surrogates.outputs.writing import check_replaced, map_parts, record_parts, skipped_line, source_line, vault_lines
from piiloom.surrogates.same_values import FIELDS

if TYPE_CHECKING:
    from piiloom.surrogates.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """Picklable settings that every worker needs. ``factory`` makes the engine of a process, to which chunks come in any order.

    ``vault``: workers also make the lines of the vault.
    """

    factory: Callable[[], Engine]
    inputs: SourceSettings
    locale: str
    vault: bool = False


class Job(NamedTuple):
    """A task for one chunk.

    ``first`` is the number of its first document, None before documents were counted. ``ids`` is set if ids repeat, ``texts`` if texts
    do, ``assigned`` (the file with the result of ``assign``) for the task "replace", and for scanning again.
    """

    task: Literal["scan", "replace"]
    chunk: PartChunk
    first: int | None = None
    ids: RepeatedIds | None = None
    texts: RepeatedIds | None = None
    assigned: Path | None = None


class ChunkScanned(NamedTuple):
    """Result of counting and scanning. ``scan`` is for ``assign``.

    ``ids`` has an 8-byte digest per document (zeros without id), or is empty if no document has an id. ``tildes``: see ``repeated_ids``.
    ``texts`` has the digests of the texts.
    """

    parts: list[ReadCount]
    ids: bytes
    tildes: int
    texts: bytes
    scan: bytes


@dataclass(slots=True)
class ChunkReplaced:
    """Result of the task "replace": what the parent writes, in pieces. ``mirrors`` has one item per part.

    ``skipped`` has a line for each row that was set aside.
    """

    records: list[bytes] = field(default_factory=list)
    maps: list[bytes] = field(default_factory=list)
    vault: list[str] = field(default_factory=list)
    mirrors: list[bytes] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    tally: RunTally = field(default_factory=RunTally)
    samples: Sequence[Sample] = ()


class ChunkWorker:
    """Does jobs in one process. The engine is made on first use.

    *kept*: no other process does any, so what is read and found for one job is kept for a later one, rows in *kept*.
    """

    def __init__(self, settings: WorkerSettings, kept: KeptRows | None = None) -> None:
        self._settings = settings
        self._reader = PartReader(settings.inputs, kept)
        self._engine: Engine | None = None
        self._loaded: Path | None = None
        self._alone = kept is not None

    @property
    def engine(self) -> Engine:
        """The engine of this process, made by the factory on first access."""
        if self._engine is None:
            self._engine = self._settings.factory()
        return self._engine

    def do(self, job: Job) -> ChunkScanned | ChunkReplaced:
        """Do *job* and return its result.

        ``PiiloomError`` and ``OSError`` are passed on. Any other exception becomes a ``RunError`` that names file and lines, never text.
        """
        remedy = "Please report this as a bug in piiloom. The input can be processed without the documents named here"
        with unexpected_errors("a part of the input could not be processed", lambda: chunk_place(job.chunk), remedy=remedy):
            return self._replace(job) if job.task == "replace" else self._scan(job)

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
        for parsed in parts:
            for line in [one.line for one in parsed.found if one.mentions == ()]:
                parsed.notes.add(NO_SPANS, line)
        found = [ReadCount.of(part, parsed) for part, parsed in zip(job.chunk.parts, parts, strict=True)]
        return ChunkScanned(found, ids, tildes, b"".join([text_digest(one.text) for one in documents]), scan)

    def _scan_people(self, job: Job, parts: Sequence[Parsed], documents: Sequence[Document]) -> bytes:
        with suppress(PiiloomError):
            return self.engine.scan(documents, job.chunk.number if self._alone else None)
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
                where=chunk_place(job.chunk),
                remedy="Please report this as a bug in piiloom",
            )
        result = ChunkReplaced(samples=samples_of(zip(documents, replaced, strict=True)))
        at = 0
        for part, parsed in zip(job.chunk.parts, parts, strict=True):
            own = slice(at, at + len(parsed.found))
            at = own.stop
            self._put(result, part, parsed, documents[own], replaced[own])
        if len(documents) > 1:  # a long document is alone in its chunk
            result.records, result.maps = [b"".join(result.records)], [b"".join(result.maps)]
        return result

    def _put(
        self, result: ChunkReplaced, part: FilePart, parsed: Parsed, documents: Sequence[Document], replaced: Sequence[Replaced]
    ) -> None:
        """Add what comes of a part to *result*."""
        vault = [self._lines(result, document, done) for document, done in zip(documents, replaced, strict=True)]
        try:
            mirror = parsed.mirrored(replaced)
        except DataError as error:
            raise DataError(error.message, where=part.file.name, remedy=error.remedy) from error
        except CannotSpell as error:
            raise DataError(str(error), where=part.file.name, remedy="Give the table with quoted fields, or as JSONL") from error
        result.mirrors.append(mirror)
        if self._settings.vault:
            from piiloom.surrogates.outputs.checking import sources_kept  # noqa: PLC0415 - most runs write no vault

            for document, lines, raw in zip(documents, vault, sources_kept(self._reader, part, parsed, mirror, replaced), strict=True):
                result.vault.append(lines if raw is None else lines + source_line(document, raw))
        if self.engine.same_values is not None:
            for line, text in parsed.beside():
                found = self.engine.same_values.tallies_of(FIELDS, [plain_of(part, text)])
                result.tally.note(found, f"{part.file.name}:{part.line + line}")
        result.skipped += [skipped_line(part.file.name, part.line + skip.line, skip.reason) for skip in parsed.skips]

    def _lines(self, result: ChunkReplaced, document: Document, done: Replaced) -> str:
        """Add the lines of a document to *result*, but return those of the vault."""
        check_replaced(document, done)
        result.tally.take(document, done)
        asked: tuple[Document, Replaced] | None = None
        if document.question_at is not None:
            try:
                texts = parted_texts(done, document.question_at)
            except DataError as error:
                raise DataError(error.message, where=document.id, remedy=error.remedy) from error
            (document, question), done = parted_document(document), texts[0]
            asked = question, texts[1]
        result.records += record_parts(document, done, self._settings.locale, asked[1].text if asked else None)
        result.maps += map_parts(document, done, asked[1] if asked else None)
        if not self._settings.vault:
            return ""
        return vault_lines(document, done) + (vault_lines(*asked, field="question") if asked else "")


def surrogate_worker(settings: WorkerSettings) -> Callable[[Job], Any]:
    """Return what does jobs in a process of its own."""
    return ChunkWorker(settings).do


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


def chunk_place(chunk: PartChunk) -> str:
    """Return the file names and lines of a chunk for messages; none of its text."""
    first, last = chunk.parts[0], chunk.parts[-1]
    start, end = _line(first, first.start), _line(last, max(last.end - 1, last.start))
    if first.file.number == last.file.number:
        return f"{first.file.name}, lines {start} to {end}"
    return f"{first.file.name}, line {start}, to {last.file.name}, line {end}"


def _line(part: FilePart, offset: int) -> int:
    if isinstance(part.file.layout, ParquetLayout):
        return offset + 1
    with suppress(OSError):
        return line_at(part.file.path, offset)
    return 0
