"""The Text Anonymization Benchmark (TAB): a JSON array of court decisions, each annotated by one or several people. Read only.

A document is ``{"doc_id", "text", "annotations": {annotator: {"entity_mentions": [mention, …]}}}``; a mention has ``start_offset``,
``end_offset`` (code points, half-open), ``entity_type``, ``entity_id``, ``identifier_type`` (DIRECT, QUASI or NO_MASK) and may have
``span_text``. A record takes the mentions of the first annotator, since those of several overlap; the others are counted. Readers of
all mentions get each with its annotator and identifier. Labels are looked up in the label map ``tab``, unless the given map has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.native_rows import array_rows, fault_of, parse_object, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat

_IDENTIFIERS = {"DIRECT": "direct", "QUASI": "quasi", "NO_MASK": "none"}
_Offset = Annotated[int, Field(ge=0, strict=True)]


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
