"""Choose whole groups for the test split, with exactly the requested number of records and spread over the strata.

This is a multiple-choice knapsack problem. Each stratum (pair of types) offers subsets of its groups, one per total size; one
subset per stratum is chosen so that the sizes add up to the target and the sum of squared distances from the strata's fair
shares is minimal. No stratum gives all of its groups to the test split if the target can be reached without that.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from piiloom.corpus.releases.grouping import Group

# Number of groups per stratum of which all subset sizes are tried; further groups are taken or left greedily.
_POOL = 16
# Number of subset sizes that a stratum offers on each side of its fair share.
_OFFERS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stratum:
    """The groups of one stratum in shuffled order, and its fair share of the test split in records."""

    groups: tuple[Group, ...]
    share: float
    may_give_all: bool

    def subsets(self) -> dict[int, tuple[Group, ...]]:
        """Return subsets of the groups with sizes near the share, by their number of records."""
        fixed, pool = _fixed_and_pool(self.groups, self.share)
        found: dict[int, tuple[Group, ...]] = {sum(group.size for group in fixed): fixed}
        for group in pool:
            # Iterate over a copy so that every group is used at most once; the first subset of a size is kept.
            for size, subset in list(found.items()):
                found.setdefault(size + group.size, (*subset, group))
        offers = {size: s for size, s in found.items() if self.may_give_all or len(s) < len(self.groups)}
        below = sorted((size for size in offers if size <= self.share), reverse=True)[:_OFFERS]
        above = sorted(size for size in offers if size > self.share)[:_OFFERS]
        return {size: offers[size] for size in [*below, *above]}


def choose_groups(groups: Sequence[Group], target: int, rng: random.Random) -> list[Group]:
    """Return groups with *target* records in total or, if no choice of whole groups gives that, as few more as possible.

    *groups* must hold more records than *target*. The result depends only on the arguments and the state of *rng*.
    """
    by_stratum: dict[str, list[Group]] = {}
    for group in sorted(groups, key=lambda group: group.ids[0]):
        by_stratum.setdefault(group.stratum, []).append(group)
    drawn = [by_stratum[name] for name in sorted(by_stratum)]
    for stratum in drawn:
        rng.shuffle(stratum)
    rng.shuffle(drawn)  # decides which strata contribute if there are more strata than requested records
    for may_give_all in (False, True):
        chosen = _choose(drawn, target, may_give_all=may_give_all)
        if chosen is not None:
            return chosen
    raise AssertionError("the groups hold fewer records than the target")


def _choose(drawn: Sequence[Sequence[Group]], target: int, *, may_give_all: bool) -> list[Group] | None:
    sizes = [[group.size for group in stratum] for stratum in drawn]
    room = [sum(s) if may_give_all else sum(s) - min(s) for s in sizes]
    if sum(room) < target:
        return None
    shares = _shares([sum(s) for s in sizes], room, target)
    offers = [
        _Stratum(groups=tuple(stratum), share=share, may_give_all=may_give_all).subsets()
        for stratum, share in zip(drawn, shares, strict=True)
    ]
    penalties = [
        {size: (size - share) ** 2 + (total**2 if size == total else 0.0) for size in offer}
        for offer, share, total in zip(offers, shares, map(sum, sizes), strict=True)
    ]
    picked = _cheapest(penalties, target, slack=max(map(max, sizes)))
    return None if picked is None else [group for offer, size in zip(offers, picked, strict=True) for group in offer[size]]


def _shares(totals: Sequence[int], room: Sequence[int], target: int) -> list[float]:
    """Divide *target* in proportion to *totals*, none above its *room*; what exceeds the room of one goes to the others."""
    shares = [0.0] * len(totals)
    left, open_ = float(target), [at for at, free in enumerate(room) if free]
    while open_ and left > 0:
        scale = left / sum(totals[at] for at in open_)
        full = [at for at in open_ if totals[at] * scale >= room[at]]
        for at in full or open_:
            shares[at] = float(room[at]) if full else totals[at] * scale
            left -= shares[at]
        open_ = [at for at in open_ if at not in full] if full else []
    return shares


def _fixed_and_pool(groups: Sequence[Group], share: float) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """Return the groups that are always taken, and those whose subsets are tried, so that sizes near *share* can be reached."""
    if len(groups) <= _POOL:
        return (), tuple(groups)
    # The smallest groups allow fine steps; the rest of the pool is in shuffled order.
    order = sorted(range(len(groups)), key=lambda at: (groups[at].size, at))
    small = set(order[: _POOL // 4])
    others = [at for at in range(len(groups)) if at not in small]
    pool, rest = [*sorted(small), *others[: _POOL - len(small)]], others[_POOL - len(small) :]
    limit = share - sum(groups[at].size for at in pool) / 2
    fixed: list[Group] = []
    passed_over: list[Group] = []
    total = 0
    for at in rest:
        if total + groups[at].size <= limit:
            fixed.append(groups[at])
            total += groups[at].size
        else:
            passed_over.append(groups[at])
    extra = min(passed_over, key=lambda group: group.size, default=None)  # makes sums above the share reachable
    return tuple(fixed), (*(groups[at] for at in pool), *([extra] if extra else []))


def _cheapest(penalties: Sequence[dict[int, float]], target: int, *, slack: int) -> list[int] | None:
    """Choose one size per stratum (dynamic programming); None if no sum in the range can be reached.

    The sum is the smallest reachable one from *target* to ``target + slack``, with the least total penalty.
    """
    width = target + slack + 1
    cost = np.full(width, np.inf)
    cost[0] = 0.0
    choices = []
    for offer in penalties:
        best, choice = np.full(width, np.inf), np.full(width, -1, dtype=np.int64)
        for size, penalty in offer.items():
            if size < width:
                candidate = cost[: width - size] + penalty
                better = candidate < best[size:]
                best[size:][better] = candidate[better]
                choice[size:][better] = size
        cost = best
        choices.append(choice)
    reachable = np.flatnonzero(np.isfinite(cost[target:]))
    if not reachable.size:
        return None
    total = target + int(reachable[0])
    picked: list[int] = []
    for choice in reversed(choices):
        picked.append(int(choice[total]))
        total -= picked[-1]
    return picked[::-1]
