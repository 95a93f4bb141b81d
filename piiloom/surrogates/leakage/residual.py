"""The residual scan: find text in a replaced document that looks like personal information and is no surrogate.

Identifiers are found by the strict patterns of ``screening``. Names are found by the word before them (a title, a greeting,
"my name is"), and as pairs of capitalized words of which the first is a known given name. Findings are places to review, not proofs.
Precision matters more than recall, so that people keep reading them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.screening.identifiers import find_identifiers
from piiloom.surrogates.documents import Placed
from piiloom.surrogates.known_names import name_words

_NAME: Final = r"[^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:['’-][^\W\d_]+)?"
# A name as above, but beginning with a set of characters, so that ``re`` is fast, and faster where it is of ASCII.
_CAPITALISED: Final = re.compile(_NAME.replace("]", r"](?<!\w.)", 1))
_CAPITALISED_ASCII: Final = re.compile(r"[A-Z](?<!\w.)[A-Za-z]+(?:['-][A-Za-z]+)?")
_WIDTH: Final = 40
_BLANKS: Final = frozenset(" \n\u00a0")
_HIDES: Final = "\0"  # ASCII, as most texts are, and they are searched in less time
_DATE: Final = re.compile(r"\b(?:\d{1,2}[/-]\d{1,2}[/-](?:19|20)\d{2}|(?:19|20)\d{2}-\d{2}-\d{2})\b")


@cache
def _titled() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{any_of(name_words().residual_titles)})\.?[ \u00a0]({_NAME}(?: {_NAME})?)")


@cache
def _told() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{any_of(name_words().residual_leads)})[ \n]+({_NAME}(?: {_NAME})?)")


@cache
def _pair() -> re.Pattern[str]:
    # The second word is in a lookahead, since it may be the first word of the next pair.
    return re.compile(rf"\b({_NAME})(?= ((?:{any_of(name_words().residual_particles)})*{_NAME})\b)")


@cache
def _before() -> tuple[str, ...]:
    """Return what stands before a name: titles, with or without their dot, and leads."""
    words = name_words()
    return (*words.residual_titles, *(f"{title}." for title in words.residual_titles), *words.residual_leads)


@cache
def _ends() -> frozenset[str]:
    """Return the last three characters of what stands before a name, for a cheap check."""
    return frozenset(words[-3:] for words in _before())


@cache
def _nearly() -> frozenset[str]:
    """Return their last two characters with a blank behind them, for a check that is cheaper still."""
    return frozenset(end[-2:] + blank for end in _ends() for blank in _BLANKS)


@dataclass(frozen=True, slots=True)
class Residual:
    """A finding: ``[start, end)`` of the replaced text. ``why`` names the pattern: email, phone, url, card …, titled, told, pair, date."""

    start: int
    end: int
    why: str


def residuals(
    text: str, placed: Sequence[Placed], *, given_names: Collection[str] = (), region: str | None = None, dates: bool = False
) -> list[Residual]:
    """Return the findings outside the surrogates *placed*, in text order and disjoint.

    *given_names* are case-folded; without them pairs of words are not searched. *region* (ISO 3166 alpha-2) is for identifiers such as
    phone numbers. *dates*: full dates in digits are findings, too.
    """
    candidates = list(_candidates(_hidden(text, placed), given_names, region, dates))
    if not candidates:
        return []
    starts = [one.new_start for one in placed]

    def ours(start: int, end: int) -> bool:
        at = bisect_right(starts, end - 1) - 1
        return at >= 0 and placed[at].new_end > start

    found = [Residual(start, end, why) for why, (start, end) in candidates if not ours(start, end)]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Residual] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _hidden(text: str, placed: Sequence[Placed]) -> str:
    """Return *text* with each code point of a surrogate replaced by one that no pattern matches. Most texts then have no matches."""
    pieces: list[str] = []
    at = 0
    for _, _, start, end, _, _, _, _, _ in placed:
        pieces += (text[at:start], _HIDES * (end - start))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _candidates(text: str, given_names: Collection[str], region: str | None, dates: bool) -> Iterator[tuple[str, tuple[int, int]]]:
    yield from find_identifiers(text, region)
    told, paired = _may_name(text, given_names)
    for why, pattern in (("titled", _titled()), ("told", _told())) if told else ():
        for match in pattern.finditer(text):
            if match.group(1).casefold() not in name_words().residual_no_names:
                yield why, match.span(1)
    for match in _pair().finditer(text) if paired else ():
        if match.group(1).casefold() in given_names:
            yield "pair", (match.start(), match.end(2))
    for match in _DATE.finditer(text) if dates else ():
        yield "date", match.span()


def _may_name(text: str, given_names: Collection[str]) -> tuple[bool, bool]:
    """Whether a name may follow a title or a lead, and whether there is a given name: what the slower patterns are worth looking for."""
    told = paired = False
    nearly = _nearly()
    for match in (_CAPITALISED_ASCII if text.isascii() else _CAPITALISED).finditer(text):
        start = match.start()
        if not told and (text[start - 3 : start] in nearly or text[start - 2 : start - 1] in _BLANKS):
            told = _may_be_told(text, start)
        paired = paired or match.group().casefold() in given_names
    return told, paired


def _may_be_told(text: str, start: int) -> bool:
    """Whether what stands before the word at *start* ends like a title or a lead."""
    before, ends = text[max(0, start - 4) : start], _ends()
    end = before[:-1]
    if before[-1:] not in _BLANKS or not (end in ends or end[-2:] in ends or end[-1:] in _BLANKS):
        return False
    head = text[max(0, start - _WIDTH) : start].rstrip()
    return len(head) < _WIDTH // 2 or head.endswith(_before())
