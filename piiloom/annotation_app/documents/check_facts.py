"""Facts that hints depend on: words and identifiers of a text, and whether a span's text fits its type.

Facts are cached, since most edits change spans and not the text. Only near-certain problems are reported: people soon ignore hints that
are often wrong.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from stdnum import iban, luhn

from piiloom.corpus.mention_search import SearchableText
from piiloom.corpus.normalising import ComparableText, fold
from piiloom.foundation.words import STOP_WORDS, WORD, Range
from piiloom.screening.gates import content_stems, find_identifiers, stem

# Ends of the pieces in which identifiers are searched. No identifier crosses the end of a line, or of a sentence before a letter. After an
# edit only the piece that changed is searched again.
_PIECE_END = re.compile(r"[.!?] (?=[^\W\d_])|[\r\n]+")


# Where a text can be split for folding: after white space that is directly followed by a word. The folded pieces joined are the folded
# text.
_SEAM = re.compile(r"(?:[.!?] |[\r\n]+)(?=[^\W\d_])")


class _PiecedText(SearchableText):
    """A searchable text that is folded in cached pieces, so that an edit folds only one piece again. It keeps what was found in it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.found: dict[str, tuple[Range, ...]] = {}

    @cached_property
    def folded(self) -> ComparableText:
        """What ``fold`` gives for the whole text."""
        seams = [0, *(found.end() for found in _SEAM.finditer(self.text)), len(self.text)]
        pieces = [_folded(self.text[start:end]) for start, end in pairwise(seams)]
        words = [text for text, _ in pieces]
        places = np.concatenate([ranges for _, ranges in pieces], axis=1) + np.repeat(seams[:-1], [len(text) for text in words])
        starts, ends = (array("q", row.tobytes()) for row in places)
        return ComparableText(text="".join(words), starts=starts, ends=ends)


@lru_cache(maxsize=8192)
def _folded(piece: str) -> tuple[str, NDArray[np.int64]]:
    found = fold(piece)
    return found.text, np.array([found.starts, found.ends], dtype=np.int64)


# The text in the form in which values are searched.
searchable = lru_cache(maxsize=64)(_PiecedText)
# The stems of the content words of a span's text.
stems_of = lru_cache(maxsize=8192)(content_stems)


@lru_cache(maxsize=64)
def stems_in(text: str) -> tuple[tuple[str, Range], ...]:
    """Return (stem, range) of each content word, in text order."""
    words = ((found.group().casefold(), found.span()) for found in WORD.finditer(text))
    return tuple((stem(word), place) for word, place in words if word not in STOP_WORDS)


def places_of_value(text: str, value: str) -> tuple[Range, ...]:
    """Return the ranges of all whole-word occurrences that a reader takes for *value*."""
    searched = searchable(text)
    if value not in searched.found:
        searched.found[value] = tuple(searched.mentions(value))
    return searched.found[value]


@lru_cache(maxsize=64)
def identifiers_in(text: str, region: str | None) -> tuple[tuple[str, Range], ...]:
    """Return (kind, range) of what ``piiloom.screening.gates`` finds, in text order. *region* is a country code."""
    seams = [0, *(found.end() for found in _PIECE_END.finditer(text)), len(text)]
    return tuple(
        (kind, (start + first, start + last))
        for start, end in pairwise(seams)
        for kind, (first, last) in _identifiers(text[start:end], region)
    )


@lru_cache(maxsize=8192)
def _identifiers(piece: str, region: str | None) -> tuple[tuple[str, Range], ...]:
    return tuple(sorted(find_identifiers(piece, region), key=lambda hit: (hit[1][0], -hit[1][1])))


@lru_cache(maxsize=8192)
def kind_of(value: str, region: str | None) -> str | None:
    """Return the kind of identifier that *value* is from end to end; None if it is none or only contains one."""
    for kind, place in find_identifiers(value, region):
        if place == (0, len(value)):
            return kind
    return None


CODE_KINDS = {
    "email": "an e-mail address",
    "card": "a card number",
    "iban": "a bank account number (IBAN)",
    "ssn": "a US social security number",
    "ip": "an IP address",
    "phone": "a telephone number",
}
_CODE, _DATETIME, _AGE, _FINANCE = "code", "datetime", "age", "finance"
_CARD_GROUPS = re.compile(r"[3-6]\d{3}(?:([ -])\d{4}\1\d{4}\1\d{4}|([ -])\d{6}\2\d{5})")
_CARD_DIGITS = re.compile(r"[3-6]\d{12,18}")
_IBAN_SHAPE = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}([/.])\d{{1,2}}\1(?:19|20)\d{{2}}|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH} \d{{4}}"
)
_CLOCK = re.compile(r"\d{1,2}(?::\d{2})? ?[ap]\.?m\.?", re.IGNORECASE)
_AGE_SHAPE = re.compile(r"\d{1,3}[- ]?(?:y/?o|(?:years?|yrs?|months?)[- ]old)", re.IGNORECASE)
_MONEY = re.compile(r"[$£€₹] ?\d[\d.,]*[km]?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d{2}")
_OLDEST = 125
# Types whose values are never a bare number.
_WORDY = frozenset({"name", "belief", "relationship", "sexual orientation", "occupation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """Why a text does not look like its type. ``better`` is the type that it does look like, None if none stands out."""

    code: str
    sentence: str
    better: str | None = None


def oddity(text: str, entity_type: str, subtype: str | None, region: str | None, known: Collection[str]) -> Oddity | None:
    """Return what is odd about *text* as a value of *entity_type*, or None.

    *region* is the country code of the locale. A hint whose better type is not in *known* is dropped.
    """
    found = _other_type(text, entity_type, region) or _checksum(text, entity_type, subtype) or _impossible(text, entity_type)
    if found is not None and found.better is not None and found.better not in known:
        return None
    return found


def _other_type(text: str, entity_type: str, region: str | None) -> Oddity | None:
    kind = kind_of(text, region) if entity_type != _CODE else None
    if kind in CODE_KINDS:
        return Oddity(code=f"format.{kind}", sentence=f"This is {CODE_KINDS[kind]}, but its type is {entity_type}.", better=_CODE)
    for pattern, code, what, better in _SHAPES:
        if entity_type != better and pattern.fullmatch(text):
            return Oddity(code=code, sentence=f"This looks like {what}, but its type is {entity_type}.", better=better)
    if entity_type == _AGE and _YEAR.fullmatch(text):
        return Oddity(code="format.date", sentence="This looks like a year, but its type is age.", better=_DATETIME)
    return None


_SHAPES = (
    (_DATE, "format.date", "a date", _DATETIME),
    (_CLOCK, "format.date", "a time of day", _DATETIME),
    (_AGE_SHAPE, "format.age", "an age", _AGE),
    (_MONEY, "format.money", "an amount of money", _FINANCE),
)


def _checksum(text: str, entity_type: str, subtype: str | None) -> Oddity | None:
    if entity_type not in {_CODE, _FINANCE}:
        return None
    card = _CARD_GROUPS.fullmatch(text) or (subtype == "payment_card" and _CARD_DIGITS.fullmatch(text))
    if card and not luhn.is_valid(re.sub(r"\D", "", text)):
        return Oddity(code="checksum.card", sentence="This is shaped like a card number, but its check digit is wrong.")
    number = text.replace(" ", "")
    if _IBAN_SHAPE.fullmatch(number) and not iban.is_valid(number, check_country=False):
        mended = number[:2] + iban.calc_check_digits(number) + number[4:]
        if iban.is_valid(mended, check_country=False):
            return Oddity(code="checksum.iban", sentence="This is shaped like a bank account number, but its check digits are wrong.")
    return None


def _impossible(text: str, entity_type: str) -> Oddity | None:
    if entity_type == _DATETIME and (found := _ISO_DATE.fullmatch(text)):
        try:
            date(*(int(part) for part in found.groups()))
        except ValueError:
            return Oddity(code="format.no_such_date", sentence="There is no such date.")
    if _NUMBER.fullmatch(text):
        if entity_type == _AGE and int(text[:9]) > _OLDEST:
            return Oddity(code="format.no_such_age", sentence="Nobody is that old.")
        if entity_type in _WORDY:
            return Oddity(code="format.bare_number", sentence=f"A bare number is hardly a value of the type {entity_type}.")
    return None
