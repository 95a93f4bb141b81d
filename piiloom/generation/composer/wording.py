"""Choose fixed text that contains no value by chance, since that would be an unmarked mention of the value, and asks nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from piiloom.corpus.marks import strip_marks
from piiloom.foundation.words import count_words
from piiloom.generation.composer.filling import SLOT
from piiloom.taxonomy.grammar import expand

_TRIES = 10
TRIES = 40  # draws of a text until its length is right
Band = tuple[int, int]  # (fewest, most) words


def folded(values: Iterable[str]) -> tuple[str, ...]:
    """Return *values* case-folded, as ``says_any`` takes them."""
    return tuple(value.casefold() for value in values)


def to_avoid(values: Iterable[Mapping[str, str]], others: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that fixed text beside *values* must not contain: *values* and *others*, as ``says_any`` takes them."""
    return folded([*others, *(value["text"] for value in values)])


def marked_length(marked: str) -> int:
    """Count the words of a text with marks."""
    return count_words(strip_marks(marked).text)


def in_band(draw: Callable[[], str], band: Band) -> str:
    """Return the first of up to ``TRIES`` marked texts of *draw* that has *band* words, else the last one."""
    for _ in range(TRIES):
        text = draw()
        if band[0] <= marked_length(text) <= band[1]:
            break
    return text


def says_any(text: str, values: Collection[str]) -> bool:
    """Whether the case-folded *text* holds one of *values* (case-folded) as whole words."""
    return any(value in text and _stands(text, value) for value in values)


def _stands(text: str, value: str) -> bool:
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return True
        start = text.find(value, start + 1)
    return False


def expand_clear(pattern: str, values: Collection[str], rng: random.Random) -> str | None:
    """Draw an expansion of *pattern* whose fixed text contains none of *values* and no question; None if some draws find none."""
    for _ in range(_TRIES // 2):
        text = expand(pattern, rng)
        if "?" not in text and not says_any(SLOT.sub(" ", text).casefold(), values):
            return text
    return None


def draw_clear(patterns: Sequence[str], values: Collection[str], rng: random.Random) -> str:
    """Draw an expansion of one of *patterns* whose fixed text contains none of *values*; if none is found, any (``spans`` finds it)."""
    for _ in range(_TRIES):
        text = expand_clear(rng.choice(patterns), values, rng)
        if text is not None:
            return text
    return expand(rng.choice(patterns), rng)
