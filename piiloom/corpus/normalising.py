"""Normalize texts for comparison, with a map back to the original offsets.

``fold`` maps a text to the form in which values are compared: compatibility decomposition (NFKD), full case folding,
ASCII quotes and dashes, one space for any run of white space; zero-width characters and variation selectors are removed.
Two texts are equal under NFKD exactly when they are equal under NFKC. NFKD is used because it never composes
across characters, so that every folded character comes from one original cluster (a character with its combining marks) and
the map back is exact.

``plain`` normalizes typography only (quotes, dashes, white space, zero-width characters, canonical composition). Case and
digits are unchanged, so that two codes that differ in them stay different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

APOSTROPHES = "'\u2018\u2019\u201a\u201b\u02b9\u02bc\u00b4\u2032\uff07"
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u02ba\u2033\uff02\u00ab\u00bb'
_DASHES = "-\u058a\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d"
_TYPOGRAPHY = str.maketrans({**dict.fromkeys(APOSTROPHES, "'"), **dict.fromkeys(_DOUBLE_QUOTES, '"'), **dict.fromkeys(_DASHES, "-")})
# ASCII text without a match keeps its length when folded, so that it only needs lower-casing.
_UNEVEN_SPACE = re.compile(r"[^\S ]|  ")
# A run of printable ASCII with single spaces; its last character is followed by ASCII, so no combining mark belongs to it.
_ASCII_RUN = re.compile(r"[!-~]+(?: [!-~]+)*(?=[\x00-\x7f]|\Z)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
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
        or character == "\u034f"  # combining grapheme joiner
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


def fold(text: str) -> Folded:
    """Return *text* in the form in which values are compared, with a map back to its offsets."""
    if text.isascii() and not _UNEVEN_SPACE.search(text):
        return Folded(text=text.lower(), starts=range(len(text)), ends=range(1, len(text) + 1))
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
    return Folded(text="".join(pieces), starts=starts, ends=ends)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return *text* with normalized typography; case and digits are unchanged."""
    visible = "".join(c for c in text.translate(_TYPOGRAPHY) if not _is_ignorable(c))
    return _SPACES.sub(" ", unicodedata.normalize("NFC", visible)).strip()


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return ``[start, end)`` without white space and zero-width characters at its ends; it may become empty."""
    while start < end and (text[start].isspace() or is_zero_width(text[start])):
        start += 1
    while start < end and (text[end - 1].isspace() or is_zero_width(text[end - 1])):
        end -= 1
    return start, end
