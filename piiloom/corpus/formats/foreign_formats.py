"""Formats of other tools and corpora: Argilla 2 and presidio-evaluator, and, read only, corpora for de-identification.

``argilla``: a JSON array of records, as ``dataset.records.to_json`` writes and ``from_json`` reads it.

Fields ``text`` and, if there is one, ``question``; one span question ``pii`` with the spans as a suggestion. A label is the type, with
the relevance after a colon if the span has one (``health:high``): an Argilla field can have one span question only, and a
relevance in the metadata could be neither seen nor corrected. What else a record holds is JSON text in the metadata
(``piiloom``), so nothing is lost. Argilla is no longer developed, so this is written without its SDK; ``tests/peers`` opens it with it.

Of a record that people answered, the last response is read, and not the suggestion. Offsets are code points, as the SDK has them.
The labelling page of Argilla 2.4 counts UTF-16 units (argilla-io/argilla issue 5729): what people mark there behind an emoji is
off by one for each, which cannot be seen in the file, since its spans have no text.

``presidio``: a JSON array of its ``InputSample``, as ``InputSample.to_json`` writes and ``read_dataset_json`` reads it.

A sample has ``full_text``, ``masked`` (the text with ``{{TYPE}}`` in the place of each span), ``spans`` (``entity_type``,
``entity_value``, ``start_position``, ``end_position``; code points), ``template_id`` and ``metadata``. A span has Presidio's name
where one of its names means exactly that type or subtype, otherwise the name of our type in upper case. The question and whatever
else a record holds are in ``metadata`` under ``piiloom``, so nothing is lost.

Read labels are looked up in the label map ``presidio``, unless the given map has them.

The Text Anonymization Benchmark, ``tab``: a JSON array of court decisions, each annotated by one or several people. A document is
``{"doc_id", "text", "annotations": {annotator: {"entity_mentions": [mention, …]}}}``; a mention has ``start_offset``, ``end_offset``
(code points, half-open), ``entity_type``, ``entity_id``, ``identifier_type`` (DIRECT, QUASI or NO_MASK) and may have ``span_text``. A
record takes the mentions of the first annotator, since those of several overlap; the others are counted. Readers of all mentions get each
with its annotator and identifier.

``i2b2``, of i2b2 and n2c2: XML files, or a folder of them. A file of 2014 has one record, whose name is that of the file:
``<TEXT><![CDATA[…]]></TEXT>``, and in ``<TAGS>`` elements with ``start`` and ``end`` (or ``spans="3~9"``), ``text`` and ``TYPE``, which
count from the start of the text. One of 2006 has many: ``<RECORD ID="1"><TEXT>… <PHI TYPE="DOCTOR">Smith</PHI> …</TEXT></RECORD>``. The
type of a span is its TYPE, or else its element's name. Files that declare entities, or use one of a DTD elsewhere, are refused: expanding
these can take all memory, and none of the corpora has any.

Labels are looked up in the label maps ``tab`` and ``i2b2``, unless the given map has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from xml.parsers import expat

from pydantic import BaseModel, ConfigDict, Field

from piiloom.corpus.formats.base import Json, LossEntry, ReadOptions, ReadTally, RowReject, WriteOptions, quoted
from piiloom.corpus.formats.native_rows import RowFault, parse_object, read_rows, valid_row
from piiloom.corpus.formats.row_reading import (
    JsonRowFormat,
    Made,
    MakeRow,
    NativeShapedFormat,
    Reading,
    kept_aside,
    rejoined,
    types_of_release,
)
from piiloom.corpus.record import Record, with_span_values
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import Taxonomy

QUESTION = "pii"
SETTINGS = "argilla_settings.json"
_OURS = "piiloom"  # the key in metadata
_RELEVANCE = ("high", "low")
_GUIDELINES = (
    "Mark whatever discloses personal information about somebody. health:high is for a span that matters for the answer to the "
    "question, health:low for one that does not, health for one that was not judged."
)


class ArgillaFormat(JsonRowFormat):
    """Argilla records; see the module docstring."""

    name = "argilla"
    suffix = ".json"
    column_fields = ("context", "question")

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - nothing is lost
        """See ``JsonRowFormat``."""
        marked = [{"start": span.start, "end": span.end, "label": _label(span.entity_type, span.relevance)} for span in record.spans]
        question = {} if record.question is None else {"question": record.question}
        return {
            "id": record.id,
            "fields": {"text": record.context, **question},
            "metadata": {"locale": record.locale, _OURS: json.dumps(kept_aside(record), ensure_ascii=False)},
            "suggestions": {QUESTION: {"value": marked, "score": None, "agent": "piiloom"}},
            "responses": {},
            "vectors": {},
            "status": "pending",
            "_server_id": None,
        }

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``JsonRowFormat``. ``ReadOptions.columns`` names the fields for context and question."""
        fields, aside = _object(row.get("fields")), _aside(row)
        key = reading.options.columns.get("context", "text")
        text = fields.get(key)
        if not isinstance(text, str):
            raise RowFault(f"fields.{key}: must be text; say with --columns which field is the context")
        found = [_span(text, number, span) for number, span in enumerate(_marked(row, reading.tally))]
        spans = rejoined(found, aside.get("spans"), lambda span: _label(span.get("type"), span.get("relevance")))
        return {
            "id": row.get("id"),
            "context": text,
            "question": fields.get(reading.options.columns.get("question", "question")),
            **{name: aside[name] for name in ("locale", "meta") if name in aside},
            "spans": [_judged(span, reading.options) for span in spans],
        }

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the dataset settings, for ``argilla.Settings.from_json``."""
        text = json.dumps(_settings(types_of_release(about, taxonomy)), ensure_ascii=False, indent=2) + "\n"
        (folder / SETTINGS).write_text(text, encoding="utf-8", newline="\n")
        return [SETTINGS]


def _label(entity_type: object, relevance: object) -> str:
    return f"{entity_type}:{relevance}" if relevance else str(entity_type)


def _marked(row: Json, tally: ReadTally) -> list[Json]:
    """Return the spans of the last response, or of the suggestion if there is none; *tally* tells the answers that are not read."""
    suggestions, responses = _object(row.get("suggestions")), _object(row.get("responses"))
    spans: dict[str, list[Json]] = {}
    for name in dict.fromkeys([QUESTION, *responses, *suggestions]):
        given = responses.get(name)
        answers = [_object(one).get("value") for one in given] if isinstance(given, list) else []
        value = answers[-1] if answers else _object(suggestions.get(name)).get("value")
        if isinstance(value, list) and all(isinstance(one, dict) and "label" in one for one in value):
            spans[name] = value
            tally.ignored_fields.update(["responses, of several but the last"] * (len(answers) - 1))
        elif value is not None:
            tally.ignored_fields[f"answer to {name}"] += 1
    if not spans:
        raise RowFault("responses: neither a response nor a suggestion has spans")
    return next(iter(spans.values()))


def _span(text: str, number: int, span: Json) -> Json:
    start, end = span.get("start"), span.get("end")
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(span["label"], str)):
        raise RowFault(f"spans[{number}]: must have whole numbers start and end, and a label that is text")
    return {"start": start, "end": end, "text": text[start:end] if 0 <= start < end else "", "type": span["label"]}


def _judged(span: Json, options: ReadOptions) -> Json:
    """Return *span* with the relevance that its label names after the colon, unless the label map has the whole label."""
    label = str(span["type"])
    name, colon, relevance = label.rpartition(":")
    if colon and relevance in _RELEVANCE and label not in options.label_map:
        return {**span, "type": name, "relevance": relevance}
    return span


def _aside(row: Json) -> Json:
    """Return what ``_argilla`` kept aside in the metadata; nothing if the record is not one of ours."""
    text = _object(row.get("metadata")).get(_OURS)
    try:
        return parse_object(text) if isinstance(text, str) else {}
    except RowFault:
        return {}


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _settings(types: Sequence[str]) -> Json:
    """Return the settings of a dataset, as ``argilla.Settings.serialize`` returns them."""
    labels = [label for name in types for label in (name, *(_label(name, relevance) for relevance in _RELEVANCE))]
    options = [{"value": label, "text": label} for label in labels]
    return {
        "guidelines": _GUIDELINES,
        "questions": [
            {
                "name": QUESTION,
                "title": "Personal information",
                "description": _GUIDELINES,
                "required": True,
                "type": "span",
                "settings": {
                    "type": "span",
                    "allow_overlapping": False,
                    "field": "text",
                    "options": options,
                    "visible_options": len(options),
                },
            }
        ],
        "fields": [_field("text", "Text", required=True), _field("question", "Question", required=False)],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _field(name: str, title: str, *, required: bool) -> Json:
    return {"name": name, "title": title, "required": required, "type": "text", "settings": {"type": "text", "use_markdown": False}}


# Type, or type/subtype → the one name of Presidio's that means just that.
NAMES: Mapping[str, str] = {
    "name": "PERSON",
    "location": "LOCATION",
    "location/address": "ADDRESS",
    "organization": "ORGANIZATION",
    "datetime": "DATE_TIME",
    "code/phone": "PHONE_NUMBER",
    "code/email": "EMAIL_ADDRESS",
    "code/payment_card": "CREDIT_CARD",
    "code/ip_address": "IP_ADDRESS",
    "code/wallet": "CRYPTO",
    "demographic/nationality": "NATIONALITY",
    "belief/religion": "RELIGION",
}


def presidio_name(entity_type: str, subtype: str | None) -> str:
    """Return the ``entity_type`` that a span of this type and subtype is written with."""
    name = NAMES.get(f"{entity_type}/{subtype}") or NAMES.get(entity_type)
    return name or entity_type.replace(" ", "_").upper()


class PresidioFormat(JsonRowFormat):
    """The format of presidio-evaluator; see the module docstring."""

    name = "presidio"
    suffix = ".json"
    label_map_name = "presidio"

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - nothing is lost
        """See ``JsonRowFormat``."""
        names = [presidio_name(span.entity_type, span.subtype) for span in record.spans]
        spans = [
            {
                "entity_type": name,
                "entity_value": span.text_in(record.context),
                "start_position": span.start,
                "end_position": span.end,
            }
            for span, name in zip(record.spans, names, strict=True)
        ]
        return {
            "full_text": record.context,
            "masked": with_span_values(record, [f"{{{{{name}}}}}" for name in names]).context,
            "spans": spans,
            "template_id": None,
            "metadata": {_OURS: {"question": record.question, **kept_aside(record)}},
        }

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``JsonRowFormat``."""
        for key in ("full_text", "spans"):
            if key not in row:
                raise RowFault(f"{key}: is missing")
        spans = row["spans"]
        if not isinstance(spans, list):
            raise RowFault("spans: must be a list")
        found = [_sample_span(number, span) for number, span in enumerate(spans)]
        metadata = row.get("metadata")
        ours = metadata.get(_OURS) if isinstance(metadata, dict) else None
        if not isinstance(ours, dict):
            reading.tally.ignored_fields.update(key for key in ("template_id", "metadata") if row.get(key) is not None)
            return {"context": row["full_text"], "spans": found}
        joined = rejoined(found, ours.get("spans"), lambda span: presidio_name(str(span.get("type")), _text(span.get("subtype"))))
        stated = {key: ours[key] for key in ("id", "locale", "question", "meta") if key in ours}
        return {"context": row["full_text"], **stated, "spans": joined}


def _sample_span(number: int, span: object) -> Json:
    if not isinstance(span, dict):
        raise RowFault(f"spans[{number}]: must have keys and values")
    names = {"start": "start_position", "end": "end_position", "text": "entity_value", "type": "entity_type"}
    for key in names.values():
        if key not in span:
            raise RowFault(f"spans[{number}].{key}: is missing")
    return {ours: span[theirs] for ours, theirs in names.items()}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


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

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``NativeShapedFormat``."""
        document, ignored = valid_row(_Row, row), reading.tally.ignored_fields
        by_annotator = list(document.annotations.items())
        if reading.options.all_mentions:
            mentions = [(annotator, one) for annotator, found in by_annotator for one in found.entity_mentions]
        else:
            mentions = [("", one) for _, found in by_annotator[:1] for one in found.entity_mentions]
            ignored.update(["annotators, of several but the first"] * (len(by_annotator) - 1))
            ignored.update("identifier_type" for _, one in mentions if one.identifier_type is not None)
            ignored.update(list(document.model_extra or ()))
        spans = [_mention_span(document.text, annotator, one) for annotator, one in mentions]
        return {"id": document.doc_id, "context": document.text, "spans": spans}


def _mention_span(text: str, annotator: str, one: _Mention) -> Json:
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
