"""Cut the tokens of a long text into windows, so that memory and time do not grow with the square of its length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from piiloom.tagging.features import NEIGHBOURS, WordToken

MOST_TOKENS: Final = 2000
_ENDS: Final = frozenset(".!?。！？।؟")
_BESIDE: Final = max(NEIGHBOURS)


class LabelWindow(NamedTuple):
    """``size`` tokens to label, behind ``skip`` tokens that only their features see, and before some more of those."""

    tokens: Sequence[WordToken]
    skip: int
    size: int


def label_windows(tokens: Sequence[WordToken], most: int = MOST_TOKENS) -> Iterator[LabelWindow]:
    """Yield windows of at most *most* tokens that hold all of *tokens*; each ends behind a sentence, if one ends in its last half."""
    first = 0
    while first < len(tokens):
        end = _end(tokens, first, most)
        before = max(0, first - _BESIDE)
        yield LabelWindow(tokens[before : end + _BESIDE], first - before, end - first)
        first = end


def _end(tokens: Sequence[WordToken], first: int, most: int) -> int:
    if len(tokens) - first <= most:
        return len(tokens)
    last = first + most
    ends = (at + 1 for at in range(last - 1, first + most // 2, -1) if tokens[at].text in _ENDS)
    return next(ends, last)
