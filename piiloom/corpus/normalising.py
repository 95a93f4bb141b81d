"""Normalize texts for comparison, with a map back to the original offsets.

``fold`` maps a text to the form in which values are compared: compatibility decomposition (NFKD), full case folding,
ASCII quotes and dashes, one space for any run of white space; zero-width characters and variation selectors are removed.
Two texts are equal under NFKD exactly when they are equal under NFKC. NFKD is used because it never composes
across characters, so that every folded character comes from one original cluster (a character with its combining marks) and
the map back is exact.

``plain`` normalizes typography only (quotes, dashes, white space, zero-width characters, canonical composition). Case and
digits are unchanged, so that two codes that differ in them stay different.

``value_form`` is the form in which splits, leak reports and the attack of ``piiloom reidentify`` compare values: folded and composed,
and without the separators in numbers of codes (telephone numbers, IBANs, cards). ``text_words`` are the words by which texts are compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from piiloom.foundation.words import words

APOSTROPHES = "'\u2018\u2019\u201a\u201b\u02b9\u02bc\u00b4\u2032\uff07"
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u02ba\u2033\uff02\u00ab\u00bb'
_DASHES = "-\u058a\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e17\u2e3a\u301c\u30a0\ufe58\ufe63\uff0d"
_LIKE_APOSTROPHES = "\u02bb\u2039\u203a\u275b\u275c\ua78c"  # quotes and letters that are written in the place of an apostrophe
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys(APOSTROPHES + _LIKE_APOSTROPHES, "'"), **dict.fromkeys(_DOUBLE_QUOTES, '"'), **dict.fromkeys(_DASHES, "-")}
)
# ASCII text without a match keeps its length when folded, so that it only needs lower-casing.
_UNEVEN_SPACE = re.compile(r"[^\S ]|  ")
# A run of printable ASCII with single spaces; its last character is followed by ASCII, so no combining mark belongs to it.
_ASCII_RUN = re.compile(r"[!-~]+(?: [!-~]+)*(?=[\x00-\x7f]|\Z)")
_SPACES = re.compile(r"\s+")
_SPACED_HYPHEN = re.compile(r" ?-+ ?")
# The "(0)" of "+49 (0)30" is not dialled after a country code.
_SEPARATORS = re.compile(r"(?<=\d)\s?\(0\)|[\s\-./()\[\]+·•\u2044\u2215]+")
_FEWEST_DIGITS = 5
# Codes in which separators are more than spacing: e-mail and web addresses, IP addresses, dates, decimal numbers, coordinates.
_OCTET = r"(?:25[0-5]|2[0-4]\d|[01]?\d{1,2})"
_SEPARATED = re.compile(
    r"@|://|[a-z]\.[a-z]"
    rf"|^{_OCTET}(?:\.{_OCTET}){{3}}(?![\d.])"
    r"|^(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{1,2})|\d{4}([./-])\d{1,2}\2\d{1,2}|\d{1,2} \d{1,2} (?:1[5-9]|20)\d\d(?! \d))(?![\d./-])"
    r"|^[+-]?\d+\.\d{1,2}$|^[+-]?\d+\.\d+[,; ] ?[+-]?\d+\.\d+$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableText:
    """A folded text; character ``i`` of it comes from ``original[starts[i]:ends[i]]`` (half-open code points)."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original_range(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the original range of the folded ``[start, end)``; None if an edge would cut an original cluster."""
        if start and self.starts[start - 1] == self.starts[start]:
            return None
        if end < len(self.text) and self.starts[end] == self.starts[end - 1]:
            return None
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=8192)
def extends(character: str) -> bool:
    """Whether *character* belongs to the character before it: combining marks, variation selectors, skin tones."""
    if unicodedata.category(character)[0] == "M" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    # Half-width kana voicing marks and a few Tibetan vowels become combining marks only when decomposed.
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0


@lru_cache(maxsize=8192)
def is_zero_width(character: str) -> bool:
    """Whether *character* is an invisible format character (joiners, soft hyphen, direction and byte order marks)."""
    return unicodedata.category(character) == "Cf"


def _is_ignorable(character: str) -> bool:
    return (
        is_zero_width(character)
        or character in "\u034f\u0640\u180b\u180c\u180d"  # combining grapheme joiner, tatweel, Mongolian variation selectors
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    visible = "".join(c for c in cluster.translate(_TYPOGRAPHY) if not _is_ignorable(c))
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible).casefold())


def _cluster_end(text: str, start: int) -> int:
    """Return the end of the cluster, or of the run of white space, that begins at *start*."""
    end, size = start + 1, len(text)
    if text[start].isspace():
        while end < size and text[end].isspace():
            end += 1
    else:
        # No character below U+0300 extends another one.
        while end < size and text[end] >= "\u0300" and extends(text[end]):
            end += 1
    return end


def fold(text: str) -> ComparableText:
    """Return *text* in the form in which values are compared, with a map back to its offsets."""
    if text.isascii() and not _UNEVEN_SPACE.search(text):
        return ComparableText(text=text.lower(), starts=range(len(text)), ends=range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, after_space = 0, False
    while position < len(text):
        if run := _ASCII_RUN.match(text, position):
            pieces.append(run.group().lower())
            starts += range(position, run.end())
            ends += range(position + 1, run.end() + 1)
            position, after_space = run.end(), False
            continue
        end = _cluster_end(text, position)
        is_space = text[position].isspace()
        piece = " " if is_space else _fold_cluster(text[position:end])
        if is_space and after_space:  # white space on both sides of a zero-width character is one run
            ends[-1] = end
        elif piece:
            pieces.append(piece)
            starts += [position] * len(piece)
            ends += [end] * len(piece)
            after_space = is_space
        position = end
    return ComparableText(text="".join(pieces), starts=starts, ends=ends)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return *text* with normalized typography; case and digits are unchanged."""
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text.translate(_VISIBLE))).strip()


@lru_cache(maxsize=1 << 16)
def value_form(entity_type: str, value: str) -> str:
    """Return *value* as values of its type are compared: case, width, typography and spacing make no difference."""
    form = _SPACED_HYPHEN.sub("-", unicodedata.normalize("NFC", fold(value).text).strip())
    if not form.isascii():
        form = "".join(map(_ascii_digit, form))
    if entity_type == "code" and sum(map(str.isdigit, form)) >= _FEWEST_DIGITS and not _SEPARATED.search(form):
        return without_separators(form)
    return form


def without_separators(text: str) -> str:
    """Return *text* without white space, hyphens, dots, slashes, brackets and plus signs, and without "(0)" after a country code."""
    return _SEPARATORS.sub("", text)


def text_words(text: str) -> list[str]:
    """Return the words of *text*; width, typography, composition and zero-width characters make no difference, case does."""
    return words(text if text.isascii() else "".join(map(_ascii_digit, unicodedata.normalize("NFKC", text.translate(_VISIBLE)))))


def _ascii_digit(character: str) -> str:
    """Return *character*, or the ASCII digit for a digit of another script."""
    return character if character.isascii() or not character.isdecimal() else str(unicodedata.decimal(character))


class _Visible(dict[int, str]):
    """What stands for a character where texts are compared: nothing for an ignorable one, ASCII for quotes and dashes."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = kept = "" if _is_ignorable(character) else character.translate(_TYPOGRAPHY)
        return kept


_VISIBLE = _Visible()


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return ``[start, end)`` without white space and zero-width characters at its ends; it may become empty."""
    while start < end and (text[start].isspace() or is_zero_width(text[start])):
        start += 1
    while start < end and (text[end - 1].isspace() or is_zero_width(text[end - 1])):
        end -= 1
    return start, end


def stripped(text: str) -> str:
    """Return *text* without white space and zero-width characters at its ends."""
    start, end = trim(text, 0, len(text))
    return text[start:end]
