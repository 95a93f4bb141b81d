"""Decide which mentions of a document are the same person or value, and which person a value belongs to.

Nothing is drawn here. A plan depends on the text and its mentions alone, so the first pass over a corpus can count the people to be drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.known_names import KnownNames
from piiloom.surrogates.mentions import Gender, Mention
from piiloom.surrogates.persona_assignment.gender_cues import AFTER, Cues, cues_of, gender_after, gender_before
from piiloom.surrogates.persona_assignment.groups import CODES, OPEN

PERSON: Final = "person"
NOBODY: Final = -1


@dataclass(slots=True)
class Cluster:
    """The mentions of one person, or of two people named together (``size`` 2).

    ``key`` is (role, index) of the first mention. ``code`` is the gender code (``persona_assignment.groups``). ``places`` are mention
    numbers.
    ``corpus``: the person is shared across the corpus. If ``parts`` is set, the cluster refers to the people of these other
    clusters together and has none of its own (``size`` 0).
    """

    key: tuple[str, str]
    code: int
    size: int
    places: list[int]
    corpus: bool = False
    parts: tuple[int, ...] = ()


@dataclass(slots=True)
class Plan:
    """The people and values of one document.

    ``clusters`` are in order of first mention. ``owners`` has each mention's cluster number (or ``NOBODY``), ``values`` its value
    number (``NOBODY`` for people). ``codes`` has one gender code per document-local person (``codes_of``). ``originals``: some
    mention has a known original. ``again``: numbers of values with more than one mention.
    """

    text: str
    mentions: Sequence[Mention]
    clusters: list[Cluster]
    owners: list[int]
    values: list[int]
    codes: bytes
    originals: bool = False
    again: Collection[int] = ()


def codes_of(clusters: Sequence[Cluster]) -> bytes:
    """Return one gender code per person that is local to the document, in order of the clusters."""
    found = []
    for cluster in clusters:
        if cluster.size and not cluster.corpus:
            found.append(cluster.code)
            if cluster.size == 2:
                found.append(OPEN)
    return bytes(found)


class Planner:
    """Makes plans. With *scope* "corpus", equal roles and numbers are one person in all documents.

    *genders* maps folded given names to genders.
    """

    def __init__(self, language: str, *, scope: str = "document", genders: Mapping[str, Gender] | None = None) -> None:
        self._cues: Cues | None = cues_of(language)
        self._everywhere = scope == "corpus"
        self._names = KnownNames(genders)
        self._owned = owned_kinds()

    def plan(self, text: str, mentions: Sequence[Mention]) -> Plan:
        """Cluster the *mentions* (sorted, disjoint) of *text*."""
        people = _People(self._everywhere, self._names)
        owners: list[int] = []
        values: list[int] = []
        keys: dict[tuple[str, str, str] | int, int] = {}
        again: set[int] = set()
        of_persons: list[int] = []
        add_person, owned, originals = people.add, self._owned, False
        for number, mention in enumerate(mentions):
            if mention[2] == PERSON:
                owners.append(add_person(number, mention))
                values.append(NOBODY)
                continue
            _, _, kind, role, index, same, _, _, original, _, _ = mention
            if original:
                originals = True
            if kind in owned:
                of_persons.append(number)
            key = number if same == "mention" and not index else (kind, role, index or original)
            value = keys.get(key)
            if value is None:
                value = keys[key] = len(keys)
            else:
                again.add(value)
            values.append(value)
            owners.append(NOBODY)
        if people.clusters:
            if of_persons:
                people.give(of_persons, mentions, owners)
            people.join_pairs()
            if self._cues is not None:
                _tell_genders(text, mentions, people, owners, self._cues)
        clusters = people.clusters
        return Plan(text, mentions, clusters, owners, values, codes_of(clusters), originals or people.originals, again)


def _tell_genders(text: str, mentions: Sequence[Mention], people: _People, owners: Sequence[int], cues: Cues) -> None:
    """Set the gender of each person for whom it is open, from cues in the text around the mentions ("she", "mevrouw")."""
    numbers, clusters = people.numbers, people.clusters
    last = len(numbers)
    for place, number in enumerate(numbers, 1):
        cluster = clusters[owners[number]]
        if cluster.code != OPEN or cluster.size != 1:
            continue
        mention = mentions[number]
        end = mention[1]
        gender = gender_before(text, mention[0], cues)
        if gender is None:
            # Look only as far as the next mention of another person.
            limit = end + AFTER
            if place < last and mentions[numbers[place]][0] < limit:
                limit = _next_person(place, limit, mentions, numbers, owners)
            gender = gender_after(text, end, limit, cues)
        if gender is not None:
            cluster.code = CODES[gender]


def _next_person(place: int, limit: int, mentions: Sequence[Mention], numbers: Sequence[int], owners: Sequence[int]) -> int:
    """Return the start of the next mention, from *place* in *numbers* on, of another person than the one before, but at most *limit*."""
    owner = owners[numbers[place - 1]]
    for at in range(place, len(numbers)):
        start = mentions[numbers[at]][0]
        if start >= limit:
            break
        if owners[numbers[at]] != owner:
            return start
    return limit


class _People:
    """The people of a plan while it is being made. ``numbers`` are the numbers of all mentions of people."""

    __slots__ = ("_by_key", "_everywhere", "_names", "_names_here", "clusters", "numbers", "originals")

    def __init__(self, everywhere: bool, names: KnownNames) -> None:
        self.clusters: list[Cluster] = []
        self.numbers: list[int] = []
        self.originals = False
        self._by_key: dict[tuple[str, str] | None, int] = {}  # no entry has the key None: it means a person of one mention
        self._everywhere = everywhere
        self._names = names
        self._names_here: KnownNames | None = None

    def add(self, number: int, mention: Mention) -> int:
        """Add mention *number* to the cluster of its person, or to a new cluster. Return the cluster's number."""
        _, _, _, role, index, same, _, gender, original, plural, _ = mention
        self.numbers.append(number)
        key: tuple[str, str] | None = None
        if original:
            self.originals = True
            if self._names_here is None:
                self._names_here = self._names.of_document()
            key = ("original", self._names_here.key_of(mention))
            gender = gender or self._names_here.gender_of(mention)
        elif index or same != "mention":
            key = (role, index)
        clusters = self.clusters
        at = self._by_key.get(key)
        if at is None:
            at = len(clusters)
            corpus = key is not None and not original and (self._everywhere or same == "corpus")
            clusters.append(Cluster((role, index), CODES[gender], 2 if plural else 1, [number], corpus))
            if key is not None:
                self._by_key[key] = at
            return at
        cluster = clusters[at]
        cluster.places.append(number)
        if plural:
            cluster.size = 2
        if gender and cluster.code == OPEN:
            cluster.code = CODES[gender]
        return at

    def give(self, values: Sequence[int], mentions: Sequence[Mention], owners: list[int]) -> None:
        """Set the *owners* of mentions of values (*values* has their numbers) that belong to a person.

        The owner is the person with the same role and index, if there is one. Otherwise a value with an index belongs to nobody, and
        one without to the person mentioned last before it (or the first one). A repeated original goes to its earlier owner.
        """
        numbers = self.numbers
        known: dict[tuple[str, str], int] = {}
        for number in values:
            _, _, kind, role, index, _, _, _, original, _, _ = mentions[number]
            owner = known.get((kind, original)) if original else None
            if owner is None:
                named = self._by_key.get((role, index)) if role else None
                if named is not None:
                    owner = named
                elif index:
                    owner = NOBODY
                else:
                    before = bisect_left(numbers, number)
                    owner = owners[numbers[before - 1 if before else 0]]
                    if original and before and not role:
                        known[kind, original] = owner
            owners[number] = owner

    def join_pairs(self) -> None:
        """Resolve groups: "appellanten sub 8" refers to appellants 8a and 8b, if the document has these, and not to two more people."""
        for cluster in self.clusters:
            if cluster.size == 2 and (index := cluster.key[1]) and index[-1].isdigit():
                role = cluster.key[0]
                parts = [self._by_key[role, index + letter] for letter in "abcdef" if (role, index + letter) in self._by_key]
                if len(parts) > 1 and not any(self.clusters[part].corpus for part in parts):
                    cluster.parts, cluster.size, cluster.corpus = tuple(parts), 0, False


@cache
def owned_kinds() -> frozenset[str]:
    """Return the names of the kinds whose values belong to a person."""
    return frozenset(kind.name for kind in KINDS.values() if kind.owner == PERSON)
