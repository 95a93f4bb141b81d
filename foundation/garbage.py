"""How often the cyclic garbage collector runs in processes that are ours alone (not in those that import piiloom)."""

from __future__ import annotations

import gc

# New objects before a collection, and collections before one of the next generation. Python's 700 suits programs with few objects: a
# loaded bank has hundreds of thousands that stay, and a run of the composer went through them for a fifth of its time.
_THRESHOLDS = (200_000, 10, 10)


def collect_less_often() -> None:
    """Set the thresholds of the collector for a process that works on records until it ends."""
    gc.set_threshold(*_THRESHOLDS)
