"""Which mentions of a document are one person, one value or each a new one, and whose a value is.

Nothing is drawn here: a plan is what the text says, so that the first pass over a corpus can count the people to be cast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from surrogates.casting.cues import Cues, cues_of, gender_after, gender_before
from surrogates.casting.groups import CODES, OPEN
from surrogates.kinds.registry import KINDS
from surrogates.mentions import Gender, Mention
from surrogates.originals import OriginalNames

PERSON: Final = "person"
NOBODY: Final = -1
Key = tuple[str, str, str]


@dataclass(slots=True)
class Cluster:
    """The mentions of one person, or of two that are named together (``size`` 2).

    ``key`` is (role, index) where the corpus shares the person, else empty. ``code`` is the gender that is known (``groups``);
    ``places`` are the numbers of the mentions.
    """

    key: tuple[str, str]
    code: int
    size: int
    places: list[int]
    corpus: bool = False


@dataclass(slots=True)
class Plan:
    """``clusters`` in order of first mention; ``owners`` gives each mention's cluster (or ``NOBODY``), ``values`` its value's number."""

    text: str
    mentions: Sequence[Mention]
    clusters: list[Cluster]
    owners: list[int]
    values: list[int]

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
        clusters: list[Cluster] = []
        owners: list[int] = []
        by_key: dict[Key, int] = {}
        values: list[int] = []
        value_keys: dict[tuple[str, str, str], int] = {}
        names = self._names.of_document() if any(m.original for m in mentions) else None
        for number, mention in enumerate(mentions):
            if mention.kind == PERSON:
                at = self._person(mention, number, clusters, by_key, names)
                owners.append(at)
                values.append(NOBODY)
                continue
            owners.append(NOBODY)
            key = (mention.kind, mention.role, mention.index or mention.original)
            if mention.same == "mention" and not mention.index:
                values.append(len(value_keys))
                value_keys["", "", str(number)] = len(value_keys)
            else:
                values.append(value_keys.setdefault(key, len(value_keys)))
        self._own(mentions, owners, by_key)
        self._tell_genders(text, mentions, clusters, owners)
        return Plan(text, mentions, clusters, owners, values)

    def _person(self, mention: Mention, number: int, clusters: list[Cluster], by_key: dict[Key, int], names: OriginalNames | None) -> int:
        key: Key | None = None
        if mention.original and names is not None:
            key = ("original", names.key_of(mention), "")
        elif mention.same != "mention" or mention.index:
            key = ("role", mention.role, mention.index)
        at = by_key.get(key, NOBODY) if key else NOBODY
        if at == NOBODY:
            at = len(clusters)
            corpus = key is not None and key[0] == "role" and (self._everywhere or mention.same == "corpus")
            known = names.gender_of(mention) if names is not None and mention.original else None
            clusters.append(Cluster((mention.role, mention.index), CODES[mention.gender or known], 1, [], corpus))
            if key:
                by_key[key] = at
        cluster = clusters[at]
        cluster.places.append(number)
        if mention.plural:
            cluster.size = 2
        if cluster.code == OPEN and mention.gender:
            cluster.code = CODES[mention.gender]
        return at

    def _own(self, mentions: Sequence[Mention], owners: list[int], by_key: dict[Key, int]) -> None:
        """Give what belongs to somebody an owner: the one whose role it names, else the person named last, else the first one."""
        first = next((owner for owner in owners if owner != NOBODY), NOBODY)
        if first == NOBODY:
            return
        latest = NOBODY
        by_original: dict[tuple[str, str], int] = {}  # a known value that comes back is the same person's
        for number, mention in enumerate(mentions):
            if mention.kind == PERSON:
                latest = owners[number]
            elif mention.original and (mention.kind, mention.original) in by_original:
                owners[number] = by_original[mention.kind, mention.original]
            elif KINDS[mention.kind].owner == PERSON:
                named = by_key.get(("role", mention.role, mention.index), NOBODY) if mention.role else NOBODY
                if named == NOBODY and mention.index and not mention.role:
                    continue  # "[address 3]" is the third address, not that of somebody
                owners[number] = named if named != NOBODY else latest if latest != NOBODY else first
                if mention.original:
                    by_original[mention.kind, mention.original] = owners[number]

    def _tell_genders(self, text: str, mentions: Sequence[Mention], clusters: list[Cluster], owners: list[int]) -> None:
        cues = self._cues
        if cues is None:
            return
        people = [number for number, mention in enumerate(mentions) if mention.kind == PERSON]
        for place, number in enumerate(people):
            cluster = clusters[owners[number]]
            if cluster.code != OPEN or cluster.size > 1:
                continue
            mention = mentions[number]
            limit = self._next_person(mentions, people, place, owners)
            gender = gender_before(text, mention.start, cues) or gender_after(text, mention.end, limit, cues)
            if gender:
                cluster.code = CODES[gender]

    @staticmethod
    def _next_person(mentions: Sequence[Mention], people: list[int], place: int, owners: list[int]) -> int:
        """Where somebody else is named next."""
        here = owners[people[place]]
        for number in people[place + 1 :]:
            if owners[number] != here:
                return mentions[number].start
        return 1 << 60
