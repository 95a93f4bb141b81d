"""Estimate how often a document leaks *recognizably* when de-identification misses a share of the mentions.

Hidden in plain sight means that a missed name looks like one more surrogate. Whether a reader can tell depends on how surrogates repeat
(Osborne et al. 2022, BRATsynthetic: 94.2% of documents leak at 5% misses with consistent replacement, 57.7% with their Markov chain;
27.1% and 0.1% at 0.1% misses). Our assumptions:

* each mention is missed with the same probability, independently of the others;
* the reader knows the strategy, and can tell from the text which mentions are of the same person;
* **consistent**: each person has one surrogate, so a single missed mention stands out as a second name: any miss is a leak;
* **per-mention**: surrogates never repeat, so a name that occurs twice is no surrogate: two misses of one person are a leak;
* **markov**: surrogates repeat only in runs. Misses of one person are a leak if they do not form one run of mentions (a surrogate
  never comes back), or if the run is longer than at least 95% of the chain's runs.

If a person is mentioned only once, repetition cannot reveal the miss, since no other mention contradicts it. Under **consistent** such
a miss counts as a leak only with ``singletons=True``, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Strategy = Literal["consistent", "per-mention", "markov"]
STRATEGIES: Final[tuple[Strategy, ...]] = ("consistent", "per-mention", "markov")
_UNUSUAL: Final = 0.05  # the share of a chain's runs that count as unusually long


@dataclass(frozen=True, slots=True)
class Leakage:
    """Expected shares of leaking documents (0 to 1) at one miss rate.

    ``any_miss`` is the share with any missed mention; the others are the shares of recognizable leaks by strategy.
    """

    miss_rate: float
    any_miss: float
    consistent: float
    per_mention: float
    markov: float

    def to_json(self) -> dict[str, float]:
        """Return the shares as a dictionary, rounded to four decimals."""
        return {
            "miss_rate": self.miss_rate,
            "any_miss": round(self.any_miss, 4),
            "consistent": round(self.consistent, 4),
            "per-mention": round(self.per_mention, 4),
            "markov": round(self.markov, 4),
        }


def longest_usual_run(keep: float) -> int:
    """Return the shortest length that at most one run in twenty exceeds. Run lengths are geometric: P(length > n) = *keep* ** n."""
    if keep <= 0:
        return 1
    return max(1, math.ceil(math.log(_UNUSUAL) / math.log(keep))) if keep < 1 else 1 << 30


def leakage(documents: Sequence[Sequence[int]], miss_rate: float, *, keep: float = 0.5, singletons: bool = True) -> Leakage:
    """Return the expected shares of leaking documents. A document is the list of its people's numbers of mentions.

    Exact under the assumptions of the module, without simulation. Raises ``ValueError`` for a *miss_rate* outside 0 to 1.
    """
    if not 0 <= miss_rate <= 1:
        raise ValueError("the miss rate lies between 0 and 1")
    if not documents:
        return Leakage(miss_rate, 0.0, 0.0, 0.0, 0.0)
    sizes = sorted({size for document in documents for size in document})
    table = {size: _safe(size, miss_rate, keep, singletons=singletons) for size in sizes}
    logs = {size: np.log(np.maximum(values, 1e-300)) for size, values in table.items()}
    total: NDArray[np.float64] = np.zeros(4)
    for document in documents:
        safe = np.exp(sum((logs[size] for size in document), np.zeros(4)))
        total += 1 - safe
    shares = total / len(documents)
    return Leakage(miss_rate, *(float(share) for share in shares))


def _safe(mentions: int, rate: float, keep: float, *, singletons: bool) -> NDArray[np.float64]:
    """Return the probability that a person with so many *mentions* does not leak, shape (4,).

    In order: by any miss, and by the strategies consistent, per-mention and markov.
    """
    none = (1 - rate) ** mentions
    one = mentions * rate * (1 - rate) ** (mentions - 1) if mentions else 0.0
    usual = min(mentions, longest_usual_run(keep))
    # One run of k misses: it can begin at (mentions - k + 1) positions, and all other mentions are found.
    runs = sum((mentions - k + 1) * rate**k * (1 - rate) ** (mentions - k) for k in range(2, usual + 1))
    consistent = none + (one if mentions == 1 and not singletons else 0.0)
    safe: NDArray[np.float64] = np.minimum(np.array([none, consistent, none + one, none + one + runs]), 1.0)
    return safe


def simulated(documents: Sequence[Sequence[int]], miss_rate: float, *, keep: float = 0.5, seed: int = 0, rounds: int = 20) -> Leakage:
    """Estimate ``leakage`` (with ``singletons=True``) by simulating misses in *rounds* copies of the documents; checks the formulas."""
    rng = np.random.default_rng(seed)
    usual = longest_usual_run(keep)
    counts = np.zeros(4)
    for _ in range(rounds):
        for document in documents:
            leaks = np.zeros(4, dtype=bool)
            for mentions in document:
                places = np.flatnonzero(rng.random(mentions) < miss_rate)
                missed = len(places)
                one_run = missed == 0 or int(places[-1] - places[0]) + 1 == missed
                leaks |= np.array([missed > 0, missed > 0, missed > 1, missed > 1 and not (one_run and missed <= usual)])
            counts += leaks
    shares = counts / (rounds * max(1, len(documents)))
    return Leakage(miss_rate, *(float(share) for share in shares))
