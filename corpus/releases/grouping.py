"""Find groups of records that must be in the same split.

Records are linked if they share a group key (scenario, persona, document …) or if their contexts are near-duplicates. Groups
are the connected components of these links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.corpus.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """The part of a record that splitting needs. ``stratum`` is its pair of types ("age+health"), or "" if it has none."""

    id: str
    revision: int
    context: str
    group_keys: tuple[str, ...]
    stratum: str

    @classmethod
    def of(cls, record: Record) -> Member:
        """Make the member for *record*."""
        stratum = "+".join(sorted(record.plan.pair)) if record.plan is not None else ""
        return cls(id=record.id, revision=record.revision, context=record.context, group_keys=record.group_keys, stratum=stratum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ids (sorted) of records that must be in the same split, and their most frequent stratum (ties: the first by name)."""

    ids: tuple[str, ...]
    stratum: str

    @property
    def size(self) -> int:
        """How many records it has."""
        return len(self.ids)


class _Links:
    """Union-find over positions, with path halving. The smaller root wins, so the result does not depend on the order of links."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, at: int) -> int:
        parent = self._parent
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    def join(self, first: int, second: int) -> None:
        low, high = sorted((self.root(first), self.root(second)))
        self._parent[high] = low


def group_members(members: Iterable[Member], *, near_duplicate_threshold: float) -> list[Group]:
    """Return the groups, sorted by their first id; the result does not depend on the order of *members*."""
    ordered = sorted(members, key=lambda member: member.id)
    links = _Links(len(ordered))
    _link_keys(ordered, links)
    index = NearDuplicateIndex(near_duplicate_threshold)
    for position, member in enumerate(ordered):
        for earlier in index.insert(str(position), member.context):
            links.join(int(earlier), position)
    together: dict[int, list[Member]] = {}
    for position, member in enumerate(ordered):
        together.setdefault(links.root(position), []).append(member)
    return [Group(ids=tuple(m.id for m in group), stratum=_main_stratum(group)) for group in together.values()]


def _link_keys(ordered: Sequence[Member], links: _Links) -> None:
    holder: dict[str, int] = {}
    for position, member in enumerate(ordered):
        for key in member.group_keys:
            links.join(holder.setdefault(key, position), position)


def _main_stratum(group: Sequence[Member]) -> str:
    counts = Counter(member.stratum for member in group)
    return min(counts, key=lambda stratum: (-counts[stratum], stratum))
