"""Tokens with BIO labels, as in the Kaggle competition "PII Data Detection" and CRAPII: one JSON array of documents.

Read are also JSON lines, and rows of others: without ``full_text`` or ``trailing_whitespace``, and with ``ner_tags`` and other keys
that ``piiloom.corpus.formats.columns`` names, as Hugging Face ``datasets`` writes them.

A document has ``document``, ``full_text``, and for each token ``tokens``, ``trailing_whitespace`` and ``labels`` (``B-NAME``,
``I-NAME``, ``O``). The tokens, each with a blank if its ``trailing_whitespace`` is true, joined together are the text: white space
other than one blank after a token is a token, as in spaCy. Our files also have ``id``, ``locale``, ``question``, and ``relevance``
for each token: high, low or null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import TOKEN_FIELDS, Columns
from piiloom.corpus.formats.native_rows import array_or_lines, parse_object, read_rows, write_array
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.formats.token_labels import LOST_FIELDS, bio_tags, on_tokens, relevances
from piiloom.corpus.formats.tokenizing import Range, Tokenizer, tokenizer_named
from piiloom.corpus.record import Record
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
