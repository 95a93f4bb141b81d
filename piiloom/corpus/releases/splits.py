"""Splits that share as little as possible: groups stay together, sizes are exact, and splits are alike.

``split_members`` does all steps in turn: ``balance_members`` leaves records out, ``group_members`` finds what stays together,
``choose_groups`` (train, validation and test) or ``assign_folds`` assign the groups, ``spread`` makes the splits alike, ``covering`` keeps
every pair and type in train, ``limit_overlap`` limits the values that two splits have in common. The result depends on records, settings
and seed, and not on the order of the records.

``keep_places`` gives records the splits that they have in an earlier release. A record that the release has in the same revision is
*settled*. All others are new, or edited. A new record takes the split of the records that a key, a text, a value or a parent links it with,
directly or through other new records. A record that is linked with two splits is withheld; of two new records that are linked with each
other and take different splits, one is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from piiloom.corpus.record import TRAIN, Record, fold_name, in_order
from piiloom.corpus.releases.assigning import assign_folds, balance_members, choose_groups, features, spread_groups
from piiloom.corpus.releases.covering import SplitNeeds, cover, lost_names
from piiloom.corpus.releases.grouping import Group, Grouping, Member, Parts, cure_of_few, group_members, group_of
from piiloom.corpus.releases.release_options import IndivisibleError, SplitSettings, split_sizes
from piiloom.corpus.releases.value_overlap import ValueDraw, limit_overlap
from piiloom.corpus.store.releases import NewValue
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import counted
from piiloom.taxonomy.entity_types import Taxonomy

# The revision and the split of each record of a release.
KeptPlaces = Mapping[str, tuple[int, str]]


def unsettled(members: Iterable[Member], places: KeptPlaces) -> set[str]:
    """Return the ids of the new and the edited records."""
    return {member.id for member in members if places.get(member.id, (None, ""))[0] != member.revision}


def keep_places(
    members: Mapping[str, Member], grouping: Grouping, places: KeptPlaces, release: str
) -> tuple[tuple[Group, ...], dict[str, str], dict[str, str], tuple[str, ...]]:
    """Return the groups of *members* with the splits that *places*, those of *release*, give them; *grouping* has the links.

    These are the groups without the records that are withheld, the splits of those that have one, by their first id, the reasons of
    the withheld records, by id, and notes.
    """
    fresh = unsettled(members.values(), places)
    settled = {record_id: places[record_id][1] for record_id in members if record_id not in fresh}
    edited = {record_id: places[record_id][1] for record_id in fresh if record_id in places}
    split_of, withheld = _follow(fresh, edited, settled, grouping.ties)
    reason = f"it belongs with records that release {release} has in different splits"
    together: dict[tuple[int, str | None], list[Member]] = {}
    for number, group in enumerate(grouping.groups):
        for record_id in group.ids:
            if record_id not in withheld:
                together.setdefault((number, split_of.get(record_id)), []).append(members[record_id])
    found = sorted(((group_of(own), split) for (_, split), own in together.items()), key=lambda pair: pair[0].ids[0])
    gone = len(places.keys() - members.keys())
    notes = [f"{counted(gone, 'record')} of release {release} {'is' if gone == 1 else 'are'} not among the records of this one"]
    kept = {group.ids[0]: split for group, split in found if split is not None}
    return tuple(group for group, _ in found), kept, dict.fromkeys(sorted(withheld), reason), tuple(notes if gone else [])


def _follow(
    fresh: Iterable[str], edited: Mapping[str, str], settled: Mapping[str, str], ties: Sequence[Sequence[str]]
) -> tuple[dict[str, str], set[str]]:
    """Return the split of each record that is settled or follows others, and the records that cannot be in any split."""
    split_of, withheld, pending = dict(settled), set[str](), set(fresh)
    ties_of: dict[str, list[int]] = {}
    taken: list[set[str]] = []
    for number, tie in enumerate(ties):
        taken.append({split_of[record_id] for record_id in tie if record_id in split_of})
        for record_id in pending.intersection(tie):
            ties_of.setdefault(record_id, []).append(number)
    own = {record_id: {split} for record_id, split in edited.items()}
    while True:
        claims = {
            record_id: set[str]().union(own.get(record_id, ()), *(taken[number] for number in ties_of.get(record_id, ())))
            for record_id in sorted(pending)
        }
        torn = {record_id for record_id, splits in claims.items() if len(splits) > 1}
        following = {record_id: min(splits) for record_id, splits in claims.items() if len(splits) == 1}
        torn |= _outvoted(following, edited, ties, sorted({number for record_id in following for number in ties_of.get(record_id, ())}))
        withheld |= torn
        pending -= torn | following.keys()
        following = {record_id: split for record_id, split in following.items() if record_id not in torn}
        split_of |= following
        for record_id, split in following.items():
            for number in ties_of.get(record_id, ()):
                taken[number].add(split)
        if not following:
            return split_of, withheld


def _outvoted(following: Mapping[str, str], edited: Mapping[str, str], ties: Sequence[Sequence[str]], numbers: Sequence[int]) -> set[str]:
    """Return the records that are linked with others of another split, so that the links left are within one; edited records stay first."""
    out: set[str] = set()
    for number in numbers:
        voters = [record_id for record_id in ties[number] if record_id in following and record_id not in out]
        votes = Counter(following[record_id] for record_id in voters)
        if len(votes) > 1:
            of_edited = Counter(following[record_id] for record_id in voters if record_id in edited)
            order = in_order(votes)
            kept = max(order, key=lambda split: (of_edited[split], votes[split], -order.index(split)))
            out.update(record_id for record_id in voters if following[record_id] != kept)
    return out


# The share of the records that a split may withhold without a warning, and the most that it withholds to meet a size once it
# had to assign groups anew for a lost pair or type.
_MOST_WITHHELD = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Record ids by split, in input order; (id, reason) of the records in none.

    ``redrawn`` are the mentions whose value must be replaced in the records. ``notes`` tell the user what is not as one might expect:
    what was left out or moved, what does not keep records together although they share it. ``warnings`` are about pairs and types
    that a split lacks, sizes that were not met for their sake, and many withheld records.
    """

    ids: Mapping[str, tuple[str, ...]]
    withheld: tuple[tuple[str, str], ...]
    redrawn: tuple[NewValue, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def split_records(records: Iterable[Record], settings: SplitSettings, taxonomy: Taxonomy, *, draw: ValueDraw | None = None) -> Split:
    """Split *records*, an iterable that is read once; see ``split_members``."""
    return split_members([Member.of(record, taxonomy) for record in records], settings, draw=draw)


def split_members(
    members: Sequence[Member], settings: SplitSettings, *, draw: ValueDraw | None = None, places: KeptPlaces | None = None
) -> Split:
    """Split *members* as *settings* say; *draw* gives new values (without it, a value that cannot be in two splits is left out).

    *places* are those of the release ``settings.keep_split_of``.

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
    divided = _divide([member for member in members if member.id not in withheld], settings, draw, places)
    withheld |= divided.withheld
    lost = lost_names(members, divided.groups, divided.split_of, divided.names)
    return Split(
        ids={name: tuple(member.id for member in members if divided.split_of.get(member.id) == name) for name in divided.names},
        withheld=tuple((member.id, withheld[member.id]) for member in members if member.id in withheld),
        redrawn=divided.redrawn,
        notes=(*notes, *divided.notes),
        warnings=(*divided.warnings, *lost, *_much_withheld(withheld, len(members), divided.whole)),
    )


def _much_withheld(withheld: Mapping[str, str], count: int, whole: Mapping[str, int]) -> tuple[str, ...]:
    """Return a warning if more than ``_MOST_WITHHELD`` of *count* records are withheld; *whole* are the sizes that would withhold none."""
    if len(withheld) <= _MOST_WITHHELD * count:
        return ()
    reasons = Counter(withheld.values()).most_common()
    told = "; ".join(reason if len(reasons) == 1 else f"{counted(number, 'record')}: {reason}" for reason, number in reasons)
    share = f"{len(withheld):,} of {counted(count, 'record')} ({len(withheld) / count:.0%}) are withheld"
    sizes = f"Ask for the size of whole groups ({', '.join(f'{split} {size}' for split, size in whole.items())}), " if whole else ""
    remedy = f"{sizes}add records of other groups, or divide groups with --group-by"
    if reasons[0][0].startswith("left out to balance"):
        remedy = "release without --balance, or add records of the rarer kinds"
    remedy = remedy[0].upper() + remedy[1:]
    return (f"{share}: {told}. {remedy}",)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Divided:
    """The split of each record by id (those withheld are missing), the names of all splits, the groups, and what there is to tell."""

    split_of: Mapping[str, str]
    names: Sequence[str]
    groups: Sequence[tuple[str, ...]] = ()
    withheld: Mapping[str, str]
    redrawn: tuple[NewValue, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    whole: Mapping[str, int] = field(default_factory=dict)


def _divide(members: Sequence[Member], settings: SplitSettings, draw: ValueDraw | None, places: KeptPlaces | None) -> _Divided:
    """Group *members*, assign the groups, and limit the values in common."""
    sizes = {} if settings.folds else split_sizes(settings, len(members))
    if not (settings.folds or sizes):
        return _Divided(split_of={member.id: TRAIN for member in members}, names=[TRAIN], withheld={})
    by_id = {member.id: member for member in members}
    grouping = group_members(members, group_by=settings.group_by, watched=() if places is None else unsettled(members, places))
    groups, kept, notes = grouping.groups, dict[str, str](), grouping.notes
    withheld: dict[str, str] = {}
    if places is not None:
        groups, kept, withheld, more = keep_places(by_id, grouping, places, settings.keep_split_of or "")
        notes = (*notes, *more)
    if settings.folds:
        names = [fold_name(n + 1) for n in range(settings.folds)]
        assigned = _folds(groups, by_id, names, kept, settings.seed)
    else:
        names = in_order([TRAIN, *sizes])
        assigned = _train_and_others(groups, by_id, sizes, kept, settings.seed)
    split_of = {record_id: split for group, split in zip(groups, assigned.splits, strict=True) for record_id in group.ids}
    withheld |= assigned.surplus
    limited = limit_overlap(
        [member for member in members if member.id in split_of],
        {record_id: split for record_id, split in split_of.items() if record_id not in withheld},
        [group.ids for group in groups],
        settings,
        draw,
    )
    return _Divided(
        split_of=limited.split_of,
        names=names,
        groups=[group.ids for group in groups],
        withheld=withheld | limited.withheld,
        redrawn=tuple(limited.redrawn),
        notes=(*notes, *limited.notes),
        warnings=assigned.warnings,
        whole=assigned.whole,
    )


@dataclass(frozen=True, slots=True)
class _Assigned:
    """The split of each group, id and reason of the records that are too many for a size, and what the user must know.

    ``whole`` are the sizes of the splits from which records are withheld, with these records.
    """

    splits: Sequence[str]
    surplus: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    whole: Mapping[str, int] = field(default_factory=dict)


def _folds(groups: Sequence[Group], by_id: Mapping[str, Member], names: Sequence[str], kept: Mapping[str, str], seed: int) -> _Assigned:
    """Assign groups to the folds *names*; *kept* are the folds of groups that have one, by their first id."""
    if len(groups) == 1 and not kept:
        remedy = f"Ask for 0 folds, or {cure_of_few(groups, by_id)}"
        raise UsageError("all records form one group that must stay together", where="folds", remedy=remedy)
    parts = assign_folds(groups, len(names), derive_rng("folds", seed), kept=[_part(group, kept, names) for group in groups])
    if not kept:
        parts = spread_groups(parts, features(groups, by_id), groups, derive_rng("spread", seed), train=None)
    needs = SplitNeeds(groups, by_id, folds=len(names), fixed=[group.ids[0] in kept for group in groups])
    covered = cover(parts, needs)
    warnings = () if (covered == parts).all() else ("folds differ in size by more, so that no pair or type is in one fold only",)
    even = int(needs.off(needs.totals(covered))) <= max(1, int(needs.off(needs.totals(parts))))
    return _Assigned([names[part] for part in covered.tolist()], warnings=() if even else warnings)


def _part(group: Group, kept: Mapping[str, str], names: Sequence[str]) -> int | None:
    return names.index(kept[group.ids[0]]) if group.ids[0] in kept else None


def _train_and_others(
    groups: Sequence[Group], by_id: Mapping[str, Member], counts: Mapping[str, int], kept: Mapping[str, str], seed: int
) -> _Assigned:
    """Assign groups to train and to splits of the sizes *counts*; *kept* are the splits of groups that have one, by their first id."""
    names = [TRAIN, *counts]
    free = [group for group in groups if group.ids[0] not in kept]
    part_of = {group.ids[0]: names.index(kept[group.ids[0]]) for group in groups if group.ids[0] in kept}
    for number, split in enumerate(names[1:], start=1):
        there = _records(group for group in groups if part_of.get(group.ids[0]) == number)
        rest = [group for group in free if group.ids[0] not in part_of]
        chosen = _chosen(rest, counts[split], there, derive_rng(f"train-{split} split", seed))
        if len(chosen) == len(rest) and 0 not in part_of.values():
            cure = cure_of_few(groups, by_id)
            error = IndivisibleError(
                f"{len(by_id)} records form {len(groups)} group(s) that cannot be divided, so a {split} split leaves nothing to train on",
                remedy=f"Ask for a {split} size of 0, or {cure}",
            )
            error.cure = cure
            raise error
        part_of |= {group.ids[0]: number for group in chosen}
    parts = np.array([part_of.get(group.ids[0], 0) for group in groups], dtype=np.int64)
    fixed = np.array([group.ids[0] in kept for group in groups], dtype=np.bool_)
    if free:
        parts[~fixed] = spread_groups(parts[~fixed], features(free, by_id), free, derive_rng("spread", seed), train=0)
    return _covering(parts, SplitNeeds(groups, by_id, sizes=[*counts.values()], fixed=fixed), names, exact=not kept)


def _chosen(rest: Sequence[Group], count: int, there: int, rng: random.Random) -> Sequence[Group]:
    """Choose groups of *rest* for a split of *count* records that has *there* already: as few too many as possible, or nearer by none."""
    wanted = count - there
    if wanted <= 0:
        return []
    chosen = choose_groups(rest, wanted, rng) if _records(rest) > wanted else rest
    return [] if there and _records(chosen) - wanted > wanted else chosen


def _covering(parts: Parts, needs: SplitNeeds, names: Sequence[str], *, exact: bool) -> _Assigned:
    """Return the assignment *parts*, or one that loses fewer pairs and types; *exact*: sizes are met exactly otherwise."""
    surplus = _surplus(parts, needs, names) if exact else {}
    lost = needs.missing(needs.covered(parts, without=surplus))
    if lost:
        other = cover(parts, needs)
        withheld = _surplus(other, needs, names) if exact else {}
        left = needs.missing(needs.covered(other))
        if len(withheld) > _MOST_WITHHELD * needs.totals(other).sum() or needs.missing(needs.covered(other, without=withheld)) != left:
            withheld = {}
        if needs.weight(left) < needs.weight(lost):
            warnings = _other_sizes(needs.totals(other), needs, names, [one for one in lost if one not in left])
            return _assigned(other, needs, names, withheld, warnings if exact and not withheld else ())
    return _assigned(parts, needs, names, surplus, ())


def _assigned(parts: Parts, needs: SplitNeeds, names: Sequence[str], surplus: Mapping[str, str], warnings: tuple[str, ...]) -> _Assigned:
    totals = zip(names[1:], needs.totals(parts)[1:].tolist(), needs.sizes.tolist(), strict=True)
    whole = {split: total for split, total, size in totals if total > size} if surplus else {}
    return _Assigned([names[part] for part in parts.tolist()], surplus, warnings, whole)


def _other_sizes(totals: Parts, needs: SplitNeeds, names: Sequence[str], saved: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return a warning for each split that has not the size asked for; *saved* are the pairs and types that would be lost otherwise."""
    told = ", ".join(f"{names[part]} the {kind} {name}" for part, (kind, name) in ((part, needs.names[at]) for part, at in saved))
    return tuple(
        f"{split} has {counted(total, 'record')}, not {size:,}: otherwise these splits would lack a pair or type that they can have: {told}"
        for split, total, size in zip(names[1:], totals[1:].tolist(), needs.sizes.tolist(), strict=True)
        if total != size
    )


def _records(groups: Iterable[Group]) -> int:
    return sum(group.size for group in groups)


def _surplus(parts: Parts, needs: SplitNeeds, names: Sequence[str]) -> dict[str, str]:
    """Return id and reason of the records to withhold so that sizes are exact: the last ones of the largest groups of each split."""
    surplus: dict[str, str] = {}
    for number, (split, size) in enumerate(zip(names[1:], needs.sizes.tolist(), strict=True), start=1):
        chosen = [group for group, part in zip(needs.groups, parts.tolist(), strict=True) if part == number]
        ordered = sorted(chosen, key=lambda group: (-group.size, group.ids[0]))
        last = [record_id for group in ordered for record_id in reversed(group.ids)][: max(0, _records(chosen) - size)]
        reason = f"its group is too large for a {split} split of exactly {size} records and must not be parted"
        surplus |= dict.fromkeys(last, reason)
    return surplus
