"""Assign groups of records to splits: exact sizes first, then the strata (pairs of types), then all else that makes splits alike.

``choose_groups`` chooses groups for a test split. This is a multiple-choice knapsack problem. Each stratum offers subsets of its groups,
one per total size; one subset per stratum is chosen so that the sizes add up to the target and the sum of squared distances from the
strata's fair shares is minimal. No stratum gives all of its groups to the test split if the target can be reached without that.

``assign_folds`` assigns groups to folds of equal size.

``spread_groups`` exchanges groups of equal size between splits. The further properties of records are columns of a table (``features``):
pair, locale, fifth by length, types, and numbers of high and low mentions. A split's fair share of a column is proportional to its size;
the distance of a division is the sum over splits and columns of (held - fair)² / (fair + 1).

``balance_members`` leaves out whole texts beforehand, so that relevance, types or locales are about equally frequent.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.grouping import Group, Member, Parts
from piiloom.corpus.releases.release_options import BalanceBy
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import digest
from piiloom.foundation.words import counted

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


_EXCHANGES = 1000


def assign_folds(
    groups: Sequence[Group], folds: int, rng: random.Random, *, kept: Sequence[int | None] = ()
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the fold (0 to *folds* - 1) of each group; every fold gets at least one. *kept* are the folds of groups that have one.

    The largest groups go first, each to the smallest fold (of equal ones: to that with the fewest groups of its stratum); then
    groups are moved or exchanged between the largest and the smallest fold while that brings them nearer to each other. So sizes
    differ by at most one record unless the groups are too large for that. Raises ``UsageError`` for fewer than two folds or fewer
    groups than folds.
    """
    if folds < 2:
        raise UsageError(f"{folds} folds are no split", where="folds", remedy="Ask for at least 2 folds, or for 0 to have none")
    if len(groups) < folds:
        raise UsageError(
            f"there are only {counted(len(groups), 'group')} of records that must stay together, too few for {folds} folds",
            where="folds",
            remedy=f"Ask for at most {len(groups)} folds" if len(groups) > 1 else "Ask for 0 folds",
        )
    order = [at for at in range(len(groups)) if not kept or kept[at] is None]
    free = set(order)
    rng.shuffle(order)
    order.sort(key=lambda at: -groups[at].size)
    loads = np.zeros(folds, dtype=np.int64)
    of_stratum = {group.stratum: np.zeros(folds, dtype=np.int64) for group in groups}
    fold_of = [0 if fold is None else fold for fold in kept] or [0] * len(groups)
    for at in [*(at for at in range(len(groups)) if at not in free), *order]:
        strata = of_stratum[groups[at].stratum]
        smallest = np.flatnonzero(loads == loads.min())
        fold = int(smallest[strata[smallest].argmin()]) if at in free else fold_of[at]
        fold_of[at] = fold
        loads[fold] += groups[at].size
        strata[fold] += 1
    _even_out(groups, fold_of, loads, free)
    return np.array(fold_of, dtype=np.int64)


def _even_out(
    groups: Sequence[Group], fold_of: list[int], loads: np.ndarray[tuple[int], np.dtype[np.int64]], free: Collection[int]
) -> None:
    for _ in range(_EXCHANGES):
        full, bare = int(loads.argmax()), int(loads.argmin())
        gap = int(loads[full] - loads[bare])
        exchange = _exchange(groups, _in_fold(fold_of, full, free), _in_fold(fold_of, bare, free), gap) if gap > 1 else None
        if exchange is None:
            return
        given, taken = exchange
        for at, fold in ((given, bare), (taken, full)):
            if at is not None:
                loads[fold_of[at]] -= groups[at].size
                fold_of[at] = fold
                loads[fold] += groups[at].size


def _in_fold(fold_of: Sequence[int], fold: int, free: Collection[int]) -> list[int]:
    return [at for at, own in enumerate(fold_of) if own == fold and at in free]


def _exchange(groups: Sequence[Group], full: Sequence[int], bare: Sequence[int], gap: int) -> tuple[int, int | None] | None:
    """Return a group to give and one to take for it (or None) that differ by less than *gap*, as near to half of it as possible."""
    best: tuple[float, int, int | None] | None = None
    first_of_size: dict[int, int | None] = {0: None} if len(full) > 1 else {}
    for at in bare:
        first_of_size.setdefault(groups[at].size, at)
    for given in {groups[at].size: at for at in reversed(full)}.values():
        for size, taken in first_of_size.items():
            step = groups[given].size - size
            if 0 < step < gap and (best is None or abs(step - gap / 2) < best[0]):
                best = abs(step - gap / 2), given, taken
    return None if best is None else (best[1], best[2])


_ROUNDS = 4000
_TRIES = 48  # groups that are compared in one round
_LENGTHS = 5
_MOST_NAMES = 200  # of pairs, locales and types each: the most frequent ones
_EXACT = 1e-6

Table = NDArray[np.float64]


def features(groups: Sequence[Group], members: Mapping[str, Member]) -> Table:
    """Return the sums of the columns over the records of each group: groups × columns."""
    ordered = [member for group in groups for member in (members[record_id] for record_id in group.ids)]
    names = [(("pair", m.stratum), ("locale", m.locale), *(("type", t) for t in {v.entity_type for v in m.values})) for m in ordered]
    column = {name: at for at, name in enumerate(_frequent(names))}
    lengths = np.array([len(member.context) for member in ordered])
    fifths = np.quantile(lengths, np.arange(1, _LENGTHS) / _LENGTHS).searchsorted(lengths)
    table = np.zeros((len(groups), len(column) + _LENGTHS + 2))
    row = np.repeat(np.arange(len(groups)), [group.size for group in groups]).tolist()
    for at, member, own, fifth in zip(row, ordered, names, fifths.tolist(), strict=True):
        for name in own:
            if name in column:
                table[at, column[name]] += 1
        table[at, len(column) + fifth] += 1
        relevance = [value.relevance for value in member.values]
        table[at, -2:] += (relevance.count("high"), relevance.count("low"))
    return table


def spread_groups(parts: Parts, table: Table, groups: Sequence[Group], rng: random.Random, *, train: int | None) -> Parts:
    """Return a division with groups of equal size exchanged between splits, so that the distance is smaller; a fixed number of tries.

    No exchange takes the last group of its stratum from the split number *train* (None: there is none, as for folds).
    """
    sizes = np.array([group.size for group in groups])
    strata = np.unique([group.stratum for group in groups], return_inverse=True)[1]
    division = _Division(parts.copy(), table, sizes)
    in_train = np.bincount(strata[parts == train], minlength=strata.max() + 1) if train is not None else None
    alike = [np.flatnonzero(sizes == size).tolist() for size in np.unique(sizes).tolist()]
    alike = [places for places in alike if len({int(parts[at]) for at in places}) > 1]
    movable = [(at, places) for places in alike for at in places if parts[at] != train]
    # A group that moves into train stays a place to begin at: both ends of an exchange are looked at afresh in each round.
    for _ in range(min(_ROUNDS, 20 * len(movable))):
        at, places = movable[rng.randrange(len(movable))]
        others = np.array([places[rng.randrange(len(places))] for _ in range(_TRIES)])
        others = others[division.parts[others] != division.parts[at]]
        if in_train is not None and others.size:
            others = others[~_empties(at, others, division.parts, strata, in_train, train)]
        if others.size:
            gain = division.changes(at, others)
            best = int(gain.argmin())
            if gain[best] < -_EXACT:
                other = int(others[best])
                if in_train is not None:
                    for gone, come in ((at, other), (other, at)):
                        if division.parts[gone] == train:
                            in_train[strata[gone]] -= 1
                            in_train[strata[come]] += 1
                division.exchange(at, other)
    return division.parts


def _empties(at: int, others: Parts, parts: Parts, strata: Parts, in_train: Parts, train: int | None) -> NDArray[np.bool_]:
    """Return for which of *others* an exchange with *at* would take the last group of a stratum from train."""
    different = strata[others] != strata[at]
    if parts[at] == train:
        return np.asarray(different & (in_train[strata[at]] == 1))
    return np.asarray(different & (parts[others] == train) & (in_train[strata[others]] == 1))


class _Division:
    """What each split holds of each column, and how far that is from its fair share."""

    def __init__(self, parts: Parts, table: Table, sizes: Parts) -> None:
        self.parts, self._table = parts, table
        count = int(parts.max()) + 1
        held = np.zeros((count, table.shape[1]))
        np.add.at(held, parts, table)
        share = np.bincount(parts, weights=sizes, minlength=count) / sizes.sum()
        fair = share[:, None] * table.sum(axis=0)
        self._off, self._weight = held - fair, 1 / (fair + 1)

    def changes(self, at: int, others: Parts) -> NDArray[np.float64]:
        """Return how the distance changes if *at* is exchanged with each of *others*, which are in other splits."""
        step = self._table[others] - self._table[at]
        mine, theirs = self.parts[at], self.parts[others]
        here = (2 * self._off[mine] + step) * step * self._weight[mine]
        there = (step - 2 * self._off[theirs]) * step * self._weight[theirs]
        return np.asarray((here + there).sum(axis=1))

    def exchange(self, at: int, other: int) -> None:
        """Exchange two groups of equal size."""
        step = self._table[other] - self._table[at]
        self._off[self.parts[at]] += step
        self._off[self.parts[other]] -= step
        self.parts[at], self.parts[other] = self.parts[other], self.parts[at]


def _frequent(names: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    counts = Counter(name for own in names for name in own)
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    kinds = ("pair", "locale", "type")
    return [name for kind in kinds for name in [name for name in ranked if name[0] == kind][:_MOST_NAMES]]


# At most this share of the records is left out.
_MOST_LEFT_OUT = 0.5
_FIRST_BATCH = 1 / 64  # of the texts
_EXACTLY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Balanced:
    """The ids of the records that were left out, and what to tell the user."""

    left_out: frozenset[str]
    notes: tuple[str, ...]


def balance_members(members: Sequence[Member], by: BalanceBy, *, seed: int) -> Balanced:
    """Choose the records to leave out so that the classes of *by* are about equally frequent.

    The classes are: ``relevance``: mentions that are high, and that are low; ``type``: mentions of each type that occurs;
    ``locale``: records of each locale that occurs. The distance of a set is the sum over the classes of (share - 1/classes)². All
    records of one text (the same context) stay or go together. Texts are left out that lower the distance most a record (ties: by
    *seed*), many at a time at first, one by one at last, until no text alone would lower it, or until half of the records are out
    (told in ``notes``). The result does not depend on the order of *members*.
    """
    texts: dict[str, list[Member]] = {}
    for member in members:
        texts.setdefault(member.context, []).append(member)
    drawn = sorted(texts.values(), key=lambda text: digest("balance", seed, sorted(member.id for member in text)))
    table, sizes = _classes(drawn, by), np.array([len(text) for text in drawn])
    if table.shape[1] < 2:
        return Balanced(left_out=frozenset(), notes=(f"there is nothing to balance: only one {by} occurs",))
    before = table.sum(axis=0)
    kept, stopped = _thin_out(table, sizes)
    left_out = frozenset(member.id for text, stays in zip(drawn, kept.tolist(), strict=True) if not stays for member in text)
    after = table[kept].sum(axis=0)
    change = f"from {before.min():,.0f} and {before.max():,.0f} to {after.min():,.0f} and {after.max():,.0f}"
    notes = [f"{counted(len(left_out), 'record')} left out to balance by {by}: the least and most frequent class went {change}"]
    if stopped:
        notes.append(f"balancing by {by} stopped short of equal numbers: at most half of the records are left out")
    return Balanced(left_out=left_out, notes=tuple(notes))


def _classes(texts: Sequence[Sequence[Member]], by: BalanceBy) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return how often each class occurs in each text: texts × classes."""
    counts = [Counter(name for member in text for name in _classes_in(member, by)) for text in texts]
    column = {name: at for at, name in enumerate(sorted({name for own in counts for name in own}))}
    table = np.zeros((len(texts), len(column)))
    for row, own in enumerate(counts):
        for name, count in own.items():
            table[row, column[name]] = count
    return table


def _classes_in(member: Member, by: BalanceBy) -> list[str]:
    if by == "locale":
        return [member.locale]
    if by == "type":
        return [value.entity_type for value in member.values]
    return [value.relevance for value in member.values if value.relevance is not None]


def _thin_out(
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]], sizes: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], bool]:
    """Return the mask of the texts that stay, and whether the limit on what is left out has stopped it."""
    kept = np.ones(sizes.size, dtype=np.bool_)
    total, room = table.sum(axis=0), int(_MOST_LEFT_OUT * sizes.sum())
    batch = max(1, int(_FIRST_BATCH * sizes.size))
    while True:
        now = _distance(total[None, :])[0]
        gain = np.where(kept, (now - _distance(total - table)) / sizes, -np.inf)
        useful = gain > _EXACTLY
        best = np.argsort(-gain, kind="stable")[: min(batch, int(useful.sum()))]
        if not best.size:
            return kept, False
        fitting = best[np.cumsum(sizes[best]) <= room]
        rest = total - table[fitting].sum(axis=0)
        # Single texts may each lower the distance, and all of them together overshoot.
        if fitting.size and _distance(rest[None, :])[0] < now - _EXACTLY:
            kept[fitting] = False
            total, room = rest, room - int(sizes[fitting].sum())
        elif batch == 1:
            small = np.flatnonzero(useful & (sizes <= room))
            if not small.size:
                return kept, True
            at = small[gain[small].argmax()]
            kept[at] = False
            total, room = total - table[at], room - int(sizes[at])
        else:
            batch //= 2


def _distance(totals: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the distance of each row of *totals* from equal shares; a row without anything is as far as can be."""
    everything = totals.sum(axis=1, keepdims=True)
    shares = np.divide(totals, everything, out=np.zeros_like(totals), where=everything > 0)
    return np.asarray(np.where(everything[:, 0] > 0, ((shares - 1 / totals.shape[1]) ** 2).sum(axis=1), 1.0))
