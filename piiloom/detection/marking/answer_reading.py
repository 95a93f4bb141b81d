r"""Read an answer: the text without its markers, and what the markers say.

What the text itself has may look like a marker. In an answer such text is escaped with a backslash (``piiloom.corpus.markers``), but a
model may forget that, or escape where it should not. The text is known, so it decides:

- what looks like a marker is one, escaped or not, if the text has no such thing (but an escaped one that is misspelt is an altered text);
- of what looks like something in the text, the escaped ones are text, and of the others those that stand where the text has them (by an
  alignment, between the same words); the rest are markers;
- ``ambiguous_marker``, of which nothing is made, is a marker right beside an equal text if no escape tells one from the other; one like
  which the text has something that was not found, in an answer that escapes nothing; one that is escaped and misspelt; and an escaped
  text that the text has not;
- backslashes before markers are read in the way that gives the text back best: as escapes, as they are, or as escapes too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final, Literal

from rapidfuzz.distance import Levenshtein

from piiloom.corpus.formats.instruction_tuning import message_parts
from piiloom.corpus.markers import TYPES, MarkerFault, MarkerSet, unmarked
from piiloom.detection.marking.lookalikes import beside_their_like, key_of, text_among, texts_like
from piiloom.detection.marking.marker_sites import Marker, Site, sites_in
from piiloom.detection.marking.pairing import LostMark, Mark, paired
from piiloom.foundation.words import trimmed
from piiloom.taxonomy.entity_types import Taxonomy

_Way = Literal["escapes", "as they are", "too many"]
_WAYS: Final[tuple[_Way, ...]] = ("escapes", "as they are", "too many")
_AMBIGUOUS: Final = "ambiguous_marker"
_FAULT: Final = 30  # a marker more that makes no sense tells as much against a way of reading as so many characters that differ
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#39|nbsp);")
_FENCED: Final = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:\n[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer without its markers. ``marks`` are disjoint and in order; ``lost`` are the markers of which none was made."""

    text: str
    marks: Sequence[Mark]
    lost: Sequence[LostMark] = ()


def read_answer(reply: str, original: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> Answer:
    """Return what *reply*, the answer to *original*, says with *markers*, of the types of *taxonomy*."""
    body = _bare(reply, original)
    exact = _as_written(body, original, taxonomy, markers)
    if exact is not None:
        return exact
    sites, ours = sites_in(body, taxonomy, markers), sites_in(original, taxonomy, markers)
    texts = texts_like(sites, ours)
    slashes = any(site.slashes for site in sites)
    readings = [_read(body, original, ours, sites, texts, way) for way in (_WAYS if slashes else _WAYS[:1])]
    faults = len(readings[0].lost)
    return min(readings, key=lambda one: Levenshtein.distance(one.text, original) + _FAULT * max(0, len(one.lost) - faults))


def _bare(reply: str, original: str) -> str:
    """*reply* without what models put around an answer (a fence, the layout of the message, blanks), and without HTML's entities."""
    body = reply.strip()
    if "```" in body or "~~~" in body:
        fenced = _FENCED.search(body)
        if fenced is not None and not _FENCED.search(original):
            body = fenced[2].strip()
    if body.startswith(("Text:\n", "Question: ")) and message_parts(original)[0] == original:
        body = message_parts(body)[0].strip()
    if _ENTITY.search(body) and not _ENTITY.search(original):
        body = _ENTITY.sub(lambda entity: unescape(entity.group()), body)
    return body


def _as_written(body: str, original: str, taxonomy: Taxonomy, markers: MarkerSet) -> Answer | None:
    """The answer if it has the form that is asked for and gives the text back exactly."""
    try:
        found = unmarked(body, taxonomy.types, markers)
    except MarkerFault:
        return None
    if found.context != original:
        return None
    marks: list[Mark] = []
    for span in found.spans:
        start, end = trimmed(original, span.start, span.end)
        if start == end:
            return None
        marks.append(Mark(start, end, span.entity_type, span.relevance, misspelt=False))
    return Answer(original, marks)


def _read(body: str, original: str, ours: Sequence[Site], sites: Sequence[Site], texts: Counter[str], way: _Way) -> Answer:
    kept, found = text_among(body, original, ours, sites, texts, escapes=way == "escapes")
    escapes = way == "escapes" and any(sites[number].slashes % 2 for number in found)
    missing = Counter() if escapes else texts - Counter(key_of(sites[number]) for number in found)
    beside = beside_their_like(sites, kept, escapes=way == "escapes")
    pieces: list[str] = []
    markers: list[tuple[Marker | None, int]] = []
    doubtful: list[LostMark] = []
    length = done = 0
    for number, site in enumerate(sites):
        is_text = number in kept
        plain = body[done : site.start - site.slashes] + "\\" * _meant(site.slashes, way, is_text=is_text)
        pieces.append(plain)
        length += len(plain)
        done = site.end
        if is_text:
            pieces.append(site.surface)
            length += len(site.surface)
            if number not in found:
                doubtful.append(LostMark(length, length, site.marker.name, _AMBIGUOUS))
        elif missing[key_of(site)] or number in beside or (site.slashes % 2 and site.marker.misspelt):
            doubtful.append(LostMark(length, length, site.marker.name, _AMBIGUOUS))
            markers.append((None, length))
        else:
            markers.append((site.marker, length))
    pieces.append(body[done:])
    text = "".join(pieces)
    marks, lost = paired(text, markers)
    return Answer(text, marks, (*lost, *doubtful))


def _meant(slashes: int, way: _Way, *, is_text: bool) -> int:
    """How many backslashes of the text are meant by *slashes* before a marker or a text that looks like one."""
    if way == "too many" or (way == "escapes" and slashes % 2 == is_text):
        return slashes // 2
    return slashes
