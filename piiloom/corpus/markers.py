r"""Texts with span markers, such as ``I have <health high>asthma</health>``.

A ``MarkerSet`` has the markers. In the usual set, ``TYPES``, an opening marker names the type, and the relevance if the span has one; the
closing marker repeats the type. In a type's name a blank becomes an underscore, and anything but ``A-Z a-z 0-9 . ~ -`` is percent-encoded
(UTF-8), so any name but the empty one can be written: ``<sexual_orientation low>``, ``<na%C3%AFve%5Ftype>``. ``PRIVACYAI`` has the pairs of
signs of Table II of the PrivacyAI paper, for four kinds of values, without relevance: ``I am @@@Dana###``.

Whatever looks like a marker in the text itself is escaped as in string literals: the k backslashes before it become 2k + 1, the k
backslashes before a real marker 2k. Backslashes anywhere else stay as they are, so every text comes back exactly, and reading can tell a
marker from a text that looks like one whatever the types are. Of signs, a character of the text is escaped if it is one of three or more
equal ones in a row, those of a marker included: ``@Dana`` with a marked name is ``\@@@@Dana###``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, unquote

from piiloom.corpus.record import Relevance, Span
from piiloom.foundation.errors import DataError
from piiloom.foundation.settings import Settings, setting

_NAME = r"(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})++"
# No marker can begin inside another one, since none holds a second "<".
_MARKER = rf"<(?:{_NAME}(?: (?:high|low))?|/{_NAME})>"
_ESCAPED = rf"\\*+{_MARKER}"
_SAYS = re.compile(rf"<(?:(?P<opens>{_NAME})(?: (?P<relevance>high|low))?|/(?P<closes>{_NAME}))>")
_RELEVANCE: dict[str | None, Relevance | None] = {"high": "high", "low": "low", None: None}
# The form of a code whose subtype is another one, or unknown.
_CODES: Final = {
    "code/email": re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+"),
    "code/url": re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/\S*)?", re.IGNORECASE),
}


class SignPair(NamedTuple):
    """The signs before and behind a value, three equal characters each. ``label``: "type" or "type/subtype"; ``about``: words for it."""

    label: str
    opens: str
    closes: str
    about: str


class MarkerMeaning(NamedTuple):
    """The statement of a single marker. ``label`` is the type, in a set of signs that of its pair."""

    closes: bool
    label: str
    relevance: Relevance | None = None


@dataclass(frozen=True)
class MarkerSet:
    """The markers called ``name``: ``pairs`` of signs, or without any the types in angle brackets, the only markers with relevance."""

    name: str
    pairs: tuple[SignPair, ...] = ()

    @cached_property
    def _by_label(self) -> dict[str, SignPair]:
        return {pair.label: pair for pair in self.pairs}

    @cached_property
    def meanings(self) -> dict[str, MarkerMeaning]:
        """The meaning of each sign."""
        opening = {pair.opens: MarkerMeaning(closes=False, label=pair.label) for pair in self.pairs}
        return opening | {pair.closes: MarkerMeaning(closes=True, label=pair.label) for pair in self.pairs}

    @cached_property
    def signs(self) -> str:
        """The characters of the signs, as a class of a regular expression."""
        return f"[{re.escape(''.join(sign[0] for sign in self.meanings))}]"

    @cached_property
    def doubtful(self) -> re.Pattern[str]:
        """Stretches with anything that looks like a marker, escapes included."""
        rows = rf"\\*+(?P<sign>{self.signs})(?:\\*+(?P=sign)){{2,}}"
        return re.compile(rf"(?<!\\){rows if self.pairs else _ESCAPED}")

    @cached_property
    def runs(self) -> re.Pattern[str]:
        """Three or more equal characters of signs in a row, all of them escaped or none."""
        return re.compile(rf"\\(?P<sign>{self.signs})(?:\\(?P=sign)){{2,}}|(?P<bare>{self.signs})(?P=bare){{2,}}")

    @cached_property
    def units(self) -> re.Pattern[str]:
        """The parts of a doubtful stretch: a ``marker`` with an even number of backslashes, ``text`` with an odd one, or a ``fault``."""
        marker, text = ("|".join(map(re.escape, self.meanings)), self.signs) if self.pairs else (_MARKER, _MARKER)
        return re.compile(rf"(?P<slashes>(?:\\\\)*)(?:(?P<marker>{marker})|\\(?P<text>{text}))|(?P<fault>\\*.)", re.DOTALL)

    def label(self, span: Span, context: str) -> str | None:
        """Return the label of *span*; None if the set has no marker for it."""
        if not self.pairs:
            return span.entity_type
        exact = f"{span.entity_type}/{span.subtype}"
        if exact in self._by_label:
            return exact
        if span.entity_type == "code":
            return next((label for label, form in _CODES.items() if form.fullmatch(span.text_in(context))), None)
        return span.entity_type if span.entity_type in self._by_label and span.subtype != "username" else None

    def around(self, label: str, relevance: Relevance | None) -> tuple[str, str]:
        """Return the markers before and behind a value. Raises ``DataError`` for a type without a name."""
        if self.pairs:
            return self._by_label[label][1:3]
        name = marker_name(label)
        return f"<{name} {relevance}>" if relevance else f"<{name}>", f"</{name}>"

    def type_of(self, label: str) -> tuple[str, str | None]:
        """Return the type and the subtype of a *label*."""
        entity_type, _, subtype = label.partition("/") if self.pairs else (label, "", "")
        return entity_type, subtype or None


TYPES: Final = MarkerSet("types")
PRIVACYAI: Final = MarkerSet(
    "privacyai",
    (
        SignPair("name", "@@@", "###", "the name of a person"),
        SignPair("code/url", "&&&", "$$$", "the address of a page on the web that leads to a person"),
        SignPair("code/email", "QQQ", "^^^", "the e-mail address of a person"),
        SignPair("code/phone", "%%%", "~~~", "the phone number of a person"),
    ),
)
MARKER_SETS: Final = {one.name: one for one in (TYPES, PRIVACYAI)}


class MarkerChoice(Settings):
    """The setting of everything that writes or reads texts with markers."""

    markers: Literal["types", "privacyai"] = setting(
        TYPES.name,
        "Markers in texts: types (<name>…</name>), or the signs of PrivacyAI for names, URLs, e-mails and phone numbers.",
        advanced=True,
    )

    @property
    def marker_set(self) -> MarkerSet:
        """The chosen markers."""
        return MARKER_SETS[self.markers]


class MarkerFault(Exception):
    """Why a marked text cannot be read; ``position`` is the code-point offset of the marker at fault in the marked text."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} (position {position})")
        self.reason = reason
        self.position = position


class MarkedSpan(NamedTuple):
    """What a pair of markers says of ``context[start:end]``; ``entity_type`` is the label (``MarkerSet.type_of``)."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None


class Unmarked(NamedTuple):
    """A text without its markers, and what they said, in text order."""

    context: str
    spans: tuple[MarkedSpan, ...]


class _OpenMarker(NamedTuple):
    """An opening marker that was read: its text, label, relevance, its position in the marked text and where its value begins."""

    text: str
    label: str
    relevance: Relevance | None
    position: int
    start: int


def marked_text(context: str, spans: Iterable[Span], markers: MarkerSet = TYPES) -> str:
    """Return *context* with *markers* around *spans* (sorted, disjoint), but those for which there is no marker.

    Raises ``DataError`` for a type without a name.
    """
    pieces: list[str] = []
    real: dict[int, int] = {}  # where a marker begins and ends
    done = length = 0
    for span in spans:
        label = markers.label(span, context)
        if label is None:
            continue
        before, behind = markers.around(label, span.relevance)
        for plain, marker in ((context[done : span.start], before), (span.text_in(context), behind)):
            pieces += (plain, marker)
            length += len(plain) + len(marker)
            real[length - len(marker)] = length
        done = span.end
    return _escaped("".join((*pieces, context[done:])), real, markers)


def _escaped(text: str, real: dict[int, int], markers: MarkerSet) -> str:
    """Return *text*, whose markers are *real*, with backslashes before everything that looks like a marker."""
    pieces: list[str] = []
    done = 0
    for stretch in markers.doubtful.finditer(text):
        pieces.append(text[done : stretch.start()])
        done = stretch.start()
        while done < stretch.end():
            start = done
            while text[start] == "\\":
                start += 1
            end = real.get(start, start + 1 if markers.pairs else stretch.end())
            pieces += ("\\" * (2 * (start - done) + (start not in real)), text[start:end])
            done = end
    return "".join((*pieces, text[done:]))


def unmarked(text: str, known: Collection[str] | None = None, markers: MarkerSet = TYPES) -> Unmarked:
    """Return the context and the spans of a marked text, the inverse of ``marked_text``.

    Raises ``MarkerFault`` for a marker inside another pair, without its counterpart or around nothing, and, if the *known* types are
    given, for any other type.
    """
    pieces: list[str] = []
    spans: list[MarkedSpan] = []
    opened: _OpenMarker | None = None
    length = 0
    for plain, marker, position in _parts(text, markers):
        pieces.append(plain)
        length += len(plain)
        if not marker:
            continue
        meaning = _meaning(marker, position, known, markers)
        if not meaning.closes:
            if opened is not None:
                raise MarkerFault(f"{marker} stands inside the marker opened at position {opened.position}", position)
            opened = _OpenMarker(marker, meaning.label, meaning.relevance, position, length)
            continue
        spans.append(_closed(opened, marker, position, meaning.label, length))
        opened = None
    if opened is not None:
        raise MarkerFault(f"{opened.text} is never closed", opened.position)
    return Unmarked("".join(pieces), tuple(spans))


def _closed(opened: _OpenMarker | None, closing: str, position: int, label: str, end: int) -> MarkedSpan:
    if opened is None:
        raise MarkerFault(f"{closing} closes nothing", position)
    if opened.label != label:
        raise MarkerFault(f"{closing} closes the {opened.text} opened at position {opened.position}", position)
    if opened.start == end:
        raise MarkerFault(f"{closing} has no text before it", position)
    return MarkedSpan(opened.start, end, label, opened.relevance)


def _parts(text: str, markers: MarkerSet) -> Iterator[tuple[str, str, int]]:
    """Yield the plain text before each real marker, without its escapes, that marker and its position; at last the rest and ""."""
    plain: list[str] = []
    done = 0
    for stretch in markers.doubtful.finditer(text):
        plain.append(text[done : stretch.start()])
        done = stretch.end()
        for unit in markers.units.finditer(text, stretch.start(), stretch.end()):
            if unit["fault"]:
                raise MarkerFault(f"{unit['fault']} is beside a sign without a backslash before it", unit.start())
            plain.append("\\" * (len(unit["slashes"]) // 2))
            if unit["text"]:
                plain.append(unit["text"])
                continue
            yield "".join(plain), unit["marker"], unit.start("marker")
            plain = []
    yield "".join((*plain, text[done:])), "", len(text)


def marker_name(entity_type: str) -> str:
    """Return how *entity_type* is spelled in a marker. Raises ``DataError`` for a type without a name."""
    if not entity_type:
        raise DataError("a type without a name cannot be written as a marker", remedy="Name the type")
    return quote(entity_type, safe=" ", errors="surrogatepass").replace("_", "%5F").replace(" ", "_")


def _meaning(marker: str, position: int, known: Collection[str] | None, markers: MarkerSet) -> MarkerMeaning:
    if markers.pairs:
        return markers.meanings[marker]
    said = _SAYS.fullmatch(marker)
    assert said is not None  # noqa: S101 - the same form has found it
    name = said["opens"] or said["closes"]
    try:
        entity_type = unquote(name.replace("_", " "), errors="surrogatepass")
    except UnicodeDecodeError:
        raise MarkerFault(f"{marker} names no type: its %-codes are not UTF-8", position) from None
    if known is not None and entity_type not in known:
        raise MarkerFault(f"{marker} names an unknown type", position)
    return MarkerMeaning(closes=said["closes"] is not None, label=entity_type, relevance=_RELEVANCE[said["relevance"]])
