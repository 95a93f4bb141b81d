"""Find groups of records that must be in the same split.

Records are linked if they share a group key (story or scenario, persona, document, contrast group …), if their contexts or their
questions are near-duplicates, if they were derived from one parent (which is linked, too), or if they share a rare value
(``rare_values``). Groups are the connected components of these links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.near_pairs import Numbers, Wordings
from piiloom.corpus.releases.links import Links
from piiloom.corpus.releases.members import Member
from piiloom.corpus.releases.rare_values import link_rare_values
from piiloom.corpus.releases.settings import GROUP_BY, GroupBy
from piiloom.foundation.words import counted

__all__ = ["Group", "Grouping", "Member", "cure_of_few", "group_members"]

NEAR = 0.5  # Jaccard similarity of 5-word shingles from which on texts are near-duplicates
# A question that more than this share of the records has in the same words is one of the corpus ("What should I do?"), not of a record.
_COMMON_SHARE = 0.02
_COMMON_COUNT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ids (sorted) of records that must be in the same split, and their most frequent stratum (ties: the first by name)."""

    ids: tuple[str, ...]
    stratum: str

    @property
    def size(self) -> int:
        """How many records it has."""
        return len(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """All groups, sorted by their first id, and notes on what does not link although it is shared.

    ``ties`` are sets of ids that a key, a text, a value or a parent links directly, for the records that were watched.
    """

    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    ties: tuple[tuple[str, ...], ...] = ()


def group_members(members: Iterable[Member], *, group_by: Collection[GroupBy] = GROUP_BY, watched: Collection[str] = ()) -> Grouping:
    """Return the groups by the kinds of links in *group_by*; the result does not depend on the order of *members*.

    *watched* are the ids of records whose direct links are wanted, too.
    """
    ordered = sorted(members, key=lambda member: member.id)
    links = Links(len(ordered), watched=[at for at, member in enumerate(ordered) if member.id in watched])
    notes: list[str] = []
    if "keys" in group_by:
        _link_equal([member.group_keys for member in ordered], links)
    if "parents" in group_by:
        _link_equal([(member.id, *member.parents) for member in ordered], links)
    if "contexts" in group_by:
        _link_near(Wordings(member.context for member in ordered), range(len(ordered)), links)
    if "questions" in group_by:
        notes += _link_questions(ordered, links)
    if "values" in group_by and (unused := link_rare_values(ordered, links)):
        subject = f"{counted(unused, 'rare value')} that records share {'does' if unused == 1 else 'do'} not keep them together"
        notes.append(f"{subject}: too large a part of the records would become one group")
    together: dict[int, list[Member]] = {}
    for root, member in zip(links.roots().tolist(), ordered, strict=True):
        together.setdefault(root, []).append(member)
    groups = tuple(group_of(group) for group in together.values())
    ties = tuple(tuple(ordered[at].id for at in tie) for tie in sorted(links.ties))
    return Grouping(groups=groups, notes=tuple(notes), ties=ties)


def cure_of_few(groups: Sequence[Group], by_id: Mapping[str, Member]) -> str:
    """Return what makes more groups of the records *by_id*, as the end of a remedy: more records only help if they are of other groups."""
    if len(groups) > 1:
        return "ask for a smaller size, or generate more records"
    shared = set.intersection(*(set(by_id[record_id].group_keys) for record_id in groups[0].ids))
    kinds = {kind: name for kind, colon, name in (key.partition(":") for key in sorted(shared)) if colon}
    for kind, plural in (("story", "stories"), ("scenario", "scenarios")):
        if kind in kinds:
            return (
                f"use more {plural}: all records are of the {kind} {kinds[kind]!r}, and more records of one {kind} stay together as well. "
                f"Choose other --pairs, or add {plural} with --bank"
            )
    if shared:
        return f"add records of another origin: all have the group key {min(shared)!r}"
    return "add records that differ more: all are near-duplicates of one another, share rare values or have common parents (--group-by)"


def _link_equal(keys: Sequence[tuple[str, ...]], links: Links) -> None:
    """Link the positions that have a key in common."""
    holders: dict[str, list[int]] = {}
    for position, own in enumerate(keys):
        for key in own:
            holders.setdefault(key, []).append(position)
    for positions in holders.values():
        links.join_all(positions)


def _link_near(wordings: Wordings, positions: Sequence[int], links: Links, *, common: NDArray[np.bool_] | None = None) -> None:
    """Link near-duplicates: text number n belongs to ``positions[n]``. Wordings that are *common* do not link."""
    linking = np.ones(wordings.count, dtype=np.bool_) if common is None else ~common
    holders: list[list[int]] = [[] for _ in range(wordings.count)]
    for position, wording in zip(positions, wordings.of_text.tolist(), strict=True):
        holders[wording].append(position)
    for wording in np.flatnonzero(linking).tolist():
        links.join_all(holders[wording])
    first = np.array([own[0] for own in holders], dtype=np.int64)
    watched = np.array([not links.watched.isdisjoint(own) for own in holders], dtype=np.bool_)
    roots = links.roots()

    def unknown(left: Numbers, right: Numbers) -> NDArray[np.bool_]:
        apart = (roots[first[left]] != roots[first[right]]) | watched[left] | watched[right]
        return np.asarray(apart & linking[left] & linking[right])

    for left, right in wordings.near_pairs(NEAR, wanted=unknown):
        for one, other in zip(left.tolist(), right.tolist(), strict=True):
            links.join(holders[one][0], holders[other][0])
            links.record_tie([*holders[one], *holders[other]])
        roots = links.roots()


def _link_questions(members: Sequence[Member], links: Links) -> list[str]:
    """Link near-duplicate questions, but not those that many records have in the same words; return notes on these."""
    asked = [position for position, member in enumerate(members) if member.question is not None]
    wordings = Wordings(members[position].question or "" for position in asked)
    counts = np.bincount(wordings.of_text, minlength=wordings.count)
    common = counts > max(_COMMON_COUNT, _COMMON_SHARE * len(members))
    _link_near(wordings, asked, links, common=common)
    return [
        f"a question that {counted(count, 'record')} ({count / len(members):.0%}) have in the same words does not keep them together"
        for count in sorted(counts[common].tolist(), reverse=True)
    ]


def group_of(members: Sequence[Member]) -> Group:
    """Return the group of *members*, which are sorted by id."""
    counts = Counter(member.stratum for member in members)
    return Group(ids=tuple(member.id for member in members), stratum=min(counts, key=lambda stratum: (-counts[stratum], stratum)))
