"""The relevance head, in NumPy: what a span is to a question, from the states of their tokens.

It sees the mean of the span's tokens, the mean of the question's, their elementwise product (in which what both have in common stands out)
and the state of the window's first token. It is small, so that the detector runs it in NumPy, whatever runs the encoder itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def high(self, states: NDArray[np.float32], spans: Sequence[tuple[int, int]], question: tuple[int, int]) -> NDArray[np.float32]:
        """Return the probability that each of *spans* (places in the window of *states*) is of high relevance to the *question*.

        All at once: so small a product takes less time than what BLAS spends on sharing it among threads.
        """
        asked, first = states[question[0] : question[1]].mean(axis=0), states[0]
        means = [states[start:end].mean(axis=0) for start, end in spans]
        seen = np.stack([np.concatenate([one, asked, one * asked, first]) for one in means])
        logits = np.tanh(seen @ self.inner.T + self.inner_bias) @ self.outer.T + self.outer_bias
        return np.asarray(1 / (1 + np.exp(-np.clip(logits[:, HIGH] - logits[:, LOW], -50, 50))), dtype=np.float32)
