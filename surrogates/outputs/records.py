"""Make the output lines of a replaced document: its native record, its offset map, and its lines of the vault.

The JSON is built by hand, since ``json.dumps`` takes four times as long. Tests compare the lines with ``native_rows.row_of``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Final

from piiloom.foundation.errors import RunError
from piiloom.surrogates.documents import Document, Placed, Replaced

_BLOCK: Final = 4096  # spans or ranges
quote = lru_cache(maxsize=1 << 12)(encode_basestring)  # cached, for strings that repeat often: types, files


def check_replaced(document: Document, replaced: Replaced) -> None:
    """Check an engine's result. Raises ``RunError`` if its places are unsorted, empty or overlap, or if text outside them has changed."""
    pieces: list[str] = []
    at = new_at = 0
    text, new_text = document.text, replaced.text
    for place in replaced.placed:
        start, end, new_start, new_end = place[:4]
        if not (at <= start < end and new_start < new_end and start - at == new_start - new_at):
            raise _wrong(document, f"the place [{start}, {end}) → [{new_start}, {new_end}) does not fit the one before it, or is empty")
        pieces += (text[at:start], new_text[new_start:new_end])
        at, new_at = end, new_end
    pieces.append(text[at:])
    if at > len(text) or "".join(pieces) != new_text:
        raise _wrong(document, "text outside the places has changed")


def _wrong(document: Document, what: str) -> RunError:
    return RunError(f"the engine gave an invalid result: {what}", where=document.id, remedy="Please report this as a bug in piiloom")


def record_id(document: Document, replaced: Replaced) -> str:
    """Return the record's id: 16 hex digits, a hash of the text and the document's id, which is unique.

    Raises ``RunError`` if a surrogate holds half a UTF-16 pair, which UTF-8 cannot encode.
    """
    try:
        content = f"surrogate\0{document.id}\0{replaced.text}".encode()
    except UnicodeEncodeError as error:
        raise _wrong(document, "a surrogate holds half a character, which UTF-8 cannot hold") from error
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def record_parts(document: Document, replaced: Replaced, locale: str, question: str | None = None) -> list[bytes]:
    """Return the line of ``records.jsonl``, with its line feed, in parts: joined, that of a long document would be held twice."""
    asked = "null" if question is None else encode_basestring(question)
    text, own_id = replaced.text, record_id(document, replaced)
    spans = _in_blocks(_span_json, text, replaced.placed)
    doc_id = encode_basestring(document.id)
    line = f', "line": {document.line}' if document.line is not None else ""
    head = f'{{"id": "{own_id}", "locale": {quote(locale)}, "context": {encode_basestring(text)}, "question": {asked}, '
    tail = f'"meta": {{"source": {{"file": {quote(document.file)}{line}, "id": {doc_id}}}, "group_keys": ["document:{doc_id[1:]}]}}}}\n'
    return [head.encode(), b'"spans": [', *spans, b"], ", tail.encode()]


def _in_blocks(tell: Callable[[int, str, Placed], str], text: str, placed: Sequence[Placed]) -> list[bytes]:
    """Return what *tell* gives for each place, in blocks that are to be joined: as a text a long one takes several times the space."""
    if len(placed) <= _BLOCK:
        return [", ".join([tell(number, text, place) for number, place in enumerate(placed, start=1)]).encode()]
    blocks: list[bytes] = []
    for at in range(0, len(placed), _BLOCK):
        told = [tell(number, text, place) for number, place in enumerate(placed[at : at + _BLOCK], start=at + 1)]
        blocks += (b", " if at else b"", ", ".join(told).encode())
    return blocks


def _span_json(number: int, text: str, place: Placed) -> str:
    _, _, start, end, _, entity_type, subtype, value_id, _ = place
    return (
        f'{{"start": {start}, "end": {end}, "text": {encode_basestring(text[start:end])}, {_type_json(entity_type)}, "id": "s{number}"'
        f"{_told('subtype', subtype)}{_told('value_id', value_id or None)}}}"
    )


def _range_json(number: int, text: str, place: Placed) -> str:  # noqa: ARG001 - what ``_in_blocks`` calls
    return f"[{place.start}, {place.end}, {place.new_start}, {place.new_end}]"


@lru_cache(maxsize=1 << 10)
def _type_json(entity_type: str) -> str:
    return f'"type": {encode_basestring(entity_type)}, "relevance": null'


@lru_cache(maxsize=1 << 12)
def _told(key: str, value: str | None) -> str:
    return "" if value is None else f', "{key}": {encode_basestring(value)}'


def map_parts(document: Document, replaced: Replaced, question: Replaced | None = None) -> list[bytes]:
    """Return the line of ``map.jsonl`` in parts: the document and [start, end, new start, new end] of each replaced range."""
    ranges = _in_blocks(_range_json, "", replaced.placed)
    asked = [b', "question_ranges": [', *_in_blocks(_range_json, "", question.placed), b"]"] if question is not None else []
    return [_head(document).encode(), b', "ranges": [', *ranges, b"]", *asked, b"}\n"]


def skipped_line(file: str, line: int, reason: str) -> str:
    """Return the line of ``skipped_rows.jsonl`` for a row that was set aside. It does not hold the row, which may hold originals."""
    return f'{{"file": {quote(file)}, "line": {line}, "reason": {encode_basestring(reason)}}}\n'


def vault_lines(document: Document, replaced: Replaced, field: str = "") -> str:
    """Return the document's lines of the vault: the replaced text of each place, and its original where that is known.

    *field* says that the places are not in the text: "question".
    """
    originals = {(one.start, one.end): one.original for one in document.mentions or () if one.original}
    return "".join([_vault_line(document, place, originals.get((place.start, place.end)), field) for place in replaced.placed])


def _vault_line(document: Document, place: Placed, original: str | None, field: str) -> str:
    apart = f'"field": "{field}", ' if field else ""
    known = f', "original": {encode_basestring(original)}' if original is not None else ""
    return (
        f'{{"id": {encode_basestring(document.id)}, {apart}"start": {place.start}, "end": {place.end}, '
        f'"new_start": {place.new_start}, "new_end": {place.new_end}, '
        f'"text": {encode_basestring(document.text[place.start : place.end])}{known}}}\n'
    )


def _head(document: Document) -> str:
    line = "null" if document.line is None else document.line
    return f'{{"id": {encode_basestring(document.id)}, "file": {quote(document.file)}, "line": {line}'
