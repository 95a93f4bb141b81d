"""Which mentions of a document are one person, one value or each a new one, and whose a value is.

Nothing is drawn here: a plan is what the text says, so that the first pass over a corpus can count the people to be cast.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from piiloom.surrogates.casting.cues import AFTER, Cues, cues_of, gender_after, gender_before
from piiloom.surrogates.casting.groups import CODES, OPEN
from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.mentions import Gender, Mention
from piiloom.surrogates.originals import OriginalNames

PERSON: Final = "person"
NOBODY: Final = -1


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

    ``codes`` are those of the people whom the document casts for itself (``codes_of``).
    ``originals``: some mention tells what stood there; ``again``: numbers of values that come more than once.
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
    """One byte for each person whom the document casts for itself, in order."""
    found = []
    for cluster in clusters:
        if cluster.size and not cluster.corpus:
            found.append(cluster.code)
            if cluster.size == 2:
                found.append(OPEN)
    return bytes(found)


class Planner:
    """Makes plans. *scope* "corpus" shares numbered people and roles between all documents; *genders* knows names' genders."""

    def __init__(self, language: str, *, scope: str = "document", genders: Mapping[str, Gender] | None = None) -> None:
        self._cues: Cues | None = cues_of(language)
        self._everywhere = scope == "corpus"
        self._names = OriginalNames(genders)
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
    """What the text around its mentions tells of each person whose gender is open."""
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
            # Where somebody else is named next: what follows is about this person up to there.
            limit = end + AFTER
            if place < last and mentions[numbers[place]][0] < limit:
                limit = _next_person(place, limit, mentions, numbers, owners)
            gender = gender_after(text, end, limit, cues)
        if gender is not None:
            cluster.code = CODES[gender]


def _next_person(place: int, limit: int, mentions: Sequence[Mention], numbers: Sequence[int], owners: Sequence[int]) -> int:
    """Where somebody else than the person before *place* in *numbers* is named first, if that is before *limit*; else *limit*."""
    owner = owners[numbers[place - 1]]
    for at in range(place, len(numbers)):
        start = mentions[numbers[at]][0]
        if start >= limit:
            break
        if owners[numbers[at]] != owner:
            return start
    return limit


class _People:
    """The people of a plan while it is made; ``numbers`` are those of their mentions."""

    __slots__ = ("_by_key", "_everywhere", "_names", "_names_here", "clusters", "numbers", "originals")

    def __init__(self, everywhere: bool, names: OriginalNames) -> None:
        self.clusters: list[Cluster] = []
        self.numbers: list[int] = []
        self.originals = False
        self._by_key: dict[tuple[str, str] | None, int] = {}  # never None: a key of its own for nobody known
        self._everywhere = everywhere
        self._names = names
        self._names_here: OriginalNames | None = None

    def add(self, number: int, mention: Mention) -> int:
        """A mention of somebody known, or of somebody new: their cluster."""
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
        """Give *values* to the role that they name; without a number to the person named last before them, else to the first.

        A value that stood there before is the same person's; a number alone is nobody's.
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
        """Several together: "appellanten sub 8" are appellant 8a and 8b, where the document has these: then they are no further people."""
        for cluster in self.clusters:
            if cluster.size == 2 and (index := cluster.key[1]) and index[-1].isdigit():
                role = cluster.key[0]
                parts = [self._by_key[role, index + letter] for letter in "abcdef" if (role, index + letter) in self._by_key]
                if len(parts) > 1 and not any(self.clusters[part].corpus for part in parts):
                    cluster.parts, cluster.size, cluster.corpus = tuple(parts), 0, False


@cache
def owned_kinds() -> frozenset[str]:
    """The kinds that belong to a person."""
    return frozenset(kind.name for kind in KINDS.values() if kind.owner == PERSON)
