r"""The words of a text as a token classifier needs them: ranges that a span never cuts.

A word is a run of letters, digits and underscores with the marks and joiners that belong to them. Han, kana and Hangul are written
without blanks, Thai, Lao, Khmer and Burmese too, so each of their letters is a word of its own. An apostrophe between letters joins
("O'Brien", "don't"), but not before a clitic ("Ann's"). A full stop, comma or colon between digits joins ("34.5").
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import regex

from piiloom.corpus.normalising import APOSTROPHES

_FREE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}々〇"
_MARKS: Final = r"[\p{M}\p{Cf}\p{Emoji_Modifier}]"
_LETTER: Final = rf"(?:[\w--[{_FREE}]]{_MARKS}*+)"
_DIGIT: Final = rf"(?:\d{_MARKS}*+)"
_CLITIC: Final = r"(?i:s|d|m|ll|ve|re)(?!\w)"
_WORD: Final = regex.compile(
    rf"""
      {_LETTER}++ (?: (?: [{APOSTROPHES}](?!{_CLITIC}) | (?<={_DIGIT})[.,:](?=\d) ) {_LETTER}++ )*+
    | \p{{Regional_Indicator}}{{2}}
    | [^\s] {_MARKS}*+ (?: (?<=\u200d) [^\s\w] {_MARKS}*+ )*+
    """,
    regex.VERBOSE | regex.VERSION1,
)


class Words:
    """The words and signs of *text*; between two of them is white space or nothing."""

    def __init__(self, text: str) -> None:
        self._ranges = [match.span() for match in _WORD.finditer(text)]
        self._starts = [start for start, _ in self._ranges]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the words that ``[start, end)`` touches; an empty one if it touches none."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, end - 1) - 1
        while first <= last and self._ranges[first][1] <= start:
            first += 1
        if end <= start or first > last:
            return start, start
        return self._ranges[first][0], self._ranges[last][1]
