"""The lines of a run's outputs: records, offset map, rows that were set aside, and the vault.

Lines of JSON are built by hand, since ``json.dumps`` takes four times as long. Tests compare them with ``native_rows.row_of``.
"""

from __future__ import annotations

import hashlib
import json
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
    at = new_at = 0
    text, new_text = document.text, replaced.text
    same = True
    for start, end, new_start, new_end, _, _, _, _, _ in replaced.placed:
        if not (at <= start < end and new_start < new_end and start - at == new_start - new_at):
            raise _wrong(document, f"the place [{start}, {end}) → [{new_start}, {new_end}) does not fit the one before it, or is empty")
        same = same and text[at:start] == new_text[new_at:new_start]
        at, new_at = end, new_end
    if not same or at > len(text) or text[at:] != new_text[new_at:]:
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
    spans = _in_blocks(_spans_json, text, replaced.placed)
    doc_id = encode_basestring(document.id)
    line = f', "line": {document.line}' if document.line is not None else ""
    head = f'{{"id": "{own_id}", "locale": {quote(locale)}, "context": {encode_basestring(text)}, "question": {asked}, '
    stated = f', "person_groups": {json.dumps(replaced.person_groups, ensure_ascii=False)}' if replaced.person_groups is not None else ""
    source = f'"source": {{"file": {quote(document.file)}{line}, "id": {doc_id}}}'
    tail = f'"meta": {{{source}, "group_keys": ["document:{doc_id[1:]}]{stated}}}}}\n'
    return [head.encode(), b'"spans": [', *spans, b"], ", tail.encode()]


def _in_blocks(tell: Callable[[int, str, Sequence[Placed]], list[str]], text: str, placed: Sequence[Placed]) -> list[bytes]:
    """Return what *tell* gives for all places, in blocks that are to be joined: as a text a long one takes several times the space."""
    blocks: list[bytes] = []
    for at in range(0, len(placed), _BLOCK):
        blocks += (b", " if at else b"", ", ".join(tell(at + 1, text, placed[at : at + _BLOCK])).encode())
    return blocks


def _spans_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:
    """Return the spans of *placed*, of which the first is number *first* of its document."""
    encoded, type_of, rest_of = encode_basestring, _type_json, _rest_json
    return [
        f'{{"start": {start}, "end": {end}, "text": {encoded(text[start:end])}, {type_of(entity_type)}, "id": "s{number}"'
        f"{rest_of(subtype, value_id)}}}"
        for number, (_, _, start, end, _, entity_type, subtype, value_id, _) in enumerate(placed, first)
    ]


def _ranges_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:  # noqa: ARG001 - what ``_in_blocks`` calls
    return [f"[{start}, {end}, {new_start}, {new_end}]" for start, end, new_start, new_end, _, _, _, _, _ in placed]


@lru_cache(maxsize=1 << 10)
def _type_json(entity_type: str) -> str:
    return f'"type": {encode_basestring(entity_type)}, "relevance": null'


@lru_cache(maxsize=1 << 12)
def _rest_json(subtype: str | None, value_id: str) -> str:
    told = (("subtype", subtype), ("value_id", value_id or None))
    return "".join([f', "{key}": {encode_basestring(value)}' for key, value in told if value is not None])


def map_parts(document: Document, replaced: Replaced, question: Replaced | None = None) -> list[bytes]:
    """Return the line of ``map.jsonl`` in parts: the document and [start, end, new start, new end] of each replaced range."""
    ranges = _in_blocks(_ranges_json, "", replaced.placed)
    asked = [b', "question_ranges": [', *_in_blocks(_ranges_json, "", question.placed), b"]"] if question is not None else []
    about = {"id": document.id, "file": document.file, "line": document.line}
    return [json.dumps(about, ensure_ascii=False)[:-1].encode(), b', "ranges": [', *ranges, b"]", *asked, b"}\n"]


def skipped_line(file: str, line: int, reason: str) -> str:
    """Return the line of ``skipped_rows.jsonl`` for a row that was set aside. It does not hold the row, which may hold originals."""
    return json.dumps({"file": file, "line": line, "reason": reason}, ensure_ascii=False) + "\n"


def source_line(document: Document, raw: str) -> str:
    """Return the vault's line with the source of a text, as its file spells it."""
    return json.dumps({"id": document.id, "raw": raw}, ensure_ascii=False) + "\n"


def vault_lines(document: Document, replaced: Replaced, field: str = "") -> str:
    """Return the document's lines of the vault: the replaced text of each place, and its original where that is known.

    *field* says that the places are not in the text: "question".
    """
    originals = {(one.start, one.end): one.original for one in document.mentions or () if one.original}
    apart = {"field": field} if field else {}
    rows = []
    for place in replaced.placed:
        ends = {"start": place.start, "end": place.end, "new_start": place.new_start, "new_end": place.new_end}
        row = {"id": document.id, **apart, **ends, "text": document.text[place.start : place.end]}
        if (place.start, place.end) in originals:
            row["original"] = originals[place.start, place.end]
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(rows)
