"""The messages of a run: what a worker is told and gives back, and what a run needs of an engine and an executor.

A run reads the input twice: to count the documents and scan them for people, and to replace and write them. The documents are the same
each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from piiloom.foundation.repeated_ids import RepeatedIds
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.inputs.input_settings import InputSettings
from piiloom.surrogates.inputs.parts import Chunk, Notes
from piiloom.surrogates.outputs.report_page import Sample, Tally
from piiloom.surrogates.same_values import SameValues


class RunEngine(Protocol):
    """What a run needs of the engine (``engine.Engine``), made in each process by a picklable factory.

    Chunks may come to any process, in any order.
    """

    @property
    def scan_needs_known(self) -> bool:
        """Whether ``scan`` is to be called again for all documents after ``load``, when the originals of all of them are known."""
        ...

    @property
    def same_values(self) -> SameValues | None:
        """Finds known originals in the texts besides the documents, as soon as ``load`` was called; None if there are none."""
        ...

    def scan(self, documents: Sequence[Document], chunk: int | None = None) -> bytes:
        """Pass 1: return what ``assign`` needs to know of this chunk. Numbers, ordinals, lines and ids are not yet known: do not use them.

        *chunk* is its number if this process will also replace it: what was found may be kept until then.
        """
        ...

    def assign(self, scans: Iterable[bytes]) -> bytes:
        """Between the passes, in one process: combine the scans, one per chunk in input order. Return the bytes for every ``load``."""
        ...

    def load(self, assigned: bytes) -> None:
        """In each process, before the first ``replace``: take over the result of ``assign``."""
        ...

    def replace(self, documents: Sequence[Document], chunk: int) -> list[Replaced]:
        """Pass 2: replace the mentions of the documents of chunk number *chunk*."""
        ...

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """Return the engine's part of ``report.json``. *tallies* are sums over all documents. Called in the process that ran ``assign``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """Picklable settings that every worker needs. ``vault``: workers also make the lines of the vault."""

    factory: Callable[[], RunEngine]
    inputs: InputSettings
    locale: str
    vault: bool = False


class Job(NamedTuple):
    """A task for one chunk.

    ``first`` is the number of its first document, None before documents were counted. ``ids`` is set if ids repeat, ``texts`` if texts
    do, ``assigned`` (the file with the result of ``assign``) for the task "replace", and for scanning again.
    """

    task: Literal["scan", "replace"]
    chunk: Chunk
    first: int | None = None
    ids: RepeatedIds | None = None
    texts: RepeatedIds | None = None
    assigned: Path | None = None


class PartCount(NamedTuple):
    """Counts of one part; ``keys`` are the fields of its first row."""

    documents: int
    rows: int
    lines: int
    ascii: bool
    notes: Notes
    keys: tuple[str, ...]


class ChunkScanned(NamedTuple):
    """Result of counting and scanning. ``scan`` is for ``assign``.

    ``ids`` has an 8-byte digest per document (zeros without id), or is empty if no document has an id. ``tildes``: see ``repeated_ids``.
    ``texts`` has the digests of the texts.
    """

    parts: list[PartCount]
    ids: bytes
    tildes: int
    texts: bytes
    scan: bytes


class ChunkReplaced(NamedTuple):
    """Result of the task "replace": the bytes that the parent writes, ``records`` and ``maps`` in parts. ``mirrors`` has one item per part.

    ``skipped`` has a line for each row that was set aside.
    """

    records: list[bytes]
    maps: list[bytes]
    vault: bytes
    mirrors: list[bytes]
    tally: Tally
    skipped: bytes = b""
    samples: Sequence[Sample] = ()


ChunkResult = ChunkScanned | ChunkReplaced


class Executor(Protocol):
    """Has workers do jobs: ``worker.InlineExecutor``, ``worker_processes.WorkerProcesses`` or ``ray_executor.RayExecutor``."""

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, ChunkResult]]:
        """Do *jobs* and yield each with its result, in their order. A bounded number of jobs is taken ahead.

        An error of a job is raised when its result is due. Raises ``RunError`` when a worker dies.
        """
        ...

    def close(self) -> None:
        """Stop all workers at once. May be called again."""
        ...
