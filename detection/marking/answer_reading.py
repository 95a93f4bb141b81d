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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
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
    surfaces = {_key(site) for site in sites}
    return Counter(key for site in sites_in(original) if (key := _key(site)) in surfaces)


def _key(site: Site) -> str:
    """By what a text that looks like a marker is known again; a model may change its case."""
    return site.surface.casefold()


def _read(body: str, original: str, sites: Sequence[Site], texts: Counter[str], way: _Way) -> Answer:
    kept, found = _text_among(body, original, sites, texts, escapes=way == "escapes")
    escapes = way == "escapes" and any(sites[number].slashes % 2 for number in found)
    missing = Counter() if escapes else texts - Counter(_key(sites[number]) for number in found)
    beside = _beside_their_like(sites, kept, escapes=way == "escapes")
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
        elif missing[_key(site)] or number in beside or (site.slashes % 2 and site.marker.misspelt):
            doubtful.append(LostMark(length, length, site.marker.name, _AMBIGUOUS))
            markers.append((None, length))
        else:
            markers.append((site.marker, length))
    pieces.append(body[done:])
    text = "".join(pieces)
    marks, lost = paired(text, markers)
    return Answer(text, marks, (*lost, *doubtful))


def _text_among(
    body: str, original: str, sites: Sequence[Site], texts: Counter[str], *, escapes: bool
) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of those *sites* that are text, and of those of them that *original* has. *escapes*: all that are escaped are text."""
    alike = frozenset(number for number, site in enumerate(sites) if _key(site) in texts)
    escaped = frozenset(
        number for number, site in enumerate(sites) if escapes and site.slashes % 2 and (number in alike or site.marker.misspelt)
    )
    if not alike:
        return escaped, frozenset()
    matching = _Matching(body, original, sites)
    matching.match(escaped & alike)
    matching.match(alike - escaped, between=True)
    found = frozenset(matching.found)
    return escaped | found, found


class _Matching:
    """Finds the sites of an answer that stand where *original* has what looks like them; once found, a site stays with its place."""

    def __init__(self, body: str, original: str, sites: Sequence[Site]) -> None:
        self._body, self._sites = body, sites
        self._ours: list[Token] = []
        done = 0
        for site in sites_in(original):
            self._ours += (*tokens_of(original[done : site.start - site.slashes]), Token(0, 0, _key(site)))
            done = site.end
        self._ours += tokens_of(original[done:])
        self.found: dict[int, int] = {}  # number of a site: number of the token of the original

    def match(self, candidates: frozenset[int], *, between: bool = False) -> None:
        """Find *candidates*, besides what has been found; *between*: those only that stand between the same words or signs as there."""
        if not candidates:
            return
        ours = self._ours.copy()
        for number, place in self.found.items():
            ours[place] = ours[place]._replace(key=_name(number))
        theirs, numbers = self._theirs(candidates)
        changes = [one for one in token_changes(ours, theirs) if one[0]]
        stayed = {at: first + at - start for _, first, _, start, end in changes for at in range(start, end)}
        for at, place in stayed.items():
            if at in numbers and (not between or _between_the_same(ours, place, theirs, at, stayed)):
                self.found[numbers[at]] = place

    def _theirs(self, candidates: frozenset[int]) -> tuple[list[Token], dict[int, int]]:
        """The tokens of the answer without all other sites, and which of them are sites."""
        tokens: list[Token] = []
        numbers: dict[int, int] = {}
        done = 0
        for number, site in enumerate(self._sites):
            tokens += tokens_of(self._body[done : site.start - site.slashes])
            if number in candidates or number in self.found:
                numbers[len(tokens)] = number
                tokens.append(Token(0, 0, _name(number) if number in self.found else _key(site)))
            done = site.end
        return [*tokens, *tokens_of(self._body[done:])], numbers


def _between_the_same(ours: Sequence[Token], place: int, theirs: Sequence[Token], at: int, stayed: Mapping[int, int]) -> bool:
    """Whether the same has stayed before and behind a token in both texts, but for blanks and tokens that equal it."""
    for step in (-1, 1):
        near, near_at = _next_other(ours, place, step), _next_other(theirs, at, step)
        if near_at is None or near is None:
            if near_at is not near:
                return False
        elif stayed.get(near_at) != near:
            return False
    return True


def _next_other(tokens: Sequence[Token], at: int, step: int) -> int | None:
    """The next token before or behind one that is neither blank nor equal to it; None if there is none."""
    key = tokens[at].key
    at += step
    while 0 <= at < len(tokens):
        if tokens[at].key.strip() and tokens[at].key != key:
            return at
        at += step
    return None


def _name(number: int) -> str:
    """A key that only one site has."""
    return f"<<{number}>>"


def _meant(slashes: int, way: _Way, *, is_text: bool) -> int:
    """How many backslashes of the text are meant by *slashes* before a marker or a text that looks like one."""
    if way == "too many" or (way == "escapes" and slashes % 2 == is_text):
        return slashes // 2
    return slashes


def _beside_their_like(sites: Sequence[Site], kept: frozenset[int], *, escapes: bool) -> set[int]:
    """The numbers of those markers that touch an equal text, or an equal marker that does, where no escape says which of them is which."""
    found: set[int] = set()
    first = 0
    for number in range(1, len(sites) + 1):
        if number < len(sites) and _touch(sites[number - 1], sites[number]):
            continue
        row = range(first, number)
        texts = [sites[at].slashes % 2 for at in row if at in kept]
        if texts:
            found.update(at for at in row if at not in kept and not (escapes and min(texts) > sites[at].slashes % 2))
        first = number
    return found


def _touch(one: Site, following: Site) -> bool:
    return one.end == following.start - following.slashes and _key(one) == _key(following)
