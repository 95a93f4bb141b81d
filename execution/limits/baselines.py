"""Baseline latency of each stage, that is without queueing: a low quantile of what was observed, slowly adapting."""

from __future__ import annotations

from math import log

# The quantile that stands for "no queue", and how many answers form a block (the first one, later ones).
_QUANTILE = 0.15
_FIRST_BLOCK, _BLOCK = 32, 64
# After each block, a baseline moves 50% of the way to a faster level, but only 3% to a slower one. It ignores blocks that
# are twice as slow, which mean a queue. If calls became slower for another reason, ``shift`` is called.
_DOWN, _UP = 0.5, 0.03
_QUEUE = log(2.0)


class StageBaselines:
    """For each stage, the logarithm of a low quantile of its latencies in seconds."""

    def __init__(self) -> None:
        self._levels: dict[str, float] = {}
        self._blocks: dict[str, list[float]] = {}

    def excess(self, stage: str, latency_s: float, *, frozen: bool) -> float | None:
        """Return log(latency / baseline) for an answer of *stage*, and learn from it; None while the stage has no baseline.

        *frozen* leaves existing baselines unchanged.
        """
        value = log(latency_s)
        level = self._levels.get(stage)
        if frozen and level is not None:
            return value - level
        block = self._blocks.setdefault(stage, [])
        block.append(value)
        if len(block) >= (_FIRST_BLOCK if level is None else _BLOCK):
            now = low_quantile(block)
            block.clear()
            if level is None:
                level = now
            elif now < level + _QUEUE:
                level += (now - level) * (_DOWN if now < level else _UP)
            self._levels[stage] = level
        return None if level is None else value - level

    def shift(self, by: float) -> None:
        """Multiply all baselines by exp(*by*): calls have become slower for good."""
        self._levels = {stage: level + by for stage, level in self._levels.items()}


def low_quantile(values: list[float]) -> float:
    """Return the low quantile of *values* that stands for calls which met no queue."""
    return sorted(values)[int(len(values) * _QUANTILE)]
