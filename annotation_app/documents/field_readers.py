"""Validators for the fields of an operation sent by a browser; each raises ``Refusal`` for a value it does not accept."""

from __future__ import annotations

import re
from collections.abc import Callable

from piiloom.annotation_app.documents.refusals import Refusal

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def read_text(item: object) -> str:
    """Return *item* if it is a string without lone surrogates; raise ``Refusal`` ("malformed") otherwise."""
    if not isinstance(item, str) or _HALF_PAIR.search(item):
        raise Refusal("malformed")
    return item


def _name(item: object) -> str:
    if not (name := read_text(item)):
        raise Refusal("malformed")
    return name


def _text_or_none(item: object) -> str | None:
    return None if item is None else read_text(item)


def _number(item: object) -> int:
    if not isinstance(item, int) or isinstance(item, bool):
        raise Refusal("malformed")
    return item


def _relevance(item: object) -> str | None:
    if item is None or item in ("high", "low"):
        return item if isinstance(item, str) else None
    raise Refusal("bad_relevance")


def _text_field(item: object) -> str:
    if item not in ("context", "question"):
        raise Refusal("malformed")
    return str(item)


FIELD_READERS: dict[str, Callable[[object], object]] = {
    "id": _name,
    "at": _number,
    "start": _number,
    "end": _number,
    "event": _number,
    "field": _text_field,
    "relevance": _relevance,
    "subtype": _text_or_none,
    "value_id": _text_or_none,
    "subject": _text_or_none,
}
