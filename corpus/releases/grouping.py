"""Which records must stay on one side of a split.

Records belong together when they share a group key (scenario, persona, document …), when their contexts are
near-duplicates, or when a chain of such links joins them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.corpus.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What a split needs to know of a record. ``stratum`` is its pair ("age+health"), "" without one."""

    id: str
    revision: int
    context: str
    group_keys: tuple[str, ...]
    stratum: str

    @classmethod
    def of(cls, record: Record) -> Member:
        """The member that stands for *record*."""
        stratum = "+".join(sorted(record.plan.pair)) if record.plan is not None else ""
        return cls(id=record.id, revision=record.revision, context=record.context, group_keys=record.group_keys, stratum=stratum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Record ids (sorted) that no split may part, and the stratum that most of them have (of equals the first by name)."""

    ids: tuple[str, ...]
    stratum: str

    @property
    def size(self) -> int:
        """How many records it has."""
        return len(self.ids)


class _Links:
    """Union-find over positions (path halving; the smaller root wins, so results depend on nothing but the links)."""

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
    """The groups, by their first id; whatever order the members come in, the groups are the same."""
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
