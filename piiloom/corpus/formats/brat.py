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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions, quoted
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object, read_rows, row_of
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat, details_of, types_and, with_all_ids, with_details
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError

INDEX = "index.jsonl"
UNMARKED = "consists of line breaks, which BRAT cannot mark"
_REMEDY = "Export again, or remove the index"
TRIMMED = "begins or ends with a line break, which BRAT cannot mark"
NOTE = "AnnotatorNotes"
_TEXT_BOUND = re.compile(r"(T\S+)\t(\S+) ([0-9]{1,15} [0-9]{1,15}(?:;[0-9]{1,15} [0-9]{1,15})*)(?:\t(.*))?", re.DOTALL)
_ABOUT_SPAN = re.compile(r"[A#]\S*\t(\S+) (T\S+)(?:[ \t](.*))?", re.DOTALL)
_IGNORED = {
    "E": "events",
    "R": "relations",
    "N": "normalisations",
    "A": "attributes",
    "M": "modifications",
    "#": "notes",
    "*": "equivalences",
}
RELEVANCE = "Relevance"
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")  # a name in BRAT has nothing else
_COLOURS = ("#ffd7a8", "#b8e0d2", "#d6c8f0", "#f7c1c1", "#c5dcf5", "#e6e6a1", "#f2c6de", "#cfe8b4", "#c2e7ee", "#e0cfc0")


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
        _write_configuration(path, types_and(types, options.taxonomy))
        return LossReport(entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the documents of the folder *path*, see ``NativeShapedFormat``: those of the index first, then the others by name."""
        if not path.is_dir():
            raise DataError("this is not a folder", where=str(path), remedy="Name the folder that holds the .txt and .ann files")

        def made(number: int, document: _BratDocument) -> Made:
            try:
                return make(number, document.native(tally))
            except RowFault as fault:
                raise RowFault(f"{quoted(document.name)}: {fault}") from fault

        yield from read_rows(enumerate(_documents(path), start=1), made, tally, shown=_BratDocument.shown)


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
class _BratDocument:
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
        return {**row, "context": text, "spans": _BratAnnotations(text, tally).spans(ann)}

    def shown(self) -> str:
        """Return the document as a rejected row."""
        parts = {"text": self.text, "ann": self.ann}
        texts = {key: None if content is None else content.decode("utf-8", "replace") for key, content in parts.items()}
        return json.dumps({"file": self.name, **texts}, ensure_ascii=False)


def _fits(text: str, ann: str) -> bool:
    """Whether all spans of *ann* have their text in *text*."""
    spans: list[Any] = _BratAnnotations(text, ReadTally()).spans(ann)
    return all(text[span["start"] : span["end"]] == span["text"] for span in spans)


def _documents(folder: Path) -> Iterator[_BratDocument]:
    try:
        names = {found.relative_to(folder).with_suffix("").as_posix() for suffix in ("txt", "ann") for found in folder.rglob(f"*.{suffix}")}
        for name, about in _index(folder):
            names.discard(name)
            yield _document(folder, name, about)
        for name in sorted(names):
            yield _document(folder, name, None)
    except OSError as error:
        raise DataError(f"the folder cannot be read ({error.strerror})", where=str(folder)) from error


def _document(folder: Path, name: str, about: Json | None) -> _BratDocument:
    text, ann = (file.read_bytes() if file.is_file() else None for file in (folder / f"{name}.txt", folder / f"{name}.ann"))
    return _BratDocument(name=name, text=text, ann=ann, about=about)


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
            raise DataError("file: must be the name of a document, once", where=f"{INDEX}:{number}", remedy=_REMEDY)
        seen.add(name)
        yield name, row


def _decoded(content: bytes | None, suffix: str) -> str:
    if content is None:
        raise RowFault(f"there is no {suffix} file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RowFault(f"the {suffix} file is not UTF-8 text") from error


class _BratAnnotations:
    """Reads the ``.ann`` file of *text*; *tally* counts the lines that are not stored."""

    def __init__(self, text: str, tally: ReadTally) -> None:
        self._text, self._tally = text, tally
        self._relevance: dict[str, str] = {}
        self._notes: dict[str, Json] = {}

    def spans(self, ann: str) -> list[Json]:
        """Return the native spans. Raises ``RowFault`` for a line that is no annotation."""
        bound: list[re.Match[str]] = []
        for number, line in enumerate(ann.replace("\r\n", "\n").split("\n"), start=1):
            found = _TEXT_BOUND.fullmatch(line)
            if found:
                bound.append(found)
            elif line and not self._is_about_span(line):
                if line[0] not in _IGNORED:
                    raise RowFault(f"line {number} of the .ann file is no annotation")
                self._tally.ignored_fields[_IGNORED[line[0]]] += 1
        return with_all_ids([span for found in bound for span in self._bound(found)])

    def _is_about_span(self, line: str) -> bool:
        """Keep the relevance or the note of ours that *line* is; False if it is neither."""
        found = _ABOUT_SPAN.fullmatch(line)
        if found is None or found[3] is None:
            return False
        if line[0] == "A" and found[1] == RELEVANCE:
            self._relevance[found[2]] = found[3]
            return True
        if line[0] == "#" and found[1] == NOTE and found[3].startswith('{"id": '):
            try:
                self._notes[found[2]] = parse_object(found[3])
            except RowFault:
                return False
            return True
        return False

    def _bound(self, found: re.Match[str]) -> Iterator[Json]:
        """Yield the span of a T line, or one for each of its fragments if there is text between them."""
        name, label, places, said = found.groups()
        parts = [(int(start), int(end)) for start, end in (place.split() for place in places.split(";"))]
        note = self._notes.get(name, {})
        told: Json = {"id": note.get("id")} if "id" in note else {}
        if name in self._relevance:
            told["relevance"] = self._relevance[name]
        whole = self._text[parts[0][0] : parts[-1][1]]
        between = [self._text[end:start] for (_, end), (start, _) in pairwise(parts)]
        exact = [self._text[start:end] for start, end in parts]
        said_rightly = said is None or said == " ".join(exact)
        if _in_order(parts) and not any(gap.strip() for gap in between):
            span = {"start": parts[0][0], "end": parts[-1][1], "text": whole if said_rightly else said}
            yield with_details({**span, "type": self._type(label, note), **told}, note)
            return
        self._tally.ignored_fields["bonds between fragments (a span each)"] += 1
        for (start, end), text in zip(parts, exact, strict=True):
            told.pop("id", None)
            yield {"start": start, "end": end, "text": text if said_rightly else said, "type": label, "value_id": name, **told}

    def _type(self, label: str, note: Json) -> str:
        """Return the type of a note of ours if *label* is its name in BRAT, otherwise *label*."""
        ours = note.get("type")
        return ours if isinstance(ours, str) and brat_name(ours) == label else label


def _in_order(parts: Sequence[tuple[int, int]]) -> bool:
    return all(end <= start for (_, end), (start, _) in pairwise(parts))


def brat_name(entity_type: str) -> str:
    """Return the name of a type in BRAT: ``_`` for blanks."""
    return _UNFIT.sub("_", entity_type)


def _write_configuration(folder: Path, types: Iterable[str]) -> None:
    """Write ``annotation.conf`` and ``visual.conf`` for *types* into *folder*."""
    names = {brat_name(name): name for name in types}
    annotation = [
        "[entities]",
        *names,
        "",
        "[relations]",
        "",
        "[events]",
        "",
        "[attributes]",
        f"{RELEVANCE}\tArg:<ENTITY>, Value:high|low",
    ]
    visual = [
        "[labels]",
        *(f"{name} | {spelt}" for name, spelt in names.items()),
        "",
        "[drawing]",
        "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
        *(f"{name}\tbgColor:{colour}" for name, colour in zip(names, cycle(_COLOURS), strict=False)),
        f"{RELEVANCE}\tglyph:↑|↓",
    ]
    for file, lines in (("annotation.conf", annotation), ("visual.conf", visual)):
        (folder / file).write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
