"""Read XML: a file is one document, and its text is the content of all text nodes and CDATA sections.

Tags, attributes, comments, processing instructions and the document type stay as they are. If an end tag and a start tag separate two
nodes and there is no white space, the text has a line break there that the file does not have. A placeholder may extend over several
nodes; its surrogate goes into the first. Entities other than XML's, HTML's and numeric ones are kept as literal text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from html.entities import name2codepoint
from typing import Final

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.faults import fault
from piiloom.surrogates.inputs.parts import CannotSpell, Found, Notes, Parsed, Part
from piiloom.surrogates.inputs.splicing import Piece, spliced

_OWN: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_MARKUP: Final = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>"
    r"|(?P<aside><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+'|\[(?:[^\]\"'<]|\"[^\"]*+\"|'[^']*+'|<!--.*?-->|<)*+\])[^\[>\"']*+)*+>)"
    r"|<(?P<slash>/?)[^\s<>/!?\"'=][^<>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\"']*+)*+>",
    re.DOTALL,
)
_ENTITY: Final = re.compile(r"&(?:#(?P<number>[0-9]{1,7})|#x(?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z][A-Za-z0-9]*));")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class _Text:
    """The text of a file and its pieces, while it is read. ``cdata`` has the ranges of the text that are CDATA."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.words: list[str] = []
        self.pieces: list[Piece] = []
        self.length = 0
        self.cdata: list[tuple[int, int]] = []

    def add(self, words: str, start: int, end: int) -> None:
        """Append *words*, which are written as ``raw[start:end]``."""
        self.words.append(words)
        self.pieces.append(Piece(self.length, self.length + len(words), start, end))
        self.length += len(words)

    def node(self, start: int, end: int) -> None:
        """Append the text node ``raw[start:end]`` with its entities resolved."""
        at = start
        for match in _ENTITY.finditer(self.raw, start, end):
            sign = _sign(match)
            if sign is None:
                continue
            if match.start() > at:
                self.add(self.raw[at : match.start()], at, match.start())
            self.add(sign, *match.span())
            at = match.end()
        if end > at:
            self.add(self.raw[at:end], at, end)


def _sign(match: re.Match[str]) -> str | None:
    if name := match["name"]:
        return _OWN.get(name) or (chr(name2codepoint[name]) if name in name2codepoint else None)
    number = int(match["number"]) if match["number"] else int(match["hex"], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 and number else None


class XmlSlot:
    """The ``Slot`` of all text of an XML file."""

    __slots__ = ("_cdata", "_cdata_starts", "_pieces", "end", "start")

    def __init__(self, text: _Text) -> None:
        self._pieces, self._cdata = text.pieces, text.cdata
        self._cdata_starts = [start for start, _ in text.cdata]
        self.start, self.end = 0, len(text.raw)

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``. Surrogates are escaped, except in CDATA. Raises ``CannotSpell`` for ``]]>`` in CDATA."""
        starts_in_cdata = iter([self._in_cdata(place.start) for place in replaced.placed])

        def spell(words: str) -> str:
            if not next(starts_in_cdata):
                return words.translate(_ESCAPES)
            if "]]>" in words:
                raise CannotSpell("a surrogate holds ]]>, which ends a CDATA section")
            return words

        return spliced(raw, self.start, self.end, self._pieces, replaced, spell)

    def _in_cdata(self, offset: int) -> bool:
        before = bisect_right(self._cdata_starts, offset)
        return before > 0 and offset < self._cdata[before - 1][1]


def read_xml(part: Part, raw: str) -> Parsed:
    """Read a whole file. Raises ``DataError`` for markup that is not closed."""
    text = _Text(raw)
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
            apart = apart or (ended and not match["slash"])
            ended = ended or bool(match["slash"])
        at = match.end()
    words = "".join(text.words)
    found = [Found(words, None, 0, "", XmlSlot(text))] if words.strip() else []
    return Parsed(raw, found, 1, raw.count("\n"), Notes())


def _part_words(text: _Text, next_sign: str, *, apart: bool) -> None:
    if apart and text.words and not text.words[-1][-1].isspace() and not next_sign.isspace():
        at = text.pieces[-1].raw_end
        text.add("\n", at, at)


def markup_of(raw: str) -> list[str]:
    """Return all markup of a file, in order; CDATA sections without their content."""
    return ["<![CDATA[]]>" if match["cdata"] is not None else match[0] for match in _MARKUP.finditer(raw)]
