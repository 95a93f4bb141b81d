"""Extract the sentence around a mention, as far as it may leave the machine.

In doubt the sentence is cut short: a full stop that may belong to an abbreviation ends it. Line breaks, tabs and a distance of 200
code points on either side always end it. Other mentions in it appear as their tags, or as their kind if the original value is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from piiloom.surrogates.by_model.kinds import never_last
from piiloom.surrogates.documents import Mention

REACH: Final = 200
_LONGEST_TAG: Final = 80
_LINE_END: Final = re.compile("[\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]")
# Signs that always end a sentence, and signs that do so only before white space, a capital letter or a mention.
_END: Final = re.compile(r"[。！？｡।॥۔؟]+|[.!?…]+[\"'“”’»)\]*_]*")
_ALWAYS: Final = frozenset("。！？｡।॥۔؟")


class Sentence(NamedTuple):
    """What a model may see: ``before`` + ``gap`` + ``after``, where ``gap`` is the mention's tag."""

    before: str
    gap: str
    after: str


def sentence_of(text: str, mentions: Sequence[Mention], number: int, *, known: bool) -> Sentence:
    """Return the sentence around ``mentions[number]``.

    *known* says that the mentions are original values and not placeholders, so each is shown as its kind, e.g. "[company]".
    """
    mention = mentions[number]
    first = last = number
    start, end = _begin(text, mentions, number), _end(text, mentions, number)
    while first and mentions[first - 1].start >= start:
        first -= 1
    while last + 1 < len(mentions) and mentions[last + 1].start < end:
        last += 1
    return Sentence(
        _shown(text, start, mention.start, mentions[first:number], known=known),
        _tag(text, mention, known=known),
        _shown(text, mention.end, end, mentions[number + 1 : last + 1], known=known),
    )


def _tag(text: str, mention: Mention, *, known: bool) -> str:
    if known or mention.original or mention.end - mention.start > _LONGEST_TAG:
        return f"[{mention.kind}]"
    return text[mention.start : mention.end]


def _shown(text: str, start: int, end: int, mentions: Sequence[Mention], *, known: bool) -> str:
    """Return the text from *start* to *end* with the *mentions* in it replaced by their tags."""
    pieces, at = [], start
    for mention in mentions:
        pieces += [text[at : mention.start], _tag(text, mention, known=known)]
        at = mention.end
    pieces.append(text[at:end])
    return "".join(pieces)


def _begin(text: str, mentions: Sequence[Mention], number: int) -> int:
    """Return the start of the sentence: after the last border before the mention, at most ``REACH`` code points back.

    A mention is never cut: if the limit falls inside one, the sentence begins after it.
    """
    upto = mentions[number].start
    limit = max(0, upto - REACH)
    for before in range(number - 1, -2, -1):
        floor = mentions[before].end if before >= 0 else 0
        low = max(floor, limit)
        border = _last_border(text, low, upto)
        if border is not None:
            return _skip_blanks(text, border, mentions[number].start)
        if floor <= limit:
            return low if low == floor else _next_word(text, low, upto)
        upto = mentions[before].start
        if upto < limit:
            return floor
    return upto


def _end(text: str, mentions: Sequence[Mention], number: int) -> int:
    """Return the end of the sentence: after its final sign or before the line break, at most ``REACH`` code points on."""
    at = mentions[number].end
    limit = min(len(text), at + REACH)
    for after in range(number + 1, len(mentions) + 1):
        ceiling = mentions[after].start if after < len(mentions) else len(text)
        high = min(ceiling, limit)
        border = _first_border(text, at, high, ceiling)
        if border is not None:
            return border
        if ceiling >= limit:
            return high if high == ceiling else _last_word(text, at, high)
        at = mentions[after].end
        if at > limit:
            return ceiling
    return at


def _last_border(text: str, low: int, high: int) -> int | None:
    found = None
    for match in _END.finditer(text, low, high):
        if _ends(text, match, high):
            found = match.end()
    for line in _LINE_END.finditer(text, found or low, high):
        found = line.end()
    return found


def _first_border(text: str, low: int, high: int, ceiling: int) -> int | None:
    line = _LINE_END.search(text, low, high)
    stop = line.start() if line else high
    for match in _END.finditer(text, low, stop):
        if _ends(text, match, min(ceiling, len(text))):
            return match.end()
    return line.start() if line else None


def _ends(text: str, match: re.Match[str], edge: int) -> bool:
    """Whether the matched sign ends a sentence. *edge* is where the next mention begins or the text ends."""
    if match.group()[0] in _ALWAYS:
        return True
    after = match.end()
    if after < edge and not text[after].isspace() and not text[after].isupper():
        return False
    return match.group() != "." or never_last().search(text, max(0, match.start() - 12), after) is None


def _skip_blanks(text: str, at: int, high: int) -> int:
    while at < high and text[at].isspace():
        at += 1
    return at


def _next_word(text: str, low: int, high: int) -> int:
    """Return the position after the first white space from *low* on, so that no partial word is shown; *low* if there is none."""
    at = low
    while at < high and not text[at].isspace():
        at += 1
    return _skip_blanks(text, at, high) if at < high else low


def _last_word(text: str, low: int, high: int) -> int:
    at = high
    while at > low and not text[at - 1].isspace():
        at -= 1
    return at if at > low else high
