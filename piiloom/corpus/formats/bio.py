"""Tokens with labels as one JSON array: BIO tags (``bio``), and GLiNER's training data (``gliner``).

``bio``, as in the Kaggle competition "PII Data Detection" and CRAPII: a document has ``document``, ``full_text``, and for each token
``tokens``, ``trailing_whitespace`` and ``labels`` (``B-NAME``, ``I-NAME``, ``O``). The tokens, each with a blank if its
``trailing_whitespace`` is true, joined together are the text: white space other than one blank after a token is a token, as in spaCy. Our
files also have ``id``, ``locale``, ``question``, and ``relevance`` for each token: high, low or null. Read are also JSON lines, and rows of
others: without ``full_text`` or ``trailing_whitespace``, and with ``ner_tags`` and other keys that ``piiloom.corpus.formats.columns``
names, as Hugging Face ``datasets`` writes them.

``gliner``: ``{"tokenized_text": [token …], "ner": [[first, last, label] …]}``; last is inclusive. Labels are the names of the types, in
words. Our files also have ``id``, ``locale``, ``text``, ``question``, and ``relevance`` for each item of ``ner``: high, low or null. The
text of a row without ``text`` is its tokens joined by blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from piiloom.corpus.formats.base import LOST_FIELDS, Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import TOKEN_FIELDS, Columns
from piiloom.corpus.formats.native_rows import RowFault, array_or_lines, array_rows, fault_of, parse_object, read_rows, write_array
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.formats.token_labels import bio_tags, joined, on_tokens, relevances, span_row, token_places
from piiloom.corpus.formats.tokenizing import Tokenizer, tokenizer_named
from piiloom.corpus.record import Record
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import Taxonomy


class BioFormat(NativeShapedFormat):
    """The BIO format; see the module docstring."""

    name = "bio"
    suffix = ".json"
    column_fields = TOKEN_FIELDS

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one document a line; spans that cut tokens, see ``token_labels``, are in the report."""
        tokenizer = tokenizer_named(options.tokenizer)
        entries: list[LossEntry] = []
        write_array((_row(number, record, tokenizer, entries, options.taxonomy) for number, record in enumerate(records, start=1)), path)
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the documents of a JSON array or of JSON lines, see ``NativeShapedFormat``."""
        columns = Columns(path, options, tally, tokens=True)
        yield from read_rows(array_or_lines(path), lambda number, row: make(number, columns.native(parse_object(row))), tally)
        columns.check_all_seen()


def _row(number: int, record: Record, tokenizer: Tokenizer, entries: list[LossEntry], taxonomy: Taxonomy) -> Json:
    text = record.context
    places, blank_after = with_white_space(text, tokenizer(text, record.locale))
    spans, losses = on_tokens(record, places, taxonomy)
    entries += losses
    return {
        "document": number,
        "full_text": text,
        "tokens": [text[start:end] for start, end in places],
        "trailing_whitespace": blank_after,
        "labels": bio_tags(len(places), spans),
        "relevance": relevances(len(places), spans),
        "id": record.id,
        "locale": record.locale,
        "question": record.question,
    }


def with_white_space(text: str, tokens: Sequence[Range]) -> tuple[list[Range], list[bool]]:
    """Return *tokens* with those of white space among them, and for each whether a blank follows that is in no token."""
    places: list[Range] = []
    blank_after: list[bool] = []
    at = 0
    for start, end in [*tokens, (len(text), len(text))]:
        if at < start:
            if places and text[at] == " ":
                blank_after[-1] = True
                at += 1
            if at < start:
                places.append((at, start))
                blank_after.append(False)
        if start < end:
            places.append((start, end))
            blank_after.append(False)
        at = end
    return places, blank_after


class _GlinerRow(BaseModel):
    """One text. Files of others lack the last five fields."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    tokenized_text: list[str]
    ner: list[list[int | str]]
    relevance: list[Literal["high", "low"] | None] | None = None
    id: str | None = None
    locale: str | None = None
    text: str | None = None
    question: str | None = None


class GlinerFormat(NativeShapedFormat):
    """The GLiNER format; see the module docstring."""

    name = "gliner"
    suffix = ".json"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one text a line; spans that cut tokens, see ``token_labels``, are in the report."""
        tokenizer = tokenizer_named(options.tokenizer)
        entries: list[LossEntry] = []
        write_array((_gliner_row(record, tokenizer, entries, options.taxonomy) for record in records), path)
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the texts, see ``NativeShapedFormat``."""
        return read_rows(array_rows(path), lambda number, row: make(number, _gliner_content(row, tally)), tally)


def _gliner_row(record: Record, tokenizer: Tokenizer, entries: list[LossEntry], taxonomy: Taxonomy) -> Json:
    text = record.context
    places = tokenizer(text, record.locale)
    spans, losses = on_tokens(record, places, taxonomy)
    entries += losses
    return {
        "tokenized_text": [text[start:end] for start, end in places],
        "ner": [[placed.first, placed.last, placed.span.entity_type] for placed in spans],
        "relevance": [placed.span.relevance for placed in spans],
        "id": record.id,
        "locale": record.locale,
        "text": text,
        "question": record.question,
    }


def _gliner_content(raw: str, tally: ReadTally) -> Json:
    try:
        row = _GlinerRow.model_validate(parse_object(raw))
    except ValidationError as error:
        raise fault_of(error, _GlinerRow) from error
    tally.ignored_fields.update(list(row.model_extra or ()))
    if row.text is None:
        text, places = joined(row.tokenized_text)
        tally.joined_texts += 1
    else:
        text, places = row.text, token_places(row.tokenized_text, row.text)
    relevance = row.relevance if row.relevance is not None else [None] * len(row.ner)
    if len(relevance) != len(row.ner):
        raise RowFault(f"relevance: {len(relevance)} values for {len(row.ner)} items of ner")
    spans = []
    for position, (item, degree) in enumerate(zip(row.ner, relevance, strict=True)):
        first, last, label = _item(item, position, len(places))
        spans.append(span_row(text, places[first][0], places[last][1], label, degree))
    return {"id": row.id, "locale": row.locale, "context": text, "question": row.question, "spans": spans}


def _item(item: list[int | str], position: int, tokens: int) -> tuple[int, int, str]:
    match item:
        case [int(first), int(last), str(label)] if 0 <= first <= last < tokens:
            return first, last, label
    raise RowFault(f"ner[{position}]: not [first token, last token, label] of {tokens} tokens")
