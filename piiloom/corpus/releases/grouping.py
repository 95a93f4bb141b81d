"""Find groups of records that must be in the same split.

Records are linked if they share a group key (story or scenario, persona, document, contrast group …), if their contexts or their
questions are near-duplicates, if they were derived from one parent (which is linked, too), or if they share a rare value.
Groups are the connected components of these links.

A value links if it is *identifying* and *rare*:

- codes (phone, e-mail, IBAN …) of at least five characters and names of two or more words, or of letters and digits (a user name),
  that occur in at most ten groups;
- values of the other open types of at least 20 characters ("Sunrise Hospice of Boulder") that occur in at most three groups.

A group here is what the other links have made (all texts of a story, of a persona …), and records of one text count once. First
names, towns, amounts and job titles are left out: by chance so many texts share one that half of a set would become one group
(docs/splits.md has the figures).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.near_duplicates import Numbers, Wordings
from piiloom.corpus.normalising import value_form
from piiloom.corpus.record import Record, Relevance
from piiloom.corpus.releases.release_options import GROUP_BY, GroupBy
from piiloom.foundation.words import counted
from piiloom.taxonomy.entity_types import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One mention of a value: ``context[start:end]`` of its member. ``open``: by the taxonomy, values of its type seldom repeat."""

    start: int
    end: int
    entity_type: str
    subtype: str | None = None
    relevance: Relevance | None = None
    value_id: str | None = None
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What splitting needs of a record.

    ``stratum`` is its pair of types ("age+health"), or "" if it has none. ``parents`` are the ids (without revisions) of the records
    that it was derived from.
    """

    id: str
    revision: int
    context: str
    question: str | None = None
    locale: str = ""
    group_keys: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    stratum: str = ""
    values: tuple[Value, ...] = ()

    @classmethod
    def of(cls, record: Record, taxonomy: Taxonomy) -> Member:
        """Make the member for *record*, whose values are of the types of *taxonomy*."""
        types = taxonomy.types
        return cls(
            id=record.id,
            revision=record.revision,
            context=record.context,
            question=record.question,
            locale=record.locale,
            group_keys=record.group_keys,
            parents=_parents(record),
            stratum=intern("+".join(sorted(record.plan.pair))) if record.plan is not None else "",
            values=tuple(
                Value(
                    start=span.start,
                    end=span.end,
                    entity_type=span.entity_type,
                    subtype=span.subtype,
                    relevance=span.relevance,
                    value_id=span.value_id,
                    open=span.entity_type in types and types[span.entity_type].open,
                )
                for span in record.spans
            ),
        )

    def text_of(self, value: Value) -> str:
        """The value as it stands in the context."""
        return self.context[value.start : value.end]

    def key_of(self, value: Value) -> tuple[str, str]:
        """Type and form: two mentions have the same value if these are equal."""
        return value.entity_type, value_form(value.entity_type, self.text_of(value))

    def spelling_of(self, value: Value) -> tuple[str, str]:
        """Type and case-folded text: the order of values, and what seeds draws for one, as the least spelling of all mentions."""
        return value.entity_type, self.text_of(value).casefold()


def _parents(record: Record) -> tuple[str, ...]:
    made = record.provenance
    return () if made is None else tuple(parent.rpartition("@")[0] or parent for parent in made.parents)


class Links:
    """Union-find over positions, with path halving. The smaller root wins, so the result does not depend on the order of links.

    With *watched* positions, ``ties`` are the sets of positions that were joined at once and hold a watched one.
    """

    def __init__(self, size: int, *, watched: Collection[int] = ()) -> None:
        self._parent = list(range(size))
        self.watched = frozenset(watched)
        self.ties: set[tuple[int, ...]] = set()

    def root(self, at: int) -> int:
        """Return the smallest position that is linked to *at*."""
        parent = self._parent
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    def join(self, first: int, second: int) -> None:
        """Link two positions."""
        low, high = sorted((self.root(first), self.root(second)))
        self._parent[high] = low

    def join_all(self, positions: Sequence[int]) -> None:
        """Link all *positions* with each other."""
        for position in positions[1:]:
            self.join(positions[0], position)
        self.record_tie(positions)

    def record_tie(self, positions: Sequence[int]) -> None:
        """Record that *positions*, which are linked already, belong together."""
        if self.watched and len(positions) > 1 and not self.watched.isdisjoint(positions):
            self.ties.add(tuple(sorted(positions)))

    def roots(self) -> NDArray[np.int64]:
        """Return the root of every position."""
        roots = np.array(self._parent, dtype=np.int64)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        return roots


_SHORTEST_CODE = 5
_SHORTEST_USER_NAME = 6
_SHORTEST_OTHER = 20
_GROUPS_OF_IDENTIFIERS, _GROUPS_OF_OTHERS = 10, 3
# No value may make a group of more than this share of the records, unless other links have made one of half that size.
_LARGEST_SHARE = 0.05
_LARGEST_COUNT = 10
_DIGIT = re.compile(r"\d")


def link_rare_values(members: Sequence[Member], links: Links) -> int:
    """Link the *members* (positions in *links*) that share a rare value; return how many values were not used, as too many share them.

    The rarest values link first (ties: by type and text). A value that would make a group of more than 5% of the records (and more
    than ten of them, and more than twice the largest group that there was) is common after all, and does not link. So the order of
    *members* must not depend on chance.
    """
    rare = _rare_values(members, links)
    sizes: dict[int, int] = {}
    for root in links.roots().tolist():
        sizes[root] = sizes.get(root, 0) + 1
    limit = max(_LARGEST_COUNT, int(_LARGEST_SHARE * len(members)), 2 * max(sizes.values(), default=0))
    unused = 0
    for _, _, positions in rare:
        roots = sorted({links.root(position) for position in positions})
        if len(roots) < 2:  # rarer values have linked them all
            links.record_tie(positions)
            continue
        total = sum(sizes[root] for root in roots)
        if total > limit:
            unused += 1
            continue
        links.join_all(roots)
        links.record_tie(positions)
        sizes[roots[0]] = total
    return unused


def is_identifying(entity_type: str, text: str) -> bool:
    """Whether the value *text* of an open type tells people or texts apart, if it is rare."""
    if entity_type == "code":
        return len(text) >= _SHORTEST_CODE
    if entity_type == "name":
        return len(text.split()) > 1 or (len(text) >= _SHORTEST_USER_NAME and _DIGIT.search(text) is not None)
    return len(text) >= _SHORTEST_OTHER


def _rare_values(members: Sequence[Member], links: Links) -> list[tuple[int, tuple[str, str], list[int]]]:
    """Return (number of groups, least spelling, positions of its records) of the rare values of several groups, the rarest first."""
    holders: dict[tuple[str, str], list[int]] = {}
    spelling: dict[tuple[str, str], tuple[str, str]] = {}
    for position, member in enumerate(members):
        for value in member.values:
            if value.open and is_identifying(value.entity_type, member.text_of(value)):
                key, spelt = member.key_of(value), member.spelling_of(value)
                held = holders.setdefault(key, [])
                spelling[key] = min(spelt, spelling.get(key, spelt))
                if not held or held[-1] != position:
                    held.append(position)
    group = links.roots().tolist()
    first_of_text: dict[str, int] = {}
    for position, member in enumerate(members):
        group[position] = group[first_of_text.setdefault(member.context, position)]
    found = []
    for key, positions in holders.items():
        groups = len({group[position] for position in positions})
        if 1 < groups <= (_GROUPS_OF_IDENTIFIERS if key[0] in {"code", "name"} else _GROUPS_OF_OTHERS):
            found.append((groups, spelling[key], positions))
    return sorted(found)


__all__ = ["Group", "Grouping", "Member", "cure_of_few", "group_members"]

Parts = NDArray[np.int64]  # the number of the split of each group
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
