"""What a format is, and what reading and writing report.

A row that cannot become a record is a ``RowReject`` with its line and reason, never a silent skip; a value that a
format cannot express is a ``LossEntry``. Reasons name fields and positions, and the value that is at fault: whoever imports a file has
to find it there. What is counted or published goes through ``fault_kinds``, which leaves no text. The loss report is data that
stays beside the export, so it does name the values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TextIO

from piiloom.corpus.record import LostValue, Record
from piiloom.foundation.errors import DataError

Json = dict[str, object]

# Why a mention or a value of a row is not in its record.
OVERLAPPED = "overlaps a longer mention, which was kept"
ABSENT = "is not in the context"
INSIDE_WORD = "stands only inside a longer word"

_LONGEST_QUOTE = 40
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLACE = re.compile(r'\[(?:\d+|"")\]')


def quoted(value: str) -> str:
    """*value* in double quotes for a message: one line, shortened, with everything escaped that is not to be seen as a letter or sign."""
    short = value if len(value) <= _LONGEST_QUOTE else f"{value[: _LONGEST_QUOTE - 1]}…"
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in short.replace("\\", "\\\\"))
    return '"' + shown.replace('"', '\\"') + '"'


def fault_kinds(reason: str) -> list[str]:
    """The faults of a reason without values and positions: the same fault of two rows reads the same, and tells no text."""
    return [_PLACE.sub("[]", part) for part in _QUOTED.sub('""', reason).split("; ")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReject:
    """A row that was refused: its 1-based line, why (fields and positions), and the row as it stood in the file."""

    line: int
    reason: str
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A mention that was left out because it overlaps a longer (or equally long and earlier) one; ranges are code points.

    ``value_lost`` says that no other mention of the value is left.
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
    """A value that was left out of its record because it has no exact place (``skip_values``); its row was kept."""

    line: int
    value: LostValue

    def to_json(self) -> Json:
        """The fields as JSON values."""
        lost = self.value
        return {"line": self.line, "value": lost.text, "type": lost.entity_type, "relevance": lost.relevance, "reason": lost.reason}


@dataclass(slots=True, kw_only=True)
class ReadTally:
    """Counts that grow while a file is read; rows that end as rejects are counted too.

    ``values`` = ``exact`` + ``inside_word`` + ``missing``; ``ambiguous`` values are exact ones with two or more mentions.
    ``line`` is that of the row given last.
    """

    rows: int = 0
    line: int = 0
    values: int = 0
    exact: int = 0
    ambiguous: int = 0
    inside_word: int = 0
    missing: int = 0
    overlapping: list[Overlap] = field(default_factory=list)
    skipped_values: list[SkippedValue] = field(default_factory=list)
    mapped_types: dict[str, str] = field(default_factory=dict)
    unknown_types: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossEntry:
    """What one record loses in a format; ``value`` is None when the loss is not a value's."""

    record_id: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """What a format could not express: ``fields`` for every record, ``entries`` for single ones (in export order)."""

    fields: tuple[str, ...] = ()
    entries: tuple[LossEntry, ...] = ()

    def to_json(self) -> Json:
        """Fields, counts by reason, and the entries."""
        reasons = Counter(entry.reason for entry in self.entries)
        return {
            "fields": list(self.fields),
            "reasons": dict(sorted(reasons.items())),
            "entries": [{"record": e.record_id, "value": e.value, "reason": e.reason} for e in self.entries],
        }


class Format(Protocol):
    """A way to write records down. ``suffix`` is the file name's end, with its dot."""

    name: str
    suffix: str

    def read(
        self,
        path: Path,
        *,
        locale: str = "en_US",
        tally: ReadTally | None = None,
        skip_values: bool = False,
        blank_contexts: bool = False,
    ) -> Iterator[Record | RowReject]:
        """The rows of *path* in order; *locale* is for rows that name none. ``DataError`` if the file cannot be read.

        A value without an exact place in its context makes its row a reject, or, with *skip_values*, is left out of the record and
        listed in *tally* and in the record's source. A context without text makes its row a reject, unless *blank_contexts*: a corpus
        that surrogates were put into keeps the place of an empty document.
        """
        ...

    def write(self, records: Iterable[Record], fh: TextIO) -> LossReport:
        r"""Write *records* to *fh* (UTF-8, opened with ``newline="\n"``) in order; equal records give equal bytes."""
        ...


def read_records(file_format: Format, path: Path, *, locale: str = "en_US") -> Iterator[Record]:
    """The records of *path*; the first row that is no record raises ``DataError`` with file, line and field."""
    for row in file_format.read(path, locale=locale, blank_contexts=True):
        if isinstance(row, RowReject):
            remedy = "Correct the row, or import the file to set such rows aside"
            raise DataError(row.reason, where=f"{path.name}:{row.line}", remedy=remedy)
        yield row
