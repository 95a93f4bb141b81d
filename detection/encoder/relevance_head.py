"""The relevance head, in NumPy: what a span is to a question, from the states of their tokens.

It sees the mean of the span's tokens, the mean of the question's, their elementwise product (in which what both have in common stands out)
and the state of the window's first token. It is small, so that the detector runs it in NumPy, whatever runs the encoder itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS: Final = 4
LOW, HIGH = 0, 1


@dataclass(frozen=True, slots=True)
class RelevanceHead:
    """Its weights: a layer of the width of the encoder, tanh, and one output a relevance."""

    inner: NDArray[np.float32]
    inner_bias: NDArray[np.float32]
    outer: NDArray[np.float32]
    outer_bias: NDArray[np.float32]

    @classmethod
    def of(cls, weights: Mapping[str, NDArray[np.float32]]) -> RelevanceHead:
        """Return the head with *weights* as ``network`` names them."""
        return cls(*(weights[f"relevance.{name}"] for name in ("inner.weight", "inner.bias", "outer.weight", "outer.bias")))

    def high(self, states: NDArray[np.float32], span: tuple[int, int], question: tuple[int, int]) -> float:
        """Return the probability that the *span* (its places in the window of *states*) is of high relevance to the *question*."""
        one, asked = states[span[0] : span[1]].mean(axis=0), states[question[0] : question[1]].mean(axis=0)
        seen = np.concatenate([one, asked, one * asked, states[0]])
        logits = self.outer @ np.tanh(self.inner @ seen + self.inner_bias) + self.outer_bias
        return float(1 / (1 + np.exp(-np.clip(logits[HIGH] - logits[LOW], -50, 50))))
