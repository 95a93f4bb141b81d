"""Parts of inputs, the settings for reading them, and errors in them.

A part is a run of whole rows of one file; a chunk is the parts that a worker takes at a time. The chunk size affects only memory: the
documents and all output are the same for any size. Errors name the file and line as a user searches for them.

Parts that were read are kept for the next reading of the same input in the same process.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Mention, Replaced

if TYPE_CHECKING:
    from piiloom.surrogates.options import InputOptions, SpanOptions

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
    ``turns``: see ``Document``.
    """

    text: str
    id: str | None
    line: int
    field: str
    slot: Slot
    mentions: tuple[Mention, ...] | None = None
    question_at: int | None = None
    covered: tuple[Mention, ...] = ()
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


def without(skips: Sequence[Skip], raw: str, start: int, end: int) -> str:
    """Return ``raw[start:end]`` without the rows of *skips*, with what the mirror has instead of them."""
    if not skips:
        return raw[start:end]
    pieces: list[str] = []
    for skip in skips[bisect_left(skips, (start,)) :]:
        if skip.start >= end:
            break
        pieces += (raw[start : skip.start], skip.instead)
        start = skip.end
    return "".join([*pieces, raw[start:end]])


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
        return without(self.skips, self.raw, start, end)

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
class InputSettings:
    """Settings for reading an input. ``path`` is a file or a folder; ``format`` is for files with an unknown suffix.

    ``text_fields`` are names (dotted in JSON: "note.text") or, in tables, 1-based numbers; the default is ``text``, else ``context``.
    ``id_field`` defaults to ``id``. ``encoding`` is for files without a byte-order mark; the default is what XML declares, else UTF-8.
    ``delimiter`` None: by suffix and first line. ``quoting`` "auto": fields may be quoted, except in a tab-separated file whose quotes
    do not pair.

    With ``question_field``, a row's question is part of its document (``questions``). With ``group_by`` several rows of a table are one
    document, each a line that begins with its ``speaker_field`` if there is one (``row_groups``).

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
        if self.chunk_bytes < 1 or self.max_unpacked < 1:
            raise UsageError("a size must be at least one byte", where="--max-unpacked")
        if self.format is not None and self.format not in set(FORMATS.values()):
            raise UsageError(
                f"there is no format {self.format!r}",
                where="--input-format",
                remedy=f"The formats are {', '.join(sorted(set(FORMATS.values())))}.",
            )
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()):
            raise UsageError("a delimiter is one ASCII character, and neither a quote nor a line end", where="--delimiter")
        if self.question_field is not None and (len(self.text_fields) > 1 or self.question_field in self.text_fields):
            raise UsageError("a question goes with one text, of another field", where="--question-field", remedy="Name one --text-field")
        if self.group_by is not None and (self.question_field is not None or len(self.text_fields) > 1):
            raise UsageError("a group of rows has one text field and no question", where="--group-by", remedy="Name one --text-field")
        if self.speaker_field is not None and self.group_by is None:
            raise UsageError("speakers are those of grouped rows", where="--speaker-field", remedy="Add --group-by")
        if len(set(self.text_fields)) != len(self.text_fields):
            raise UsageError("a field is named twice", where="--text-field")

    @classmethod
    def of(cls, path: Path, options: InputOptions, spans: SpanOptions | None = None) -> InputSettings:
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
    def from_json(cls, path: Path, state: Mapping[str, Any]) -> InputSettings:
        """Return the settings that ``to_json`` saved, for the input at *path*. All spans become mentions of the kind "generic"."""
        told = {key: value for key, value in state.items() if key not in {"spans", "text_fields"}}
        kind_of = _any_kind if state["spans"] else None
        return cls(path=path, text_fields=tuple(state["text_fields"]), use_spans=bool(state["spans"]), kind_of=kind_of, **told)


def _kind_of_span() -> KindOf:
    from piiloom.surrogates.placeholders.reading import kind_of_span  # noqa: PLC0415 - most runs take no spans

    return kind_of_span


def _any_kind(entity_type: str, subtype: str | None) -> str:  # noqa: ARG001 - a KindOf
    return "generic"


_ROOM: Final = 16_000_000  # characters; the texts in them are those of the documents, of which the engine keeps as many
_PER_KEY: Final = 100  # a key of JSON that was met takes as much as so many characters
Key = tuple[str, int, int, int, int]


class KeptRows:
    """Parts as they were read. What does not fit is not kept, and read again.

    Files that are converted or unpacked first are not kept, either: each reading of an input may have its own copy of them.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._parsed: dict[Key, Parsed] = {}
        self._size = self._room = room
        self._settings: InputSettings | None = None

    def begin(self, settings: InputSettings) -> None:
        """Be told how parts are read from now on. What was read in another way is forgotten."""
        how = replace(settings, look_at_key=None)  # it changes only what is noted of the keys
        if how != self._settings:
            self._parsed.clear()
            self._room, self._settings = self._size, how

    def put(self, key: Key | None, parsed: Parsed) -> None:
        """Keep *parsed*, which is what the part with *key* held when that was told, if there is room."""
        size = len(parsed.raw) + _PER_KEY * len(parsed.met)
        if key is not None and size < self._room:
            self._room -= size
            self._parsed[key] = parsed

    def get(self, key: Key | None, *, again: bool) -> Parsed | None:
        """Return what is kept of a part, None if there is nothing. It stays if the part is to be read *again*."""
        if key is None:
            return None
        return self._parsed.get(key) if again else self._parsed.pop(key, None)


def key_of(part: Part) -> Key | None:
    """Return what tells *part* from all others, and from what stands there when its file is changed; None if it is not to be kept."""
    file = part.file
    if file.archive or file.encoding != "utf-8":
        return None
    try:
        status = file.path.stat()
    except OSError:  # told by whoever reads the part
        return None
    return str(file.path), part.start, part.end, status.st_size, status.st_mtime_ns


_BLOCK: Final = 1 << 20
_SHOWN: Final = 12
UNDECODED: Final = re.compile("[\udc80-\udcff]")  # what Python's "surrogateescape" makes of bytes that are not UTF-8


class BadRow(Exception):
    """Raised for a row that cannot be read, where bad rows are set aside (``InputSettings.skip_bad_rows``). The message is the reason."""


def check_decoded(raw: str, start: int, end: int) -> None:
    """Raise ``BadRow`` if ``raw[start:end]`` has a byte that is not UTF-8."""
    if not raw.isascii() and (bad := UNDECODED.search(raw, start, end)):
        raise BadRow(f"byte 0x{ord(bad[0]) - 0xDC00:02x} is not UTF-8")


def line_at(path: Path, offset: int) -> int:
    """Return the 1-based line of the byte *offset* in the file at *path*. Lines end at line feeds."""
    line = 1
    with path.open("rb") as fh:
        while offset > 0 and (block := fh.read(min(_BLOCK, offset))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def fault(part: Part, raw: str, at: int, message: str, remedy: str | None = None) -> DataError:
    """Return the error for a fault at character *at* of *raw*, the text of *part*, with file and line."""
    before = raw[:at].encode("utf-8", "surrogatepass")
    return DataError(message, where=f"{part.file.name}:{line_at(part.file.path, part.start) + before.count(10)}", remedy=remedy)


def row_fault(part: Part, row: int, message: str) -> DataError:
    """Return the error for a bad row of a file that has no lines; *row* is 1-based."""
    return DataError(message, where=f"{part.file.name}:{row}", remedy="Correct the row, or use --skip-bad-rows")


def undecodable(file: InputFile, offset: int, byte: int, line: int, encoding: str) -> DataError:
    """Return the error for a byte at *offset* that is not valid in the encoding."""
    return DataError(
        f"byte 0x{byte:02x} at offset {offset} is not {encoding.upper()}",
        where=f"{file.name}:{line}",
        remedy="Name the file's encoding with --encoding (cp1252 and latin-1 are common)",
    )


def cannot_read(name: str, error: OSError) -> DataError:
    """Return the error for a file that the operating system does not let us read."""
    return DataError(f"the file cannot be read ({error.strerror or type(error).__name__})", where=name, remedy="Check its permissions")


def shown(names: Sequence[str]) -> str:
    """Join the first twelve *names* for a message, and say how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "nothing"


def no_column(file: str, field: str, names: Sequence[str], option: str) -> UsageError:
    """Return the error for a table without the column *field*, which the user named with *option*."""
    return UsageError(f"there is no column {field!r}; the table has: {shown(names)}", where=file, remedy=f"Name another with {option}")


def no_text(file: str, missing: Sequence[str], keys: Sequence[str]) -> UsageError:
    """Return the error for a file in which no row has a text.

    *missing* are the requested fields that are in no row, *keys* the fields of the first row.
    """
    what = f"no row has the field {', '.join(map(repr, missing))}" if missing else "no row has a text"
    return UsageError(f"{what}; the first one has: {shown(keys)}", where=file, remedy="Name the field with --text-field")
