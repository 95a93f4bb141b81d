"""Cut a long text into pieces that a model reads one by one, at the ends of its sentences, in the scripts of the catalogue's locales.

A line break always ends a sentence; so does a full stop of a script without capitals. A Latin one does before white space, unless a small
letter or a digit follows, or it belongs to an abbreviation or an initial.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from piiloom.corpus.normalising import extends
from piiloom.foundation.words import Range


def cut_text(text: str, ends: Sequence[int], whole: Iterable[Range], limit: int, within: Range | None = None) -> list[Range]:
    """Return the ranges of the pieces of *text*, or of its range *within*: they cover it exactly, with at most *limit* code points each.

    Cuts are at *ends* (of sentences, ascending); in a sentence longer than *limit* between words, or anywhere if there is no other place.
    No cut is inside a range of *whole*; a piece with a longer one of these is longer than *limit*.
    """
    blocks = _joined(whole)
    starts = [start for start, _ in blocks]
    free = [end for end in ends if _block_at(end, blocks, starts) is None]
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


REACH: Final = 400  # no more is shown to either side of a value, however long the sentence
_END: Final = re.compile(r"\n\s*|[。！？｡।॥۔؟]+[\"'”’»」』）)\]]*[^\S\n]*|[.!?…]+[\"'”’»)\]]*[^\S\n]+")
_ABBREVIATIONS: Final = frozenset(
    # titles, streets, numbers and the like that stand before what they belong to
    "dr mr mrs ms mgr inż prof hab lek drs ir ing mevr dhr mw sr sra srta dra exmo exma eng adv gen hr fr st sta sto jr sen dipl "
    "ul al pl os av avda rua tv pç pça est rod qd lt bl ap apto cj nr no núm num tel tlf tfn puh fax art pkt ust poz str s p pp z "
    "ca bl.a t.ex f.eks bijv bv o.a m.fl obs vs approx inc ltd co lda ltda ppor tp q tx hđ bs ths ts pgs gs tt ks kh डॉ श्री सं नं क्र".split()
)
_INITIAL: Final = re.compile(r"(?<!\w)(?:[^\W\d_]\.)*[^\W\d_]\Z")
_WORD_BEFORE: Final = re.compile(r"[\w.]*\Z")
_LOOK_BACK: Final = 16


class Sentences:
    """The sentences of *text*; each has the white space behind it, so that they cover the text exactly."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends = [end for match in _END.finditer(text) if (end := match.end()) < len(text) and _ends(text, match)]

    def around(self, start: int, end: int, *, beside: int = 0) -> tuple[int, int]:
        """The range of the sentences that ``[start, end)`` touches, and of *beside* more before and behind; at most ``REACH`` away."""
        first = bisect_right(self.ends, start) - beside
        last = bisect_left(self.ends, end) + beside
        begin = self.ends[first - 1] if first > 0 else 0
        finish = self.ends[last] if last < len(self.ends) else len(self.text)
        return max(begin, start - REACH), min(finish, end + REACH)


def _ends(text: str, match: re.Match[str]) -> bool:
    sign = match.group()[0]
    if sign == "\n" or sign not in ".!?…":
        return True
    following = text[match.end()]
    if following.islower() or (sign == "." and following.isdigit()):
        return False
    if sign != "." or match.group().startswith(".."):
        return True
    at = match.start()
    before = text[max(0, at - _LOOK_BACK) : at]
    word = _WORD_BEFORE.search(before)
    return _INITIAL.search(before) is None and (word is None or word.group().lower() not in _ABBREVIATIONS)


def sentence_pieces(text: str, limit: int, within: Range | None = None) -> list[Range]:
    """Return the pieces of *text*, or of its range *within*, that end with sentences, see ``cut_text``; blank ones are left out."""
    begin, end = within or (0, len(text))
    pieces = [(begin, end)] if end - begin <= limit else cut_text(text, Sentences(text).ends, (), limit, within)
    return [piece for piece in pieces if text[slice(*piece)].strip()]
