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
from dataclasses import dataclass
from html import unescape
from typing import Final, Literal

from rapidfuzz.distance import Levenshtein

from piiloom.corpus.formats.instruction_tuning import message_parts
from piiloom.corpus.markers import TYPES, MarkerFault, MarkerSet, unmarked
from piiloom.corpus.record import Relevance
from piiloom.detection.marking.marker_sites import Marker, Site, sites_in
from piiloom.foundation.words import UNSPACED, trimmed
from piiloom.taxonomy.entity_types import Taxonomy

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
