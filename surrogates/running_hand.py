"""What a worker does with a chunk: count documents, look at them, or fill them and make the output lines."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from contextlib import suppress

from piiloom.foundation.errors import DataError, PiiloomError, RunError
from piiloom.surrogates.documents import Document, Filled
from piiloom.surrogates.inputs.faults import line_at
from piiloom.surrogates.inputs.parts import CannotSpell, Chunk, ParquetLayout, Parsed, Part
from piiloom.surrogates.inputs.reading import PartReader, documents_of
from piiloom.surrogates.outputs.records import check_filled, map_line, record_line, vault_lines
from piiloom.surrogates.outputs.tallies import Tally
from piiloom.surrogates.running_ids import digests_of, unique_ids
from piiloom.surrogates.running_work import ChunkCount, ChunkFill, Job, PartCount, Terms, Work


class Hand:
    """A job runner: does jobs in one process. The engine is made on first use."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._reader = PartReader(terms.inputs)
        self._work: Work | None = None
        self._opened = False

    @property
    def work(self) -> Work:
        """The engine of this process, made by the factory on first access."""
        if self._work is None:
            self._work = self._terms.factory()
        return self._work

    def do(self, job: Job) -> ChunkCount | bytes | ChunkFill:
        """Do *job* and return its result: ``ChunkCount`` for "count", bytes for "look", ``ChunkFill`` for "fill".

        ``PiiloomError`` and ``OSError`` are passed on. Any other exception becomes a ``RunError`` that names file and lines, never text.
        """
        try:
            if job.task == "count":
                return self._count(job.chunk)
            if job.task == "look":
                return self.work.look(self._documents(job)[0])
            return self._fill(job)
        except PiiloomError:
            raise
        except OSError:
            raise
        except Exception as error:
            raise RunError(
                f"a chunk cannot be done ({type(error).__name__}{_place_of(error)})",
                where=place_of(job.chunk),
                remedy="Please report this as a fault of piiloom; other documents can be done without those named here",
            ) from error

    def close(self) -> None:
        """Close open files."""
        self._reader.close()

    def _count(self, chunk: Chunk) -> ChunkCount:
        counts, ids, tildes = [], list[bytes](), 0
        for part in chunk.parts:
            parsed = self._reader.read(part, looking=True)
            digests, longest = digests_of(parsed.found)
            ids.append(digests or bytes(8 * len(parsed.found)))
            tildes = max(tildes, longest)
            ascii_only = part.file.format in {"json", "jsonl"} and parsed.raw.isascii()
            counts.append(PartCount(len(parsed.found), parsed.rows, parsed.lines, ascii_only, parsed.notes, parsed.keys))
        joined = b"".join(ids)
        return ChunkCount(counts, joined if any(joined) else b"", tildes)

    def _documents(self, job: Job) -> tuple[list[Document], list[Parsed]]:
        documents: list[Document] = []
        parts: list[Parsed] = []
        for part in job.chunk.parts:
            parsed = self._reader.read(part)
            parts.append(parsed)
            documents += documents_of(part, parsed, job.first + len(documents))
        if job.ids is not None:
            ids = unique_ids([one.id for one in documents], job.first, job.ids)
            documents = [one._replace(id=new) for one, new in zip(documents, ids, strict=True)]
        return documents, parts

    def _fill(self, job: Job) -> ChunkFill:
        if not self._opened and job.gathered is not None:
            self.work.open(job.gathered)
            self._opened = True
        documents, parts = self._documents(job)
        filled = self.work.fill(documents, job.chunk.number)
        if len(filled) != len(documents):
            raise RunError("the engine gave back another number of documents", where=place_of(job.chunk))
        tally = Tally()
        records: list[str] = []
        maps: list[str] = []
        vault: list[str] = []
        for document, done in zip(documents, filled, strict=True):
            check_filled(document, done)
            records.append(record_line(document, done, self._terms.locale))
            maps.append(map_line(document, done))
            if self._terms.vault:
                vault.append(vault_lines(document, done))
            tally.take(document, done)
        mirrors = _mirrors(parts, documents, filled)
        return ChunkFill("".join(records).encode(), "".join(maps).encode(), "".join(vault).encode(), mirrors, tally)


def _mirrors(parts: Sequence[Parsed], documents: Sequence[Document], filled: Sequence[Filled]) -> list[bytes]:
    mirrors: list[bytes] = []
    at = 0
    for parsed in parts:
        count = len(parsed.found)
        try:
            mirrors.append(parsed.mirrored(filled[at : at + count]))
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


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    return f" in {last.name}, {last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
