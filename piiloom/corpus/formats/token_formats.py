"""Tokens with labels: BIO tags (``bio``) and GLiNER's training data (``gliner``) as one JSON array, CoNLL, and spaCy's DocBin.

``bio``, as in the Kaggle competition "PII Data Detection" and CRAPII: a document has ``document``, ``full_text``, and for each token
``tokens``, ``trailing_whitespace`` and ``labels`` (``B-NAME``, ``I-NAME``, ``O``). The tokens, each with a blank if its
``trailing_whitespace`` is true, joined together are the text: white space other than one blank after a token is a token, as in spaCy. Our
files also have ``id``, ``locale``, ``question``, and ``relevance`` for each token: high, low or null. Read are also JSON lines, and rows of
others: without ``full_text`` or ``trailing_whitespace``, and with ``ner_tags`` and other keys that ``piiloom.corpus.formats.columns``
names, as Hugging Face ``datasets`` writes them.

``gliner``: ``{"tokenized_text": [token …], "ner": [[first, last, label] …]}``; last is inclusive. Labels are the names of the types, in
words. Our files also have ``id``, ``locale``, ``text``, ``question``, and ``relevance`` for each item of ``ner``: high, low or null. The
text of a row without ``text`` is its tokens joined by blanks.

``conll``: a token a line, with its relevance and its tag (``B-NAME``, ``I-NAME``, ``O``), and a blank line after each record.

::

    # id = r1
    # locale = en_US
    # text = "I'm Ann."
    I       _       O
    '       _       O
    m       _       O
    Ann     low     B-NAME
    .       _       O

Columns are separated by tabs; relevance is ``high``, ``low`` or ``_``, and the tag is the last column, as in CoNLL-2003. Text and
question are JSON strings, so that they stay on their line, and so are ids and locales that would not. A token's line may begin with
``#``, too; but no comment has a tab.

Files of others have a token first and a tag last, with tabs or blanks between, and no ``# text``: their texts are their tokens joined
by blanks. A record is what stands between blank lines (in CoNLL-2003 a sentence), and lines of ``-DOCSTART-`` are left out.

``spacy``: a DocBin (``.spacy``), as ``spacy train`` and ``spacy debug data`` read it.

Each record is a ``Doc`` with the tokens of a blank pipeline of its language (or, with the tokenizer ``spacy:MODEL``, of that
pipeline; a model is trained on its own tokens, so other tokenizers do not apply). Its spans, widened to whole tokens, are in
``doc.ents``, and with their relevance as ``kb_id`` in ``doc.spans["pii"]``. ``doc.user_data["piiloom"]`` has id, locale, question and
the exact spans, each with the range of its entity, so that a file of ours is read back exactly; where entities were changed since,
the entities count. Of other files the entities are read.

A DocBin is written and read as a whole: writing holds the arrays of all tokens in memory, about 50 bytes a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from json import dumps
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from piiloom.corpus.formats.base import LOST_FIELDS, Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import TOKEN_FIELDS, Columns
from piiloom.corpus.formats.native_rows import (
    RowFault,
    array_or_lines,
    numbered_lines,
    parse_object,
    read_rows,
    valid_row,
)
from piiloom.corpus.formats.row_reading import JsonRowFormat, Made, MakeRow, NativeShapedFormat, Reading
from piiloom.corpus.formats.token_labels import (
    OUTSIDE,
    SpacyPipelines,
    TokenSpan,
    bio_tags,
    import_spacy,
    label_of,
    on_tokens,
    relevances,
    span_row,
    tagged_spans,
    text_and_places,
    tokenizer_named,
)
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import Taxonomy


def _tokenized(
    records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]
) -> Iterator[tuple[Record, list[Range], list[TokenSpan]]]:
    """Yield each record with its tokens and its spans on them, and append to *entries* the spans that cut tokens."""
    tokenizer = tokenizer_named(options.tokenizer)
    for record in records:
        places = tokenizer(record.context, record.locale)
        spans, losses = on_tokens(record, places, options.taxonomy)
        entries += losses
        yield record, places, spans


class BioFormat(JsonRowFormat):
    """The BIO format; see the module docstring."""

    name = "bio"
    suffix = ".json"
    lost_fields = LOST_FIELDS
    column_fields = TOKEN_FIELDS

    def rows(self, records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]) -> Iterator[Json]:
        """Yield one document per record; spans that cut tokens, see ``token_labels``, are entries."""
        tokenizer = tokenizer_named(options.tokenizer)
        for number, record in enumerate(records, start=1):
            text = record.context
            places, blank_after = with_white_space(text, tokenizer(text, record.locale))
            spans, losses = on_tokens(record, places, options.taxonomy)
            entries += losses
            yield {
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

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the documents of a JSON array or of JSON lines, see ``NativeShapedFormat``."""
        return Columns(path, options, tally, tokens=True).read(array_or_lines(path), parse_object, make)


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


class GlinerFormat(JsonRowFormat):
    """The GLiNER format; see the module docstring."""

    name = "gliner"
    suffix = ".json"
    lost_fields = LOST_FIELDS

    def rows(self, records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]) -> Iterator[Json]:
        """Yield one text per record; spans that cut tokens, see ``token_labels``, are entries."""
        for record, places, spans in _tokenized(records, options, entries):
            yield {
                "tokenized_text": [record.context[start:end] for start, end in places],
                "ner": [[placed.first, placed.last, placed.span.entity_type] for placed in spans],
                "relevance": [placed.span.relevance for placed in spans],
                "id": record.id,
                "locale": record.locale,
                "text": record.context,
                "question": record.question,
            }

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``NativeShapedFormat``."""
        found = valid_row(_GlinerRow, row)
        reading.tally.ignored_fields.update(list(found.model_extra or ()))
        text, places = text_and_places(found.tokenized_text, found.text, reading.tally)
        relevance = found.relevance if found.relevance is not None else [None] * len(found.ner)
        if len(relevance) != len(found.ner):
            raise RowFault(f"relevance: {len(relevance)} values for {len(found.ner)} items of ner")
        spans = []
        for position, (item, degree) in enumerate(zip(found.ner, relevance, strict=True)):
            first, last, label = _item(item, position, len(places))
            spans.append(span_row(text, places[first][0], places[last][1], label, degree))
        return {"id": found.id, "locale": found.locale, "context": text, "question": found.question, "spans": spans}


def _item(item: list[int | str], position: int, tokens: int) -> tuple[int, int, str]:
    match item:
        case [int(first), int(last), str(label)] if 0 <= first <= last < tokens:
            return first, last, label
    raise RowFault(f"ner[{position}]: not [first token, last token, label] of {tokens} tokens")


_NONE = "_"
_PLAIN_LINE = f"\t{_NONE}\t{OUTSIDE}\n"
_COMMENT = re.compile(r"#\s*([\w.]+)\s*=\s?(.*)", re.DOTALL)
_TAG = re.compile(r"O|[BILUESM]-.+")
_NEW_DOCUMENT = "-DOCSTART-"
_OURS = ("id", "locale", "text", "question")
# Readers that split lines as Python does would split there.
_LINE_ENDS = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}


class ConllFormat(NativeShapedFormat):
    """The CoNLL format; see the module docstring."""

    name = "conll"
    suffix = ".conll"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write the records one after the other; spans that cut tokens, see ``token_labels``, are in the report."""
        entries: list[LossEntry] = []
        with path.open("w", encoding="utf-8", newline="\n") as fh:
            fh.writelines(_block(*one) for one in _tokenized(records, options, entries))
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the records, see ``NativeShapedFormat``; the relevance of a span is that of its first token."""
        return read_rows(_blocks(path), lambda number, block: make(number, _content(block, tally)), tally)


def _block(record: Record, places: Sequence[Range], spans: Sequence[TokenSpan]) -> str:
    head = f"# id = {_on_one_line(record.id)}\n# locale = {_on_one_line(record.locale)}\n# text = {_quoted(record.context)}\n"
    if record.question is not None:
        head += f"# question = {_quoted(record.question)}\n"
    return head + "".join(_token_lines([record.context[start:end] for start, end in places], spans)) + "\n"


def _token_lines(words: list[str], spans: Sequence[TokenSpan]) -> Iterator[str]:
    """Yield the lines of all tokens, those between two spans in one piece: most tokens are in none."""
    at = 0
    for placed in spans:
        yield from _plain_lines(words[at : placed.first])
        label, relevance = label_of(placed.span.entity_type), placed.span.relevance or _NONE
        yield f"{words[placed.first]}\t{relevance}\tB-{label}\n"
        at = placed.last + 1
        yield from (f"{word}\t{relevance}\tI-{label}\n" for word in words[placed.first + 1 : at])
    yield from _plain_lines(words[at:])


def _plain_lines(words: list[str]) -> Iterator[str]:
    if words:
        yield _PLAIN_LINE.join(words)
        yield _PLAIN_LINE


def _on_one_line(value: str) -> str:
    plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if plain else _quoted(value)


def _quoted(value: str) -> str:
    return dumps(value, ensure_ascii=False).translate(_LINE_ENDS) if not value.isascii() else dumps(value)


def _blocks(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, lines) of each record; ``numbered_lines`` leaves out the blank lines between them."""
    begin, lines = 0, list[str]()
    for number, line in numbered_lines(path):
        if number != begin + len(lines):
            yield from _without_start(begin, lines)
            begin, lines = number, []
        lines.append(line)
    yield from _without_start(begin, lines)


def _without_start(begin: int, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines less a first one that begins a document, if any are left; records of ours begin with a comment."""
    skipped = 1 if lines and lines[0].startswith(_NEW_DOCUMENT) else 0
    if lines[skipped:]:
        yield begin + skipped, "\n".join(lines[skipped:])


def _content(block: str, tally: ReadTally) -> Json:
    lines = block.split("\n")
    comments, begin = _comments(lines)
    tally.ignored_fields.update(f"# {key}" for key in comments if key not in _OURS)
    rows = [_columns(line, position) for position, line in enumerate(lines[begin:], start=begin + 1)]
    tokens = [row[0] for row in rows]
    stated = {key: _value(comments[key], key) for key in _OURS if key in comments}
    relevance: list[str | None] = [None] * len(rows)
    if "text" in stated:
        relevance = [row[1] if len(row) > 2 else None for row in rows]
    elif len(tokens) > 1 and len(rows[0]) > 2 and tokens == [str(at) for at, _ in enumerate(tokens, start=1)]:
        raise RowFault("the first column numbers the tokens: leave it out, so that the token comes first and the tag last")
    text, places = text_and_places(tokens, stated.get("text"), tally)
    return {
        "id": stated.get("id"),
        "locale": stated.get("locale"),
        "context": text,
        "question": stated.get("question"),
        "spans": [
            span_row(text, places[first][0], places[last][1], label, relevance[first])
            for first, last, label in tagged_spans([row[-1] for row in rows])
        ],
    }


def _comments(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """Return the comments at the beginning of a record by their keys, and the number of their lines."""
    found: dict[str, str] = {}
    for count, line in enumerate(lines):
        if not line.startswith("#") or "\t" in line:
            return found, count
        comment = _COMMENT.fullmatch(line)
        if comment:
            found[comment[1]] = comment[2]
        elif _TAG.fullmatch(line.split()[-1]):  # the token "#", its columns separated by blanks
            return found, count
    return found, len(lines)


def _columns(line: str, position: int) -> list[str]:
    columns = line.split("\t") if "\t" in line else line.split()
    if len(columns) < 2 or not columns[0]:
        raise RowFault(f"line {position} of the record: not a token and a tag, with a tab or a blank between")
    return columns


def _value(raw: str, key: str) -> str:
    if not raw.startswith('"'):
        return raw
    try:
        value = parse_object(f'{{"value": {raw}}}')
    except RowFault as fault:
        raise RowFault(f"# {key}: not a JSON string") from fault
    if len(value) != 1 or not isinstance(value["value"], str):
        raise RowFault(f"# {key}: not a JSON string")
    return value["value"]


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

    def texts(self, reading: Reading) -> Iterator[tuple[int, str]]:
        """Yield the docs as native rows, see ``NativeShapedFormat``."""
        for number, doc in enumerate(_docs(reading.path), start=1):
            yield number, json.dumps(_doc_content(doc, reading.tally), ensure_ascii=False)


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


def _doc_content(doc: Any, tally: ReadTally) -> Json:
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
        still_there = (s for s in stated.spans if s.entity is None or (*s.entity, label_of(s.type)) in entities)
        spans = [span_row(text, s.start, s.end, s.type, s.relevance) for s in still_there]
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
