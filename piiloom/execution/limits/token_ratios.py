"""Corrects token estimates: a running ratio of actual to estimated tokens for each stage.

Estimates are made without a tokenizer and may be off by a factor that differs between languages and stages. With the ratio, the
long-run usage matches a token limit whatever the factor.
"""

from __future__ import annotations

# Decay per call: about the last fifty calls count.
_FADING = 0.98
_LEAST, _MOST = 0.02, 50.0


class TokenRatios:
    """Actual over estimated tokens for each stage; a new stage uses the ratio of all calls."""

    def __init__(self) -> None:
        self._all = _Sums()
        self._stages: dict[str, _Sums] = {}

    def corrected(self, estimated: float, stage: str) -> float:
        """Return the tokens that a call of *stage* is likely to take, at least 1."""
        return max(1.0, estimated * self._stages.get(stage, self._all).ratio)

    def learn(self, estimated: float, actual: float, stage: str) -> None:
        """Record that a call of *stage* took *actual* tokens."""
        self._all.add(estimated, actual)
        sums = self._stages.get(stage)
        if sums is None:
            sums = self._stages[stage] = _Sums()
        sums.add(estimated, actual)


class _Sums:
    __slots__ = ("_actual", "_estimated", "ratio")

    def __init__(self) -> None:
        self._actual = self._estimated = 0.0
        self.ratio = 1.0

    def add(self, estimated: float, actual: float) -> None:
        self._actual = self._actual * _FADING + actual
        self._estimated = self._estimated * _FADING + max(1.0, estimated)
        self.ratio = min(_MOST, max(_LEAST, self._actual / self._estimated))
