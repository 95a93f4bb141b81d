"""Text edits: applying them, and computing the edits that lead from one text to another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

# The diff's tokens: a word or a single other character, each with the white space after it. White space as a token of its own
# would match everywhere.
_PIECE = re.compile(r"\w+\s*|\W\s*")
_EXACT_UP_TO = 1000  # tokens; above that difflib's autojunk heuristic ignores frequent tokens, which is faster but less exact


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacement of ``text[start:end]`` by ``inserted``."""

    start: int
    end: int
    inserted: str

    @property
    def growth(self) -> int:
        """The change in text length, in code points; negative if the text gets shorter."""
        return len(self.inserted) - (self.end - self.start)

    def applied_to(self, text: str) -> str:
        """*text* after the edit."""
        return f"{text[: self.start]}{self.inserted}{text[self.end :]}"


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """Return *text* after disjoint *edits*, given in text order and with offsets of *text*."""
    pieces, position = [], 0
    for edit in edits:
        pieces += [text[position : edit.start], edit.inserted]
        position = edit.end
    return "".join((*pieces, text[position:]))


def edits_between(a: str, b: str) -> list[TextEdit]:
    """Return disjoint edits, in text order, that turn *a* into *b*.

    The texts are compared word by word; each edit is then trimmed to the characters that differ. Results are cached.
    """
    return list(_edits_between(a, b))


# Cached, since pages compare the same long texts at each rerun: 0.2 s for 20,000 words with 300 edits.
@lru_cache(maxsize=32)
def _edits_between(a: str, b: str) -> tuple[TextEdit, ...]:
    head, tail = common_edges(a, b)
    old, new = a[head : len(a) - tail], b[head : len(b) - tail]
    if not old or not new:
        return (TextEdit(head, head + len(old), new),) if old or new else ()
    return tuple(_edits_of_pieces(old, new, head))


def common_edges(a: str, b: str) -> tuple[int, int]:
    """Return the lengths of the common prefix and common suffix of *a* and *b*, in code points; the two never overlap."""
    shorter = min(len(a), len(b))
    head = _agreeing(shorter, lambda low, high: a[low:high] == b[low:high])
    tail = _agreeing(shorter - head, lambda low, high: a[len(a) - high : len(a) - low] == b[len(b) - high : len(b) - low])
    return head, tail


def _agreeing(limit: int, equal: Callable[[int, int], bool]) -> int:
    """Return the greatest length up to *limit* for which all is equal.

    Binary search over slices, which is faster than a loop over characters. ``equal(low, high)`` compares offsets low to high.
    """
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
