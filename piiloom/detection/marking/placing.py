"""Where the marks of an answer stand in the text, exactly or not at all.

A mark within a stretch that has stayed stands where the stretch does. Another is looked for in the window of the text that it lies in
for certain (``aligning``): as it is, then in other typography or case. It is placed if text and answer have it there equally often (then
the n-th is the n-th), and the alignment, which is only likely there, does not say otherwise. What the answer says more than once is
placed, too, if the text has it once and all of them are marked alike.

What is not placed is told: ``altered_value`` (the text says something else there), ``invented_value`` (the text has nothing there),
``ambiguous_place`` (the text has it there more or less often than the answer), ``inside_character`` (it would part a letter from its
marks), ``overlapping`` (an earlier mark has the place).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rapidfuzz import fuzz

from piiloom.corpus.mention_search import Range, is_same_spelling, is_word_character, stands_alone
from piiloom.corpus.normalising import Folded, extends, fold
from piiloom.detection.marking.aligning import Alignment, Window
from piiloom.detection.marking.pairing import Mark
from piiloom.detection.marking.tokens import is_unspaced
from piiloom.foundation.words import trimmed

_ALIKE: Final = 70.0  # rapidfuzz's partial ratio (0-100) from which on a value is taken for an altered one


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark that stands at ``[start, end)`` of the text. ``respelled``: the answer has it in other typography or case."""

    mark: Mark
    start: int
    end: int
    respelled: bool = False


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A mark that stands nowhere, and why; ``start`` and ``end`` are what the text has there, where that is known."""

    mark: Mark
    reason: str
    start: int | None = None
    end: int | None = None


class _Places(NamedTuple):
    """Where the text has a value, in order, and which of its places in the answer is the n-th."""

    ours: list[Range]
    theirs: dict[Range, int]


class Placing:
    """Places *marks* of ``alignment.answer``."""

    def __init__(self, alignment: Alignment, marks: Sequence[Mark]) -> None:
        self._alignment = alignment
        self._known: dict[tuple[str, Window, tuple[bool, bool], bool], _Places] = {}
        self._marked = {(mark.start, mark.end, mark.entity_type) for mark in marks}
        self._original, self._answer = alignment.original, alignment.answer

    def place(self, mark: Mark) -> Placed | Unplaced:
        """Return where *mark* stands."""
        found = self._placed(mark)
        if not isinstance(found, Placed):
            return found
        if _parts(self._original, found.start) or _parts(self._original, found.end):
            return Unplaced(mark, "inside_character", found.start, found.end)
        if stands_alone(self._answer, mark.start, mark.end) and _inside_word(self._original, found.start, found.end):
            return Unplaced(mark, "altered_value", found.start, found.end)
        return found

    def _placed(self, mark: Mark) -> Placed | Unplaced:
        direct = self._alignment.direct(mark.start, mark.end)
        if direct is not None:
            return Placed(mark, *direct)
        window = self._alignment.window(mark.start, mark.end)
        value = self._answer[mark.start : mark.end]
        joined = _joined(self._answer, mark.start, mark.end)
        found = self._in_window(value, window, joined, respelled=False)
        if found.ours:
            return self._nth(mark, found, respelled=False)
        found = self._in_window(value, window, joined, respelled=True)
        return self._nth(mark, found, respelled=True) if found.ours else self._missing(mark, value, window)

    def _nth(self, mark: Mark, found: _Places, *, respelled: bool) -> Placed | Unplaced:
        at = (mark.start, mark.end)
        if len(found.ours) == 1 < len(found.theirs) and all((*one, mark.entity_type) in self._marked for one in found.theirs):
            return Placed(mark, *found.ours[0], respelled=respelled)
        if len(found.ours) != len(found.theirs) or at not in found.theirs:
            return Unplaced(mark, "ambiguous_place")
        start, end = found.ours[found.theirs[at]]
        if respelled:
            low, high = self._alignment.likely_range(*at)
            likely = low <= start and end <= high
        else:
            likely = self._alignment.likely(*at) == (start, end)
        return Placed(mark, start, end, respelled=respelled) if likely else Unplaced(mark, "ambiguous_place")

    def _in_window(self, value: str, window: Window, joined: tuple[bool, bool], *, respelled: bool) -> _Places:
        """Where text and answer have *value* in *window*; marks of one value are often many."""
        key = (value, window, joined, respelled)
        if key not in self._known:
            ours = self._places(value, self._original, (window.start, window.end), joined, respelled=respelled)
            theirs = self._places(value, self._answer, (window.place, window.place_end), joined, respelled=respelled) if ours else []
            self._known[key] = _Places(ours, {one: number for number, one in enumerate(theirs)})
        return self._known[key]

    def _places(self, value: str, text: str, within: Range, joined: tuple[bool, bool], *, respelled: bool) -> list[Range]:
        if not respelled:
            return _alike(_occurrences(text, value, *within), text, joined)
        wanted = fold(value).text.strip()
        if not wanted:
            return []
        folded = self._folded_original if text is self._original else self._folded_answer
        places = _alike(_folded_places(folded, wanted, *within), text, joined)
        return [one for one in places if is_same_spelling(text[slice(*one)], value)]

    def _missing(self, mark: Mark, value: str, window: Window) -> Unplaced:
        start, end = trimmed(self._original, window.start, window.end)
        place, place_end = trimmed(self._answer, window.place, window.place_end)
        if (place, place_end) == (mark.start, mark.end):  # the window is the value's own
            return Unplaced(mark, "altered_value", start, end) if start < end else Unplaced(mark, "invented_value")
        alike = start < end and fuzz.partial_ratio(value, self._original[start:end]) >= _ALIKE
        return Unplaced(mark, "altered_value" if alike else "invented_value")

    @cached_property
    def _folded_original(self) -> Folded:
        return fold(self._original)

    @cached_property
    def _folded_answer(self) -> Folded:
        return fold(self._answer)


def _occurrences(text: str, value: str, start: int, end: int) -> Iterator[Range]:
    """Yield where ``text[start:end]`` has *value*."""
    at = text.find(value, start, end)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + 1, end)


def _folded_places(folded: Folded, wanted: str, start: int, end: int) -> Iterator[Range]:
    """Yield where the text has *wanted*, a folded value, within ``[start, end)``."""
    for low, high in _occurrences(folded.text, wanted, 0, len(folded.text)):
        found = folded.original_range(low, high)
        if found is not None and start <= found[0] and found[1] <= end:
            yield found


def _alike(places: Iterator[Range], text: str, joined: tuple[bool, bool]) -> list[Range]:
    """Those of *places* that go on as words, or not, as *joined* says of both ends."""
    return [(start, end) for start, end in places if _joined(text, start, end) == joined]


def _joined(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a word goes on before *start*, and whether one goes on behind *end*."""
    return _goes_on(text, start), _goes_on(text, end)


def _goes_on(text: str, place: int) -> bool:
    return 0 < place < len(text) and _in_word(text[place - 1]) and _in_word(text[place])


def _in_word(character: str) -> bool:
    return is_word_character(character) and not is_unspaced(character)


def _inside_word(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is a part of a longer word or number; in scripts without blanks between words there is no telling."""
    return not stands_alone(text, start, end) and not any(map(is_unspaced, text[max(0, start - 1) : start + 1] + text[end - 1 : end + 1]))


def _parts(text: str, place: int) -> bool:
    """Whether a cut at *place* parts a letter from its marks."""
    return 0 < place < len(text) and extends(text[place])
