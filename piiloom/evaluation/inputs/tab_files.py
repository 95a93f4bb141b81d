"""Files of the Text Anonymization Benchmark: its gold standard, and what a masker predicts for it.

Gold is a JSON array of ``{"doc_id", "text", "annotations": {annotator: {"entity_mentions": [mention, …]}}}``; a mention has
``start_offset``, ``end_offset`` (code points, half-open), ``entity_type``, ``entity_id``, ``identifier_type`` (DIRECT, QUASI or NO_MASK)
and may have ``span_text``, which must be what stands there. Predictions are one JSON object ``{doc_id: [[start, end], …]}``.
Other keys are ignored. Both files are read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from piiloom.evaluation.inputs.documents import Document, Identifier, Mention
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.schema_faults import schema_faults

_IDENTIFIERS: dict[str, Identifier] = {"DIRECT": "direct", "QUASI": "quasi", "NO_MASK": "none"}
_FORM = "Compare it with docs/schemes.md, tab"

_Offset = Annotated[int, Field(ge=0, strict=True)]


class _Mention(BaseModel):
    model_config = ConfigDict(extra="ignore")

    entity_type: str
    start_offset: _Offset
    end_offset: _Offset
    identifier_type: Literal["DIRECT", "QUASI", "NO_MASK"]
    entity_id: str
    span_text: str | None = None


class _Annotations(BaseModel):
    model_config = ConfigDict(extra="ignore")

    entity_mentions: list[_Mention]


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    doc_id: str
    text: str
    annotations: dict[str, _Annotations]


_PLACES = TypeAdapter(list[tuple[_Offset, _Offset]])


def read_tab_gold(path: Path) -> Iterator[Document]:
    """Yield the documents of a gold standard; a mention names its annotator, its entity is the ``value_id``.

    Raises ``DataError`` (file, document, key) for what has another form, a range outside of the text, a ``span_text`` that stands
    elsewhere, and a repeated ``doc_id``.
    """
    rows = _loaded(path)
    if not isinstance(rows, list):
        raise DataError("is not a JSON array of documents", where=path.name, remedy=_FORM)
    seen: set[str] = set()
    for number, content in enumerate(rows, start=1):
        where = f"{path.name}: document {number}"
        try:
            row = _Row.model_validate(content)
        except ValidationError as error:
            raise DataError(schema_faults(error, _Row)[0].said("the document"), where=where, remedy=_FORM) from error
        if row.doc_id in seen:
            raise DataError(f"doc_id {row.doc_id!r} is used twice", where=where, remedy="Give each document once")
        seen.add(row.doc_id)
        mentions = tuple(
            _gold_mention(one, annotator, row.text, f"{where} ({row.doc_id}): annotations.{annotator}.entity_mentions[{at}]")
            for annotator, listed in row.annotations.items()
            for at, one in enumerate(listed.entity_mentions)
        )
        yield Document(where=where, id=row.doc_id, text=row.text, mentions=mentions)


def read_tab_predictions(path: Path) -> Iterator[Document]:
    """Yield what is predicted for each document. The file has no texts; pairing adds them.

    Raises ``DataError`` (file, document) for what has another form.
    """
    rows = _loaded(path)
    if not isinstance(rows, dict):
        raise DataError("is not a JSON object of lists of ranges by document", where=path.name, remedy=_FORM)
    for name, listed in rows.items():
        where = f"{path.name}: {name}"
        try:
            places = _PLACES.validate_python(listed)
        except ValidationError as error:
            at = "".join(f"[{step}]" for step in error.errors()[0]["loc"])
            raise DataError(f"{at or 'the value'} is not [start, end]", where=where, remedy=_FORM) from error
        mentions = (Mention(text="", entity_type=None, start=start, end=end) for start, end in places)
        yield Document(where=where, id=name, mentions=tuple(mentions))


def _loaded(path: Path) -> object:
    try:
        content: object = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"is not valid JSON (line {error.lineno})", where=path.name, remedy=_FORM) from error
    if not content:
        raise DataError("holds no document", where=path.name, remedy=_FORM)
    return content


def _gold_mention(one: _Mention, annotator: str, text: str, where: str) -> Mention:
    start, end = _checked((one.start_offset, one.end_offset), text, where)
    if one.span_text is not None and one.span_text != text[start:end]:
        raise DataError("span_text is not what stands there", where=where, remedy="Count offsets in code points of the stored text")
    return Mention(
        text=text[start:end],
        entity_type=one.entity_type,
        start=start,
        end=end,
        value_id=one.entity_id,
        annotator=annotator,
        identifier=_IDENTIFIERS[one.identifier_type],
    )


def _checked(place: tuple[int, int], text: str, where: str) -> tuple[int, int]:
    if not place[0] < place[1] <= len(text):
        what = f"[{place[0]}, {place[1]}) is empty or outside of the text, which has {len(text)} characters"
        raise DataError(what, where=where, remedy="Offsets are half-open, in code points")
    return place
