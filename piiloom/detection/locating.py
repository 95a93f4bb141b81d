"""Find a value, as a model copied it, in the text that it was copied from.

Models copy with small changes: another case, typographic quotes, a number in other groups, a letter more or less. The text's own words
are then what is meant, and the change is told.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

from rapidfuzz.distance import Levenshtein

from piiloom.corpus.mention_search import Range, SearchableText, has_number
from piiloom.corpus.normalising import fold, trim
from piiloom.detection.mentions import is_whole, mentions_of
from piiloom.foundation.words import WORD

_QUOTES: Final = "\"'`“”‘’«»„「」『』"
_LETTERS_PER_SLIP: Final = 6
_MOST_SLIPS: Final = 2
_LEAST: Final = 5  # letters and digits of a value that is looked for without what stands between them


class Located(NamedTuple):
    """The whole-word mentions of a value. ``reason``: None if they are exact.

    "altered": the text has it in another spelling only. Without mentions: "inside_word", "invented" or "empty".
    """

    ranges: list[Range]
    reason: str | None = None


class ValueFinder:
    """Looks for values in *text*."""

    def __init__(self, text: str) -> None:
        self._searchable = SearchableText(text)
        self._text = text

    def find(self, value: str) -> Located:
        """Return the mentions of *value*: exactly, else in another spelling, else in other groups, else what is very similar."""
        form = _trimmed(value)
        if not any(map(str.isalnum, form)) and not mentions_of(self._text, form):
            return Located([], "invented" if form else "empty")
        exact = mentions_of(self._text, form)
        if exact:
            return Located(exact)
        bare = _trimmed(form.strip(_QUOTES))
        for spelling in dict.fromkeys((bare, form)):
            found = mentions_of(self._text, spelling)
            found = found or [one for one in self._searchable.normalised(spelling) if is_whole(self._text, *one)]
            if found:
                return Located(found, "altered")
        if form in self._text or self._searchable.only_touched(form):
            return Located([], "inside_word")
        found = self._in_other_groups(form)
        if not found:
            similar = self._searchable.fuzzy(bare) or self._with_a_slip(bare)
            found = mentions_of(self._text, self._text[slice(*similar)]) if similar else []
        return Located(found, "altered") if found else Located([], "invented")

    def _with_a_slip(self, form: str) -> Range | None:
        """The first words that differ from *form* in a letter of six, at most in two; never in a number."""
        wanted = fold(form).text.strip()
        most = min(len(wanted) // _LETTERS_PER_SLIP, _MOST_SLIPS)
        if not most or has_number(form):
            return None
        words = [found.span() for found in WORD.finditer(self._text)]
        size = max(len(WORD.findall(form)), 1)
        for first, last in zip(words, words[size - 1 :], strict=False):
            surface = self._text[first[0] : last[1]]
            near = abs(len(surface) - len(wanted)) <= most
            if near and not has_number(surface) and Levenshtein.distance(fold(surface).text, wanted, score_cutoff=most) <= most:
                return first[0], last[1]
        return None

    def _in_other_groups(self, form: str) -> list[Range]:
        """Mentions of *form* that differ in blanks and signs only: "0612 345" for "06-12345"."""
        folded, (letters, places) = self._searchable.folded, self._letters
        wanted = "".join(filter(str.isalnum, fold(form).text))
        found: list[Range] = []
        at = letters.find(wanted) if len(wanted) >= _LEAST else -1
        while at >= 0:
            place = folded.original_range(places[at], places[at + len(wanted) - 1] + 1)
            if place is not None and is_whole(self._text, *place):
                found.append(self._with_signs(form, *place))
                at = letters.find(wanted, at + len(wanted))
            else:
                at = letters.find(wanted, at + 1)
        return found

    @cached_property
    def _letters(self) -> tuple[str, list[int]]:
        places = [at for at, character in enumerate(self._searchable.folded.text) if character.isalnum()]
        return "".join(self._searchable.folded.text[at] for at in places), places

    def _with_signs(self, form: str, start: int, end: int) -> Range:
        """With the sign that *form* begins or ends with, where the text has it there: the "+" of a telephone number."""
        if start and not form[0].isalnum() and self._text[start - 1] == form[0]:
            start -= 1
        if end < len(self._text) and not form[-1].isalnum() and self._text[end] == form[-1]:
            end += 1
        return start, end


def _trimmed(value: str) -> str:
    start, end = trim(value, 0, len(value))
    return value[start:end]
