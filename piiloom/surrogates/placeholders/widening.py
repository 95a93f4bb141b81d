"""Candidates that are found by their most telling part, and are longer: "555-***-****" by its stars, "Ort_3" by its number."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.surrogates.kinds.calendars import month_words
from piiloom.surrogates.placeholders.grammar_files import Grammar, grammars

SIGNS: Final = "Xx*#_?•█▇■×"  # what stands for one character of a masked number
BEARERS: Final = frozenset(
    {"letters", "small_letters", "asterisks", "blank", "bars", "blocks", "squares", "questions", "hash_run", "bullets"}
)
_DATED: Final = "part_dated"  # "XX" beside the name of a month
PARTS: Final = frozenset(  # nothing by themselves
    f"part_starred starred_tail part_crossed short_crossed crossed_tail {_DATED}".split()
    + "dated_stars dated_blanks dated_questions dated_hashes".split()
)
WORD_NUMBERED: Final = "word_numbered"
WORD_LABEL: Final = "word_label"  # "Doctor_2: yes"
TITLE_WORDS: Final = "title_words"  # "Generic_School"
HYPHEN_NUMBERED: Final = "hyphen_numbered"  # "Victim-1"
_REACH: Final = 40  # characters looked at on each side
_PLACE: Final = rf"[\d{re.escape(SIGNS)}]"
_STRONG: Final = frozenset("Xx*•█▇■×")  # "_", "?" and "#" are also those of forms to fill in, and of descriptions of a format
_FORM_SURE: Final = 0.55
_YEAR: Final = r"(?:19|20)\d\d"
_NUMBER: Final = "masked_number"
_STARRED: Final = re.compile(r"\*")

# What a masked value looks like, by the grammar that tells its kind; the first that fits counts. ° is a place.
_SHAPES: Final = {
    "masked_email": r"[\w.+*•-]+@[\w*•-]+(?:\.[\w*•-]+)+",
    "masked_date": r"(?:°{1,2}(?P<a>[-/.])°{1,2}(?P=a)(?:°{4}|°{2})|°{4}(?P<b>[-/.])°{2}(?P=b)°{2}"
    rf"|°{{2}}[/.]{_YEAR}|{_YEAR}/°{{2}}|°{{1,2}}\.? (?:°{{3}}|°{{2}}\.?) {_YEAR})",
    "masked_time": r"(?:°{2}:\d{2}|\d{1,2}:°{2})(?::°{2})?(?!:)",
    "masked_id": r"(?:°{3}-°{2}-°{4}|°{3}\.°{3}\.°{3}-°{2})",
    "masked_card": r"(?:°{4}-°{4}-°{4}-°{3,4}|°{4}-°{6}-°{5}|°{4} °{4} °{4} \d{3,4}|(?:[*•]{4} ){3}[*•\d]{4}|\d{4,6}[*•Xx]{6,8}\d{4})",
    "masked_phone": r"(?:(?:\+?°{1,3}[ .-]?)?(?:\(°{3}\) ?|°{3}[ .-])°{3}[ .-]°{4}|\+\d{1,3}(?:[ .-][\d*•]{2,7}){1,5})",
    _NUMBER: r"(?:[*•]{4} \d{3,4}|(?=(?:°[-.]?){6})°{2,}(?:[-.]°+)+|[A-Z]{0,2}°*\d[Xx*•]{2,}°*|[A-Z]{0,2}[Xx*•]{3,}\d{2,}°*)",
}
_EDGE: Final = rf"(?:[^\W\u2e80-\u9fff\uac00-\ud7af]|[{re.escape('*#?•@')}])"  # words of East Asian texts stand right beside numbers
_BESIDE: Final = frozenset("-/.)(+@*#?•_0123456789")  # what stands beside a part of a longer mask; also a space, beside digits or stars
_AFTER_DAY: Final = frozenset({",", " ", ".", ""})  # what stands behind a day, or behind a year
_MONTH: Final = 16  # characters in which the name of a month, and what stands beside it, lies
_SPACED: Final = frozenset("*•")
_WORDS_BEFORE: Final = re.compile(r"(?<!\w)[^\W\d_]{2,}(?:_[^\W\d_]{2,}){0,2}$")
_BOLD: Final = re.compile(r"(?<![\w*])\*{2,3}(?=[^\s*])")
_NAME_BEFORE: Final = re.compile(r"(?<![\w.+*-])\w[\w.+*-]*$")

Place = tuple[int, int, Grammar]


def widened(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return the whole of the candidate ``[start, end)`` of *text*, with the grammar that it is of; None if it is none after all."""
    return _WIDENERS[grammar.name](text, start, end, grammar)


@cache
def _whole() -> re.Pattern[str]:
    """The expression for all shapes: compiled when a mask is met, since it takes 5 ms."""
    shapes = "|".join(f"(?P<{name}>{shape.replace('°', _PLACE)})" for name, shape in _SHAPES.items())
    return re.compile(rf"(?<!{_EDGE})(?:{shapes})(?!{_EDGE}|[-/]\w)")


@cache
def _beside_month() -> re.Pattern[str]:
    """The expression for a date with the name of a month in which the day, or more, is masked."""
    of, th = r"(?: (?:of|de|di))?", r"(?:st|nd|rd|th|er|º|\.)?"
    month, sign = rf"(?:{any_of(sorted(month_words(), key=lambda word: (-len(word), word)))})\.?", f"[{re.escape(SIGNS)}]"
    day, year = rf"(?:{sign}{{1,3}}|\d{{1,2}}){th}", rf"(?:,?{of} (?:{_YEAR}|{sign}{{4}}|\d\d{sign}{{2}}))?"
    return re.compile(rf"(?<!{_EDGE})(?:{month} {day}{year}|{day}{of} {month}{year})(?!{_EDGE}|[-/]\w)", re.IGNORECASE)


def _dated(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return "March XX, 2019" for the "XX" in it."""
    for match in _beside_month().finditer(text, max(0, start - _REACH), end + _REACH):
        if match.start() <= start and match.end() >= end:
            return match.start(), match.end(), grammars()["masked_date"]
    return None if grammar.name in PARTS else (start, end, grammar)


def _mask(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return the number, date or address that the mask is a part of, or the mask alone."""
    for match in _whole().finditer(text, max(0, start - _REACH), end + _REACH):
        if match.start() <= start and match.end() >= end and (match.end() - match.start() > end - start or grammar.name in PARTS):
            return match.start(), match.end(), _told(text[match.start() : match.end()], match.lastgroup or _NUMBER)
    return _dated(text, start, end, grammar)


def may_be_wider(text: str, start: int, end: int, name: str) -> bool:
    """Whether the candidate ``[start, end)`` of the grammar *name* may be a part of something longer; a quick test."""
    if name not in BEARERS:
        return name in WIDENED
    after, before = text[end : end + 1], text[start - 1 : start]
    if after in _BESIDE or before in _BESIDE:
        return after != "." or before in _BESIDE or text[end + 1 : end + 2].isalnum() or text[end + 1 : end + 2] in _BESIDE
    if before == " " and (text[start - 2 : start - 1].isdigit() or text[start - 2 : start - 1] == ")"):
        return True
    if (
        before == " "
        and after in _AFTER_DAY
        and text[max(0, start - _MONTH) : start - 1].rpartition(" ")[2].strip(".").casefold() in month_words()
    ):
        return True  # "March ___, 2019"
    return after == " " and text[start] in _SPACED


def _told(literal: str, name: str) -> Grammar:
    grammar = grammars()[name]
    told = _STRONG & set(literal) or (name == "masked_date" and any(char.isdigit() for char in literal))
    return grammar if name == "masked_email" or told else grammar._replace(upper=min(grammar.upper, _FORM_SURE))


def _numbered(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return "Ort_3" for "_3"."""
    words = _WORDS_BEFORE.search(text, max(0, start - _REACH), start)
    return (words.start(), end, grammar) if words else None


def _starred_email(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return "j***@example.com" for "***@example.com"."""
    name = _NAME_BEFORE.search(text, max(0, start - _REACH), start)
    return (name.start(), end, grammar) if name else None


def _starred_name(text: str, start: int, end: int, grammar: Grammar) -> Place | None:
    """Return "J***", unless its stars end what is bold: "**Plan B**"."""
    line = max(text.rfind("\n", 0, start) + 1, start - 4 * _REACH)
    if text.endswith("**", 0, end) and _BOLD.search(text, line, start):
        return None
    return start, end, grammar


_WIDENERS: Final[dict[str, Callable[[str, int, int, Grammar], Place | None]]] = {
    **dict.fromkeys(BEARERS | PARTS, _mask),
    _DATED: _dated,
    WORD_NUMBERED: _numbered,
    WORD_LABEL: _numbered,
    TITLE_WORDS: _numbered,
    HYPHEN_NUMBERED: _numbered,
    "starred_email": _starred_email,
    "starred_name": _starred_name,
}
WIDENED: Final = frozenset(_WIDENERS)
