"""spaCy's DocBin (``.spacy``), as ``spacy train`` and ``spacy debug data`` read it.

Each record is a ``Doc`` with the tokens of a blank pipeline of its language (or, with the tokenizer ``spacy:MODEL``, of that
pipeline; a model is trained on its own tokens, so other tokenizers do not apply). Its spans, widened to whole tokens, are in
``doc.ents``, and with their relevance as ``kb_id`` in ``doc.spans["pii"]``. ``doc.user_data["piiloom"]`` has id, locale, question and
the exact spans, each with the range of its entity, so that a file of ours is read back exactly; where entities were changed since,
the entities count. Of other files the entities are read.

A DocBin is written and read as a whole: writing holds the arrays of all tokens in memory, about 50 bytes a token.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from piiloom.corpus.formats.base import LOST_FIELDS, Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.native_rows import parse_object, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.formats.token_labels import label_of, on_tokens, span_row
from piiloom.corpus.formats.tokenizing import SpacyPipelines, import_spacy
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import Taxonomy

SPANS_KEY = "pii"
_USER_KEY = "piiloom"
# What the library raises for a file that is cut off or something else.
_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError)


class _DocBinPart(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _StatedSpan(_DocBinPart):
    """One exact span, and the characters of its entity: None if it has none."""

    start: int
    end: int
    type: str
    relevance: Literal["high", "low"] | None
    entity: tuple[int, int] | None


class _Stated(_DocBinPart):
    """What ``user_data`` says of a record."""

    id: str
    locale: str
    question: str | None
    spans: tuple[_StatedSpan, ...]


class DocBinFormat(NativeShapedFormat):
    """The DocBin format; see the module docstring."""

    name = "spacy"
    suffix = ".spacy"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write all records; spans whose entities differ from them, see ``token_labels``, are in the report."""
        _, _, model = options.tokenizer.partition("spacy:")
        pipelines = SpacyPipelines(model or None)
        docs = import_spacy().tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE"], store_user_data=True)
        entries: list[LossEntry] = []
        for record in records:
            docs.add(_doc(record, pipelines, entries, options.taxonomy))
        path.write_bytes(docs.to_bytes())
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the docs need none
        """Yield the docs, see ``NativeShapedFormat``."""
        rows = ((number, json.dumps(_content(doc, tally), ensure_ascii=False)) for number, doc in enumerate(_docs(path), start=1))
        return read_rows(rows, lambda number, row: make(number, parse_object(row)), tally)


def _doc(record: Record, pipelines: SpacyPipelines, entries: list[LossEntry], taxonomy: Taxonomy) -> Any:
    doc = pipelines.doc(record.context, record.locale)
    words = [token for token in doc if not token.is_space]  # spaCy refuses to train on entities that begin or end with white space
    placed, losses = on_tokens(record, [(token.idx, token.idx + len(token)) for token in words], taxonomy)
    entries += losses
    make = import_spacy().tokens.Span
    entities = {
        one.span.id: make(doc, words[one.first].i, words[one.last].i + 1, label_of(one.span.entity_type), kb_id=one.span.relevance or "")
        for one in placed
    }
    doc.spans[SPANS_KEY] = list(entities.values())
    doc.ents = [make(doc, entity.start, entity.end, entity.label) for entity in entities.values()]
    places = {span_id: (entity.start_char, entity.end_char) for span_id, entity in entities.items()}
    doc.user_data[_USER_KEY] = {
        "id": record.id,
        "locale": record.locale,
        "question": record.question,
        "spans": [
            {"start": s.start, "end": s.end, "type": s.entity_type, "relevance": s.relevance, "entity": places.get(s.id)}
            for s in record.spans
        ],
    }
    return doc


def _docs(path: Path) -> Iterator[Any]:
    spacy = import_spacy()
    vocabulary = spacy.blank("xx").vocab
    try:
        yield from spacy.tokens.DocBin().from_bytes(path.read_bytes()).get_docs(vocabulary)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path)) from error
    except _FAULTS as error:
        raise DataError("the file is not a DocBin", where=path.name, remedy="Is it a whole file, as DocBin.to_disk writes it?") from error


def _content(doc: Any, tally: ReadTally) -> Json:
    tally.ignored_fields.update(f"spans[{key}]" for key in doc.spans if key != SPANS_KEY)
    text = doc.text
    entities = {(entity.start_char, entity.end_char, entity.label_): None for entity in doc.ents}
    relevance = {(s.start_char, s.end_char): s.kb_id_ for s in doc.spans.get(SPANS_KEY, ())}
    stated = _stated(doc)
    if stated is None:
        about: Json = {}
        spans = []
    else:
        about = {"id": stated.id, "locale": stated.locale, "question": stated.question}
        spans = [span_row(text, s.start, s.end, s.type, s.relevance) for s in stated.spans if _still_there(s, entities)]
        for span in stated.spans:
            entities.pop((*(span.entity or (0, 0)), label_of(span.type)), None)
    spans += [span_row(text, start, end, label, relevance.get((start, end))) for start, end, label in entities]
    return {**about, "context": text, "spans": spans}


def _stated(doc: Any) -> _Stated | None:
    """Return what piiloom wrote about *doc*; None if it wrote nothing, or if that was changed into something else."""
    try:
        return _Stated.model_validate(doc.user_data.get(_USER_KEY))
    except ValidationError:
        return None


def _still_there(span: _StatedSpan, entities: Iterable[tuple[int, int, str]]) -> bool:
    return span.entity is None or (*span.entity, label_of(span.type)) in entities
