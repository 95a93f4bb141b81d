r"""What looks like a marker in an answer, or in the text itself.

``piiloom.corpus.markers`` writes ``<health high>asthma</health>``. Models also write ``< Health HIGH >``, ``<health relevance="high">``,
``<heatlh>``, ``<job>``, ``<health/>``, ``</>``, or ``</health`` without its end: all of these are read. What has the strict form but names
no type is a marker, too, of no type (``<b>``); what has neither the form nor the name of a type is text (``a < b and c > d``).

A sign is read at the end of three or more of its character, or of that many with a backslash before each; of more than three it counts as
misspelt, since the text and a sign touch without an escape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from rapidfuzz.distance import OSA

from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import Relevance
from piiloom.taxonomy.entity_types import Taxonomy

_LONGEST: Final = 80  # characters within a marker
_SITE: Final = re.compile(rf"<([^<>\n]{{0,{_LONGEST}}})>")
_BROKEN: Final = re.compile(r"<(/?[A-Za-z][\w.~%-]*(?: (?:high|low)\b)?)")
_STRICT: Final = re.compile(r"(?:(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+(?: (?:high|low))?|/(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+)")
_BETWEEN: Final = re.compile(r"[\s:|,;=\"']+")
_ATTRIBUTES: Final = frozenset({"relevance", "type"})
_RELEVANCE: Final[dict[str, Relevance]] = {"high": "high", "low": "low"}
_ONE_SLIP, _TWO_SLIPS = 4, 8  # letters of a name from which on so many slips are read over


@dataclass(frozen=True, slots=True)
class Marker:
    """What a marker says. ``entity_type`` is None if it names no type; ``name`` is what it says instead, "" for ``</>``.

    ``misspelt``: it is not spelled as it should be.
    """

    closes: bool
    name: str
    entity_type: str | None
    relevance: Relevance | None
    misspelt: bool


@dataclass(frozen=True, slots=True)
class Site:
    """A marker at ``text[start:end]``, with ``slashes`` backslashes directly before it."""

    start: int
    end: int
    slashes: int
    surface: str
    marker: Marker


def sites_in(text: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> list[Site]:
    """Return what looks like one of *markers*, of a type of *taxonomy*, in *text*, in its order."""
    if markers.pairs:
        return [_sign(found, markers) for found in markers.runs.finditer(text)]
    if "<" not in text:
        return []
    found: list[Site] = []
    at = text.find("<")
    while at >= 0:
        match = _SITE.match(text, at)
        marker = _marker(match[1], taxonomy) if match is not None else None
        if marker is None and (match := _BROKEN.match(text, at)) is not None:
            marker = _broken_marker(match[1], taxonomy)
        if marker is not None and match is not None:
            found.append(Site(at, match.end(), _slashes_before(text, at), match.group(), marker))
        at = text.find("<", at + 1)
    return found


def _sign(found: re.Match[str], markers: MarkerSet) -> Site:
    sign = 3 * found.group()[-1]
    closes, label, _ = markers.meanings[sign]
    escaped, size = "\\" in found.group(), found.group().count(sign[0])
    start = found.end() - (5 if escaped else 3)
    slashes = 1 if escaped else _slashes_before(found.string, start)
    first = 0 if escaped else _slashes_before(found.string, found.start()) % 2  # an escaped character of the text
    return Site(start, found.end(), slashes, sign, Marker(closes, sign, label, None, misspelt=size > 3 + first))


def _broken_marker(inner: str, taxonomy: Taxonomy) -> Marker | None:
    """The marker that lacks its end. It has to name a type; an opening one exactly, since text may follow it without a blank."""
    marker = _marker(inner, taxonomy)
    if marker is None or marker.entity_type is None or (marker.misspelt and not marker.closes):
        return None
    return replace(marker, misspelt=True)


@lru_cache(maxsize=4096)
def _marker(inner: str, taxonomy: Taxonomy) -> Marker | None:
    strict = _STRICT.fullmatch(inner) is not None
    body = inner.strip()
    closes = body.startswith("/") or body.endswith("/")
    words = [word for word in _BETWEEN.split(body.strip("/").strip()) if word]
    if len(words) > 1:
        words = [word for word in words if word.lower() not in _ATTRIBUTES]
    relevance = _RELEVANCE.get(words[-1].lower()) if len(words) > 1 else None
    said = " ".join(words[:-1] if relevance else words)
    if not said:
        return Marker(closes=True, name="", entity_type=None, relevance=None, misspelt=True) if inner.strip() == "/" else None
    exact = _spelled(said)
    if strict and exact in taxonomy.types:
        return Marker(closes=closes, name=said, entity_type=exact, relevance=relevance, misspelt=False)
    entity_type = taxonomy.resolve(exact) or (_type_meant(exact, taxonomy) if strict else None)
    if entity_type is None and not relevance and body == inner == " ".join(words):  # what it says of the relevance is misspelt
        entity_type, relevance = taxonomy.resolve(_spelled(" ".join(words[:-1]))), _relevance_meant(words[-1])
    if entity_type is None and not strict:
        return None
    return Marker(closes=closes, name=said, entity_type=entity_type, relevance=relevance, misspelt=True)


def _spelled(name: str) -> str:
    """The type that a marker's *name* spells, see ``piiloom.corpus.markers``."""
    try:
        return unquote(name.replace("_", " "), errors="surrogatepass")
    except UnicodeDecodeError:
        return name


def _type_meant(name: str, taxonomy: Taxonomy) -> str | None:
    """The type called *name*, but for a slip or two; None if it is none or could be several."""
    wanted = name.casefold()
    if len(wanted) < _ONE_SLIP:
        return None
    slips = 1 if len(wanted) < _TWO_SLIPS else 2
    distances = {one: OSA.distance(wanted, one.casefold(), score_cutoff=slips) for one in taxonomy.types}
    least = min(distances.values())
    near = [one for one, distance in distances.items() if distance == least]
    return near[0] if least <= slips and len(near) == 1 else None


def _relevance_meant(word: str) -> Relevance | None:
    """The relevance spelled *word*, but for a slip; None if it is none."""
    return next((one for name, one in _RELEVANCE.items() if OSA.distance(word.lower(), name) <= 1), None)


def _slashes_before(text: str, end: int) -> int:
    start = end
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return end - start
