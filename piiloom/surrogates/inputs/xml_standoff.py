"""Stand-off spans in XML: elements with offsets into the text, as i2b2, n2c2 and MAE write them, and pointers of TEI.

``<NAME start="16" end="26" text="…" TYPE="PATIENT"/>`` counts from the start of the only TEXT element; ``spans="3~9"`` does so, too.
``string-range(#p1,0,6)`` in an attribute (TEI) counts from the start of an element: offset and length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import Final, NamedTuple

from piiloom.foundation.words import Range
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import GivenSpans, mentions_of
from piiloom.surrogates.inputs.parts import KindOf
from piiloom.surrogates.inputs.splicing import Change
from piiloom.surrogates.inputs.standoff import BadSpan, Standoff, Told, read_standoff

_ATTRIBUTE: Final = re.compile(r"""([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_PAIRS: Final = (("start", "end"), ("begin", "end"), ("from", "to"))
_TYPES: Final = ("type", "label", "class")
_SPANS: Final = re.compile(r"\d{1,12}~\d{1,12}(?:,\d{1,12}~\d{1,12})*")
_POINTER: Final = re.compile(r"string-range\(\s*([^(),]*?(?:\([^()]*\))?[^(),]*?)\s*,\s*(\d{1,12})\s*,\s*(\d{1,12})\s*\)")
MAY_HAVE: Final = re.compile(r"""\s(?:start|begin|from|spans)\s*=\s*["']\d|string-range\(""", re.IGNORECASE)
_MAE_JOINT: Final = " ... "


class Tag(NamedTuple):
    """A tag: its local name, its range in the file, and the length of the text before it. ``shape`` is "open", "close" or "empty"."""

    name: str
    start: int
    end: int
    at: int
    shape: str


class Attribute(NamedTuple):
    """An attribute: the range of its value inside the quotes, and the value with its entities resolved."""

    start: int
    end: int
    value: str


class _Place(NamedTuple):
    """Where a span is written: the attributes of its offsets (two, or one with all), and of its words."""

    offsets: tuple[Attribute, ...]
    words: Attribute | None


class XmlStandoff:
    """The stand-off spans of a file. ``parts`` has those of each text that offsets count from, with the places where they are written."""

    def __init__(self, parts: Sequence[tuple[Standoff, Sequence[_Place]]]) -> None:
        self.parts = parts

    @property
    def ranges(self) -> list[Range]:
        """The fragments of all spans, in the text."""
        return [one for standoff, _ in self.parts for ranges in standoff.ranges for one in ranges]

    def mentions(self, text: str, kind_of: KindOf) -> GivenSpans:
        """Return the spans as mentions; each fragment is one."""
        return mentions_of([span for standoff, _ in self.parts for span in standoff.spans()], text, kind_of)

    def changes(self, replaced: Replaced) -> Iterator[Change]:
        """Yield the changes to the file that the new text asks for."""
        for standoff, places in self.parts:
            for place, (told, fragments, words) in zip(places, standoff.rewritten(replaced), strict=True):
                yield from _offsets(place.offsets, fragments)
                if place.words is not None and words.split() != place.words.value.split():
                    spelt = words if "\n" in (told.words or "") else words.replace("\n", " ")
                    yield place.words.start, place.words.end, spelt.translate(_ESCAPES)

    def values(self) -> list[Range]:
        """Return the ranges of the file that ``changes`` may change, in order."""
        return sorted((one.start, one.end) for _, places in self.parts for place in places for one in (*place.offsets, place.words) if one)


_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\n": "&#10;", "\t": "&#9;"})


def read_xml_standoff(raw: str, text: str, tags: Sequence[Tag], uncounted: Sequence[int]) -> XmlStandoff:
    """Find the stand-off spans among the *tags* of a file. Raises ``BadSpan`` for one that does not fit the text."""
    parts: list[tuple[Standoff, Sequence[_Place]]] = []
    inside = text_element(tags)
    if inside is not None:
        found = list(_of_text(raw, [*tags[: inside[0]], *tags[inside[1] + 1 :]]))
        if found:
            base = tags[inside[0]].at
            parts.append((read_standoff(text, [one for one, _ in found], base=base, uncounted=uncounted), [place for _, place in found]))
    if "string-range(" in raw:
        parts += _pointed(raw, text, tags, uncounted)
    return XmlStandoff(parts)


def _offsets(offsets: Sequence[Attribute], fragments: Sequence[Range]) -> Iterator[Change]:
    """Yield the changes that write *fragments*: start and end in two attributes, all in one as "3~9,12~15", or a pointer."""
    if len(offsets) == 2:
        for one, offset in zip(offsets, fragments[0], strict=True):
            yield one.start, one.end, str(offset)
        return
    (one,) = offsets
    pointer = _POINTER.search(one.value)
    if pointer is None:
        yield one.start, one.end, ",".join(f"{start}~{end}" for start, end in fragments)
        return
    start, end = fragments[0]
    yield one.start, one.end, f"string-range({pointer[1]},{start},{end - start})"


def text_element(tags: Sequence[Tag]) -> tuple[int, int] | None:
    """Return the numbers of the opening and the closing tag of the only outermost element "text", if there is one."""
    found: list[tuple[int, int]] = []
    start, depth = 0, 0
    for number, tag in enumerate(tags):
        if tag.name.lower() != "text" or tag.shape == "empty":
            continue
        if tag.shape == "open":
            start = number if not depth else start
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found.append((start, number))
    return found[0] if len(found) == 1 else None


def attributes_of(raw: str, tag: Tag) -> dict[str, Attribute]:
    """Return the attributes of *tag* by their name in lower case."""
    found = {}
    for match in _ATTRIBUTE.finditer(raw, tag.start, tag.end):
        start, end = match.start(2) + 1, match.end(2) - 1
        found[match[1].lower()] = Attribute(start, end, unescape(raw[start:end]))
    return found


def _of_text(raw: str, tags: Iterable[Tag]) -> Iterator[tuple[Told, _Place]]:
    for tag in tags:
        if tag.shape == "close":
            continue
        told = attributes_of(raw, tag)
        words = told.get("text")
        kind = next((told[name].value for name in _TYPES if name in told and told[name].value), tag.name if words else "")
        if not kind:
            continue  # nothing says that it is an annotation
        pair = next((pair for pair in _PAIRS if all(name in told and _is_number(told[name].value) for name in pair)), None)
        if pair is not None:
            start, end = (told[name] for name in pair)
            yield Told(kind, ((int(start.value), int(end.value)),), _words(words), tag.start), _Place((start, end), words)
        elif "spans" in told and _SPANS.fullmatch(told["spans"].value):
            fragments = tuple((int(a), int(b)) for a, b in (one.split("~") for one in told["spans"].value.split(",")))
            joint = _MAE_JOINT if words is not None and _MAE_JOINT in words.value else " "
            yield Told(kind, fragments, _words(words), tag.start, joint), _Place((told["spans"],), words)
        elif words is not None and words.value and any(name in told for pair in _PAIRS for name in pair):
            raise BadSpan(tag.start, "the offsets of an annotation are not whole numbers")


def _words(attribute: Attribute | None) -> str | None:
    return attribute.value if attribute is not None else None


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 13


def _pointed(raw: str, text: str, tags: Sequence[Tag], uncounted: Sequence[int]) -> Iterator[tuple[Standoff, Sequence[_Place]]]:
    """Yield the spans of TEI's pointers. One whose element is not there is left as it is."""
    by_id: dict[str, Tag] = {}
    by_name: dict[str, Tag] = {}
    for tag in tags:
        if tag.shape != "close":
            by_name.setdefault(tag.name, tag)
            told = attributes_of(raw, tag)
            if (known := told.get("xml:id") or told.get("id")) is not None:
                by_id.setdefault(known.value, tag)
    for tag in tags:
        for name, one in attributes_of(raw, tag).items():
            for match in _POINTER.finditer(raw, one.start, one.end):
                to = match[1].strip("'\"")
                element = by_id.get(to.removeprefix("#")) or by_name.get(re.split(r"[/:]", to.rstrip(")"))[-1])
                if element is None or name == "text":
                    continue
                start, length = int(match[2]), int(match[3])
                span = Told(tag.name, ((start, start + length),), None, tag.start)
                place = _Place((Attribute(match.start(), match.end(), match[0]),), None)
                yield read_standoff(text, [span], base=element.at, uncounted=uncounted), [place]
