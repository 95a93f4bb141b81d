r"""Read an answer: the text without its markers, and what the markers say.

What the text itself has may look like a marker. In an answer such text is escaped with a backslash (``piiloom.corpus.markers``), but a
model may forget that, or escape where it should not. The text is known, so it decides:

- what looks like a marker is one, escaped or not, if the text has no such thing;
- of what looks like something in the text, the escaped ones are text if there are enough of them; otherwise those are text that stand
  where the text has them (by an alignment), and the others are markers. A marker right beside an equal text that is not escaped cannot
  be told from it: it counts as ``ambiguous_marker``, and nothing is made of it;
- backslashes before markers are read in the way that gives the text back best: as escapes, as they are, or as escapes too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rapidfuzz.distance import Levenshtein

from piiloom.corpus.formats.instructions import message_parts
from piiloom.corpus.markers import MarkerFault, unmarked
from piiloom.detection.marking.marker_sites import Marker, Site, sites_in
from piiloom.detection.marking.pairing import LostMark, Mark, paired, trimmed
from piiloom.detection.marking.tokens import Token, token_changes, tokens_of
from piiloom.taxonomy.entity_types import load_taxonomy

_Way = Literal["escapes", "as they are", "too many"]
_WAYS: Final[tuple[_Way, ...]] = ("escapes", "as they are", "too many")
_FENCED: Final = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:\n[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer without its markers. ``marks`` are disjoint and in order; ``lost`` are the markers of which none was made."""

    text: str
    marks: Sequence[Mark]
    lost: Sequence[LostMark] = ()


def read_answer(reply: str, original: str) -> Answer:
    """Return what *reply*, the answer to *original*, says."""
    body = _bare(reply, original)
    exact = _as_written(body, original)
    if exact is not None:
        return exact
    sites = sites_in(body)
    texts = _texts_like(sites, original)
    slashes = any(site.slashes for site in sites)
    readings = [_read(body, original, sites, texts, way) for way in (_WAYS if slashes else _WAYS[:1])]
    if len(readings) == 1:
        return readings[0]
    return min(readings, key=lambda answer: Levenshtein.distance(answer.text, original))


def _bare(reply: str, original: str) -> str:
    """*reply* without what models put around an answer: a fence, the layout of the message, blanks."""
    body = reply.strip()
    if "```" in body or "~~~" in body:
        fenced = _FENCED.search(body)
        if fenced is not None and not _FENCED.search(original):
            body = fenced[2].strip()
    if body.startswith(("Text:\n", "Question: ")) and message_parts(original)[0] == original:
        body = message_parts(body)[0].strip()
    return body


def _as_written(body: str, original: str) -> Answer | None:
    """The answer if it has the form that is asked for and gives the text back exactly."""
    try:
        found = unmarked(body, load_taxonomy().types)
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


def _texts_like(sites: Sequence[Site], original: str) -> Counter[str]:
    """How often *original* itself has what looks like one of *sites*."""
    surfaces = {site.surface for site in sites}
    return Counter(site.surface for site in sites_in(original) if site.surface in surfaces)


def _read(body: str, original: str, sites: Sequence[Site], texts: Counter[str], way: _Way) -> Answer:
    candidates = _candidates(sites, texts, way)
    kept = _text_among(body, original, sites, candidates) if candidates else frozenset[int]()
    pieces: list[str] = []
    markers: list[tuple[Marker, int]] = []
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
        elif _beside_its_like(sites, kept, number):
            doubtful.append(LostMark(length, length, site.marker.name, "ambiguous_marker"))
        else:
            markers.append((site.marker, length))
    pieces.append(body[done:])
    text = "".join(pieces)
    marks, lost = paired(text, markers)
    return Answer(text, marks, (*lost, *doubtful))


def _candidates(sites: Sequence[Site], texts: Counter[str], way: _Way) -> frozenset[int]:
    """The numbers of those *sites* that may be text."""
    found: set[int] = set()
    for surface, count in texts.items():
        alike = [number for number, site in enumerate(sites) if site.surface == surface]
        escaped = [number for number in alike if sites[number].slashes % 2]
        found.update(escaped if way == "escapes" and len(escaped) >= count else alike)
    return frozenset(found)


def _text_among(body: str, original: str, sites: Sequence[Site], candidates: frozenset[int]) -> frozenset[int]:
    """Those of *candidates* that stand where *original* has them."""
    theirs: list[Token] = []
    number_of: dict[int, int] = {}
    done = 0
    for number, site in enumerate(sites):
        theirs += tokens_of(body[done : site.start])
        if number in candidates:
            number_of[len(theirs)] = number
            theirs.append(Token(0, 0, site.surface))
        done = site.end
    theirs += tokens_of(body[done:])
    ours = tokens_of(original, [(site.start, site.end) for site in sites_in(original)])
    kept: set[int] = set()
    for equal, _, _, start, end in token_changes(_one_slash(ours), _one_slash(theirs)):
        if equal:
            kept.update(number_of[place] for place in range(start, end) if place in number_of)
    return frozenset(kept)


def _one_slash(tokens: Sequence[Token]) -> list[Token]:
    """*tokens* with all runs of backslashes alike."""
    return [token._replace(key="\\") if token.key.startswith("\\") else token for token in tokens]


def _meant(slashes: int, way: _Way, *, is_text: bool) -> int:
    """How many backslashes of the text are meant by *slashes* before a marker or a text that looks like one."""
    if way == "escapes":
        return slashes // 2 if slashes % 2 == is_text else slashes
    return slashes - 1 if way == "too many" and slashes % 2 else slashes


def _beside_its_like(sites: Sequence[Site], kept: frozenset[int], number: int) -> bool:
    """Whether right beside a marker stands an equal text that is not escaped: which of the two is the marker cannot be told."""
    site = sites[number]
    for other in (number - 1, number + 1):
        if other in kept and sites[other].surface == site.surface and not (site.slashes % 2 or sites[other].slashes % 2):
            near = sites[other]
            gap = site.start - site.slashes - near.end if other < number else near.start - near.slashes - site.end
            if gap == 0:
                return True
    return False
