"""Draw the lengths of a plan item's texts and how many values fit into them. All lengths are in words."""

from __future__ import annotations

import random

from piiloom.generation.item import Band
from piiloom.taxonomy.registers import TextKind

_LONGEST = 620
_ASIDE = 15  # words of an aside, about
_FEWEST_SITUATION = 5
_MOST_ASKED = 70  # upper limit of a situation's minimum length: not every scenario is long enough for more
# Share of texts without any aside; the same for short texts; texts with fewer words than the last number are short.
_BARE, _BARE_IF_SHORT, _SHORT = 0.06, 0.75, 24
_P95 = 1.645  # standard deviations from the median to the 95th percentile


def draw_length(register: TextKind, rng: random.Random) -> int:
    """Draw a context length in words.

    The distribution is log-normal on each side of the register's median; its shortest and longest lengths are the 5th and 95th
    percentiles. The result is at least 6 and at most ``_LONGEST``.
    """
    shortest, median, longest = register.words
    deviation = rng.gauss(0, 1) / _P95
    length: float = median * ((longest / median) ** deviation if deviation > 0 else (shortest / median) ** -deviation)
    return max(6, min(_LONGEST, round(length)))


def draw_low_count(words: int, register: TextKind, rng: random.Random) -> int:
    """Draw how many low-relevance values a text of *words* words gets: about one per 15 to 40 words, sometimes none."""
    if rng.random() < (_BARE_IF_SHORT if words < _SHORT else _BARE):
        return 0
    room: float = (words / 17) ** 0.75
    return min(register.low_spans, round(room * rng.uniform(0.4, 2.0) + rng.uniform(-0.4, 0.6)))


def situation_band(words: int, high: int, low: int, rng: random.Random) -> Band:
    """Draw the (fewest, most) words of the situation: what *low* asides leave of *words*, less some room for small talk."""
    share = rng.uniform(0.55, 1.0)
    room = max(8 * max(1, high), int((words - low * _ASIDE * 0.6) * share))
    return min(_MOST_ASKED, max(_FEWEST_SITUATION, int(room * 0.55))), int(room * 1.3) + 42


def context_band(words: int, situation: Band, aside: Band, asides: int) -> Band:
    """Return the (fewest, most) words of the finished text: near *words*, with room for the situation and all *asides*."""
    longest = situation[1] + min(aside[1], 45) * asides
    return max(3, min(words, situation[0]) * 2 // 3), max(words * 3 // 2, longest) * 4 // 3 + 40
