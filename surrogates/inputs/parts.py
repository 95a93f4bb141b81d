"""The pieces in which an input is read: files, parts of files, and chunks of parts.

A part is a run of whole rows of one file; a chunk is what one worker takes at a time. Where an input is cut decides nothing but
memory: the documents and everything written are the same for any size of chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from piiloom.surrogates.documents import Filled
from piiloom.surrogates.mentions import Mention


class TableLayout(NamedTuple):
    """``columns`` are the (name, 0-based index) of the text fields, ``ids`` is the index of the id; ``head``: the first row is no data."""

    delimiter: str
    quoted: bool
    columns: tuple[tuple[str, int], ...]
    ids: int | None
    head: bool


class ParquetLayout(NamedTuple):
    """``columns`` are the text columns; ``batch`` rows are read together."""

    columns: tuple[str, ...]
    ids: str | None
    batch: int


class InputFile(NamedTuple):
    """``name`` is the path inside the input (with the archive's name before a member's); ``path`` is where its bytes lie as UTF-8.

    ``bom`` stands before the text in the original (UTF-8's is in the bytes at ``path``, too); ``encoding`` is the original's.
    """

    number: int
    name: str
    path: Path
    format: str
    size: int
    encoding: str = "utf-8"
    bom: bytes = b""
    archive: str = ""
    layout: TableLayout | ParquetLayout | None = None


class Part(NamedTuple):
    """Bytes ``[start, end)`` of the file (rows, for Parquet). ``line`` is the 1-based line (row) of its start, once it has been counted."""

    file: InputFile
    start: int
    end: int
    line: int = 1
    ascii: bool = False


class Chunk(NamedTuple):
    """``parts`` lie one after another in the input."""

    number: int
    parts: tuple[Part, ...]


class CannotSpell(Exception):
    """A surrogate that the file's format has no way to write; the message says why, without the surrogate."""


class Slot(Protocol):
    """The place in a file where a document's text stands, as the file spells it: ``raw[start:end]``."""

    start: int
    end: int

    def rewritten(self, raw: str, filled: Filled) -> str:
        """What stands there when the text's replaced ranges have their surrogates; the rest as it was, sign by sign."""
        ...


class Found(NamedTuple):
    """A document in a part: its text, the row's id (if any), lines below the part's start, and the field where there are several."""

    text: str
    id: str | None
    line: int
    field: str
    slot: Slot
    mentions: tuple[Mention, ...] | None = None


@dataclass(slots=True)
class Notes:
    """What was met besides documents: how often, and on which line (0-based from the part's start) first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, line: int, times: int = 1) -> None:
        """Count *what*."""
        self.counts[what] += times
        self.first.setdefault(what, line)


@dataclass(slots=True)
class Parsed:
    """A part as it was read. ``rows`` counts all rows, ``lines`` line ends; ``keys`` are the fields of its first row."""

    raw: str
    found: list[Found]
    rows: int
    lines: int
    notes: Notes
    keys: tuple[str, ...] = ()
    bom: bytes = b""

    def mirrored(self, filled: Sequence[Filled]) -> bytes:
        """The part's bytes with the documents' new texts (one for each of ``found``, in order)."""
        pieces: list[str] = []
        at = 0
        for one, done in zip(self.found, filled, strict=True):
            if done.placed:
                pieces += (self.raw[at : one.slot.start], one.slot.rewritten(self.raw, done))
                at = one.slot.end
        pieces.append(self.raw[at:])
        return self.bom + "".join(pieces).encode("utf-8")
