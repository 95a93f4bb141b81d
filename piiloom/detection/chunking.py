"""Cut a long text into pieces that a model reads one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from piiloom.corpus.normalising import extends
from piiloom.foundation.words import Range


def cut_text(text: str, ends: Sequence[int], whole: Iterable[Range], limit: int, within: Range | None = None) -> list[Range]:
    """Return the ranges of the pieces of *text*, or of its range *within*: they cover it exactly, with at most *limit* code points each.

    Cuts are at *ends* (of sentences, ascending); in a sentence longer than *limit* between words, or anywhere if there is no other place.
    No cut is inside a range of *whole*; a piece with a longer one of these is longer than *limit*.
    """
    blocks = _joined(whole)
    starts = [start for start, _ in blocks]
    free = [end for end in ends if _free(end, blocks, starts)]
    pieces: list[Range] = []
    at, size = within or (0, len(text))
    while size - at > limit:
        cut = min(_cut(text, at, at + limit, free, blocks, starts), size)
        pieces.append((at, cut))
        at = cut
    if at < size:
        pieces.append((at, size))
    return pieces


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """*ranges* in order, those that overlap as one."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _block_at(place: int, blocks: Sequence[Range], starts: Sequence[int]) -> Range | None:
    """The block that a cut at *place* would cut."""
    number = bisect_left(starts, place) - 1
    return blocks[number] if number >= 0 and place < blocks[number][1] else None


def _free(place: int, blocks: Sequence[Range], starts: Sequence[int]) -> bool:
    return _block_at(place, blocks, starts) is None


def _cut(text: str, at: int, latest: int, ends: Sequence[int], blocks: Sequence[Range], starts: Sequence[int]) -> int:
    number = bisect_right(ends, latest) - 1
    if number >= 0 and ends[number] > at:
        return ends[number]
    place = latest
    while place > at:
        block = _block_at(place, blocks, starts)
        if block is not None:
            place = block[0]
        elif text[place - 1].isspace():
            return place
        else:
            place -= 1
    block = _block_at(latest, blocks, starts)
    if block is not None:
        return block[0] if block[0] > at else block[1]
    return _not_before_a_mark(text, at, latest)


def _not_before_a_mark(text: str, at: int, place: int) -> int:
    """*place*, or the nearest before it where no letter is parted from its marks."""
    found = place
    while found > at + 1 and extends(text[found]):
        found -= 1
    return place if found == at + 1 else found
