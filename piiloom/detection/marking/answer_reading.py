r"""Read a marked answer: the text without its markers, and the marks.

The text may contain things that look like markers. An answer should escape these with a backslash (``piiloom.corpus.markers``), but a
model may forget that, or escape too much. The text is known, so it decides:

- whatever the text does not contain is a marker, escaped or not (but an escaped one that is misspelt is an altered text);
- of the others, the escaped ones are text, and so are those that an alignment finds in the text; the rest are markers;
- the reason ``ambiguous_marker`` is given, and no mark made, for a marker directly beside an equal text if no escape tells them apart; for
  one that the text contains as well, but where it was not found, in an answer without escapes; for one that is escaped and misspelt; and
  for an escaped text that the text does not contain;
- backslashes before markers are read in the way that gives the text back best: as escapes, as they are, or as one escape too many.

A pair of markers is a mark if no other marker is inside it; the instruction forbids that. Other reasons for a lost mark:

- ``unknown_type``, ``empty_mark``: a pair that names no type, or with nothing between its markers;
- ``closed_as_other_type``: a closing marker of another type follows;
- ``nested``, ``doubled``: a pair around other markers, or around the same mark once more;
- ``crossing``: a pair across the ends of another one, or with a single marker of another type directly at one end: either is misplaced;
- ``unclosed``, ``unopened``: a marker without its counterpart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from typing import Final, Literal
from urllib.parse import unquote

from rapidfuzz import process
from rapidfuzz.distance import OSA, Levenshtein

from piiloom.corpus.formats.instruction_tuning import message_parts
from piiloom.corpus.markers import TYPES, MarkerFault, MarkerSet, unmarked
from piiloom.corpus.record import Relevance
from piiloom.foundation.words import UNSPACED, trimmed
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


# Texts are compared by words, signs, rows of backslashes and, in scripts without blanks between words, letters.
TOKEN: Final = re.compile(rf"[{UNSPACED}]|\\+|(?:(?![{UNSPACED}])\w)+|.", re.DOTALL)

_Way = Literal["escapes", "as they are", "too many"]
_WAYS: Final[tuple[_Way, ...]] = ("escapes", "as they are", "too many")
_ESCAPE: Final = "\\<"  # no token of a text
_AMBIGUOUS: Final = "ambiguous_marker"
_FAULT: Final = 30  # a lost marker counts against a way of reading backslashes like so many different characters
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#39|nbsp);")
_FENCED: Final = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:\n[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """A pair of markers around ``text[start:end]`` of the answer without its markers."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None
    misspelt: bool


@dataclass(frozen=True, slots=True)
class LostMark:
    """A pair that gives no mark, or a single marker (``end`` equals ``start``); ``name`` is that of its type, or whatever it names."""

    start: int
    end: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer without its markers. ``marks`` are disjoint, in text order, and without blanks at their ends."""

    text: str
    marks: Sequence[AnswerMark]
    lost: Sequence[LostMark] = ()


@dataclass(slots=True)
class _OpenMark:
    marker: Marker
    place: int
    number: int
    crossed: bool = False


def read_answer(reply: str, original: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> MarkedAnswer:
    """Return the text and the marks of *reply*, the answer to *original* with *markers* of the types of *taxonomy*."""
    body = _bare(reply, original)
    exact = _as_written(body, original, taxonomy, markers)
    if exact is not None:
        return exact
    sites, ours = sites_in(body, taxonomy, markers), sites_in(original, taxonomy, markers)
    ways = _WAYS if any(site.slashes for site in sites) else _WAYS[:1]
    answers = [_read(body, original, ours, sites, way) for way in ways]
    faults = len(answers[0].lost)
    return min(answers, key=lambda one: Levenshtein.distance(one.text, original) + _FAULT * max(0, len(one.lost) - faults))


def _bare(reply: str, original: str) -> str:
    """Return *reply* without HTML entities and without what models put around an answer: a fence, the layout of the message, blanks."""
    body = reply.strip()
    fenced = _FENCED.search(body)
    if fenced and not _FENCED.search(original):
        body = fenced[2].strip()
    if body.startswith(("Text:\n", "Question: ")) and message_parts(original)[0] == original:
        body = message_parts(body)[0].strip()
    return body if _ENTITY.search(original) else _ENTITY.sub(lambda entity: unescape(entity.group()), body)


def _as_written(body: str, original: str, taxonomy: Taxonomy, markers: MarkerSet) -> MarkedAnswer | None:
    """Return the answer if it has the right form and gives the text back exactly."""
    try:
        found = unmarked(body, taxonomy.types, markers)
    except MarkerFault:
        return None
    marks = [AnswerMark(*trimmed(found.context, one.start, one.end), one.entity_type, one.relevance, misspelt=False) for one in found.spans]
    return MarkedAnswer(original, marks) if found.context == original and all(mark.start < mark.end for mark in marks) else None


def _read(body: str, original: str, ours: Sequence[Site], sites: Sequence[Site], way: _Way) -> MarkedAnswer:
    texts = Counter(site.key for site in ours) & Counter({site.key: len(ours) for site in sites})
    alike = {number for number, site in enumerate(sites) if site.key in texts}
    odd = {number for number, site in enumerate(sites) if way == "escapes" and site.slashes % 2}
    escaped = {number for number in odd if number in alike or sites[number].marker.misspelt}
    found = _found_in_text(body, original, ours, sites, alike, escaped) if alike else set()
    kept = escaped | found
    missing = Counter[str]() if found & escaped else texts - Counter(sites[number].key for number in found)
    beside = _beside_equals(sites, kept, escapes=way == "escapes")
    text = ""
    done = 0
    markers: list[tuple[Marker | None, int]] = []
    doubtful: list[LostMark] = []
    for number, site in enumerate(sites):
        is_text = number in kept
        text += body[done : site.start - site.slashes] + "\\" * _slashes_of_text(site.slashes, way, is_text=is_text)
        text += site.surface if is_text else ""
        done = site.end
        is_doubtful = missing[site.key] or number in beside or (site.slashes % 2 and site.marker.misspelt)
        if is_doubtful if not is_text else number not in found:
            doubtful.append(LostMark(len(text), len(text), site.marker.name, _AMBIGUOUS))
        if not is_text:
            markers.append((None if is_doubtful else site.marker, len(text)))
    text += body[done:]
    marks, lost = _paired(text, markers)
    return MarkedAnswer(text, marks, (*lost, *doubtful))


def _slashes_of_text(slashes: int, way: _Way, *, is_text: bool) -> int:
    """Return how many of the backslashes before a marker, or before a text that looks like one, belong to the text."""
    halved = way == "too many" or (way == "escapes" and slashes % 2 == is_text)
    return slashes // 2 if halved else slashes


def _found_in_text(
    body: str, original: str, ours: Sequence[Site], sites: Sequence[Site], alike: AbstractSet[int], escaped: AbstractSet[int]
) -> set[int]:
    """Return those of the *alike* sites of *body* that an alignment finds in *original*."""
    wanted, tokens = _tokens(original, ours, {*range(len(ours))}, {*range(len(ours))}), _tokens(body, sites, alike, escaped)
    blocks = Levenshtein.opcodes([key for key, _ in wanted], [key for key, _ in tokens]).as_matching_blocks()
    found = {tokens[block.b + step][1] for block in blocks for step in range(block.size)}
    return found & escaped or found & alike  # a model that escapes texts means a marker by a bare one


def _tokens(text: str, sites: Sequence[Site], kept: AbstractSet[int], escaped: AbstractSet[int]) -> list[tuple[str, int]]:
    """Return the tokens of *text*, each with -1, with the *kept* sites as one token each, with their numbers, and without the others.

    An additional token before an *escaped* site has the effect that the alignment prefers it to others.
    """
    tokens: list[tuple[str, int]] = []
    done = 0
    for number, site in enumerate(sites):
        tokens += ((token, -1) for token in TOKEN.findall(text, done, site.start - site.slashes))
        if number in kept:
            tokens += [(_ESCAPE, -1), (site.key, number)] if number in escaped else [(site.key, number)]
        done = site.end
    return [*tokens, *((token, -1) for token in TOKEN.findall(text, done))]


def _beside_equals(sites: Sequence[Site], kept: AbstractSet[int], *, escapes: bool) -> set[int]:
    """Return the markers in a row of equal sites, some of them text (*kept*), where no escape tells them apart."""
    rows: list[list[int]] = []
    for number, site in enumerate(sites):
        last = sites[number - 1] if number else None
        if last and last.end == site.start - site.slashes and last.key == site.key:
            rows[-1].append(number)
        else:
            rows.append([number])
    found: set[int] = set()
    for row in rows:
        texts = [sites[number].slashes % 2 for number in row if number in kept]
        if texts:
            found |= {number for number in row if not (escapes and min(texts) > sites[number].slashes % 2)} - kept
    return found


def _paired(text: str, markers: Sequence[tuple[Marker | None, int]]) -> tuple[list[AnswerMark], list[LostMark]]:
    """Pair *markers*, each with its place in *text*; None is an unreadable one, which only separates others."""
    marks: list[AnswerMark] = []
    lost: list[LostMark] = []
    opened: list[_OpenMark] = []
    for number, (marker, place) in enumerate(markers):
        if marker is None:
            continue
        if not marker.closes:
            opened.append(_OpenMark(marker, place, number))
            continue
        last = opened[-1] if opened and opened[-1].number == number - 1 else None
        at = next((n for n in reversed(range(len(opened))) if not marker.label or opened[n].marker.label == marker.label), None)
        if at is None:
            if last is not None:
                lost.append(LostMark(opened.pop().place, place, last.marker.label, "closed_as_other_type"))
            lost.append(LostMark(place, place, marker.label, "unopened"))
            continue
        one = opened.pop(at)
        for other in opened[at:]:
            other.crossed = True
        mark = AnswerMark(
            *trimmed(text, one.place, place),
            one.marker.entity_type or "",
            one.marker.relevance,
            misspelt=one.marker.misspelt or marker.misspelt,
        )
        reason = _why_lost(one, mark, marks, is_innermost=one is last, is_crossing=one.crossed or at < len(opened))
        if reason is None:
            marks.append(mark)
        else:
            lost.append(LostMark(one.place, place, one.marker.label, reason))
    lost += (LostMark(one.place, one.place, one.marker.label, "unclosed") for one in opened)
    return _without_single_neighbours(text, marks, lost)


def _why_lost(opened: _OpenMark, mark: AnswerMark, before: Sequence[AnswerMark], *, is_innermost: bool, is_crossing: bool) -> str | None:
    if is_innermost:
        return "empty_mark" if mark.start == mark.end else None if opened.marker.entity_type else "unknown_type"
    if is_crossing:
        return "crossing"
    inner = [(one.start, one.end, one.entity_type) for one in before[-1:]]
    return "doubled" if inner == [(mark.start, mark.end, opened.marker.label)] else "nested"


def _without_single_neighbours(text: str, marks: Sequence[AnswerMark], lost: list[LostMark]) -> tuple[list[AnswerMark], list[LostMark]]:
    """Lose those *marks* that have a single marker of another type directly before or behind them."""
    before = {len(text) - len(text[one.start :].lstrip()): one.name for one in lost if one.reason == "unclosed"}
    behind = {len(text[: one.start].rstrip()): one.name for one in lost if one.reason == "unopened"}
    crossing = [mark for mark in marks if not {before.get(mark.start, ""), behind.get(mark.end, "")} <= {"", mark.entity_type}]
    lost += (LostMark(mark.start, mark.end, mark.entity_type, "crossing") for mark in crossing)
    return [mark for mark in marks if mark not in crossing], lost
