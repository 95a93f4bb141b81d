"""Corpora for de-identification, read only: the Text Anonymization Benchmark (``tab``), and those of i2b2 and n2c2 (``i2b2``).

``tab``: a JSON array of court decisions, each annotated by one or several people. A document is ``{"doc_id", "text", "annotations":
{annotator: {"entity_mentions": [mention, …]}}}``; a mention has ``start_offset``, ``end_offset`` (code points, half-open),
``entity_type``, ``entity_id``, ``identifier_type`` (DIRECT, QUASI or NO_MASK) and may have ``span_text``. A record takes the mentions of
the first annotator, since those of several overlap; the others are counted. Readers of all mentions get each with its annotator and
identifier.

``i2b2``: XML files, or a folder of them. A file of 2014 has one record, whose name is that of the file: ``<TEXT><![CDATA[…]]></TEXT>``, and
in ``<TAGS>`` elements with ``start`` and ``end`` (or ``spans="3~9"``), ``text`` and ``TYPE``, which count from the start of the text. One
of 2006 has many: ``<RECORD ID="1"><TEXT>… <PHI TYPE="DOCTOR">Smith</PHI> …</TEXT></RECORD>``. The type of a span is its TYPE, or else its
element's name. Files that declare entities, or use one of a DTD elsewhere, are refused: expanding these can take all memory, and none of
the corpora has any.

Labels are looked up in the label maps ``tab`` and ``i2b2``, unless the given map has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from xml.parsers import expat

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject, quoted
from piiloom.corpus.formats.native_rows import RowFault, array_rows, fault_of, parse_object, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.foundation.errors import DataError

_IDENTIFIERS = {"DIRECT": "direct", "QUASI": "quasi", "NO_MASK": "none"}
_Offset = Annotated[int, Field(ge=0, strict=True)]
_BLANKS = re.compile(r"\s+")
_RANGE = re.compile(r"(\d{1,12})~(\d{1,12})")


class _Mention(BaseModel):
    model_config = ConfigDict(extra="ignore")

    entity_type: str
    start_offset: _Offset
    end_offset: _Offset
    identifier_type: Literal["DIRECT", "QUASI", "NO_MASK"] | None = None
    entity_id: str | int | None = None
    span_text: str | None = None


class _Annotations(BaseModel):
    model_config = ConfigDict(extra="ignore")

    entity_mentions: list[_Mention]


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow")

    doc_id: str | int
    text: str
    annotations: dict[str, _Annotations]


class TabFormat(NativeShapedFormat):
    """The format of TAB; see the module docstring."""

    name = "tab"
    suffix = ".json"
    label_map_name = "tab"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the documents of *path*, which is read as a whole, see ``NativeShapedFormat``."""
        return read_rows(array_rows(path), lambda number, row: make(number, _native(parse_object(row), options, tally)), tally)


def _native(content: Json, options: ReadOptions, tally: ReadTally) -> Json:
    try:
        row = _Row.model_validate(content)
    except ValidationError as error:
        raise fault_of(error, _Row) from error
    by_annotator = list(row.annotations.items())
    if options.all_mentions:
        mentions = [(annotator, one) for annotator, found in by_annotator for one in found.entity_mentions]
    else:
        mentions = [("", one) for _, found in by_annotator[:1] for one in found.entity_mentions]
        tally.ignored_fields.update(["annotators, of several but the first"] * (len(by_annotator) - 1))
        tally.ignored_fields.update("identifier_type" for _, one in mentions if one.identifier_type is not None)
        tally.ignored_fields.update(list(row.model_extra or ()))
    return {"id": row.doc_id, "context": row.text, "spans": [_span(row.text, annotator, one) for annotator, one in mentions]}


def _span(text: str, annotator: str, one: _Mention) -> Json:
    start, end = one.start_offset, one.end_offset
    span: Json = {
        "start": start,
        "end": end,
        "text": (text[start:end] if end <= len(text) else "") if one.span_text is None else one.span_text,
        "type": one.entity_type,
        "value_id": one.entity_id,
    }
    return {**span, "annotator": annotator, "identifier": _IDENTIFIERS.get(one.identifier_type or "")} if annotator else span


class I2b2Format(NativeShapedFormat):
    """The format of i2b2; see the module docstring."""

    name = "i2b2"
    suffix = ""
    label_map_name = "i2b2"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the records of *path*, see ``NativeShapedFormat``: the files of a folder by name. Their numbers take the place of lines."""

        def made(number: int, found: _Document) -> Made:
            if found.fault is not None:
                raise RowFault(f"{quoted(found.name)}: {found.fault}")
            return make(number, found.native(tally))

        return read_rows(enumerate(_documents(path), start=1), made, tally, shown=lambda found: found.text)


@dataclass(slots=True)
class _Document:
    """A record while it is read: its text, its spans as (start, end, attributes), or why it cannot be read."""

    name: str
    text: str = ""
    spans: list[tuple[int, int, Mapping[str, str]]] = field(default_factory=list)
    unplaced: int = 0
    fault: str | None = None

    def native(self, tally: ReadTally) -> Json:
        """Return the native row, and count in *tally* what is not stored."""
        tally.ignored_fields.update(["tags without a place"] * self.unplaced)
        tally.ignored_fields.update("comment" for _, _, about in self.spans if about.get("comment", "").strip())
        return {"id": self.name, "context": self.text, "spans": [self._span(*one) for one in self.spans]}

    def _span(self, start: int, end: int, about: Mapping[str, str]) -> Json:
        there = self.text[start:end]
        said = about.get("text", there)  # an attribute has a blank where the text has a line break
        same = _BLANKS.sub("", said) == _BLANKS.sub("", there)
        return {"start": start, "end": end, "text": there if same and there else said, "type": about["TYPE"]}


def _documents(path: Path) -> Iterator[_Document]:
    try:
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() == ".xml") if path.is_dir() else [path]
        if not files:
            raise DataError("the folder has no .xml files", where=str(path), remedy="Name the folder or the file of the corpus")
        for file in files:
            raw = file.read_bytes()
            name = file.relative_to(path).with_suffix("").as_posix() if path.is_dir() else file.stem
            yield from _DeidentificationReader(name).documents(raw)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path)) from error


class _DeidentificationReader:
    """Reads one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[_Document] = []
        self._current: _Document | None = None  # while its TEXT is open
        self._record: str | None = None
        self._open: list[tuple[int, Mapping[str, str]]] = []
        self._words: list[str] = []
        self._length = 0
        self._in_tags = False

    def documents(self, raw: bytes) -> list[_Document]:
        """Return the records of the file; one with a fault if it cannot be read."""
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = parser.SkippedEntityHandler = _refuse_entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = self._cdata
        try:
            parser.Parse(raw, True)
        except RowFault as fault:
            return [self._refused(raw, str(fault))]
        except expat.ExpatError as error:
            packed = raw.startswith(b"PK")
            return [self._refused(raw, "a ZIP archive; unpack it" if packed else f"not valid XML (line {error.lineno})")]
        return self._found or [self._refused(raw, "there is no TEXT element")]

    def _refused(self, raw: bytes, fault: str) -> _Document:
        return _Document(self._name, text=raw.decode("utf-8", "replace"), fault=fault)

    def _start(self, element: str, about: Mapping[str, str]) -> None:
        if element == "RECORD":
            self._record = about.get("ID")
        elif element == "TEXT" and self._current is None:
            self._current = _Document(self._record or self._name)
            self._words, self._length = [], 0
            self._found.append(self._current)
        elif element == "TAGS":
            self._in_tags = True
        elif self._current is not None:
            self._open.append((self._length, {"TYPE": element, **about}))
        elif self._in_tags and self._found:
            self._add_tag({"TYPE": element, **about})

    def _add_tag(self, about: Mapping[str, str]) -> None:
        places = [(int(start), int(end)) for start, end in _RANGE.findall(about.get("spans", ""))]
        try:
            places = places or [(int(about["start"]), int(about["end"]))]
        except (KeyError, ValueError):
            places = []
        if not places or places[0][0] < 0:
            self._found[-1].unplaced += 1
        elif len(places) == 1:
            self._found[-1].spans.append((*places[0], about))
        else:  # each of several ranges is a span; its text is that of all
            self._found[-1].spans += [(start, end, {key: about[key] for key in about if key != "text"}) for start, end in places]

    def _end(self, element: str) -> None:
        if element == "TEXT" and self._current is not None:
            self._current.text = "".join(self._words)
            self._current = None
        elif element == "TAGS":
            self._in_tags = False
        elif element == "RECORD":
            self._record = None
        elif self._open and self._current is not None:
            start, about = self._open.pop()
            if start < self._length:
                self._current.spans.append((start, self._length, {"TYPE": about["TYPE"]}))

    def _text(self, words: str) -> None:
        if self._current is not None:
            self._words.append(words)
            self._length += len(words)

    def _cdata(self) -> None:
        """Begin the text anew where only blanks stand before its CDATA section, from whose start offsets count."""
        if self._current is not None and not "".join(self._words).strip():
            self._words, self._length = [], 0


def _refuse_entity(*_declared: object) -> None:
    raise RowFault("the file has an entity of its own, which is not read")
