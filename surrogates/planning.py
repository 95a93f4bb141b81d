"""Which mentions of a document are one person, one value or each a new one, and whose a value is.

Nothing is drawn here: a plan is what the text says, so that the first pass over a corpus can count the people to be cast.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from surrogates.casting.cues import Cues, cues_of, gender_after, gender_before
from surrogates.casting.groups import CODES, OPEN
from surrogates.kinds.registry import KINDS
from surrogates.mentions import Gender, Mention
from surrogates.originals import OriginalNames

PERSON: Final = "person"
NOBODY: Final = -1
_NO_LIMIT: Final = 1 << 60


@dataclass(slots=True)
class Cluster:
    """The mentions of one person, or of two that are named together (``size`` 2).

    ``key`` is (role, index) where the corpus shares the person, else empty. ``code`` is the gender that is known (``groups``);
    ``places`` are the numbers of the mentions. With ``parts`` it is a name for other clusters together (``size`` 0).
    """

    key: tuple[str, str]
    code: int
    size: int
    places: list[int]
    corpus: bool = False
    parts: tuple[int, ...] = ()


@dataclass(slots=True)
class Plan:
    """``clusters`` in order of first mention; ``owners`` gives each mention's cluster (or ``NOBODY``), ``values`` its value's number.

    ``originals``: some mention tells what stood there.
    """

    text: str
    mentions: Sequence[Mention]
    clusters: list[Cluster]
    owners: list[int]
    values: list[int]
    originals: bool = False

    def size(self) -> int:
        """How many people the document casts for itself."""
        return sum([0 if cluster.corpus else cluster.size for cluster in self.clusters])

    def codes(self) -> bytearray:
        """One byte for each person of the document's own, in order."""
        found = bytearray()
        for cluster in self.clusters:
            if not cluster.corpus:
                found.append(cluster.code)
                if cluster.size == 2:
                    found.append(OPEN)
        return found


class Planner:
    """Makes plans. *scope* "corpus" shares numbered people and roles between all documents; *genders* knows names' genders."""

    def __init__(self, language: str, *, scope: str = "document", genders: Mapping[str, Gender] | None = None) -> None:
        self._cues: Cues | None = cues_of(language)
        self._everywhere = scope == "corpus"
        self._names = OriginalNames(genders)

    def plan(self, text: str, mentions: Sequence[Mention]) -> Plan:
        """Cluster the *mentions* (sorted, disjoint) of *text*."""
        sheet = _Sheet(self._everywhere)
        owned, add_person, add_value, names = owned_kinds(), sheet.add_person, sheet.add_value, self._names
        for number, mention in enumerate(mentions):
            kind = mention[2]
            if kind == PERSON:
                add_person(number, mention, names)
            else:
                add_value(number, mention, of_person=kind in owned)
        if sheet.clusters:
            sheet.settle_owners(mentions)
            sheet.join_pairs()
            self._tell_genders(text, mentions, sheet)
        return Plan(text, mentions, sheet.clusters, sheet.owners, sheet.values, sheet.originals)

    def _tell_genders(self, text: str, mentions: Sequence[Mention], sheet: _Sheet) -> None:
        """What the text around its mentions tells of each person whose gender is open."""
        cues = self._cues
        if cues is None:
            return
        people, clusters, owners = sheet.people, sheet.clusters, sheet.owners
        limits = _limits(mentions, people, owners)
        for place, number in enumerate(people):
            cluster = clusters[owners[number]]
            if cluster.code != OPEN or cluster.size != 1:
                continue
            start, end = mentions[number][:2]
            gender = gender_before(text, start, cues) or gender_after(text, end, limits[place], cues)
            if gender:
                cluster.code = CODES[gender]


def _limits(mentions: Sequence[Mention], people: Sequence[int], owners: Sequence[int]) -> list[int]:
    """For each mention of a person where somebody else is named next: what follows is about this person up to there."""
    limits = [_NO_LIMIT] * len(people)
    for place in range(len(people) - 2, -1, -1):
        after = people[place + 1]
        limits[place] = limits[place + 1] if owners[after] == owners[people[place]] else mentions[after][0]
    return limits


class _Sheet:
    """A plan while it is made."""

    __slots__ = (
        "_by_key",
        "_by_original",
        "_everywhere",
        "_first",
        "_latest",
        "_names",
        "_roles_wanted",
        "_value_keys",
        "clusters",
        "originals",
        "owners",
        "people",
        "values",
    )

    def __init__(self, everywhere: bool) -> None:
        self.clusters: list[Cluster] = []
        self.owners: list[int] = []
        self.values: list[int] = []
        self.people: list[int] = []
        self.originals = False
        self._by_key: dict[tuple[str, str], int] = {}
        self._by_original: dict[tuple[str, str], int] = {}
        self._value_keys: dict[tuple[str, str, str] | int, int] = {}
        self._roles_wanted: list[int] = []
        self._first: list[int] = []
        self._latest = NOBODY
        self._everywhere = everywhere
        self._names: OriginalNames | None = None

    def add_person(self, number: int, mention: Mention, names: OriginalNames) -> None:
        """A mention of somebody known, or of somebody new."""
        _, _, _, role, index, same, _, gender, original, plural, _ = mention
        key: tuple[str, str] | None = None
        if original:
            self.originals = True
            if self._names is None:
                self._names = names.of_document()
            key = ("original", self._names.key_of(mention))
            gender = gender or self._names.gender_of(mention)
        elif index or same != "mention":
            key = (role, index)
        at = self._by_key.get(key, NOBODY) if key else NOBODY
        clusters = self.clusters
        if at == NOBODY:
            at = len(clusters)
            corpus = key is not None and not original and (self._everywhere or same == "corpus")
            clusters.append(Cluster((role, index), CODES[gender], 1, [], corpus))
            if key:
                self._by_key[key] = at
        cluster = clusters[at]
        cluster.places.append(number)
        if plural:
            cluster.size = 2
        if gender and cluster.code == OPEN:
            cluster.code = CODES[gender]
        self.owners.append(at)
        self.values.append(NOBODY)
        self.people.append(number)
        self._latest = at

    def add_value(self, number: int, mention: Mention, *, of_person: bool) -> None:
        """A value: its number, and whose it is as far as is known yet."""
        _, _, kind, role, index, same, _, _, original, _, _ = mention
        key = number if same == "mention" and not index else (kind, role, index or original)
        self.values.append(self._value_keys.setdefault(key, len(self._value_keys)))
        owner = NOBODY
        if original:
            self.originals = True
        if of_person:
            if original and (kind, original) in self._by_original:
                owner = self._by_original[kind, original]  # a known value that comes back is the same person's
            elif role or index:
                self._roles_wanted.append(number)  # somebody's who may be named later; a number alone is nobody's
            else:
                owner = self._latest
                if owner == NOBODY:
                    self._first.append(number)
                elif original:
                    self._by_original[kind, original] = owner
        self.owners.append(owner)

    def settle_owners(self, mentions: Sequence[Mention]) -> None:
        """Give values to the role that they name; without a number to the person named last before them, else to the first."""
        for number in self._first:
            self.owners[number] = self.owners[self.people[0]]
        for number in self._roles_wanted:
            mention = mentions[number]
            named = self._by_key.get((mention.role, mention.index), NOBODY) if mention.role else NOBODY
            if named == NOBODY and not mention.index:
                before = bisect_left(self.people, number)
                named = self.owners[self.people[max(0, before - 1)]]
            self.owners[number] = named

    def join_pairs(self) -> None:
        """Several together: "appellanten sub 8" are appellant 8a and 8b, where the document has these: then they are no further people."""
        for cluster in self.clusters:
            role, index = cluster.key
            if cluster.size == 2 and index and index[-1].isdigit():
                parts = [self._by_key[role, index + letter] for letter in "abcdef" if (role, index + letter) in self._by_key]
                if len(parts) > 1 and not any(self.clusters[part].corpus for part in parts):
                    cluster.parts, cluster.size, cluster.corpus = tuple(parts), 0, False


@cache
def owned_kinds() -> frozenset[str]:
    """The kinds that belong to a person."""
    return frozenset(kind.name for kind in KINDS.values() if kind.owner == PERSON)
