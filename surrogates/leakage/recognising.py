"""How often a document leaks *recognisably* when de-identification misses a share of the mentions.

Hidden in plain sight means that a name which was missed looks like one more surrogate. Whether somebody can tell depends on how
surrogates repeat (Osborne et al. 2022, BRATsynthetic: 94.2% of documents leak at 5% misses with consistent replacement, 57.7%
with their Markov chain; 27.1% and 0.1% at 0.1% misses). Our assumptions:

* each mention is missed with the same probability, on its own;
* the reader knows the strategy, and the mentions of one person can be told to be one person's from the text;
* **consistent**: each person has one surrogate, so a single missed mention stands out as a second name: any miss is a leak;
* **per-mention**: surrogates never repeat, so that a name which occurs twice is no surrogate: two misses of one person are a leak;
* **markov**: surrogates repeat only in runs. Misses of one person are a leak if they do not form one run of mentions (a surrogate
  never comes back), or if the run is longer than all but one in twenty of the runs that the chain makes.

A person who is mentioned once can't be told from a surrogate by repetition; under **consistent** such a miss counts as a leak only
with ``singletons=True`` (the paper's count), since nothing contradicts it.
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
_UNUSUAL: Final = 0.05  # the share of a chain's runs that are longer than what passes as usual


@dataclass(frozen=True, slots=True)
class Leakage:
    """Shares of documents (0 to 1) at one miss rate."""

    miss_rate: float
    any_miss: float
    consistent: float
    per_mention: float
    markov: float

    def to_json(self) -> dict[str, float]:
        """Rounded to four digits."""
        return {
            "miss_rate": self.miss_rate,
            "any_miss": round(self.any_miss, 4),
            "consistent": round(self.consistent, 4),
            "per-mention": round(self.per_mention, 4),
            "markov": round(self.markov, 4),
        }


def longest_usual_run(keep: float) -> int:
    """The longest run of mentions with one surrogate that at least one run in twenty exceeds no more; runs are geometric in *keep*."""
    if keep <= 0:
        return 1
    return max(1, math.ceil(math.log(_UNUSUAL) / math.log(keep))) if keep < 1 else 1 << 30


def leakage(documents: Sequence[Sequence[int]], miss_rate: float, *, keep: float = 0.5, singletons: bool = True) -> Leakage:
    """Expected shares of leaking documents; each document is given by the number of mentions of each of its people.

    Exact under the assumptions, no simulation. Raises ``ValueError`` for a rate outside 0 to 1.
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
    """The probability that one person of so many mentions gives nothing away: by any miss, consistent, per-mention, markov."""
    none = (1 - rate) ** mentions
    one = mentions * rate * (1 - rate) ** (mentions - 1) if mentions else 0.0
    usual = min(mentions, longest_usual_run(keep))
    # One run of k misses: as many places as there are, all the others found.
    runs = sum((mentions - k + 1) * rate**k * (1 - rate) ** (mentions - k) for k in range(2, usual + 1))
    consistent = none + (one if mentions == 1 and not singletons else 0.0)
    safe: NDArray[np.float64] = np.minimum(np.array([none, consistent, none + one, none + one + runs]), 1.0)
    return safe


def simulated(documents: Sequence[Sequence[int]], miss_rate: float, *, keep: float = 0.5, seed: int = 0, rounds: int = 20) -> Leakage:
    """The same by throwing dice, as a check of the formulas: each mention of each person in *rounds* copies of the documents."""
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
