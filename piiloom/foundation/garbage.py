"""How often the cyclic garbage collector runs: in processes that are ours alone (not in those that import piiloom), and in large works."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects before a collection, and collections before one of the next generation. Python's 700 suits programs with few objects: a
# loaded bank has hundreds of thousands that stay, and a run of the composer went through them for a fifth of its time.
_THRESHOLDS = (200_000, 10, 10)


def collect_less_often() -> None:
    """Set the thresholds of the collector for a process that works on records until it ends."""
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def collecting_at(objects: int) -> Iterator[None]:
    """In the block, collect only when there are *objects* new ones: for a work that keeps very many on purpose, and makes few cycles."""
    known = gc.get_threshold()
    gc.set_threshold(max(known[0], objects) if known[0] else 0, *known[1:])  # 0: the collector is off, and stays so
    try:
        yield
    finally:
        gc.set_threshold(*known)
