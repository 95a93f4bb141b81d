r"""Texts with span markers, such as ``I have <health high>asthma</health>``.

An opening marker names the type, and the relevance if the span has one; the closing marker repeats the type. In a type's name a blank
becomes an underscore, and anything but ``A-Z a-z 0-9 . ~ -`` is percent-encoded (UTF-8), so any name but the empty one can be written:
``<sexual_orientation low>``, ``<na%C3%AFve%5Ftype>``.

Whatever looks like a marker in the text itself is escaped as in string literals: the k backslashes before it become 2k + 1, the k
backslashes before a real marker 2k. Backslashes anywhere else stay as they are, so every text comes back exactly, and reading can tell a
marker from a text that looks like one whatever the types are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote

from piiloom.corpus.record import Relevance, Span
from piiloom.foundation.errors import DataError

_NAME = r"(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})++"
# No marker can begin inside another one, since none holds a second "<".
_MARKER = re.compile(rf"<(?:(?P<opens>{_NAME})(?: (?P<relevance>high|low))?|/(?P<closes>{_NAME}))>")
_RELEVANCE: dict[str | None, Relevance | None] = {"high": "high", "low": "low", None: None}


class MarkerFault(Exception):
    """Why a marked text cannot be read; ``position`` is the code-point offset of the marker at fault in the marked text."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} (position {position})")
        self.reason = reason
        self.position = position


class MarkedSpan(NamedTuple):
    """What a pair of markers says of ``context[start:end]``."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None


class Unmarked(NamedTuple):
    """A text without its markers, and what they said, in text order."""

    context: str
    spans: tuple[MarkedSpan, ...]


@dataclass(frozen=True, slots=True)
class _Open:
    """An opening marker that was read: its type, relevance, its position in the marked text and where its value begins in the context."""

    entity_type: str
    relevance: Relevance | None
    position: int
    start: int


def marked_text(context: str, spans: Iterable[Span]) -> str:
    """Return *context* with markers around *spans* (sorted, disjoint). Raises ``DataError`` for a type without a name."""
    pieces: list[str] = []
    done = 0
    for span in spans:
        name = marker_name(span.entity_type)
        opening = f"<{name} {span.relevance}>" if span.relevance else f"<{name}>"
        pieces += (_escaped(context[done : span.start], before_marker=True), opening)
        pieces += (_escaped(span.text_in(context), before_marker=True), f"</{name}>")
        done = span.end
    pieces.append(_escaped(context[done:], before_marker=False))
    return "".join(pieces)


def unmarked(text: str, known: Collection[str] | None = None) -> Unmarked:
    """Return the context and the spans of a marked text, the inverse of ``marked_text``.

    Raises ``MarkerFault`` for a marker inside another pair, without its counterpart or around nothing, and, if the *known* types are
    given, for any other type.
    """
    pieces: list[str] = []
    spans: list[MarkedSpan] = []
    opened: _Open | None = None
    length = 0
    for plain, marker in _parts(text):
        pieces.append(plain)
        length += len(plain)
        if marker is None:
            continue
        entity_type = _type_of(marker, known)
        if marker["opens"]:
            if opened is not None:
                raise MarkerFault(f"<{marker['opens']}> stands inside the marker opened at position {opened.position}", marker.start())
            opened = _Open(entity_type, _RELEVANCE[marker["relevance"]], marker.start(), length)
            continue
        spans.append(_closed(opened, marker, entity_type, length))
        opened = None
    if opened is not None:
        raise MarkerFault(f"<{marker_name(opened.entity_type)}> is never closed", opened.position)
    return Unmarked("".join(pieces), tuple(spans))


def _closed(opened: _Open | None, marker: re.Match[str], entity_type: str, end: int) -> MarkedSpan:
    closing = f"</{marker['closes']}>"
    if opened is None:
        raise MarkerFault(f"{closing} closes nothing", marker.start())
    if opened.entity_type != entity_type:
        raise MarkerFault(f"{closing} closes the <{marker_name(opened.entity_type)}> opened at position {opened.position}", marker.start())
    if opened.start == end:
        raise MarkerFault(f"{closing} has no text before it", marker.start())
    return MarkedSpan(opened.start, end, entity_type, opened.relevance)


def _parts(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the plain text before each real marker, without its escapes, and that marker; at last the rest and None."""
    plain: list[str] = []
    done = 0
    for found in _MARKER.finditer(text):
        slashes = _backslashes_before(text, found.start())
        plain.append(text[done : found.start() - slashes] + "\\" * (slashes // 2))
        done = found.end()
        if slashes % 2:
            plain.append(found.group())
            continue
        yield "".join(plain), found
        plain = []
    yield "".join((*plain, text[done:])), None


def _escaped(text: str, *, before_marker: bool) -> str:
    pieces: list[str] = []
    done = 0
    for found in _MARKER.finditer(text):
        slashes = _backslashes_before(text, found.start())
        pieces += (text[done : found.start()], "\\" * (slashes + 1), found.group())
        done = found.end()
    pieces.append(text[done:])
    if before_marker:
        pieces.append("\\" * _backslashes_before(text, len(text)))
    return "".join(pieces)


def _backslashes_before(text: str, end: int) -> int:
    start = end
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return end - start


def marker_name(entity_type: str) -> str:
    """Return how *entity_type* is spelled in a marker. Raises ``DataError`` for a type without a name."""
    if not entity_type:
        raise DataError("a type without a name cannot be written as a marker", remedy="Name the type")
    return quote(entity_type, safe=" ", errors="surrogatepass").replace("_", "%5F").replace(" ", "_")


def _type_of(marker: re.Match[str], known: Collection[str] | None) -> str:
    name = marker["opens"] or marker["closes"]
    try:
        entity_type = unquote(name.replace("_", " "), errors="surrogatepass")
    except UnicodeDecodeError:
        raise MarkerFault(f"{marker.group()} names no type: its %-codes are not UTF-8", marker.start()) from None
    if known is not None and entity_type not in known:
        raise MarkerFault(f"{marker.group()} names an unknown type", marker.start())
    return entity_type
