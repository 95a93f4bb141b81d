"""How long the calls of each stage take when nothing queues: a low quantile of what was seen, slowly ageing."""

from __future__ import annotations

from math import log

# The quantile of latencies that stands for "no queue", and the answers that are looked at together.
_QUANTILE = 0.15
_FIRST_BLOCK, _BLOCK = 32, 64
# A baseline follows faster answers at once and slower ones hardly: 3% of the way for each block of answers. It does not
# follow a queue (answers twice as slow) at all; when calls became slower for another reason, ``shift`` is told.
_DOWN, _UP = 0.5, 0.03
_QUEUE = log(2.0)


class StageBaselines:
    """The logarithm of a low quantile of the latency of each stage."""

    def __init__(self) -> None:
        self._levels: dict[str, float] = {}
        self._blocks: dict[str, list[float]] = {}

    def excess(self, stage: str, latency_s: float, *, frozen: bool) -> float | None:
        """How far *latency_s* is above the baseline of its *stage* (in logarithms); None while there is no baseline.

        *frozen*: the baselines that are there stay as they are.
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
        """All calls have become slower by the factor exp(*by*), and that is how it is now."""
        self._levels = {stage: level + by for stage, level in self._levels.items()}


def low_quantile(values: list[float]) -> float:
    """The low quantile of *values* that stands for calls which met no queue."""
    return sorted(values)[int(len(values) * _QUANTILE)]
