"""Leave out whole texts so that relevance, types or locales are about equally frequent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from piiloom.corpus.releases.members import Member
from piiloom.corpus.releases.settings import Balance
from piiloom.foundation.seeding import digest
from piiloom.foundation.words import counted

# At most this share of the records is left out.
_MOST_LEFT_OUT = 0.5
_FIRST_BATCH = 1 / 64  # of the texts
_EXACT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Balanced:
    """The ids of the records that were left out, and what to tell the user."""

    left_out: frozenset[str]
    notes: tuple[str, ...]


def balance_members(members: Sequence[Member], by: Balance, *, seed: int) -> Balanced:
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


def _classes(texts: Sequence[Sequence[Member]], by: Balance) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return how often each class occurs in each text: texts × classes."""
    counts = [Counter(name for member in text for name in _names(member, by)) for text in texts]
    column = {name: at for at, name in enumerate(sorted({name for own in counts for name in own}))}
    table = np.zeros((len(texts), len(column)))
    for row, own in enumerate(counts):
        for name, count in own.items():
            table[row, column[name]] = count
    return table


def _names(member: Member, by: Balance) -> list[str]:
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
        useful = gain > _EXACT
        best = np.argsort(-gain, kind="stable")[: min(batch, int(useful.sum()))]
        if not best.size:
            return kept, False
        fitting = best[np.cumsum(sizes[best]) <= room]
        rest = total - table[fitting].sum(axis=0)
        # Single texts may each lower the distance, and all of them together overshoot.
        if fitting.size and _distance(rest[None, :])[0] < now - _EXACT:
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
