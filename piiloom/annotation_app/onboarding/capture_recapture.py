"""Capture-recapture estimates of the total number of errors, including those that nobody has found.

The idea is that of mark and recapture in ecology: if two people found mostly the same errors, few are left.

Assumptions: people work independently; each counted correction is a real error, and two people's corrections of one error are
recognized as the same; nothing is corrected between their passes; all errors are equally easy to find. The last one never quite
holds (a dropped span is harder to see than a wrong type), which makes the estimates too low. So read them as "at least".
``chao`` does not need the last assumption and gives only a lower bound.

Sources: Chapman, "Some properties of the hypergeometric distribution with applications to zoological sample censuses",
Univ. Calif. Publ. Stat. 1 (1951) 131-160. Seber, "The effects of trap response on tag recapture estimates", Biometrics 26
(1970) 13-22 (the variance of Chapman's estimate). Chao, "Estimating the population size for capture-recapture data with unequal
catchability", Biometrics 43 (1987) 783-791 (the lower bound, and the interval, which is log-normal in the number not found).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from piiloom.annotation_app.shares import Z95

ASSUMPTIONS = (
    "People found errors independently of each other.",
    "Every correction counted is a real error, and two corrections of one error are recognised as one.",
    "All errors are equally easy to find; where they are not, the true number is higher.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Number of errors: ``found`` by at least one person, and the estimated ``total`` with its 95% interval."""

    found: int
    total: float
    low: float
    high: float
    assumptions: tuple[str, ...] = ASSUMPTIONS

    @property
    def left(self) -> float:
        """The estimated number that nobody found."""
        return self.total - self.found


def chapman(first: int, second: int, both: int) -> Estimate:
    """Return Chapman's estimate from two people's results.

    *first* and *second* are the numbers of errors that each found, *both* the number found by both. Raises ``ValueError`` if
    *both* is negative or greater than either.
    """
    if not 0 <= both <= min(first, second):
        raise ValueError("more were found by both than by one")
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    return _estimate(first + second - both, total, variance)


def chao(counts: Sequence[int], people: int) -> Estimate:
    """Return Chao's lower bound for the total number of errors, in its bias-corrected form.

    *people* is the number of people who looked; *counts* has, for each error found, how many of them found it. Only the numbers
    of errors found by exactly one and exactly two people are used. Raises ``ValueError`` if *people* is below 2 or a count is not
    from 1 to *people*.
    """
    if people < 2 or any(not 1 <= count <= people for count in counts):
        raise ValueError("each error was found by one person at least, and by all at most; there are two people at least")
    once, twice = sum(count == 1 for count in counts), sum(count == 2 for count in counts)
    part = (people - 1) / people
    missed = part * once * (once - 1) / (2 * (twice + 1))
    variance = (
        missed
        + part**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + part**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return _estimate(len(counts), len(counts) + missed, variance)


def _estimate(found: int, total: float, variance: float) -> Estimate:
    missed = total - found
    if missed <= 0 or variance <= 0:
        return Estimate(found=found, total=total, low=total, high=total)
    spread = exp(Z95 * sqrt(log(1 + variance / missed**2)))
    return Estimate(found=found, total=total, low=found + missed / spread, high=found + missed * spread)
