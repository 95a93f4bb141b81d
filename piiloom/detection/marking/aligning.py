"""Which stretches of an answer are which of the text: a map that is never a guess.

The two are compared by tokens, and what differs once more by characters. Of the stretches that have stayed, those are *certain* that each
of the two texts has once, without those ends of them that a gap beside them has, too: where "x b" is left of "x a x b", either x may be
the one that stayed. They cannot be any other. What lies between two certain stretches of the answer lies between the same two of the text;
there, and only there, a value is looked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from piiloom.detection.marking.tokens import Change, text_changes

_LEAST: Final = 3  # characters, without blanks, of a certain stretch
_MOST_COMPARED: Final = 4_000_000  # product of the lengths of two stretches that are compared by characters


class Certain(NamedTuple):
    """``original[start : start + length]`` is ``answer[place : place + length]``."""

    start: int
    place: int
    length: int


class Window(NamedTuple):
    """``answer[place:place_end]`` comes from ``original[start:end]``."""

    start: int
    end: int
    place: int
    place_end: int


class _Stretches:
    """Stretches in order, to be looked up by places of the answer."""

    def __init__(self, stretches: list[Certain]) -> None:
        self.stretches = stretches
        self._places = [one.place for one in stretches]
        self._ends = [one.place + one.length for one in stretches]

    def direct(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the text for a range within one stretch."""
        number = bisect_right(self._places, start) - 1
        if number < 0 or end > self._ends[number]:
            return None
        shift = self.stretches[number].start - self.stretches[number].place
        return start + shift, end + shift

    def before(self, start: int) -> tuple[int, int]:
        """The last place of text and answer at or before *start* that a stretch tells; the beginning if there is none."""
        number = bisect_right(self._places, start) - 1
        if number < 0:
            return 0, 0
        one = self.stretches[number]
        into = min(start - one.place, one.length)
        return one.start + into, one.place + into

    def behind(self, end: int) -> tuple[int, int] | None:
        """The first place at or behind *end* that a stretch tells, if there is one."""
        number = bisect_left(self._ends, end)
        if number == len(self.stretches):
            return None
        one = self.stretches[number]
        into = max(end - one.place, 0)
        return one.start + into, one.place + into


class Alignment:
    """How *answer*, without its markers, comes from *original*."""

    def __init__(self, original: str, answer: str) -> None:
        self.original, self.answer = original, answer
        self.equal = original == answer
        self.changes = [Change(True, 0, len(original), 0, len(answer))] if self.equal else text_changes(original, answer)
        self._all = _Stretches(self._stayed())
        self._certain = self._all
        if not self.equal:
            self._certain = _Stretches([one for one in self._firm(self._all.stretches) if self._is_certain(one)])

    @property
    def lost(self) -> int:
        """How many characters of the text, without blanks, the answer does not have where they belong."""
        return sum(
            len("".join(self.original[one.a_start : one.a_end].split()))
            - _kept(self.original[one.a_start : one.a_end], self.answer[one.b_start : one.b_end])
            for one in self.changes
            if not one.equal
        )

    def direct(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the text for a range of the answer within one certain stretch."""
        return self._certain.direct(start, end)

    def likely(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the text for a range of the answer within one stretch that has stayed, certain or not."""
        return self._all.direct(start, end)

    def window(self, start: int, end: int) -> Window:
        """The narrowest window that a range of the answer lies in for certain."""
        low, place = self._certain.before(start)
        high, place_end = self._certain.behind(end) or (len(self.original), len(self.answer))
        return Window(low, high, place, place_end)

    def likely_range(self, start: int, end: int) -> tuple[int, int]:
        """What stands in the text between what has stayed, certain or not, before and behind a range of the answer."""
        low, _ = self._all.before(start)
        high, _ = self._all.behind(end) or (len(self.original), len(self.answer))
        return low, high

    def _stayed(self) -> list[Certain]:
        """What has stayed, as long as it gets; within what differs, by characters."""
        found: list[Certain] = []
        for one in self.changes:
            if one.equal:
                parts = [Certain(one.a_start, one.b_start, one.a_end - one.a_start)]
            else:
                parts = _alike(self.original[one.a_start : one.a_end], self.answer[one.b_start : one.b_end], one)
            for part in parts:
                last = found[-1] if found else None
                if last is not None and (last.start + last.length, last.place + last.length) == (part.start, part.place):
                    found[-1] = last._replace(length=last.length + part.length)
                else:
                    found.append(part)
        return found

    def _firm(self, stayed: list[Certain]) -> Iterator[Certain]:
        """Yield what has stayed without those ends that a gap beside it, of text or answer, has, too."""
        none, end = Certain(0, 0, 0), Certain(len(self.original), len(self.answer), 0)
        for before, one, behind in zip([none, *stayed], stayed, [*stayed[1:], end], strict=False):
            gaps = (
                self.original[before.start + before.length : one.start],
                self.answer[before.place + before.length : one.place],
                self.original[one.start + one.length : behind.start],
                self.answer[one.place + one.length : behind.place],
            )
            text = self.original[one.start : one.start + one.length]
            head = max(_head_in(text, gap) for gap in gaps[:2])
            tail = max(_tail_in(text, gap) for gap in gaps[2:])
            if head + tail < one.length:
                yield Certain(one.start + head, one.place + head, one.length - head - tail)

    def _is_certain(self, one: Certain) -> bool:
        text = self.original[one.start : one.start + one.length]
        return len("".join(text.split())) >= _LEAST and _once(self.original, text) and _once(self.answer, text)


def _head_in(text: str, gap: str) -> int:
    """How many characters *text* begins with that *gap* has, too."""
    return _most(min(len(text), len(gap)), lambda length: text[:length] in gap)


def _tail_in(text: str, gap: str) -> int:
    """How many characters *text* ends with that *gap* has, too."""
    return _most(min(len(text), len(gap)), lambda length: text[len(text) - length :] in gap)


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The greatest number up to *limit* that *holds*, as all below it do."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _alike(original: str, answer: str, change: Change) -> list[Certain]:
    if not original or not answer or len(original) * len(answer) > _MOST_COMPARED:
        return []
    return [
        Certain(change.a_start + code.src_start, change.b_start + code.dest_start, code.src_end - code.src_start)
        for code in Levenshtein.opcodes(original, answer)
        if code.tag == "equal"
    ]


def _kept(original: str, answer: str) -> int:
    """How many characters, without blanks, a change of *original* to *answer* leaves, at most."""
    return LCSseq.similarity("".join(original.split()), "".join(answer.split()))


def _once(text: str, part: str) -> bool:
    first = text.find(part)
    return first >= 0 and text.find(part, first + 1) < 0
