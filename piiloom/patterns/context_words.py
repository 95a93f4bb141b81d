"""The words around a match: those that speak for it raise its score, those that speak against it lower it.

A phrase counts where it begins a word (in scripts without blanks: anywhere), up to ``BEFORE`` code points before the match, in the same
paragraph; one that speaks for it also up to ``AFTER`` behind, one that speaks against it on the same line only. The nearer one counts
more; of one for and one against, only the nearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BEFORE: Final = 60
AFTER: Final = 30
MOST_RAISED: Final = 0.4
LEAST_RAISED: Final = 0.2
LOWERED: Final = 0.4
_BEHIND: Final = 12  # a word behind the match counts as if it stood so much farther away
_NO_BLANKS: Final = "\u2e80"  # from here on scripts (Han, kana, Hangul) put no blanks between words
_NOWHERE: Final = 1_000


class Surroundings:
    """What stands around ``text[start:end]``, in small letters."""

    __slots__ = ("_after", "_before")

    def __init__(self, text: str, start: int, end: int) -> None:
        before = text[max(0, start - BEFORE) : start]
        self._before = before[before.rfind("\n\n") + 1 :].lower()
        after = text[end : end + AFTER]
        paragraph = after.find("\n\n")
        self._after = (after if paragraph < 0 else after[:paragraph]).lower()

    def change(self, for_it: Sequence[str], against: Sequence[str]) -> float:
        """By how much the score of a match changes."""
        supporting = min(self._before_it(self._before, for_it), self._behind_it(for_it))
        opposing = self._before_it(self._before[self._before.rfind("\n") + 1 :], against)
        if opposing < supporting:
            return -LOWERED
        if supporting == _NOWHERE:
            return 0.0
        return MOST_RAISED - (MOST_RAISED - LEAST_RAISED) * min(supporting / BEFORE, 1.0)

    @staticmethod
    def _before_it(before: str, phrases: Sequence[str]) -> int:
        """How many code points lie between the nearest of *phrases* in *before* and the match; very many if there is none."""
        return min((len(before) - at - len(phrase) for phrase in phrases if (at := last_of(before, phrase)) >= 0), default=_NOWHERE)

    def _behind_it(self, phrases: Sequence[str]) -> int:
        return min((at + _BEHIND for phrase in phrases if (at := self._first(phrase)) >= 0), default=_NOWHERE)

    def _first(self, phrase: str) -> int:
        at = self._after.find(phrase)
        while at > 0 and _inside_word(self._after, at, phrase):
            at = self._after.find(phrase, at + 1)
        return at


def last_of(text: str, phrase: str) -> int:
    """Where *phrase* last begins a word in *text* (in scripts without blanks: anywhere); negative if it does not. Both in small letters."""
    at = text.rfind(phrase)
    while at > 0 and _inside_word(text, at, phrase):
        at = text.rfind(phrase, 0, at + len(phrase) - 1)
    return at


def _inside_word(text: str, at: int, phrase: str) -> bool:
    """Whether *phrase* at *at* continues a word."""
    return phrase[0] < _NO_BLANKS and text[at - 1].isalnum() and phrase[0].isalnum() and text[at - 1] < _NO_BLANKS
