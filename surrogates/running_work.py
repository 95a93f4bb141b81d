"""Interfaces and messages of a run: the engine (``Work``), the worker pool (``Crew``), jobs and their results.

A run reads the input three times: to count documents and read their ids; to let the engine look at all of them; and to fill and write
them. The documents are the same each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from piiloom.surrogates.documents import Document, Filled
from piiloom.surrogates.inputs.parts import Chunk, Notes
from piiloom.surrogates.inputs.settings import InputSettings
from piiloom.surrogates.outputs.tallies import Tally


class Work(Protocol):
    """Interface of the engine, made in each process by a picklable factory. Chunks may come to any process, in any order."""

    def look(self, documents: Sequence[Document]) -> bytes:
        """Pass 1: return what ``gather`` needs to know of this chunk."""
        ...

    def gather(self, looks: Iterable[bytes]) -> bytes:
        """Between the passes, in one process: combine the looks, one per chunk in input order. Return the bytes for every ``open``."""
        ...

    def open(self, gathered: Path) -> None:
        """In each process, before the first ``fill``: load the file *gathered*, which holds the result of ``gather``."""
        ...

    def fill(self, documents: Sequence[Document], first_look: int) -> list[Filled]:
        """Pass 2: fill the documents of a chunk. *first_look* is the number of the chunk, and so of its look."""
        ...

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """Return the engine's part of ``report.json``. *tallies* are sums over all documents. Called in the process that ran ``gather``."""
        ...


Factory = Callable[[], Work]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Picklable settings of a run that every worker needs. ``vault``: workers also make the lines of the vault."""

    factory: Factory
    inputs: InputSettings
    locale: str
    vault: bool = False


class IdBook(NamedTuple):
    """Repeated ids: the file ``path`` has a little-endian 32-bit number per document, how often its id occurred before.

    ``mark`` ("~" or longer) goes between the id and the number of its occurrence.
    """

    path: Path
    mark: str


class Job(NamedTuple):
    """A task for one chunk, whose first document is number ``first``. ``ids`` is set if ids repeat, ``gathered`` for the task "fill"."""

    task: Literal["count", "look", "fill"]
    chunk: Chunk
    first: int = 0
    ids: IdBook | None = None
    gathered: Path | None = None


class PartCount(NamedTuple):
    """Counts of one part; ``keys`` are the fields of its first row."""

    documents: int
    rows: int
    lines: int
    ascii: bool
    notes: Notes
    keys: tuple[str, ...]


class ChunkCount(NamedTuple):
    """Result of the task "count". ``ids`` has an 8-byte digest per document (zeros without id), or is empty if no document has an id.

    ``tildes``: see ``running_ids``.
    """

    parts: list[PartCount]
    ids: bytes
    tildes: int


class ChunkFill(NamedTuple):
    """Result of the task "fill": the bytes that the parent writes. ``mirrors`` has one item per part."""

    records: bytes
    maps: bytes
    vault: bytes
    mirrors: list[bytes]
    tally: Tally


class Crew(Protocol):
    """Interface of a worker pool."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Any]:
        """Do *jobs* and yield the results in their order. A bounded number of jobs is taken ahead.

        An error of a job is raised when its result is due.
        """
        ...

    def close(self) -> None:
        """Stop all workers at once. May be called again."""
        ...
