"""Keep every pair and every type in train, and in the other splits where enough groups have it.

``choose_groups``, ``spread`` and ``assign_folds`` look at sizes and main pairs of groups; so a pair or type may be lost from a split.
``cover`` then assigns groups anew, starting from what they made. The order of importance is: names lost from train, names lost from
other splits, the distance from the sizes asked for, the number of records that change their split. Up to ``_ALL_TRIED`` assignments
are all compared; if there are more, groups are moved or exchanged while that brings an assignment nearer to the sizes or a lost name back.

A split may grow until it is as large as train. It may shrink, to half the size asked for, only if train then lacks nothing. Another
split than train is asked only for names of which its fair share is five records or more: a small test split cannot have all of 78
pairs. ``lost_names`` describes for the user what is lost after all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.record import TRAIN
from piiloom.corpus.releases.grouping import Group, Member, Parts
from piiloom.foundation.words import counted, plural

NameKind = Literal["pair", "type"]
KindName = tuple[NameKind, str]
Score = tuple[int, int, int]

_ALL_TRIED = 1 << 14  # assignments
_LEAST_SHARE = 5  # records that a split's fair share of a pair or type must come to, so that the split is asked for it
_COUNTED = 6  # names in one warning that come with their numbers of records
_CANDIDATES = 12  # groups that are tried for one lost name, and groups that are exchanged for each of them


def names_of(member: Member) -> set[KindName]:
    """Return the pair and the types of *member*."""
    pair: set[KindName] = {("pair", member.stratum)} if member.stratum else set()
    return pair | {("type", value.entity_type) for value in member.values}


class SplitNeeds:
    """What each part needs: the names of each group, the sizes asked for, and which groups may change their part.

    *sizes* are the records asked for of part 1 and up, part 0 being train; without them the parts are *folds*, and a name of several
    groups must be in several folds. *fixed* marks groups that keep their part.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        members: Mapping[str, Member],
        *,
        sizes: Sequence[int] = (),
        folds: int = 0,
        fixed: Sequence[bool] | NDArray[np.bool_],
    ) -> None:
        self.groups, self._members = groups, members
        held = [self._names(group.ids) for group in groups]
        self.names: list[KindName] = sorted(set[KindName]().union(*held))
        at_name = {name: at for at, name in enumerate(self.names)}
        self.carries = np.array([[name in own for name in self.names] for own in held], dtype=np.int64).reshape(
            len(groups), len(self.names)
        )
        self.group_sizes: Parts = np.array([group.size for group in groups], dtype=np.int64)
        self.fixed = np.array(fixed, dtype=np.bool_)
        self.sizes, self.count = np.array(sizes, dtype=np.int64), folds or len(sizes) + 1
        self.is_folds = bool(folds)
        self._carriers = self.carries.sum(axis=0)
        records = np.zeros(len(self.names))
        for member in (members[record_id] for group in groups for record_id in group.ids):
            records[[at_name[name] for name in names_of(member)]] += 1
        # Part 1 may ask for a name that two groups have, part 2 for one that three have.
        able = [
            (self._carriers > part) & (size * records >= _LEAST_SHARE * self.group_sizes.sum()) for part, size in enumerate(sizes, start=1)
        ]
        self._needed = np.array(able, dtype=np.bool_).reshape(len(sizes), len(self.names))

    def lost(self, covered: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many names train and the other parts lack; *covered* (… × parts × names) counts the groups that have each."""
        if self.is_folds:
            alone = ((covered > 0).sum(axis=-2) < 2) & (self._carriers > 1)
            return np.asarray(alone.sum(axis=-1)), np.zeros(covered.shape[:-2], dtype=np.int64)
        others = (covered[..., 1:, :] == 0) & self._needed
        return np.asarray((covered[..., 0, :] == 0).sum(axis=-1)), np.asarray(others.sum(axis=(-2, -1)))

    def missing(self, covered: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Return (part, number of the name) of what is lost: for folds, all parts that could take a group with the name."""
        if self.is_folds:
            alone = np.flatnonzero(((covered > 0).sum(axis=0) < 2) & (self._carriers > 1))
            return [(part, int(name)) for name in alone for part in np.flatnonzero(covered[:, name] == 0).tolist()]
        lost = [(0, int(name)) for name in np.flatnonzero(covered[0] == 0)]
        return lost + [(part + 1, int(name)) for part, name in np.argwhere((covered[1:] == 0) & self._needed).tolist()]

    def off(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return by how many records *totals* (… × parts) differ from what was asked for."""
        if self.is_folds:
            return np.asarray(totals.max(axis=-1) - totals.min(axis=-1))
        return np.asarray(np.abs(totals[..., 1:] - self.sizes).sum(axis=-1))

    def _names(self, ids: Iterable[str]) -> set[KindName]:
        return set[KindName]().union(*(names_of(self._members[record_id]) for record_id in ids))

    def covered(self, parts: Parts, *, without: Collection[str] = ()) -> NDArray[np.int64]:
        """Return the number of groups by part and name; the records *without* are not counted."""
        found = np.zeros((self.count, len(self.names)), dtype=np.int64)
        np.add.at(found, parts, self.carries)
        for at, group in enumerate(self.groups if without else ()):
            left = [record_id for record_id in group.ids if record_id not in without]
            if len(left) < group.size:
                held = self._names(left)
                found[parts[at]] -= self.carries[at] * np.array([name not in held for name in self.names], dtype=np.int64)
        return found

    @staticmethod
    def weight(missing: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the number of names that train lacks, and that of all that are missing."""
        return sum(part == 0 for part, _ in missing), len(missing)

    def allow(self, totals: NDArray[np.int64], least: Parts, before: Parts) -> NDArray[np.bool_]:
        """Return whether *totals* (… × parts) are no fewer records than *least*, and no more than train, unless there were *before*."""
        if self.is_folds:
            return np.asarray((totals > 0).all(axis=-1))
        train, others = totals[..., :1], totals[..., 1:]
        most = np.maximum(np.maximum(self.sizes, before[1:]), train)
        enough = (others >= np.minimum(least, before[1:])) & (others > 0) & (train > 0)
        return np.asarray((enough & (others <= most)).all(axis=-1))

    def totals(self, parts: Parts) -> NDArray[np.int64]:
        """Return the number of records of each part."""
        return np.bincount(parts, weights=self.group_sizes, minlength=self.count).astype(np.int64)


def cover(parts: Parts, needs: SplitNeeds) -> Parts:
    """Return an assignment of the groups that loses fewer names than *parts*, or else *parts*; see the docstring of this module."""
    best, lost = parts, needs.weight(needs.missing(needs.covered(parts)))
    for least in (needs.sizes, (needs.sizes + 1) // 2):
        if lost[0] or (lost[1] and least is needs.sizes):
            tried = _best_of_all(parts, needs, least) or _Search(parts, needs, least).run()
            found = needs.weight(needs.missing(needs.covered(np.array(tried))))
            if found < lost and (least is needs.sizes or not found[0]):
                best, lost = np.array(tried), found
    return best


def _best_of_all(parts: Parts, needs: SplitNeeds, least: Parts) -> list[int] | None:
    """Compare all assignments of the groups that are not fixed; None if there are too many."""
    free = np.flatnonzero(~needs.fixed)
    if needs.count ** len(free) > _ALL_TRIED:
        return None
    choices = np.array(list(product(range(needs.count), repeat=len(free))), dtype=np.int64)
    tried = np.repeat(parts[None, :], len(choices), axis=0)
    tried[:, free] = choices
    held = tried[:, None, :] == np.arange(needs.count)[None, :, None]  # assignments × parts × groups
    totals, before = held @ needs.group_sizes, needs.totals(parts)
    bounded = needs.allow(totals, least, before) | (totals == before).all(axis=1)
    tried, held, totals = tried[bounded], held[bounded], totals[bounded]
    train, others = needs.lost(held.astype(np.int64) @ needs.carries)
    moved = (tried != parts) @ needs.group_sizes
    best: list[int] = tried[np.lexsort((moved, needs.off(totals), others, train))[0]].tolist()
    return best


class _Search:
    """An assignment that is made better step by step: a step moves one group to another part, and perhaps one back."""

    def __init__(self, parts: Parts, needs: SplitNeeds, least: Parts) -> None:
        self.parts, self._needs, self._least, self._before = parts.copy(), needs, least, needs.totals(parts)
        self._covered, self._totals = needs.covered(parts), needs.totals(parts)

    def score(self) -> Score:
        """The names that train lacks, those that other parts lack, and the distance from the sizes asked for."""
        train, others = self._needs.lost(self._covered)
        return int(train), int(others), int(self._needs.off(self._totals))

    def run(self) -> list[int]:
        """Bring lost names back, those that the fewest groups have first, then sizes nearer to those asked for; return the parts."""
        carriers = self._needs.carries.sum(axis=0)
        for _ in range(2):  # a name that could not be brought back may be, once others have been
            missing = self._needs.missing(self._covered)
            for part, name in sorted(missing, key=lambda lost: (lost[0] > 0, int(carriers[lost[1]]), lost)):
                if (part, name) in self._needs.missing(self._covered):
                    self._take_best(self._for_name(part, name))
        while self._take_best(self._for_sizes()):
            pass
        return [int(part) for part in self.parts]

    def _take_best(self, steps: Iterable[Sequence[tuple[int, int]]]) -> bool:
        """Take the step with the least score, if that is less than now."""
        best: tuple[Score, Sequence[tuple[int, int]]] | None = None
        now = self.score()
        for step in steps:
            back = [(at, int(self.parts[at])) for at, _ in step]
            self._apply(step)
            if self._needs.allow(self._totals, self._least, self._before):
                score = self.score()
                if score < (now if best is None else best[0]):
                    best = score, step
            self._apply(back)
        if best is None:
            return False
        self._apply(best[1])
        return True

    def _apply(self, step: Sequence[tuple[int, int]]) -> None:
        for at, part in step:
            old = self.parts[at]
            for where, sign in ((old, -1), (part, 1)):
                self._covered[where] += sign * self._needs.carries[at]
                self._totals[where] += sign * self._needs.group_sizes[at]
            self.parts[at] = part

    def _for_name(self, part: int, name: int) -> Iterable[Sequence[tuple[int, int]]]:
        """Yield steps that bring a group with the name to *part*, which lacks it."""
        needs = self._needs
        able = np.flatnonzero((needs.carries[:, name] > 0) & (self.parts != part) & ~needs.fixed)
        for at in able[np.argsort(needs.group_sizes[able], kind="stable")][:_CANDIDATES].tolist():
            yield [(at, part)]
            yield from ([(at, part), (other, int(self.parts[at]))] for other in self._spare(part, int(needs.group_sizes[at])))

    def _for_sizes(self) -> Iterable[Sequence[tuple[int, int]]]:
        """Yield moves and exchanges of groups that no part needs, one group of each size and part."""
        needs = self._needs
        spare = [self._spare(part) for part in range(needs.count)]
        fullest = self._totals.argsort()[::-1].tolist()
        for part, target in [(fullest[0], fullest[-1])] if needs.is_folds else permutations(range(needs.count), 2):
            for at in spare[part]:
                yield [(at, target)]
                if part < target or needs.is_folds:
                    yield from ([(at, target), (other, part)] for other in spare[target])

    def _spare(self, part: int, size: int | None = None) -> list[int]:
        """Return groups of *part* whose names it has elsewhere: the first of each size, those nearest to *size* (or the smallest) first."""
        needs = self._needs
        held = np.flatnonzero((self.parts == part) & ~needs.fixed)
        held = held[((self._covered[part] == 1) & (needs.carries[held] > 0)).sum(axis=1) == 0]
        sizes, first = np.unique(needs.group_sizes[held], return_index=True)
        order = np.argsort(np.abs(sizes - (size or 0)), kind="stable")[:_CANDIDATES]
        return [int(at) for at in held[first[order]]]


def lost_names(
    members: Sequence[Member], groups: Sequence[Collection[str]], split_of: Mapping[str, str], splits: Sequence[str]
) -> tuple[str, ...]:
    """Return a warning for each split and reason by which pairs or types are in no record of it; it names them all.

    A name is lost from train (or all folds but one) in any case, and from another split if more groups have it than there are splits
    before this one. *members* are all records; *split_of* has no split for those that are withheld.
    """
    group_of = {record_id: number for number, group in enumerate(groups) for record_id in group}
    holders: dict[KindName, list[Member]] = {}
    for member in members:
        for own in names_of(member):
            holders.setdefault(own, []).append(member)
    sizes = Counter(split_of.values())
    lost: dict[tuple[str, NameKind, str], list[tuple[str, int]]] = {}
    for (kind, name), having in sorted(holders.items()):
        # Records outside of all groups were left out before groups were made.
        carriers = len({group_of.get(member.id, -1) for member in having})
        present = {split_of[member.id] for member in having if member.id in split_of}
        for split in _lacking(splits, present, carriers):
            share = len(having) * sizes[split] / len(members)
            reason = _reason(having, carriers, split, present, share)
            lost.setdefault((split, kind, reason), []).append((name, len(having)))
    return tuple(_warning(split, kind, names, reason) for (split, kind, reason), names in lost.items())


def _lacking(splits: Sequence[str], present: Collection[str], carriers: int) -> list[str]:
    """Return the splits that lack a name that they could have; for folds, a phrase for all but the fold that has it."""
    if TRAIN not in splits:
        return [f"each fold but {min(present, default='one')}"] if len(present) < 2 and len(splits) > 1 else []
    order = [TRAIN, *sorted(split for split in splits if split != TRAIN)]
    return [split for at, split in enumerate(order) if split not in present and carriers > at]


def _warning(split: str, kind: NameKind, lost: Sequence[tuple[str, int]], reason: str) -> str:
    what = f"the {kind}" if len(lost) == 1 else f"{len(lost)} {plural(kind)}:"
    names = ", ".join(f"{name} ({counted(count, 'record')})" if len(lost) <= _COUNTED else name for name, count in lost)
    return f"{split} has no record of {what} {names}, since {reason.format(it='it' if len(lost) == 1 else 'each')}"


def _reason(having: Sequence[Member], carriers: int, split: str, present: Collection[str], share: float) -> str:
    """Return the reason and the remedy, as the end of a sentence and another one; "{it}" is what is lost."""
    if not present:
        return "all records of {it} are withheld. Ask for other sizes, another balance or another overlap"
    if carriers > 1:
        larger = "smaller other splits" if split == TRAIN else f"a larger {split} split"
        few = f"its fair share of {{it}} is less than {counted(_LEAST_SHARE, 'record')}"
        whole = "whole groups near the sizes asked for leave {it} out"
        return f"{few if split != TRAIN and share < _LEAST_SHARE else whole}. Ask for {larger}, or add records"
    shared = set(having[0].group_keys).intersection(*(member.group_keys for member in having))
    source = next(
        (kind for kind in ("story", "scenario", "document", "persona") if any(key.startswith(f"{kind}:") for key in shared)), None
    )
    whole = f"one {source}" if source else "one group that must not be parted"
    return f"all records of {{it}} come from {whole}. {_cure(source)}"


def _cure(source: str | None) -> str:
    if source in ("story", "scenario"):  # more records of a run have the same stories
        added = f"Add {plural(source)} with --bank (or choose other --pairs)"
    else:
        added = f"Add records of other {plural(source or 'group')}"
    return f"{added}, or divide groups with --group-by" + (" contexts,questions,values,parents" if source else "")
