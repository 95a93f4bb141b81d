"""Keep the records of an earlier release in their splits, and give new records that belong with them the same split.

A record that the release has in the same revision is *settled*. All others are new, or edited. A new record takes the split of the
records that a key, a text, a value or a parent links it with, directly or through other new records. A record that is linked with
two splits is withheld; of two new records that are linked with each other and take different splits, one is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piiloom.corpus.record import in_order
from piiloom.corpus.releases.grouping import Group, Grouping, group_of
from piiloom.corpus.releases.members import Member
from piiloom.foundation.words import counted

# The revision and the split of each record of a release.
Places = Mapping[str, tuple[int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Groups without the records that are withheld, the split of each (None: free), and what the user should know."""

    groups: tuple[Group, ...]
    splits: tuple[str | None, ...]
    withheld: Mapping[str, str]
    notes: tuple[str, ...]


def unsettled(members: Iterable[Member], places: Places) -> set[str]:
    """Return the ids of the new and the edited records."""
    return {member.id for member in members if places.get(member.id, (None, ""))[0] != member.revision}


def keep_places(members: Mapping[str, Member], grouping: Grouping, places: Places, release: str) -> Kept:
    """Return the groups of *members* with the splits that *places*, those of *release*, give them; *grouping* has the links."""
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
    return Kept(
        groups=tuple(group for group, _ in found),
        splits=tuple(split for _, split in found),
        withheld=dict.fromkeys(sorted(withheld), reason),
        notes=tuple(notes if gone else []),
    )


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
