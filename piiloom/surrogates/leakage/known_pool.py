"""The known-pool attack: an attacker who knows the name pools tries to tell leftovers (missed originals) from surrogates.

Two scores are measured. *Membership*: a name that is not in the pool is no surrogate. *Frequency*: names are drawn uniformly from the
pool, so common names are rarer among surrogates than among real people; the score is the log ratio of both frequencies. Results are
areas under the ROC curve (AUC; 0.5: no better than chance, 1: always right), and the share of leftovers that are not in the pool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolAttack:
    """Result of the attack on so many leftovers and surrogates.

    ``given_away`` is the share of leftovers that are not in the pool, and so recognized for certain. AUCs are from 0 to 1.
    """

    leftovers: int
    surrogates: int
    given_away: float
    membership_auc: float
    frequency_auc: float

    def to_json(self) -> dict[str, float | int]:
        """Return the result as a dictionary, rounded to four decimals."""
        return {
            "leftovers": self.leftovers,
            "surrogates": self.surrogates,
            "given_away": round(self.given_away, 4),
            "membership_auc": round(self.membership_auc, 4),
            "frequency_auc": round(self.frequency_auc, 4),
        }


def attack(
    leftovers: Sequence[str],
    surrogates: Sequence[str],
    pool: Collection[str],
    real_frequency: Callable[[str], float],
    pool_frequency: Callable[[str], float],
) -> PoolAttack:
    """Score each name and measure how well the scores separate *leftovers* from *surrogates*.

    The two functions return a name's share among real people and among surrogates (0 if it does not occur).
    Raises ``ValueError`` if *leftovers* or *surrogates* is empty.
    """
    if not leftovers or not surrogates:
        raise ValueError("the attack needs leftovers and surrogates")
    outside = sum(name not in pool for name in leftovers) / len(leftovers)
    member = auc([name not in pool for name in leftovers], [name not in pool for name in surrogates])

    def score(name: str) -> float:
        if name not in pool:
            return math.inf
        return math.log(max(real_frequency(name), 1e-12)) - math.log(max(pool_frequency(name), 1e-12))

    return PoolAttack(len(leftovers), len(surrogates), outside, member, auc([score(n) for n in leftovers], [score(n) for n in surrogates]))


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive scores higher than a negative, ties counting half (Mann–Whitney U / n·m)."""
    ranked = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    total, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        middle = (at + 1 + end) / 2
        total += middle * sum(kind for _, kind in ranked[at:end])
        at = end
    count = len(positive)
    return (total - count * (count + 1) / 2) / (count * len(negative))
