"""Splits that share as little as possible: groups stay together, sizes are exact, and splits are alike.

``split_members`` does all steps in turn: ``balancing`` leaves records out, ``grouping`` finds what stays together, ``choosing`` (train,
validation and test) or ``folds`` assign the groups, ``spreading`` makes the splits alike, ``value_overlap`` limits the values that
two splits have in common. The result depends on records, settings and seed, and not on the order of the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from piiloom.corpus.record import Record
from piiloom.corpus.releases.balancing import balance_members
from piiloom.corpus.releases.choosing import choose_groups
from piiloom.corpus.releases.folds import assign_folds
from piiloom.corpus.releases.grouping import Group, cure_of_few, group_members
from piiloom.corpus.releases.members import Member
from piiloom.corpus.releases.redrawing import Draw
from piiloom.corpus.releases.settings import SplitSettings
from piiloom.corpus.releases.sizes import IndivisibleError, split_sizes
from piiloom.corpus.releases.spreading import features, spread
from piiloom.corpus.releases.value_overlap import limit_overlap
from piiloom.corpus.split_names import TRAIN, fold_name, in_order
from piiloom.corpus.store.releases import NewValue
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.foundation.seeding import derive_rng

__all__ = ["Draw", "Member", "Split", "split_members", "split_records"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Record ids by split, in input order; (id, reason) of the records in none.

    ``redrawn`` are the mentions whose value must be replaced in the records. ``notes`` tell the user what is not as one might expect:
    what was left out or moved, what does not keep records together although they share it.
    """

    ids: Mapping[str, tuple[str, ...]]
    withheld: tuple[tuple[str, str], ...]
    redrawn: tuple[NewValue, ...] = ()
    notes: tuple[str, ...] = ()


def split_records(records: Iterable[Record], settings: SplitSettings, *, draw: Draw | None = None) -> Split:
    """Split *records*, an iterable that is read once; see ``split_members``."""
    return split_members([Member.of(record) for record in records], settings, draw=draw)


def split_members(members: Sequence[Member], settings: SplitSettings, *, draw: Draw | None = None) -> Split:
    """Split *members* as *settings* say; *draw* gives new values (without it, a value that cannot be in two splits is left out).

    Raises ``UsageError`` for settings that cannot be met (``IndivisibleError`` for sizes that leave nothing to train on, others for
    fewer groups than folds and a limit that only an empty split keeps), and ``ReleaseError`` if an id occurs twice.
    """
    if len({member.id for member in members}) < len(members):
        raise ReleaseError("a record id occurs twice", remedy="Split each record once")
    withheld: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    if settings.balance is not None:
        balanced = balance_members(members, settings.balance, seed=settings.seed)
        withheld = dict.fromkeys(balanced.left_out, f"left out to balance the records by {settings.balance}")
        notes = balanced.notes
    divided = _divide([member for member in members if member.id not in withheld], settings, draw)
    withheld |= divided.withheld
    return Split(
        ids={name: tuple(member.id for member in members if divided.split_of.get(member.id) == name) for name in divided.names},
        withheld=tuple((member.id, withheld[member.id]) for member in members if member.id in withheld),
        redrawn=divided.redrawn,
        notes=(*notes, *divided.notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Divided:
    """The split of each record by id (those withheld are missing), the names of all splits, and what there is to tell."""

    split_of: Mapping[str, str]
    names: Sequence[str]
    withheld: Mapping[str, str]
    redrawn: tuple[NewValue, ...]
    notes: tuple[str, ...]


def _divide(members: Sequence[Member], settings: SplitSettings, draw: Draw | None) -> _Divided:
    """Group *members*, assign the groups, and limit the values in common."""
    sizes = {} if settings.folds else split_sizes(settings, len(members))
    if not (settings.folds or sizes):
        return _Divided(split_of={member.id: TRAIN for member in members}, names=[TRAIN], withheld={}, redrawn=(), notes=())
    by_id = {member.id: member for member in members}
    grouping = group_members(members, group_by=settings.group_by)
    surplus: dict[str, str] = {}
    if settings.folds:
        parts, names = _folds(grouping.groups, by_id, settings), [fold_name(n + 1) for n in range(settings.folds)]
    else:
        parts, surplus = _train_and_others(grouping.groups, by_id, sizes, settings.seed)
        names = in_order([TRAIN, *sizes])
    split_of = {record_id: split for group, split in zip(grouping.groups, parts, strict=True) for record_id in group.ids}
    kept = {record_id: split for record_id, split in split_of.items() if record_id not in surplus}
    limited = limit_overlap(members, kept, [group.ids for group in grouping.groups], settings, draw)
    return _Divided(
        split_of=limited.split_of,
        names=names,
        withheld=surplus | limited.withheld,
        redrawn=tuple(limited.redrawn),
        notes=(*grouping.notes, *limited.notes),
    )


def _folds(groups: Sequence[Group], by_id: Mapping[str, Member], settings: SplitSettings) -> list[str]:
    """Return the fold of each group."""
    if len(groups) == 1:
        remedy = f"Ask for 0 folds, or {cure_of_few(groups, by_id)}"
        raise UsageError("all records form one group that must stay together", where="folds", remedy=remedy)
    parts = np.array(assign_folds(groups, settings.folds, derive_rng("folds", settings.seed)), dtype=np.int64)
    parts = spread(parts, features(groups, by_id), groups, derive_rng("spread", settings.seed), train=None)
    return [fold_name(part + 1) for part in parts.tolist()]


def _train_and_others(
    groups: Sequence[Group], by_id: Mapping[str, Member], counts: Mapping[str, int], seed: int
) -> tuple[list[str], dict[str, str]]:
    """Return the split of each group, and id and reason of the records that are too many for the sizes *counts*."""
    names = [TRAIN, *counts]
    part_of: dict[str, int] = {}
    for number, split in enumerate(names[1:], start=1):
        rest = [group for group in groups if group.ids[0] not in part_of]
        chosen = choose_groups(rest, counts[split], derive_rng(f"train-{split} split", seed)) if _records(rest) > counts[split] else rest
        if len(chosen) == len(rest):
            cure = cure_of_few(groups, by_id)
            error = IndivisibleError(
                f"{len(by_id)} records form {len(groups)} group(s) that cannot be divided, so a {split} split leaves nothing to train on",
                remedy=f"Ask for a {split} size of 0, or {cure}",
            )
            error.cure = cure
            raise error
        part_of |= {group.ids[0]: number for group in chosen}
    parts = np.array([part_of.get(group.ids[0], 0) for group in groups], dtype=np.int64)
    parts = spread(parts, features(groups, by_id), groups, derive_rng("spread", seed), train=0)
    surplus: dict[str, str] = {}
    for number, split in enumerate(names[1:], start=1):
        chosen = [group for group, part in zip(groups, parts.tolist(), strict=True) if part == number]
        reason = f"its group is too large for a {split} split of exactly {counts[split]} records and must not be parted"
        surplus |= dict.fromkeys(_surplus(chosen, _records(chosen) - counts[split]), reason)
    return [names[part] for part in parts.tolist()], surplus


def _records(groups: Iterable[Group]) -> int:
    return sum(group.size for group in groups)


def _surplus(chosen: Sequence[Group], count: int) -> list[str]:
    """Return the *count* records to withhold: the last ones of the largest groups."""
    left: list[str] = []
    for group in sorted(chosen, key=lambda group: (-group.size, group.ids[0])):
        left += reversed(group.ids)
        if len(left) >= count:
            break
    return left[:count]
