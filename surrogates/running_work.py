"""What a run asks of the engine, and of those who read and write beside it.

A run goes over the input three times: documents are counted and their ids looked at; the engine looks at all of them; and they are
filled and written. Documents are equal each time.
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
    """The engine, made in each process by a picklable factory. Texts that were read come in chunks, in any order, to any process."""

    def look(self, documents: Sequence[Document]) -> bytes:
        """What the whole corpus needs to know of this chunk."""
        ...

    def gather(self, looks: Iterable[bytes]) -> bytes:
        """In one process, between the passes: all looks in input order, one for each chunk. What it gives goes to every ``open``."""
        ...

    def open(self, gathered: Path) -> None:
        """In each process, before the first ``fill``: the file holds what ``gather`` gave."""
        ...

    def fill(self, documents: Sequence[Document], first_look: int) -> list[Filled]:
        """The chunk's documents with surrogates; *first_look* is the number of the chunk's look."""
        ...

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """What ``report.json`` says of the engine; *tallies* are the sums over all documents. In the process that gathered."""
        ...


Factory = Callable[[], Work]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What every process must know. ``factory`` and the hooks of ``inputs`` are picklable."""

    factory: Factory
    inputs: InputSettings
    locale: str
    vault: bool = False


class IdBook(NamedTuple):
    """How often each document's id occurred before: little-endian 32-bit numbers in the file *path*; *mark* joins id and number."""

    path: Path
    mark: str


class Job(NamedTuple):
    """A task for one chunk, whose first document is number ``first``. ``gathered`` is for filling."""

    task: Literal["count", "look", "fill"]
    chunk: Chunk
    first: int = 0
    ids: IdBook | None = None
    gathered: Path | None = None


class PartCount(NamedTuple):
    """What a part holds; ``keys`` are the fields of its first row."""

    documents: int
    rows: int
    lines: int
    ascii: bool
    notes: Notes
    keys: tuple[str, ...]


class ChunkCount(NamedTuple):
    """``ids`` are 64-bit digests of the ids that rows give (0 for none), or empty; ``tildes``: see ``running_ids``."""

    parts: list[PartCount]
    ids: bytes
    tildes: int


class ChunkFill(NamedTuple):
    """What the parent has but to write."""

    records: bytes
    maps: bytes
    vault: bytes
    mirrors: list[bytes]
    tally: Tally


class Crew(Protocol):
    """Those who do jobs. ``run`` gives the results in the order of the jobs, of which a bounded number is taken ahead."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Any]:
        """Do *jobs*; an error of the first job that failed is raised when its turn comes."""
        ...

    def close(self) -> None:
        """End all work at once."""
        ...
