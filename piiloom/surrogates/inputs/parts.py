"""The units in which an input is read: files, parts of files, and chunks of parts.

A part is a run of whole rows of one file. A chunk is the parts that a worker takes at a time. The chunk size affects only memory: the
documents and all output are the same for any size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.mentions import Mention

CARRIED: Final = "carried"  # a file without documents, which is in the mirror as it is
WHOLE_FILES: Final = ("txt", "xml", "brat", "docx", CARRIED)  # formats of which a file is one document
NO_TEXT: Final = "rows without text"  # notes of a reader
BAD_ROWS: Final = "bad rows set aside"
AUTHORS: Final = "names of authors"
NO_SPANS: Final = "documents without a span"
CUT_SPANS: Final = "spans that cut a word"
DROPPED_SPANS: Final = "overlapping spans left out"
PLACEHOLDER_KEYS: Final = "placeholders in JSON keys"


class TableLayout(NamedTuple):
    """Layout of a CSV or TSV file.

    ``columns`` are (name, 0-based index) of the text fields; ``ids`` and ``question`` are the indices of these columns. ``head``: the
    first row is a header.
    """

    delimiter: str
    quoted: bool
    columns: tuple[tuple[str, int], ...]
    ids: int | None
    head: bool
    question: int | None = None


class ParquetLayout(NamedTuple):
    """Layout of a Parquet or Arrow file: ``columns`` are the text columns, ``ids``, ``spans`` and ``question`` the others.

    ``batch`` rows are read together.
    """

    columns: tuple[str, ...]
    ids: str | None
    batch: int
    spans: str | None = None
    question: str | None = None


class ConllLayout(NamedTuple):
    """Layout of a CoNLL file: what begins the line before each document ("": each sentence is one), whether tabs separate the columns.

    ``token`` and ``tag`` are the columns' indices; a tag of -1 is the last one.
    """

    mark: str
    tabs: bool
    token: int
    tag: int


class BratLayout(NamedTuple):
    """The annotations of a text in BRAT's format: the file at ``path`` (UTF-8), called ``name`` in the input."""

    name: str
    path: Path


class InputFile(NamedTuple):
    """A file of the input. ``name`` is its path inside the input, for a member of an archive after the archive's path.

    ``path`` is where its bytes are on disk as UTF-8; ``size`` is in bytes, or rows for Parquet. ``encoding`` is that of the original,
    ``bom`` its byte-order mark (a UTF-8 mark is also in the bytes at ``path``). ``archive`` is the name of the zip file it is from.
    """

    number: int
    name: str
    path: Path
    format: str
    size: int
    encoding: str = "utf-8"
    bom: bytes = b""
    archive: str = ""
    layout: TableLayout | ParquetLayout | BratLayout | ConllLayout | None = None


class Part(NamedTuple):
    """A part of a file: bytes ``[start, end)``, or rows for Parquet.

    ``line`` (the 1-based line or row of its start) and ``ascii`` (the JSON file is all ASCII) are known only after the counting pass.
    """

    file: InputFile
    start: int
    end: int
    line: int = 1
    ascii: bool = False


class Chunk(NamedTuple):
    """What a worker takes at a time: consecutive ``parts`` of the input. ``number`` is 0-based."""

    number: int
    parts: tuple[Part, ...]


class CannotSpell(Exception):
    """Raised if the file's format cannot represent a surrogate. The message gives the reason, but not the surrogate."""


class Slot(Protocol):
    """The range of a part's text, ``raw[start:end]``, that holds a document's text, escaped as the format requires."""

    start: int
    end: int

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Spans that the file tells of the text, and that move with it."""
        ...

    def rest(self, raw: str) -> object:
        """Return all there is in the range, or belongs to it, that ``rewritten`` may not change; for comparing two files."""
        ...

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """Return the new content of the range, with the surrogates put in and all other characters unchanged.

        Raises ``CannotSpell`` if the format cannot represent a surrogate.
        """
        ...


class Found(NamedTuple):
    """A document found in a part.

    ``id`` is the row's, if it has one. ``line`` is 0-based from the part's start. ``field`` is set only if there are several text fields.
    ``question_at`` is where the question begins in ``text``, if the row has one. ``covered`` are given spans that others cover.
    """

    text: str
    id: str | None
    line: int
    field: str
    slot: Slot
    mentions: tuple[Mention, ...] | None = None
    question_at: int | None = None
    covered: tuple[Mention, ...] = ()


@dataclass(slots=True)
class Notes:
    """Notable things besides documents: how often each occurred, and its first line (0-based from the part's start)."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, line: int, times: int = 1) -> None:
        """Count *what*, which occurred *times* times on *line*."""
        self.counts[what] += times
        self.first.setdefault(what, line)


class Skip(NamedTuple):
    """A bad row that was set aside: ``raw[start:end]``, for which the mirror has *instead*. ``line`` is 0-based from the part's start."""

    start: int
    end: int
    line: int
    reason: str
    instead: str = ""


@dataclass(slots=True)
class Spelling:
    """What the slots of a part share: ``ascii`` is that of the part, which becomes known when it has been read."""

    ascii: bool = False


@dataclass(slots=True)
class Parsed:
    """A part as it was read: ``raw`` is its text, ``found`` its documents.

    ``rows`` counts all rows, ``lines`` all line ends. ``keys`` are the fields of the first row. ``bom`` comes before ``raw`` in the file.
    ``skips`` are rows that were set aside; they are in no other count. ``met`` are all keys of a part of JSON, each with how often and
    on which line first (0-based from the part's start) it was met, until ``note_keys`` is called.
    """

    raw: str
    found: list[Found]
    rows: int
    lines: int
    notes: Notes
    keys: tuple[str, ...] = ()
    bom: bytes = b""
    skips: list[Skip] = field(default_factory=list)
    spelling: Spelling = field(default_factory=Spelling)
    met: dict[str, list[int]] = field(default_factory=dict)

    def note_keys(self, look: Callable[[str], bool]) -> None:
        """Note the keys of which *look* says that they look like placeholders."""
        for key, (times, line) in self.met.items():
            if look(key):
                self.notes.add(PLACEHOLDER_KEYS, line, times)
        self.met = {}

    def set_aside(self, start: int, end: int, line: int, reason: str, instead: str = "") -> None:
        """Note that the row ``raw[start:end]`` is bad."""
        self.skips.append(Skip(start, end, line, reason, instead))
        self.notes.add(BAD_ROWS, line)

    def outside(self, start: int, end: int) -> str:
        """Return ``raw[start:end]``, which holds no text of a document, as the mirror has it: without the rows that were set aside."""
        if not self.skips:
            return self.raw[start:end]
        pieces: list[str] = []
        for skip in self.skips[bisect_left(self.skips, (start,)) :]:
            if skip.start >= end:
                break
            pieces += (self.raw[start : skip.start], skip.instead)
            start = skip.end
        return "".join([*pieces, self.raw[start:end]])

    def beside(self) -> Iterator[tuple[int, str]]:
        """Yield what the mirror keeps besides the texts and the marks of their spans, with its line (0-based from the part's start)."""
        at = line = 0
        for one in self.found:
            yield line, self.outside(at, one.slot.start)
            at, line = max(at, one.slot.end), one.line
            rest = one.slot.rest(self.raw)
            if rest:
                yield line, rest if isinstance(rest, str) else "\n\n".join(map(str, rest)) if isinstance(rest, list | tuple) else str(rest)
        yield line, self.outside(at, len(self.raw))

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the part's bytes with the new texts of the documents; *replaced* has one item per item of ``found``, in order."""
        pieces: list[str] = []
        at = 0
        for one, done in zip(self.found, replaced, strict=True):
            if done.placed:
                pieces += (self.outside(at, one.slot.start), one.slot.rewritten(self.raw, done))
                at = one.slot.end
        pieces.append(self.outside(at, len(self.raw)))
        return self.bom + "".join(pieces).encode("utf-8")
