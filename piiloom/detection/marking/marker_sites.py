r"""Find everything that looks like a marker in an answer, or in the text itself.

``piiloom.corpus.markers`` writes ``<health high>asthma</health>``. Models also write ``< Health HIGH >``, ``<health relevance="high">``,
``<heatlh>``, ``<job>``, ``<health/>``, ``</>``, or ``</health`` without its end: all of these are read. A marker of the strict form that
names no type (``<b>``) is a marker without a type. Anything with neither the form nor the name of a type is text (``a < b and c > d``).

A sign is the last three of a row of its character, or three of them with a backslash before each. A longer row counts as misspelt, since
the text and a sign touch without an escape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from rapidfuzz import process
from rapidfuzz.distance import OSA

from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import Relevance
from piiloom.taxonomy.entity_types import Taxonomy

_SITE: Final = re.compile(r"<([^<>\n]{0,80})>")
_BROKEN: Final = re.compile(r"<(/?[A-Za-z][\w.~%-]*(?: (?:high|low)\b)?)")
_STRICT: Final = re.compile(r"(?:(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+(?: (?:high|low))?|/(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+)")
_BETWEEN: Final = re.compile(r"[\s:|,;=\"']+")
_ATTRIBUTES: Final = frozenset({"relevance", "type"})
_RELEVANCE: Final[dict[str, Relevance]] = {"high": "high", "low": "low"}
_ONE_SLIP, _TWO_SLIPS = 4, 8  # letters from which on a name may have one slip, or two


@dataclass(frozen=True, slots=True)
class Marker:
    """The meaning of a marker: ``name`` as written ("" for ``</>``), ``entity_type`` if that is a type; ``misspelt``: read leniently."""

    closes: bool
    name: str
    entity_type: str | None
    relevance: Relevance | None
    misspelt: bool

    @property
    def label(self) -> str:
        """The type, or the name of none."""
        return self.entity_type or self.name


@dataclass(frozen=True, slots=True)
class Site:
    """A marker at ``text[start:end]``, with ``slashes`` backslashes directly before it."""

    start: int
    end: int
    slashes: int
    surface: str
    marker: Marker

    @property
    def key(self) -> str:
        """The form in which it is compared; a model may change the case."""
        return self.surface.casefold()


def sites_in(text: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> list[Site]:
    """Return everything in *text* that looks like one of *markers*, of a type of *taxonomy*, in text order."""
    if markers.pairs:
        return [_sign(found, markers) for found in markers.runs.finditer(text)]
    found: list[Site] = []
    for at in (sign.start() for sign in re.finditer("<", text)):
        match = _SITE.match(text, at)
        marker = _marker(match[1], taxonomy) if match else None
        if marker is None and (match := _BROKEN.match(text, at)):
            marker = _broken_marker(match[1], taxonomy)
        if match and marker:
            found.append(Site(at, match.end(), _slashes_before(text, at), match.group(), marker))
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
    """Return the marker without its end; it must name a type, an opening one exactly, since text may follow it without a blank."""
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
    name = " ".join(words[:-1] if relevance else words)
    if not name:
        return Marker(closes=True, name="", entity_type=None, relevance=None, misspelt=True) if body == "/" else None
    spelled = _spelled(name)
    if strict and spelled in taxonomy.types:
        return Marker(closes=closes, name=name, entity_type=spelled, relevance=relevance, misspelt=False)
    entity_type = taxonomy.resolve(spelled) or (_nearest_type(spelled, taxonomy) if strict else None)
    if entity_type is None and not relevance and body == inner == " ".join(words):  # perhaps only the relevance is misspelt
        entity_type, relevance = taxonomy.resolve(_spelled(" ".join(words[:-1]))), _nearest_relevance(words[-1])
    if entity_type is None and not strict:
        return None
    return Marker(closes=closes, name=name, entity_type=entity_type, relevance=relevance, misspelt=True)


def _spelled(name: str) -> str:
    """Return the type that the *name* in a marker spells (``piiloom.corpus.markers``)."""
    try:
        return unquote(name.replace("_", " "), errors="surrogatepass")
    except UnicodeDecodeError:
        return name


def _nearest_type(name: str, taxonomy: Taxonomy) -> str | None:
    """Return the only type that is nearest to *name*, a slip or two away; None for a short name."""
    if len(name) < _ONE_SLIP:
        return None
    slips = 1 if len(name) < _TWO_SLIPS else 2
    types = {one: one.casefold() for one in taxonomy.types}
    near = process.extract(name.casefold(), types, scorer=OSA.distance, score_cutoff=slips, limit=2)
    return near[0][2] if near and (len(near) == 1 or near[0][1] < near[1][1]) else None


def _nearest_relevance(word: str) -> Relevance | None:
    return next((one for name, one in _RELEVANCE.items() if OSA.distance(word.lower(), name) <= 1), None)


def _slashes_before(text: str, end: int) -> int:
    return end - len(text[:end].rstrip("\\"))
