"""Read XML: a file is one document, and its text is the content of all text nodes and CDATA sections.

Tags, attributes, comments, processing instructions and the document type stay as they are. If an end tag and a start tag separate two
nodes and there is no white space, the text has a line break there that the file does not have. A placeholder may extend over several
nodes; its surrogate goes into the first. Entities other than XML's, HTML's and numeric ones are kept as literal text.

Where the words of a file are all in one element TEXT, that alone is the text. Stand-off spans are rewritten: elements with offsets into
the text, as i2b2, n2c2 and MAE write them, and pointers of TEI. ``<NAME start="16" end="26" text="…" TYPE="PATIENT"/>`` counts from the
start of the only TEXT element; ``spans="3~9"`` does so, too. ``string-range(#p1,0,6)`` in an attribute counts from the start of an element:
offset and length. With ``--spans`` the texts of TEI's elements ``persName``, ``placeName``, ``date`` … are replaced.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from html.entities import name2codepoint
from operator import itemgetter
from typing import Final, NamedTuple

from piiloom.foundation.words import Range, trimmed
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import NOTHING_GIVEN, BadSpan, GivenSpans, Standoff, Told, mentions_of, read_standoff
from piiloom.surrogates.inputs.parts import (
    CannotSpell,
    FileChange,
    FilePart,
    FoundText,
    KindOf,
    Parsed,
    SourceSettings,
    TextPiece,
    TextSlot,
    fault,
    piece_changes,
    with_changes,
)

_OWN: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_ENTITY: Final = re.compile(r"&(?:#(?P<number>[0-9]{1,7})|#x(?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z][A-Za-z0-9]*));")
_ESCAPES: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_IN_ATTRIBUTES: Final = {**_ESCAPES, ord('"'): "&quot;", ord("'"): "&apos;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


def entity_pieces(raw: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the text of ``raw[start:end]`` in pieces: (text, start, end), each entity by itself. Unknown entities are literal text."""
    at = start
    for match in _ENTITY.finditer(raw, start, end):
        sign = _sign(match)
        if sign is None:
            continue
        if match.start() > at:
            yield raw[at : match.start()], at, match.start()
        yield sign, *match.span()
        at = match.end()
    if end > at:
        yield raw[at:end], at, end


def xml_escaped(text: str) -> str:
    """Return *text* as it is written between tags."""
    return text.translate(_ESCAPES)


def _sign(match: re.Match[str]) -> str | None:
    if name := match["name"]:
        return _OWN.get(name) or (chr(name2codepoint[name]) if name in name2codepoint else None)
    number = int(match["number"]) if match["number"] else int(match["hex"], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 and number else None


_MARKUP: Final = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>"
    r"|(?P<aside><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+'|\[(?:[^\]\"'<]|\"[^\"]*+\"|'[^']*+'|<!--.*?-->|<)*+\])[^\[>\"']*+)*+>)"
    r"|<(?P<slash>/?)(?:[\w.-]+:)?(?P<name>[^\s<>/!?\"'=:]++)[^<>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\"']*+)*+>",
    re.DOTALL,
)


class PiecedText:
    """A text that is put together of pieces while a file is read."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.pieces: list[TextPiece] = []
        self.length = 0

    def add(self, words: str, start: int, end: int) -> None:
        """Append *words*, which are written as ``raw[start:end]``."""
        self.words.append(words)
        self.pieces.append(TextPiece(self.length, self.length + len(words), start, end))
        self.length += len(words)


class Tag(NamedTuple):
    """A tag: its local name, its range in the file, and the length of the text before it. ``shape`` is "open", "close" or "empty"."""

    name: str
    start: int
    end: int
    at: int
    shape: str


class _Text(PiecedText):
    """The text of a file while it is read. ``cdata`` has the ranges of the text that are CDATA.

    ``own`` has the offsets of line breaks that the file does not have.
    """

    def __init__(self, raw: str) -> None:
        super().__init__()
        self.raw = raw
        self.tags: list[Tag] = []
        self.own: list[int] = []
        self.cdata: list[Range] = []


class XmlSlot(TextSlot):
    """All text of an XML file. *standoff* has the spans of each text that offsets count from, with the places where they are written."""

    __slots__ = ("_cdata", "_pieces", "_standoff")

    def __init__(self, text: _Text, standoff: _PlacedSpans) -> None:
        super().__init__(0, len(text.raw))
        self._pieces, self._cdata, self._standoff = text.pieces, text.cdata, standoff

    def changes(self, parsed: Parsed, replaced: Replaced) -> list[FileChange]:  # noqa: ARG002 - a slot's signature
        """See ``TextSlot``. Surrogates are escaped, except in CDATA. Raises ``CannotSpell`` for ``]]>`` in CDATA."""
        starts_in_cdata = iter([self._in_cdata(place.start) for place in replaced.placed])

        def spell(words: str) -> str:
            if not next(starts_in_cdata):
                return xml_escaped(words)
            if "]]>" in words:
                raise CannotSpell("a surrogate holds ]]>, which ends a CDATA section")
            return words

        return sorted([*piece_changes(self._pieces, replaced, spell), *self._moved(replaced)])

    def _moved(self, replaced: Replaced) -> Iterator[FileChange]:
        """Yield the changes to the stand-off spans that the new text asks for."""
        for standoff, places in self._standoff:
            for place, (told, fragments, words) in zip(places, standoff.rewritten(replaced), strict=True):
                yield from _offsets(place.offsets, fragments)
                if place.words is not None and words.split() != place.words.value.split():
                    spelt = words if "\n" in (told.words or "") else words.replace("\n", " ")
                    yield place.words.start, place.words.end, spelt.translate(_IN_ATTRIBUTES)

    @property
    def ranges(self) -> list[Range]:
        """The fragments of all stand-off spans, in the text."""
        return [one for standoff, _ in self._standoff for ranges in standoff.ranges for one in ranges]

    def rest(self, parsed: Parsed) -> list[str]:
        """Return all markup of the file, in order, without what ``changes`` may change there; CDATA sections without their content."""
        values = [one for _, places in self._standoff for place in places for one in (*place.offsets, place.words) if one]
        raw = with_changes(parsed.raw, 0, len(parsed.raw), sorted((one.start, one.end, "") for one in values))
        return ["<![CDATA[]]>" if match["cdata"] is not None else match[0] for match in _MARKUP.finditer(raw)]

    def _in_cdata(self, offset: int) -> bool:
        before = bisect_right(self._cdata, offset, key=itemgetter(0))
        return before > 0 and offset < self._cdata[before - 1][1]


def read_xml(part: FilePart, raw: str, settings: SourceSettings) -> Parsed:
    """Read a whole file. Raises ``DataError`` for markup that is not closed, or a stand-off span that does not fit the text."""
    text = _Text(raw)
    _scan(part, text, tags=settings.takes_spans or _MAY_HAVE.search(raw) is not None)
    _keep_text_element(text)
    words = "".join(text.words)
    parsed = Parsed(raw, rows=1, lines=raw.count("\n"))
    try:
        standoff = _read_standoff(raw, words, text.tags, text.own)
        given = _given(text, words, standoff, settings)
    except BadSpan as bad:
        raise fault(part, raw, bad.at, str(bad), "Correct the span, or use --skip-bad-rows to set the file aside") from None
    given.note(parsed.notes, 0)
    if words.strip():
        parsed.found.append(FoundText(words, XmlSlot(text, standoff), mentions=given.mentions, covered=given.covered))
    return parsed


def _given(text: _Text, words: str, standoff: _PlacedSpans, settings: SourceSettings) -> GivenSpans:
    """Return the texts of TEI's elements as mentions, else the fragments of the stand-off spans."""
    given = NOTHING_GIVEN
    if settings.takes_spans and settings.kind_of is not None:
        if text.tags and text.tags[0].name in _ROOTS:
            given = _tei_mentions(text.raw, words, text.tags, settings.kind_of)
        if standoff and not given.mentions:
            given = mentions_of([span for spans, _ in standoff for span in spans.spans()], words, settings.kind_of)
    return given


def _keep_text_element(text: _Text) -> None:
    """If all words are in the only element TEXT, take the white space around it for markup."""
    inside = text_element(text.tags)
    if inside is None:
        return
    start, end = (text.tags[number].at for number in inside)
    words = "".join(text.words)
    if words[:start].strip() or words[end:].strip():
        return
    text.words = [words[start:end]]
    text.pieces = [
        TextPiece(max(one.start, start) - start, min(one.end, end) - start, one.raw_start, one.raw_end)
        for one in text.pieces
        if one.start >= start and one.end <= end
    ]
    text.cdata = [(a - start, b - start) for a, b in text.cdata if a >= start and b <= end]
    text.own = [offset - start for offset in text.own if start <= offset < end]
    text.tags = [tag._replace(at=min(max(tag.at, start), end) - start) for tag in text.tags]


def _scan(part: FilePart, text: _Text, *, tags: bool) -> None:
    raw = text.raw
    at, ended, apart = 0, False, False
    while True:
        start = raw.find("<", at)
        stop = len(raw) if start < 0 else start
        if stop > at:
            _part_words(text, raw[at], apart=apart)
            for words, start_at, end in entity_pieces(raw, at, stop):
                text.add(words, start_at, end)
            ended = apart = False
        if start < 0:
            break
        match = _MARKUP.match(raw, start)
        if match is None:
            raise fault(part, raw, start, "not valid XML: a tag, comment or section is not closed, or a < is not written &lt;")
        inside = match["cdata"]
        if inside:
            _part_words(text, inside[0], apart=apart)
            text.cdata.append((text.length, text.length + len(inside)))
            text.add(inside, *match.span("cdata"))
            ended = apart = False
        elif inside is None and match["aside"] is None:
            if tags:
                shape = "close" if match["slash"] else "empty" if raw.endswith("/>", start, match.end()) else "open"
                text.tags.append(Tag(match["name"], *match.span(), text.length, shape))
            apart = apart or (ended and not match["slash"])
            ended = ended or bool(match["slash"])
        at = match.end()


def _part_words(text: _Text, next_sign: str, *, apart: bool) -> None:
    if apart and text.words and not text.words[-1][-1].isspace() and not next_sign.isspace():
        at = text.pieces[-1].raw_end
        text.own.append(text.length)
        text.add("\n", at, at)


_ATTRIBUTE: Final = re.compile(r"""([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_PAIRS: Final = (("start", "end"), ("begin", "end"), ("from", "to"))
_TYPES: Final = ("type", "label", "class")
_NUMBER: Final = re.compile("[0-9]{1,12}")
_SPANS: Final = re.compile(r"\d{1,12}~\d{1,12}(?:,\d{1,12}~\d{1,12})*")
_POINTER: Final = re.compile(r"string-range\(\s*([^(),]*?(?:\([^()]*\))?[^(),]*?)\s*,\s*(\d{1,12})\s*,\s*(\d{1,12})\s*\)")
_MAY_HAVE: Final = re.compile(r"""\s(?:start|begin|from|spans)\s*=\s*["']\d|string-range\(""", re.IGNORECASE)
_MAE_JOINT: Final = " ... "


class Attribute(NamedTuple):
    """An attribute: the range of its value inside the quotes, and the value with its entities resolved."""

    start: int
    end: int
    value: str


class _Place(NamedTuple):
    """Where a span is written: the attributes of its offsets (two, or one with all), and of its words."""

    offsets: tuple[Attribute, ...]
    words: Attribute | None


_PlacedSpans = list[tuple[Standoff, Sequence[_Place]]]


def _read_standoff(raw: str, text: str, tags: Sequence[Tag], uncounted: Sequence[int]) -> _PlacedSpans:
    """Find the stand-off spans among the *tags* of a file. Raises ``BadSpan`` for one that does not fit the text."""
    parts: _PlacedSpans = []
    inside = text_element(tags)
    if inside is not None:
        found = list(_of_text(raw, [*tags[: inside[0]], *tags[inside[1] + 1 :]]))
        if found:
            base = tags[inside[0]].at
            parts.append((read_standoff(text, [one for one, _ in found], base=base, uncounted=uncounted), [place for _, place in found]))
    if "string-range(" in raw:
        parts += _pointed(raw, text, tags, uncounted)
    return parts


def _offsets(offsets: Sequence[Attribute], fragments: Sequence[Range]) -> Iterator[FileChange]:
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
        said = words.value if words is not None else None
        kind = next((told[name].value for name in _TYPES if name in told and told[name].value), tag.name if words else "")
        if not kind:
            continue  # nothing says that it is an annotation
        pair = next((pair for pair in _PAIRS if all(name in told and _NUMBER.fullmatch(told[name].value) for name in pair)), None)
        if pair is not None:
            start, end = (told[name] for name in pair)
            yield Told(kind, ((int(start.value), int(end.value)),), said, tag.start), _Place((start, end), words)
        elif "spans" in told and _SPANS.fullmatch(told["spans"].value):
            fragments = tuple((int(a), int(b)) for a, b in (one.split("~") for one in told["spans"].value.split(",")))
            joint = _MAE_JOINT if _MAE_JOINT in (said or "") else " "
            yield Told(kind, fragments, said, tag.start, joint), _Place((told["spans"],), words)
        elif said and any(name in told for pair in _PAIRS for name in pair):
            raise BadSpan(tag.start, "the offsets of an annotation are not whole numbers")


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


# Element -> the type that ``kind_of`` is asked for. "": the element's attribute ``type`` says it.
_TEI_TYPES: Final[Mapping[str, str]] = {
    "persName": "name",
    "forename": "name",
    "surname": "name",
    "placeName": "location",
    "geogName": "location",
    "settlement": "CITY",
    "district": "location",
    "region": "location",
    "country": "COUNTRY",
    "orgName": "organization",
    "date": "datetime",
    "birth": "DATE_OF_BIRTH",
    "age": "age",
    "occupation": "occupation",
    "nationality": "NATIONALITY",
    "address": "ADDRESS",
    "email": "EMAIL",
    "idno": "code",
    "name": "",
    "rs": "",
}
_BY_ATTRIBUTE: Final[Mapping[str, str]] = {"person": "name", "place": "location", "org": "organization", "date": "datetime"}
_ROOTS: Final = frozenset({"TEI", "TEI.2", "teiCorpus"})


def _tei_mentions(raw: str, text: str, tags: Sequence[Tag], kind_of: KindOf) -> GivenSpans:
    """Return the texts of the outermost elements that say what they are, as mentions."""
    spans: list[dict[str, object]] = []
    inside: tuple[str, int, str] | None = None  # name, start and type of the element that is open
    depth = 0
    for tag in tags:
        if inside is None:
            kind = _type_of(raw, tag) if tag.shape == "open" else None
            if kind:
                inside, depth = (tag.name, tag.at, kind), 1
        elif tag.name == inside[0]:
            depth += {"open": 1, "close": -1}.get(tag.shape, 0)
            if not depth:
                start, end = trimmed(text, inside[1], tag.at)
                if start < end:
                    spans.append({"start": start, "end": end, "type": inside[2]})
                inside = None
    return mentions_of(spans, text, kind_of)


def _type_of(raw: str, tag: Tag) -> str | None:
    kind = _TEI_TYPES.get(tag.name)
    if kind != "":
        return kind
    told = attributes_of(raw, tag).get("type")
    if told is None:
        return "name" if tag.name == "name" else None
    return _BY_ATTRIBUTE.get(told.value, told.value)
