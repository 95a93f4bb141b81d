"""Where sentences end, in the scripts of the catalogue's locales, and what stands around a place.

A line break always ends a sentence; so does a full stop of a script without capitals. A Latin one does before white space, unless a small
letter or a digit follows, or it belongs to an abbreviation or an initial.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final

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
