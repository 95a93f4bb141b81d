"""Parts of inputs, the documents in them with the places of their texts, and errors.

A part is a run of whole rows of one file; a chunk is the parts that a worker takes at a time. The chunk size affects only memory: the
documents and all output are the same for any size. Errors name the file and line as a user searches for them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Mention, Replaced

if TYPE_CHECKING:
    from piiloom.surrogates.options import InputOptions, SpanOptions


Quoting = Literal["auto", "csv", "none"]
KindOf = Callable[[str, str | None], str]

FORMATS: Final[Mapping[str, str]] = {
    ".txt": "txt",
    ".text": "txt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".docx": "docx",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".arrow": "arrow",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xml": "xml",
    ".zip": "zip",
}
SPANS: Final = "spans"
DEFAULT_CHUNK: Final = 2**20
DEFAULT_MAX_UNPACKED: Final = 4 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Settings for reading an input. ``path`` is a file or a folder; ``format`` is for files with an unknown suffix.

    ``text_fields`` are names (dotted in JSON: "note.text") or, in tables, 1-based numbers; the default is ``text``, else ``context``.
    ``id_field`` defaults to ``id``. ``encoding`` is for files without a byte-order mark; the default is what XML declares, else UTF-8.
    ``delimiter`` None: by suffix and first line. ``quoting`` "auto": fields may be quoted, except in a tab-separated file whose quotes
    do not pair.

    With ``question_field``, a row's question is part of its document (``tables``). With ``group_by`` several rows of a table are one
    document, each a line that begins with its ``speaker_field`` if there is one.

    Rows may bring spans, in ``spans_field`` (default: ``spans``, if it looks like spans). With ``kind_of`` (entity type, subtype → kind)
    they become the document's mentions.
    ``look_at_key`` tells whether a JSON key looks like a placeholder. Both must be picklable. ``skip_bad_rows``: a row that cannot be
    read is set aside; otherwise it is an error. At most ``max_unpacked`` bytes are unpacked from zip files; a chunk has about
    ``chunk_bytes`` bytes. Raises ``UsageError`` for invalid values.
    """

    path: Path
    format: str | None = None
    text_fields: tuple[str, ...] = ()
    id_field: str | None = None
    header: bool = True
    delimiter: str | None = None
    quoting: Quoting = "auto"
    encoding: str | None = None
    question_field: str | None = None
    group_by: str | None = None
    speaker_field: str | None = None
    spans_field: str | None = None
    use_spans: bool = True
    kind_of: KindOf | None = None
    look_at_key: Callable[[str], bool] | None = None
    max_unpacked: int = DEFAULT_MAX_UNPACKED
    chunk_bytes: int = DEFAULT_CHUNK
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        formats, fields, one_text = sorted(set(FORMATS.values())), self.text_fields, "Name one --text-field"
        no_format = self.format is not None and self.format not in formats
        no_sign = self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii())
        two_texts = self.question_field is not None and (len(fields) > 1 or self.question_field in fields)
        not_one = self.group_by is not None and (self.question_field is not None or len(fields) > 1)
        no_group = self.speaker_field is not None and self.group_by is None
        listed = f"The formats are {', '.join(formats)}."
        for wrong, message, option, remedy in (
            (self.chunk_bytes < 1 or self.max_unpacked < 1, "a size must be at least one byte", "--max-unpacked", None),
            (no_format, f"there is no format {self.format!r}", "--input-format", listed),
            (no_sign, "a delimiter is one ASCII character, and neither a quote nor a line end", "--delimiter", None),
            (two_texts, "a question goes with one text, of another field", "--question-field", one_text),
            (not_one, "a group of rows has one text field and no question", "--group-by", one_text),
            (no_group, "speakers are those of grouped rows", "--speaker-field", "Add --group-by"),
            (len(set(fields)) != len(fields), "a field is named twice", "--text-field", None),
        ):
            if wrong:
                raise UsageError(message, where=option, remedy=remedy)

    @classmethod
    def of(cls, path: Path, options: InputOptions, spans: SpanOptions | None = None) -> SourceSettings:
        """Return the settings that *options* describe for the input at *path*; without *spans*, spans are not read."""
        use_spans = spans is not None and (spans.spans or bool(spans.spans_field))
        return cls(
            path=path,
            format=options.input_format,
            text_fields=options.text_field,
            id_field=options.id_field,
            encoding=options.encoding,
            question_field=options.question_field,
            group_by=options.group_by,
            speaker_field=options.speaker_field,
            header=options.header,
            delimiter={"\\t": "\t", "tab": "\t"}.get(options.delimiter or "", options.delimiter),
            spans_field=(spans.spans_field or SPANS) if spans is not None and use_spans else None,  # asked for, so [] means: no mentions
            use_spans=use_spans,
            kind_of=_kind_of_span() if use_spans else None,
            quoting=options.quoting,
            max_unpacked=options.max_unpacked * 2**20,
            skip_bad_rows=options.skip_bad_rows,
        )

    @property
    def takes_spans(self) -> bool:
        """Whether spans of rows become mentions. Spans belong to one text, so there may be only one text field."""
        return self.use_spans and self.kind_of is not None and len(self.text_fields) <= 1

    def to_json(self) -> dict[str, Any]:
        """Return what ``from_json`` needs to read the same documents again; no paths."""
        fields = ("format", "text_fields", "id_field", "header", "delimiter", "quoting", "encoding", "question_field", "group_by")
        saved = {name: getattr(self, name) for name in (*fields, "speaker_field", "spans_field")} | {"text_fields": list(self.text_fields)}
        return {**saved, "spans": self.takes_spans, "max_unpacked": self.max_unpacked, "skip_bad_rows": self.skip_bad_rows}

    @classmethod
    def from_json(cls, path: Path, state: Mapping[str, Any]) -> SourceSettings:
        """Return the settings that ``to_json`` saved, for the input at *path*. All spans become mentions of the kind "generic"."""
        told = {key: value for key, value in state.items() if key not in {"spans", "text_fields"}}
        kind_of = _any_kind if state["spans"] else None
        return cls(path=path, text_fields=tuple(state["text_fields"]), use_spans=bool(state["spans"]), kind_of=kind_of, **told)


def _kind_of_span() -> KindOf:
    from piiloom.surrogates.placeholders.reading import kind_of_span  # noqa: PLC0415 - most runs take no spans

    return kind_of_span


def _any_kind(entity_type: str, subtype: str | None) -> str:  # noqa: ARG001 - a KindOf
    return "generic"


CARRIED: Final = "carried"  # a file without documents, which is in the mirror as it is
WHOLE_FILES: Final = ("txt", "xml", "brat", "docx", CARRIED)  # formats of which a file is one document
NO_TEXT: Final = "rows without text"  # notes of a reader
BAD_ROWS: Final = "bad rows set aside"
AUTHORS: Final = "names of authors"
NO_SPANS: Final = "documents without a span"
CUT_SPANS: Final = "spans that cut a word"
DROPPED_SPANS: Final = "overlapping spans left out"
PLACEHOLDER_KEYS: Final = "placeholders in JSON keys"
WHOLE_TABLE: Final = -1  # the group column of a table whose rows are all one document


class TableLayout(NamedTuple):
    """Layout of a CSV or TSV file.

    ``columns`` are (name, 0-based index) of the text fields; ``ids`` and ``question`` are the indices of these columns. ``head``: the
    first row is a header. Rows with equal values in the column ``group`` are one document (``WHOLE_TABLE``: all rows; None: each row is
    a document), ``speaker`` is the column of their speakers.
    """

    delimiter: str
    quoted: bool
    columns: tuple[tuple[str, int], ...]
    ids: int | None
    head: bool
    question: int | None = None
    group: int | None = None
    speaker: int | None = None


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


class SourceFile(NamedTuple):
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


class FilePart(NamedTuple):
    """A part of a file: bytes ``[start, end)``, or rows for Parquet.

    ``line`` (the 1-based line or row of its start) and ``ascii`` (the JSON file is all ASCII) are known only after the counting pass.
    """

    file: SourceFile
    start: int
    end: int
    line: int = 1
    ascii: bool = False


class PartChunk(NamedTuple):
    """What a worker takes at a time: consecutive ``parts`` of the input. ``number`` is 0-based."""

    number: int
    parts: tuple[FilePart, ...]


class CannotSpell(Exception):
    """Raised if the file's format cannot represent a surrogate. The message gives the reason, but not the surrogate."""


FileChange = tuple[int, int, str]  # start and end in the file, and what comes there


def with_changes(raw: str, start: int, end: int, changes: Iterable[FileChange]) -> str:
    """Return ``raw[start:end]`` with *changes* (in order, disjoint)."""
    out: list[str] = []
    at = start
    for cut, cut_end, new in changes:
        out += (raw[at:cut], new)
        at = cut_end
    out.append(raw[at:end])
    return "".join(out)


class TextPiece(NamedTuple):
    """A piece of a text: ``text[start:end]`` is written as ``raw[raw_start:raw_end]``.

    Equal lengths mean that both are the same characters; otherwise the piece is one escaped character. Between pieces the file may have
    content that is no text (tags), which is never changed.
    """

    start: int
    end: int
    raw_start: int
    raw_end: int


def piece_changes(pieces: Sequence[TextPiece], replaced: Replaced, spell: Callable[[str], str]) -> Iterator[FileChange]:
    """Yield the changes to the file that put the surrogates of *replaced* in a text of *pieces*.

    Each surrogate is escaped by *spell* and put where the range that it replaces begins. *spell* is called once per surrogate, in order.
    """
    starts = [piece.start for piece in pieces]
    for place in replaced.placed:
        number = bisect_right(starts, place.start) - 1
        new = spell(replaced.text[place.new_start : place.new_end])
        while number < len(pieces) and pieces[number].start < place.end:
            piece = pieces[number]
            if piece.end - piece.start == piece.raw_end - piece.raw_start:
                cut = piece.raw_start + max(0, place.start - piece.start)
                cut_end = piece.raw_start + min(place.end, piece.end) - piece.start
            else:
                cut, cut_end = piece.raw_start, piece.raw_end
            yield cut, cut_end, new
            new = ""
            number += 1


def escape_pieces(escapes: Iterable[re.Match[str]], start: int, end: int) -> list[TextPiece]:
    """Return the pieces of a text that is written as ``raw[start:end]``, in which each of *escapes* is one character."""
    pieces: list[TextPiece] = []
    text, at = 0, start
    for match in escapes:
        here, after = match.span()
        if here > at:
            pieces.append(TextPiece(text, text + here - at, at, here))
            text += here - at
        pieces.append(TextPiece(text, text + 1, here, after))
        text, at = text + 1, after
    if end > at:
        pieces.append(TextPiece(text, text + end - at, at, end))
    return pieces


class TextSlot:
    """The range of a part's text, ``raw[start:end]``, that holds a document's text, escaped as the format requires.

    This class is for a text without escapes; formats have their own.
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Spans that the file tells of the text, and that move with it."""
        return ()

    def rest(self, parsed: Parsed) -> object:  # noqa: ARG002 - formats need it
        """Return all there is in the range, or belongs to it, that ``changes`` may not change; for comparing two files."""
        return None

    def columns(self) -> Iterator[str]:
        """Yield words that belong to the text and that neither ``rest`` nor ``changes`` has."""
        return iter(())

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterable[FileChange]:  # noqa: ARG002 - as above
        """Return the changes to the range, in order, that put the surrogates in.

        Raises ``CannotSpell`` if the format cannot represent a surrogate.
        """
        return [(self.start, self.end, replaced.text)]


class FoundText(NamedTuple):
    """A document found in a part.

    ``id`` is the row's, if it has one. ``line`` is 0-based from the part's start. ``field`` is set only if there are several text fields.
    ``question_at`` is where the question begins in ``text``, if the row has one. ``covered`` are given spans that others cover.
    ``turns``: see ``Document``.
    """

    text: str
    slot: TextSlot
    id: str | None = None
    line: int = 0
    field: str = ""
    mentions: tuple[Mention, ...] | None = None
    covered: tuple[Mention, ...] = ()
    question_at: int | None = None
    turns: tuple[tuple[int, str], ...] = ()


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
class Parsed:
    """A part as it was read: ``raw`` is its text, ``found`` its documents.

    ``rows`` counts all rows, ``lines`` all line ends. ``keys`` are the fields of the first row. ``bom`` comes before ``raw`` in the file.
    ``skips`` are rows that were set aside; they are in no other count. ``ascii`` is that of the part. ``met`` are all keys of a part of
    JSON, each with how often and on which line first (0-based from the part's start) it was met, until ``note_keys`` is called.
    """

    raw: str = ""
    found: list[FoundText] = field(default_factory=list)
    rows: int = 0
    lines: int = 0
    notes: Notes = field(default_factory=Notes)
    keys: tuple[str, ...] = ()
    bom: bytes = b""
    skips: list[Skip] = field(default_factory=list)
    ascii: bool = False
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
        skips = self.skips[bisect_left(self.skips, (start,)) : bisect_left(self.skips, (end,))] if self.skips else ()
        return with_changes(self.raw, start, end, [(one.start, one.end, one.instead) for one in skips])

    def beside(self) -> Iterator[tuple[int, str]]:
        """Yield what the mirror keeps besides the texts and the marks of their spans, with its line (0-based from the part's start)."""
        at = line = 0
        for one in self.found:
            yield line, self.outside(at, one.slot.start)
            at, line = max(at, one.slot.end), one.line
            if rest := one.slot.rest(self):
                yield line, "\n\n".join(map(str, rest)) if isinstance(rest, list | tuple) else str(rest)
        yield line, self.outside(at, len(self.raw))
        for one in self.found:
            yield from ((one.line, words) for words in one.slot.columns())

    def rewritten(self, replaced: Sequence[Replaced]) -> str:
        """Return the part's text with the new texts of the documents; *replaced* has one item per item of ``found``, in order."""
        pairs = zip(self.found, replaced, strict=True)
        changes = [change for one, done in pairs if done.placed for change in one.slot.changes(self, done)]
        if self.skips:
            changes = sorted([*changes, *((one.start, one.end, one.instead) for one in self.skips)])
        return with_changes(self.raw, 0, len(self.raw), changes)

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the part's bytes with the new texts of the documents, see ``rewritten``."""
        return self.bom + self.rewritten(replaced).encode("utf-8")


_BLOCK: Final = 1 << 20
_SHOWN: Final = 12
UNDECODED: Final = re.compile("[\udc80-\udcff]")  # what Python's "surrogateescape" makes of bytes that are not UTF-8


def undecoded(raw: str, start: int, end: int) -> str | None:
    """Return what is wrong with ``raw[start:end]`` if it has a byte that is not UTF-8, else None."""
    bad = None if raw.isascii() else UNDECODED.search(raw, start, end)
    return f"byte 0x{ord(bad[0]) - 0xDC00:02x} is not UTF-8" if bad else None


def line_at(path: Path, offset: int) -> int:
    """Return the 1-based line of the byte *offset* in the file at *path*. Lines end at line feeds."""
    line = 1
    with path.open("rb") as fh:
        while offset > 0 and (block := fh.read(min(_BLOCK, offset))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def fault(part: FilePart, raw: str, at: int, message: str, remedy: str | None = None) -> DataError:
    """Return the error for a fault at character *at* of *raw*, the text of *part*, with file and line."""
    before = raw[:at].encode("utf-8", "surrogatepass")
    return DataError(message, where=f"{part.file.name}:{line_at(part.file.path, part.start) + before.count(10)}", remedy=remedy)


def undecodable(file: SourceFile, offset: int, byte: int, line: int, encoding: str) -> DataError:
    """Return the error for a byte at *offset* that is not valid in the encoding."""
    return DataError(
        f"byte 0x{byte:02x} at offset {offset} is not {encoding.upper()}",
        where=f"{file.name}:{line}",
        remedy="Name the file's encoding with --encoding (cp1252 and latin-1 are common)",
    )


def cannot_read(name: str, error: OSError) -> DataError:
    """Return the error for a file that the operating system does not let us read."""
    return DataError(f"the file cannot be read ({error.strerror or type(error).__name__})", where=name, remedy="Check its permissions")


def names_shown(names: Sequence[str]) -> str:
    """Join the first twelve *names* for a message, and say how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "nothing"


def no_column(file: str, field: str, names: Sequence[str], option: str) -> UsageError:
    """Return the error for a table without the column *field*, which the user named with *option*."""
    return UsageError(
        f"there is no column {field!r}; the table has: {names_shown(names)}", where=file, remedy=f"Name another with {option}"
    )
