"""Map offsets between an input text and the text with surrogates, in both directions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from piiloom.foundation.errors import DataError

Ranges = tuple[tuple[int, int, int, int], ...]


class OffsetMap:
    """Offset map, made of the (start, end, new_start, new_end) of the replaced ranges as in ``map.jsonl``.

    Offsets are code points. Outside replaced ranges an offset maps to the same character. An offset inside a replaced range maps
    to the start of the corresponding range, or with ``end=True`` to its end. So a span (start, end) maps to
    ``(to_output(start), to_output(end, end=True))``. Raises ``DataError`` if the ranges are unsorted, empty or inconsistent.
    """

    __slots__ = ("_new_starts", "_starts", "ranges")

    def __init__(self, ranges: Iterable[Sequence[int]]) -> None:
        self.ranges: Ranges = tuple((start, end, new_start, new_end) for start, end, new_start, new_end in ranges)
        at = new_at = 0
        for start, end, new_start, new_end in self.ranges:
            if not (at <= start < end and new_at <= new_start < new_end and start - at == new_start - new_at):
                raise DataError("the replaced ranges are out of order, empty, or do not fit each other", where="offset map")
            at, new_at = end, new_end
        self._starts = [one[0] for one in self.ranges]
        self._new_starts = [one[2] for one in self.ranges]

    def to_output(self, offset: int, *, end: bool = False) -> int:
        """Map an *offset* of the input to the output; ``end`` says that it is an exclusive end."""
        return _moved(self._starts, self.ranges, offset, 0, 2, end=end)

    def to_input(self, offset: int, *, end: bool = False) -> int:
        """Map an *offset* of the output to the input; ``end`` says that it is an exclusive end."""
        return _moved(self._new_starts, self.ranges, offset, 2, 0, end=end)

    def restore(self, output: str, originals: Sequence[str]) -> str:
        """Return the input text, from the output and the original of each replaced range, in order."""
        return "".join(self._woven(output, originals, 2))

    def agrees(self, text: str, output: str) -> bool:
        """Whether *output* is *text* with nothing but the replaced ranges changed. Every other code point is compared."""
        if self.ranges and (self.ranges[-1][1] > len(text) or self.ranges[-1][3] > len(output)):
            return False
        values = [output[new_start:new_end] for _, _, new_start, new_end in self.ranges]
        return "".join(self._woven(text, values, 0)) == output

    def _woven(self, text: str, values: Sequence[str], side: int) -> list[str]:
        pieces: list[str] = []
        at = 0
        for one, value in zip(self.ranges, values, strict=True):
            pieces += (text[at : one[side]], value)
            at = one[side + 1]
        return [*pieces, text[at:]]


def _moved(starts: list[int], ranges: Ranges, offset: int, side: int, other: int, *, end: bool) -> int:
    # An exclusive end belongs to the range before it, any other offset to the range that starts there.
    number = bisect_right(starts, offset - 1 if end else offset) - 1
    if number < 0:
        return offset
    one = ranges[number]
    if offset >= one[side + 1]:
        return offset - one[side + 1] + one[other + 1]
    if offset == one[side] and not end:
        return one[other]
    return one[other + 1] if end else one[other]
