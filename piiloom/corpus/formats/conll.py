"""CoNLL: a token a line, with its relevance and its tag (``B-NAME``, ``I-NAME``, ``O``), and a blank line after each record.

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
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from json import dumps
from pathlib import Path

from piiloom.corpus.formats.base import LOST_FIELDS, Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.formats.token_labels import (
    OUTSIDE,
    TokenSpan,
    joined,
    label_of,
    on_tokens,
    span_row,
    tagged_spans,
    token_places,
)
from piiloom.corpus.formats.tokenizing import Tokenizer, tokenizer_named
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import Taxonomy

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
        tokenizer = tokenizer_named(options.tokenizer)
        entries: list[LossEntry] = []
        with path.open("w", encoding="utf-8", newline="\n") as fh:
            fh.writelines(_block(record, tokenizer, entries, options.taxonomy) for record in records)
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the records, see ``NativeShapedFormat``; the relevance of a span is that of its first token."""
        return read_rows(_blocks(path), lambda number, block: make(number, _content(block, tally)), tally)


def _block(record: Record, tokenizer: Tokenizer, entries: list[LossEntry], taxonomy: Taxonomy) -> str:
    text = record.context
    places = tokenizer(text, record.locale)
    spans, losses = on_tokens(record, places, taxonomy)
    entries += losses
    head = f"# id = {_on_one_line(record.id)}\n# locale = {_on_one_line(record.locale)}\n# text = {_quoted(text)}\n"
    if record.question is not None:
        head += f"# question = {_quoted(record.question)}\n"
    return head + "".join(_token_lines([text[start:end] for start, end in places], spans)) + "\n"


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
    if "text" in stated:
        text, places = stated["text"], token_places(tokens, stated["text"])
        relevance: list[str | None] = [row[1] if len(row) > 2 else None for row in rows]
    else:
        if len(tokens) > 1 and len(rows[0]) > 2 and tokens == [str(at) for at, _ in enumerate(tokens, start=1)]:
            raise RowFault("the first column numbers the tokens: leave it out, so that the token comes first and the tag last")
        text, places = joined(tokens)
        relevance = [None] * len(rows)
        tally.joined_texts += 1
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
