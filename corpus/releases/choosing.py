"""Choosing whole groups for the test split: exactly as many records as asked for, spread over the strata.

A multiple-choice knapsack: each stratum (pair of types) offers subsets of its groups, told by their size; one subset is
taken from each so that the sizes add up to the target and the squared distance from every stratum's fair share is
least. No stratum gives all of its groups to the test split while the target can be met without that.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from piiloom.corpus.releases.grouping import Group

# Groups of one stratum whose subsets are all tried; the groups beyond them are taken or left one by one.
_POOL = 16
# Subset sizes a stratum offers on each side of its fair share.
_OFFERS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stratum:
    """The groups of one stratum in drawn order, and how many records are its share of the test split."""

    groups: tuple[Group, ...]
    share: float
    may_give_all: bool

    def subsets(self) -> dict[int, tuple[Group, ...]]:
        """Subsets of the groups near the share, by their number of records."""
        fixed, pool = _fixed_and_pool(self.groups, self.share)
        found: dict[int, tuple[Group, ...]] = {sum(group.size for group in fixed): fixed}
        for group in pool:
            # Smaller sums first, from a copy: every group is used once, and the first subset of a size stays.
            for size, subset in list(found.items()):
                found.setdefault(size + group.size, (*subset, group))
        offers = {size: s for size, s in found.items() if self.may_give_all or len(s) < len(self.groups)}
        below = sorted((size for size in offers if size <= self.share), reverse=True)[:_OFFERS]
        above = sorted(size for size in offers if size > self.share)[:_OFFERS]
        return {size: offers[size] for size in [*below, *above]}


def choose_groups(groups: Sequence[Group], target: int, rng: random.Random) -> list[Group]:
    """Groups with together *target* records, or, where no choice of whole groups gives that, the fewest records above it.

    *groups* must hold more records than *target*; equal arguments (and generator state) give equal choices.
    """
    by_stratum: dict[str, list[Group]] = {}
    for group in sorted(groups, key=lambda group: group.ids[0]):
        by_stratum.setdefault(group.stratum, []).append(group)
    drawn = [by_stratum[name] for name in sorted(by_stratum)]
    for stratum in drawn:
        rng.shuffle(stratum)
    rng.shuffle(drawn)  # which strata give when there are more strata than records asked for
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
    """Shares of *target* in proportion to *totals*, none above its *room* (what one cannot take, the others do)."""
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
    """Groups that are taken in any case, and those of which every subset is offered (so that sums come near *share*)."""
    if len(groups) <= _POOL:
        return (), tuple(groups)
    # The smallest few make fine steps; the rest of the pool is as drawn.
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
    extra = min(passed_over, key=lambda group: group.size, default=None)  # so that sums above the share are there too
    return tuple(fixed), (*(groups[at] for at in pool), *([extra] if extra else []))


def _cheapest(penalties: Sequence[dict[int, float]], target: int, *, slack: int) -> list[int] | None:
    """One size a stratum: the smallest reachable sum from *target* to ``target + slack``, at the least penalty."""
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
