"""Counts of the input from its first reading: where each chunk begins in the input, and what the report says about the files."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.json_rows import absent_fields
from piiloom.surrogates.inputs.parts import (
    AUTHORS,
    BAD_ROWS,
    CUT_SPANS,
    DROPPED_SPANS,
    NO_SPANS,
    NO_TEXT,
    PLACEHOLDER_KEYS,
    WHOLE_FILES,
    Chunk,
    InputFile,
    ParquetLayout,
    Part,
    TableLayout,
    no_text,
    shown,
)
from piiloom.surrogates.inputs.questions import NO_QUESTION
from piiloom.surrogates.inputs.source import Source
from piiloom.surrogates.jobs import PartCount

SKIPPED: Final = "skipped_rows.jsonl"


@dataclass(slots=True)
class FileCount:
    """Counts of one file: documents, rows, lines, and notes. ``first`` has the 1-based line where each note occurred first."""

    documents: int = 0
    rows: int = 0
    lines: int = 0
    ascii: bool = True
    keys: tuple[str, ...] = ()
    notes: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)


class InputCounts:
    """Counts of all files. Chunks are added in input order; afterwards the first line of each part is known."""

    def __init__(self) -> None:
        self.documents = 0
        self.files: dict[int, FileCount] = {}
        self._chunk_starts = array("Q")
        self._part_lines = array("Q")

    def add(self, chunk: Chunk, parts: list[PartCount]) -> None:
        """Add the counts of *chunk*, one for each of its parts."""
        self._chunk_starts.append(self.documents)
        for part, count in zip(chunk.parts, parts, strict=True):
            file = self.files.setdefault(part.file.number, FileCount())
            self._part_lines.append(file.lines + 1)
            for what, times in count.notes.counts.items():
                file.notes[what] += times
                file.first.setdefault(what, file.lines + 1 + count.notes.first[what])
            file.documents += count.documents
            file.rows += count.rows
            file.lines += count.lines
            file.ascii = file.ascii and count.ascii
            file.keys = file.keys or count.keys
            self.documents += count.documents

    def placed(self, source: Source) -> Iterator[tuple[Chunk, int]]:
        """Yield the chunks again, with the first line of each part filled in, and the number of each chunk's first document."""
        number = 0
        for chunk in source.chunks():
            parts = []
            for part in chunk.parts:
                parts.append(part._replace(line=self._part_lines[number], ascii=self._is_ascii(part)))
                number += 1
            yield chunk._replace(parts=tuple(parts)), self._chunk_starts[chunk.number]

    def _is_ascii(self, part: Part) -> bool:
        return self.files[part.file.number].ascii

    def check(self, source: Source) -> None:
        """Raise ``UsageError`` if a file has rows but no text, or if a field of ``text_fields`` is in no file."""
        wanted = set(source.settings.text_fields)
        rows = False
        for file in source.files:
            count = self.files[file.number]
            if (bad := count.notes[BAD_ROWS]) and not count.rows and file.format not in WHOLE_FILES:
                where = f"{file.name}:{count.first[BAD_ROWS]}"
                raise DataError(f"no row can be read: {bad} are bad", where=where, remedy="Run without --skip-bad-rows to see why")
            if file.format in WHOLE_FILES or not count.rows or not file.size:  # an empty table still counts one row
                continue
            rows = True
            if not count.documents:
                raise no_text(file.name, absent_fields(source.settings.text_fields, count.notes, count.rows), count.keys)
            wanted -= _fields_in(file, count, wanted)
            if source.settings.question_field and count.notes[NO_QUESTION] >= count.documents:
                where = f"{file.name}:{count.first[NO_QUESTION]}"
                message = f"no row has the field {source.settings.question_field!r}; the first one has: {shown(count.keys)}"
                raise UsageError(message, where=where, remedy="Name the field with --question-field")
        if rows and wanted:
            raise UsageError(f"no file has the field {min(wanted)!r}", where="--text-field", remedy="Check the spelling")

    def warnings(self, source: Source) -> list[str]:
        """Return warnings for the user about the input."""
        told: list[str] = []
        words = {
            NO_TEXT: "rows without text, which stay as they are",
            PLACEHOLDER_KEYS: "JSON keys that look like placeholders (keys are never replaced)",
            NO_SPANS: "documents in which no span was read",
            CUT_SPANS: "given spans that begin or end inside a word, whose rest stays (are their offsets right?)",
            DROPPED_SPANS: "given spans that overlap a longer one, left out",
            BAD_ROWS: f"bad rows set aside; {SKIPPED} names them, and mirror/ has them not",
            NO_QUESTION: "rows without a question",
            AUTHORS: "Word documents whose properties, comments or changes name their authors, and keep it",
        }
        for what, text in words.items():
            total = sum(count.notes[what] for count in self.files.values())
            if total:
                place = next((f"{f.name}:{self.files[f.number].first[what]}" for f in source.files if self.files[f.number].notes[what]), "")
                told.append(f"{text}: {total} (first: {place})")
        if source.skipped:
            more = f" and {len(source.skipped) - 3} more" if len(source.skipped) > 3 else ""
            told.append(f"files left out: {len(source.skipped)} ({', '.join(source.skipped[:3])}{more})")
        return told

    def file_rows(self, source: Source) -> list[dict[str, Any]]:
        """Return the files as ``report.json`` lists them."""
        return [_file_row(file, self.files[file.number]) for file in source.files]


def _fields_in(file: InputFile, count: FileCount, wanted: set[str]) -> set[str]:
    if isinstance(file.layout, TableLayout):
        return {name for name, _ in file.layout.columns}
    if isinstance(file.layout, ParquetLayout):
        return set(file.layout.columns)
    return wanted.difference(absent_fields(wanted, count.notes, count.rows))


def _file_row(file: InputFile, count: FileCount) -> dict[str, Any]:
    row: dict[str, Any] = {"file": file.name, "format": file.format, "encoding": file.encoding, "documents": count.documents}
    if file.format not in WHOLE_FILES:
        row["rows"] = count.rows
    if isinstance(file.layout, TableLayout):
        row["delimiter"], row["quoted"] = file.layout.delimiter, file.layout.quoted
    notes = {what: {"count": times, "first_line": count.first[what]} for what, times in sorted(count.notes.items())}
    return {**row, "notes": notes} if notes else row
