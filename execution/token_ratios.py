"""How many tokens calls really take, against what was estimated for them: a running ratio for each stage.

Estimates are made without a tokenizer and may be off by a factor, which differs between languages and stages. The ratio
brings the long-run use of a token limit to the limit, whatever the factor.
"""

from __future__ import annotations

# Older calls fade: the last fifty or so decide.
_FADING = 0.98
_LEAST, _MOST = 0.02, 50.0


class TokenRatios:
    """Actual over estimated tokens, for each stage; a stage not seen yet goes by all of them together."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, float]] = {}

    def corrected(self, estimated: float, stage: str) -> float:
        """What a call of *stage* is likely to take, at least one token."""
        actual, guessed = self._sums.get(stage) or self._sums.get("") or (1.0, 1.0)
        return max(1.0, estimated * min(_MOST, max(_LEAST, actual / guessed)))

    def learn(self, estimated: float, actual: float, stage: str) -> None:
        """A call of *stage* took *actual* tokens."""
        for key in ("", stage) if stage else ("",):
            old_actual, old_guessed = self._sums.get(key, (0.0, 0.0))
            self._sums[key] = (old_actual * _FADING + actual, old_guessed * _FADING + max(1.0, estimated))
