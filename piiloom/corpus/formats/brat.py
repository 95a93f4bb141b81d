r"""BRAT standoff: a folder with a ``.txt`` and an ``.ann`` file a record, which a BRAT server shows as a collection.

::

    000001.txt        exactly the context (no line end is changed or added); offsets are code points
    000001.ann        T1<tab>health 16 22<tab>asthma          a span; the type with _ for blanks
                      A1<tab>Relevance T1 high                its relevance
                      #1<tab>AnnotatorNotes T1<tab>{"id": …}  what else it holds: id, subtype, value, subject (JSON)
    index.jsonl       file, id, locale, question and meta of each record
    annotation.conf   the types and the attribute
    visual.conf       their names and colours

BRAT marks no line breaks: a span over one has a fragment a line (``T1<tab>location 0 5;6 9<tab>…``) and comes back as one span. One
that begins or ends with a line break is written without it, and one of nothing else not at all; the loss report names both.

Folders of others are read, too, with their subfolders; the name of a file is the id of its record. A T line whose fragments have
other text between them gives a span a fragment, with one ``value_id``. Offsets of BRAT servers count the line break of Windows as one
character; a text whose spans fit only so is read without its carriage returns. Events, relations, normalisations, other attributes and
notes are counted as ignored. A file without its partner is a reject.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions, quoted
from piiloom.corpus.formats.brat_annotations import NOTE, read_annotations
from piiloom.corpus.formats.brat_configuration import RELEVANCE, brat_name, write_configuration
from piiloom.corpus.formats.labels import types_and
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object, row_of
from piiloom.corpus.formats.rejoining import details_of
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError

INDEX = "index.jsonl"
UNMARKED = "consists of line breaks, which BRAT cannot mark"
_REMEDY = "Export again, or remove the index"
TRIMMED = "begins or ends with a line break, which BRAT cannot mark"


class BratFormat(NativeShapedFormat):
    """A BRAT collection; see the module docstring."""

    name = "brat"
    suffix = ""

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write two files per record and the index into the new folder *path*."""
        path.mkdir()
        entries: list[LossEntry] = []
        types: set[str] = set()
        with (path / INDEX).open("w", encoding="utf-8", newline="\n") as index:
            for number, record in enumerate(records, start=1):
                name = f"{number:06d}"
                types.update(span.entity_type for span in record.spans)
                (path / f"{name}.txt").write_bytes(record.context.encode("utf-8"))
                (path / f"{name}.ann").write_bytes("".join(_annotation(record, entries)).encode("utf-8"))
                row = row_of(record)
                about = {"file": name, **{key: row[key] for key in ("id", "locale", "question", "meta")}}
                index.write(json.dumps(about, ensure_ascii=False) + "\n")
        write_configuration(path, types_and(types, options.taxonomy))
        return LossReport(entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the documents of the folder *path*, see ``NativeShapedFormat``: those of the index first, then the others by name."""
        if not path.is_dir():
            raise DataError("this is not a folder", where=str(path), remedy="Name the folder that holds the .txt and .ann files")
        for number, document in enumerate(_documents(path), start=1):
            tally.rows += 1
            tally.line = number
            try:
                yield make(number, document.native(tally))
            except RowFault as fault:
                row = json.dumps({"file": document.name, "text": _shown(document.text), "ann": _shown(document.ann)}, ensure_ascii=False)
                yield RowReject(line=number, reason=f"{quoted(document.name)}: {fault}", row=row)


def _annotation(record: Record, entries: list[LossEntry]) -> Iterator[str]:
    """Yield the lines of the ``.ann`` file, and append to *entries* what BRAT cannot mark."""
    notes: list[str] = []
    for number, span in enumerate(record.spans, start=1):
        parts = _lines_of(record.context, span)
        if not parts or (parts[0][0], parts[-1][1]) != (span.start, span.end):
            reason = TRIMMED if parts else UNMARKED
            entries.append(LossEntry(record_id=record.id, value=span.text_in(record.context), reason=reason))
        if not parts:
            continue
        text = " ".join(record.context[start:end] for start, end in parts)
        places = ";".join(f"{start} {end}" for start, end in parts)
        yield f"T{number}\t{brat_name(span.entity_type)} {places}\t{text}\n"
        if span.relevance is not None:
            notes.append(f"A{number}\t{RELEVANCE} T{number} {span.relevance}\n")
        notes.append(f"#{number}\t{NOTE} T{number}\t{json.dumps({'id': span.id, **details_of(span)})}\n")
    yield from notes


def _lines_of(context: str, span: Span) -> list[tuple[int, int]]:
    """Return the stretches of *span* between line breaks; these are what ``str.splitlines`` takes for one, as BRAT does."""
    parts: list[tuple[int, int]] = []
    start = span.start
    for line in span.text_in(context).splitlines(keepends=True):
        length = len(line.splitlines()[0])
        if length:
            parts.append((start, start + length))
        start += len(line)
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """One document: its name without suffix, the content of its two files (None if there is no such file), and its index row."""

    name: str
    text: bytes | None
    ann: bytes | None
    about: Json | None

    def native(self, tally: ReadTally) -> Json:
        """Return the native row. Raises ``RowFault`` if a file is missing, is not UTF-8 or has a line that is no annotation."""
        text, ann = _decoded(self.text, ".txt"), _decoded(self.ann, ".ann")
        about = self.about if self.about is not None else {"id": self.name}
        row = {key: about[key] for key in ("id", "locale", "question", "meta") if key in about}
        if "\r\n" in text and not _fits(text, ann) and _fits(text.replace("\r\n", "\n"), ann):
            tally.ignored_fields["carriage returns, which the offsets do not count"] += text.count("\r\n")
            text = text.replace("\r\n", "\n")
        return {**row, "context": text, "spans": read_annotations(text, ann, tally)}


def _fits(text: str, ann: str) -> bool:
    """Whether all spans of *ann* have their text in *text*."""
    spans: list[Any] = read_annotations(text, ann, ReadTally())
    return all(text[span["start"] : span["end"]] == span["text"] for span in spans)


def _documents(folder: Path) -> Iterator[_Document]:
    try:
        names = {found.relative_to(folder).with_suffix("").as_posix() for suffix in ("txt", "ann") for found in folder.rglob(f"*.{suffix}")}
        for name, about in _index(folder):
            names.discard(name)
            yield _document(folder, name, about)
        for name in sorted(names):
            yield _document(folder, name, None)
    except OSError as error:
        raise DataError(f"the folder cannot be read ({error.strerror})", where=str(folder)) from error


def _document(folder: Path, name: str, about: Json | None) -> _Document:
    text, ann = folder / f"{name}.txt", folder / f"{name}.ann"
    return _Document(
        name=name,
        text=text.read_bytes() if text.is_file() else None,
        ann=ann.read_bytes() if ann.is_file() else None,
        about=about,
    )


def _index(folder: Path) -> Iterator[tuple[str, Json]]:
    """Yield (file, row) of the index, if there is one. Raises ``DataError`` (line) if a row is not one of ours."""
    path = folder / INDEX
    if not path.is_file():
        return
    seen: set[str] = set()
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{INDEX}:{number}", remedy=_REMEDY) from fault
        name = row.get("file")
        # A name only, and nothing that leads out of the folder.
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name in seen:
            raise DataError(
                "file: must be the name of a document, once", where=f"{INDEX}:{number}", remedy="Export again, or remove the index"
            )
        seen.add(name)
        yield name, row


def _decoded(content: bytes | None, suffix: str) -> str:
    if content is None:
        raise RowFault(f"there is no {suffix} file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RowFault(f"the {suffix} file is not UTF-8 text") from error


def _shown(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
