"""Read XML: a file is one document, and its text is the content of all text nodes and CDATA sections.

Tags, attributes, comments, processing instructions and the document type stay as they are. If an end tag and a start tag separate two
nodes and there is no white space, the text has a line break there that the file does not have. A placeholder may extend over several
nodes; its surrogate goes into the first. Entities other than XML's, HTML's and numeric ones are kept as literal text.

Stand-off spans (``xml_standoff``) are rewritten. Where the words of a file are all in one element TEXT, that alone is the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import GivenSpans, found_fields
from piiloom.surrogates.inputs.parts import CannotSpell, Found, InputSettings, Notes, Parsed, Part, fault
from piiloom.surrogates.inputs.splicing import Piece, changed, changes_of
from piiloom.surrogates.inputs.standoff import BadSpan
from piiloom.surrogates.inputs.tei_elements import is_tei, tei_mentions
from piiloom.surrogates.inputs.xml_entities import entity_pieces, escaped
from piiloom.surrogates.inputs.xml_standoff import MAY_HAVE, Tag, XmlStandoff, read_xml_standoff, text_element

_MARKUP: Final = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>"
    r"|(?P<aside><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+'|\[(?:[^\]\"'<]|\"[^\"]*+\"|'[^']*+'|<!--.*?-->|<)*+\])[^\[>\"']*+)*+>)"
    r"|<(?P<slash>/?)(?:[\w.-]+:)?(?P<name>[^\s<>/!?\"'=:]++)[^<>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\"']*+)*+>",
    re.DOTALL,
)


class _Text:
    """The text of a file and its pieces, while it is read. ``cdata`` has the ranges of the text that are CDATA."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.words: list[str] = []
        self.pieces: list[Piece] = []
        self.length = 0
        self.tags: list[Tag] = []
        self.own: list[int] = []  # offsets of line breaks that the file does not have
        self.cdata: list[tuple[int, int]] = []

    def add(self, words: str, start: int, end: int) -> None:
        """Append *words*, which are written as ``raw[start:end]``."""
        self.words.append(words)
        self.pieces.append(Piece(self.length, self.length + len(words), start, end))
        self.length += len(words)

    def node(self, start: int, end: int) -> None:
        """Append the text node ``raw[start:end]`` with its entities resolved."""
        for words, at, stop in entity_pieces(self.raw, start, end):
            self.add(words, at, stop)


class XmlSlot:
    """The ``Slot`` of all text of an XML file. ``standoff`` are its stand-off spans."""

    __slots__ = ("_cdata", "_cdata_starts", "_pieces", "end", "standoff", "start")

    def __init__(self, text: _Text, standoff: XmlStandoff | None = None) -> None:
        self._pieces, self._cdata = text.pieces, text.cdata
        self._cdata_starts = [start for start, _ in text.cdata]
        self.start, self.end = 0, len(text.raw)
        self.standoff = standoff

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``. Surrogates are escaped, except in CDATA. Raises ``CannotSpell`` for ``]]>`` in CDATA."""
        starts_in_cdata = iter([self._in_cdata(place.start) for place in replaced.placed])

        def spell(words: str) -> str:
            if not next(starts_in_cdata):
                return escaped(words)
            if "]]>" in words:
                raise CannotSpell("a surrogate holds ]]>, which ends a CDATA section")
            return words

        changes = list(changes_of(self._pieces, replaced, spell))
        if self.standoff is not None:
            changes = sorted([*changes, *self.standoff.changes(replaced)])
        return changed(raw, self.start, self.end, changes)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """See ``Slot``."""
        return self.standoff.ranges if self.standoff is not None else []

    def rest(self, raw: str) -> list[str]:
        """Return all markup of the file, in order, without what ``rewritten`` may change there; CDATA sections without their content."""
        if self.standoff is not None:
            raw = changed(raw, 0, len(raw), [(start, end, "") for start, end in self.standoff.values()])
        return markup_of(raw)

    def _in_cdata(self, offset: int) -> bool:
        before = bisect_right(self._cdata_starts, offset)
        return before > 0 and offset < self._cdata[before - 1][1]


def read_xml(part: Part, raw: str, settings: InputSettings) -> Parsed:
    """Read a whole file. Raises ``DataError`` for markup that is not closed, or a stand-off span that does not fit the text."""
    spans = settings.takes_spans
    text = _Text(raw)
    _scan(part, text, tags=spans or MAY_HAVE.search(raw) is not None)
    notes = Notes()
    if text.tags:
        _keep_text_element(text)
    words = "".join(text.words)
    try:
        standoff = read_xml_standoff(raw, words, text.tags, text.own) if text.tags else None
        given = _given(text, words, standoff, settings, notes) if spans else None
    except BadSpan as bad:
        raise fault(part, raw, bad.at, str(bad), "Correct the span, or use --skip-bad-rows to set the file aside") from None
    found = [Found(words, None, 0, "", XmlSlot(text, standoff), *found_fields(given))] if words.strip() else []
    return Parsed(raw, found, 1, raw.count("\n"), notes)


def _given(text: _Text, words: str, standoff: XmlStandoff | None, settings: InputSettings, notes: Notes) -> GivenSpans | None:
    assert settings.kind_of is not None  # noqa: S101 - it takes spans
    given: GivenSpans | None = None
    if is_tei(text.tags):
        given = tei_mentions(text.raw, words, text.tags, settings.kind_of)
    if standoff is not None and standoff.parts and not (given is not None and given.mentions):
        given = standoff.mentions(words, settings.kind_of)
    if given is not None:
        given.note(notes, 0)
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
        Piece(max(one.start, start) - start, min(one.end, end) - start, one.raw_start, one.raw_end)
        for one in text.pieces
        if one.start >= start and one.end <= end
    ]
    text.cdata = [(a - start, b - start) for a, b in text.cdata if a >= start and b <= end]
    text.own = [offset - start for offset in text.own if start <= offset < end]
    text.tags = [tag._replace(at=min(max(tag.at, start), end) - start) for tag in text.tags]


def _scan(part: Part, text: _Text, *, tags: bool) -> None:
    raw = text.raw
    at, ended, apart = 0, False, False
    while True:
        start = raw.find("<", at)
        stop = len(raw) if start < 0 else start
        if stop > at:
            _part_words(text, raw[at], apart=apart)
            text.node(at, stop)
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


def markup_of(raw: str) -> list[str]:
    """Return all markup of a file, in order; CDATA sections without their content."""
    return ["<![CDATA[]]>" if match["cdata"] is not None else match[0] for match in _MARKUP.finditer(raw)]
