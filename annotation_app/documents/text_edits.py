"""Edits of a text: doing them, and finding those that lead from one text to another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

# A word with the blanks behind it, or one other character with those: blanks alone would match everywhere.
_PIECE = re.compile(r"\w+\s*|\W\s*")
_EXACT_UP_TO = 1000  # pieces; longer stretches are compared by their rarer pieces only, which is quick and coarser


@dataclass(frozen=True, slots=True)
class TextEdit:
    """``text[start:end]`` is replaced by ``inserted``."""

    start: int
    end: int
    inserted: str

    @property
    def growth(self) -> int:
        """By how many code points the text gets longer; negative when it shrinks."""
        return len(self.inserted) - (self.end - self.start)

    def applied_to(self, text: str) -> str:
        """*text* after the edit."""
        return f"{text[: self.start]}{self.inserted}{text[self.end :]}"


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """*text* after disjoint *edits* in text order, all in the offsets of *text*."""
    pieces, position = [], 0
    for edit in edits:
        pieces += [text[position : edit.start], edit.inserted]
        position = edit.end
    return "".join((*pieces, text[position:]))


def edits_between(a: str, b: str) -> list[TextEdit]:
    """Disjoint edits, in text order, that make *b* of *a*; they follow words and are then cut down to what differs."""
    return list(_edits_between(a, b))


# Pages compare the same long texts at every turn: 0.2 s for 20,000 words with 300 edits.
@lru_cache(maxsize=32)
def _edits_between(a: str, b: str) -> tuple[TextEdit, ...]:
    head, tail = common_edges(a, b)
    old, new = a[head : len(a) - tail], b[head : len(b) - tail]
    if not old or not new:
        return (TextEdit(head, head + len(old), new),) if old or new else ()
    return tuple(_edits_of_pieces(old, new, head))


def common_edges(a: str, b: str) -> tuple[int, int]:
    """How many code points *a* and *b* share at the front and, without counting any twice, at the back."""
    shorter = min(len(a), len(b))
    head = _agreeing(shorter, lambda low, high: a[low:high] == b[low:high])
    tail = _agreeing(shorter - head, lambda low, high: a[len(a) - high : len(a) - low] == b[len(b) - high : len(b) - low])
    return head, tail


def _agreeing(limit: int, equal: Callable[[int, int], bool]) -> int:
    """The greatest length up to *limit* that is equal; halving compares whole slices, not one character after the other."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _edits_of_pieces(old: str, new: str, offset: int) -> Iterator[TextEdit]:
    left, right = _PIECE.findall(old), _PIECE.findall(new)
    places, others = _offsets(left), _offsets(right)
    matcher = SequenceMatcher(None, left, right, autojunk=max(len(left), len(right)) > _EXACT_UP_TO)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            before, after = old[places[i] : places[j]], new[others[k] : others[m]]
            head, tail = common_edges(before, after)
            start, end = offset + places[i] + head, offset + places[j] - tail
            yield TextEdit(start, end, after[head : len(after) - tail])


def _offsets(pieces: Sequence[str]) -> list[int]:
    found = [0]
    for piece in pieces:
        found.append(found[-1] + len(piece))
    return found
