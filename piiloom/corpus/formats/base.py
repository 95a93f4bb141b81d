"""The interface of a format, and the reports on reading and writing.

A row that cannot become a record gives a ``RowReject`` with its line and reason and is never skipped silently; a value that a
format cannot express gives a ``LossEntry``. Reasons name fields, positions and the faulty value, so that it can be found in the
file. Before reasons are counted or published, ``fault_kinds`` removes all text of the file from them. The loss report is
stored with the export, so it may name values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Protocol, TypeGuard, runtime_checkable

from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import LostValue, Record
from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import secret_key
from piiloom.foundation.whole_files import replaced, write_errors
from piiloom.taxonomy.entity_types import Taxonomy

Json = dict[str, object]

_STAND_IN = "stand-in"
# Reasons why a mention or value of a row is not in its record.
OVERLAPPED = "overlaps a longer mention, which was kept"
ABSENT = "is not in the context"
INSIDE_WORD = "stands only inside a longer word"

# Fields of a record that are lost if rows have id, locale, text, question, and ranges with type and relevance; and without the first two.
LOST_FIELDS = ("revision", "span ids", "subtype", "value_id", "subject", "plan", "source", "group_keys", "provenance")
LOST_FIELDS_WITHOUT_ID = ("id", "revision", "locale", *LOST_FIELDS[1:])

_LONGEST_QUOTE = 40
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLACE = re.compile(r'\[(?:\d+|"")\]')


def is_stand_in(detector: str | None) -> TypeGuard[str]:
    """Whether *detector* is a rule in the place of a model, which its name says."""
    return detector is not None and detector.endswith(_STAND_IN)


def quoted(value: str) -> str:
    """Return *value* in double quotes for a message: on one line, shortened, with non-printable characters escaped."""
    short = value if len(value) <= _LONGEST_QUOTE else f"{value[: _LONGEST_QUOTE - 1]}…"
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in short.replace("\\", "\\\\"))
    return '"' + shown.replace('"', '\\"') + '"'


def fault_kinds(reason: str) -> list[str]:
    """Split a reason into its faults, without quoted values and positions, so that equal faults of different rows are equal."""
    return [_PLACE.sub("[]", part) for part in _QUOTED.sub('""', reason).split("; ")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReject:
    """A refused row: its 1-based line, the reason, and the unchanged row. *left_out*: by the file's own word it does not count."""

    line: int
    reason: str
    row: str
    left_out: bool = False

    def to_json(self) -> Json:
        """Return the line of the file of rejects."""
        return {"line": self.line, "reason": self.reason, "row": self.row}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A mention that was left out because it overlaps a longer one (or an earlier one of equal length).

    Ranges are in code points. ``value_lost``: no other mention of the value is left.
    """

    line: int
    kept: tuple[int, int]
    dropped: tuple[int, int]
    dropped_type: str
    value_lost: bool

    def to_json(self) -> Json:
        """The fields as JSON values."""
        return {
            "line": self.line,
            "kept": list(self.kept),
            "dropped": list(self.dropped),
            "dropped_type": self.dropped_type,
            "value_lost": self.value_lost,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedValue:
    """A value that was left out of a kept row because it has no exact place in the context (``skip_values``)."""

    line: int
    value: LostValue

    def to_json(self) -> Json:
        """The fields as JSON values."""
        lost = self.value
        return {"line": self.line, "value": lost.text, "type": lost.entity_type, "relevance": lost.relevance, "reason": lost.reason}


@contextmanager
def rejects_file(path: Path | None) -> Iterator[Callable[[RowReject | SkippedValue], None]]:
    """Give the function that adds a line to the file of rejects at *path* (None: no file).

    A line is ``{"line", "reason", "row"}``, with the row as it was, or ``{"line", "reason", "value", "type", "relevance"}``. The file gets
    its name when the block ends, also after an error; without a line, the file of an earlier import is removed. Raises ``OutputError``.
    """
    draft, opened = ExitStack(), list[BinaryIO]()

    def failing() -> AbstractContextManager[None]:
        return nullcontext() if path is None else write_errors(path, "the rejected rows", remedy="Name another place for them")

    def write(reject: RowReject | SkippedValue) -> None:
        if path is None:
            return
        with failing():
            if not opened:
                opened.append(draft.enter_context(replaced(path)))
            row = reject.to_json()
            opened[0].write(json.dumps({"line": row["line"], "reason": row["reason"], **row}, ensure_ascii=False).encode() + b"\n")

    def finish() -> None:
        draft.close()
        if path is not None and not opened:
            path.unlink(missing_ok=True)

    try:
        yield write
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            finish()
        raise
    with failing():
        finish()


@dataclass(slots=True, kw_only=True)
class ReadTally:
    """Counts that are updated while a file is read, including rejected rows.

    ``values`` = ``exact`` + ``inside_word`` + ``missing``; ``ambiguous`` are exact values with two or more mentions, ``seams`` those
    inside a word that have an exact place all the same (``piiloom.corpus.formats.row_reading``). ``line`` is the line number of the last
    row that was yielded. ``joined_texts`` are rows of tokens without their text: it is the tokens joined by blanks.
    """

    rows: int = 0
    line: int = 0
    values: int = 0
    exact: int = 0
    ambiguous: int = 0
    inside_word: int = 0
    seams: int = 0
    missing: int = 0
    joined_texts: int = 0
    overlapping: list[Overlap] = field(default_factory=list)
    skipped_values: list[SkippedValue] = field(default_factory=list)
    mapped_types: dict[str, str] = field(default_factory=dict)
    unknown_types: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[str] = field(default_factory=Counter)
    stand_ins: Counter[str] = field(default_factory=Counter)  # mentions by a rule in the place of a model, by its name
    unmapped_labels: Counter[str] = field(default_factory=Counter)  # mentions left out because the label map says they are no PII


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    ``taxonomy`` has the types that labels may mean. ``locale`` is for rows without one. A value without an exact place in its context
    makes its row a reject or, with ``skip_values``, is left out of the record and listed in the tally and in the record's source. A blank
    context makes its row a reject, unless ``blank_contexts``: a corpus processed by ``surrogates`` keeps empty documents in place.

    ``label_map``: label in the file → "type" or "type/subtype", or None for a label that is no personal information; other labels
    are looked up in the taxonomy. ``columns``: field of a record → name of the column or key that holds it, for formats whose
    ``column_fields`` has the field. ``all_mentions``: rows have more than a record holds, namely mentions without a place (null as
    start and end), and those of every annotator; only for readers of ``NativeShapedFormat.read_with``.
    """

    taxonomy: Taxonomy
    locale: str = "en_US"
    skip_values: bool = False
    blank_contexts: bool = False
    label_map: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    all_mentions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How to write a file. ``tokenizer``: see ``piiloom.corpus.formats.token_labels``; formats without tokens ignore it.

    ``markers`` are those of the format ``openai``. ``taxonomy`` has the types that a reader of the file will know. ``key``: what
    surrogates depend on, besides the record; a secret that is written nowhere.
    """

    taxonomy: Taxonomy
    tokenizer: str = "whitespace"
    markers: MarkerSet = TYPES
    key: bytes = field(default_factory=secret_key, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossEntry:
    """A loss of one record in a format; ``value`` is None if the loss does not concern a value."""

    record_id: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """What a format could not express: ``fields`` of all records, and ``entries`` for single records (in export order)."""

    fields: tuple[str, ...] = ()
    entries: tuple[LossEntry, ...] = ()

    def to_json(self) -> Json:
        """Return the fields, the counts by reason, and the entries as JSON values."""
        reasons = Counter(entry.reason for entry in self.entries)
        return {
            "fields": list(self.fields),
            "reasons": dict(sorted(reasons.items())),
            "entries": [{"record": e.record_id, "value": e.value, "reason": e.reason} for e in self.entries],
        }


class Format(Protocol):
    """Interface of a file format in which records are written.

    ``suffix`` is the file name suffix, with its dot; "" if a split is a folder. A library that only some formats need is imported
    inside ``write`` and ``read``.
    """

    name: str
    suffix: str

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write *records* in order to the new file (or, without a suffix, folder) *path*; equal records give equal bytes.

        *records* is an iterator over a whole split and is read once; a format that can do so writes it piece by piece.
        """
        ...


@runtime_checkable
class ReadableFormat(Protocol):
    """Interface of a file format that can be read; ``column_fields`` are the fields that ``ReadOptions.columns`` may name."""

    name: str
    suffix: str
    column_fields: tuple[str, ...]

    def read(self, path: Path, options: ReadOptions, tally: ReadTally) -> Iterator[Record | RowReject]:
        """Yield the rows of *path* in order, as records or rejects, and update *tally*; raises ``DataError`` if it cannot be read."""
        ...


@runtime_checkable
class FormatWithExtras(Format, Protocol):
    """A format that has files about the release as a whole, beside the splits: a dataset card, a labelling configuration."""

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the files into *folder*, which holds the splits already, and return their names (relative, with ``/``).

        *about* is the content of ``release.json``, *taxonomy* has its types.
        """
        ...


def read_records(file_format: ReadableFormat, path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of *path*; raises ``DataError`` with file, line and field at the first row that is no valid record."""
    for row in file_format.read(path, options, ReadTally()):
        if isinstance(row, RowReject):
            remedy = "Correct the row, or import the file to set such rows aside"
            raise DataError(row.reason, where=f"{path.name}:{row.line}", remedy=remedy)
        yield row
