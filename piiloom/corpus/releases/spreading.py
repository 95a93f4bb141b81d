"""Make the splits alike in types, relevance, locales and lengths by exchanging groups of equal size between them.

``choosing`` and ``folds`` fix the sizes, and spread the pairs. What else a record is becomes columns of a table (``features``): its
pair, its locale, its fifth by length, the types in it, its numbers of high and low mentions. A split's fair share of a column is
proportional to its size; the distance of a division is the sum over splits and columns of (held - fair)² / (fair + 1).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.grouping import Group
from piiloom.corpus.releases.members import Member

_ROUNDS = 4000
_TRIES = 48  # groups that are compared in one round
_LENGTHS = 5
_MOST_NAMES = 200  # of pairs, locales and types each: the most frequent ones
_EXACT = 1e-6

Table = NDArray[np.float64]
Parts = NDArray[np.int64]


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


def distance(parts: Parts, table: Table, sizes: Parts) -> float:
    """Return the distance of a division: ``parts[n]`` is the split (0 and up) of group n, *sizes* are the groups' records."""
    return sum(_Division(parts, table, sizes).distances())


def spread(parts: Parts, table: Table, groups: Sequence[Group], rng: random.Random, *, train: int | None) -> Parts:
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

    def distances(self) -> list[float]:
        """The distance of each split."""
        return [float(one) for one in (self._off**2 * self._weight).sum(axis=1)]

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
