"""Tokens with BIO labels, as in the Kaggle competition "PII Data Detection" and CRAPII: one JSON array of documents.

A document has ``document``, ``full_text``, and for each token ``tokens``, ``trailing_whitespace`` and ``labels`` (``B-NAME``,
``I-NAME``, ``O``). The tokens, each with a blank if its ``trailing_whitespace`` is true, joined together are the text: white space
other than one blank after a token is a token, as in spaCy. Our files also have ``id``, ``locale``, ``question``, and ``relevance``
for each token: high, low or null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.json_rows import RowFault, array_rows, fault_of, parse_object, read_rows, write_array
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.formats.token_labels import (
    LOST_FIELDS,
    bio_tags,
    on_tokens,
    relevances,
    span_row,
    tagged_spans,
    token_places,
)
from piiloom.corpus.formats.tokenizing import Range, Tokenizer, tokenizer_named
from piiloom.corpus.record import Record


class _Row(BaseModel):
    """One document. Files of others lack the last four fields."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    document: int | str | None = None
    full_text: str
    tokens: list[str]
    trailing_whitespace: list[bool] | None = None
    labels: list[str]
    relevance: list[Literal["high", "low"] | None] | None = None
    id: str | None = None
    locale: str | None = None
    question: str | None = None


class BioFormat(NativeShapedFormat):
    """The BIO format; see the module docstring."""

    name = "bio"
    suffix = ".json"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one document a line; spans that cut tokens, see ``token_labels``, are in the report."""
        tokenizer = tokenizer_named(options.tokenizer)
        entries: list[LossEntry] = []
        write_array((_row(number, record, tokenizer, entries) for number, record in enumerate(records, start=1)), path)
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the documents, see ``NativeShapedFormat``; the relevance of a span is that of its first token."""
        return read_rows(array_rows(path), lambda number, row: make(number, _content(row, tally)), tally)


def _row(number: int, record: Record, tokenizer: Tokenizer, entries: list[LossEntry]) -> Json:
    text = record.context
    places, blank_after = with_white_space(text, tokenizer(text, record.locale))
    spans, losses = on_tokens(record, places)
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


def _content(row: str, tally: ReadTally) -> Json:
    try:
        document = _Row.model_validate(parse_object(row))
    except ValidationError as error:
        raise fault_of(error, _Row) from error
    tally.ignored_fields.update(list(document.model_extra or ()))
    for field in ("trailing_whitespace", "labels", "relevance"):
        values = getattr(document, field)
        if values is not None and len(values) != len(document.tokens):
            raise RowFault(f"{field}: {len(values)} values for {len(document.tokens)} tokens")
    text, places = document.full_text, _places(document)
    relevance = document.relevance or [None] * len(places)
    return {
        "id": document.id or (None if document.document is None else str(document.document)),
        "locale": document.locale,
        "context": text,
        "question": document.question,
        "spans": [
            span_row(text, places[first][0], places[last][1], label, relevance[first])
            for first, last, label in tagged_spans(document.labels)
        ],
    }


def _places(document: _Row) -> list[Range]:
    blanks = document.trailing_whitespace
    if blanks is None:
        return token_places(document.tokens, document.full_text)
    whole = "".join(token + " " * blank for token, blank in zip(document.tokens, blanks, strict=True))
    if whole != document.full_text:
        raise RowFault("tokens: with trailing_whitespace they do not give full_text")
    ends = accumulate((len(token) + blank for token, blank in zip(document.tokens, blanks, strict=True)), initial=0)
    return [(at, at + len(token)) for at, token in zip(ends, document.tokens, strict=False)]
