"""Assign groups to the folds of a k-fold split: equal sizes first, strata second."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import numpy as np

from piiloom.corpus.releases.grouping import Group
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

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
        exchange = _exchange(groups, _members(fold_of, full, free), _members(fold_of, bare, free), gap) if gap > 1 else None
        if exchange is None:
            return
        given, taken = exchange
        for at, fold in ((given, bare), (taken, full)):
            if at is not None:
                loads[fold_of[at]] -= groups[at].size
                fold_of[at] = fold
                loads[fold] += groups[at].size


def _members(fold_of: Sequence[int], fold: int, free: Collection[int]) -> list[int]:
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
