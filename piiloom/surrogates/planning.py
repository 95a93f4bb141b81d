"""Planning the people and places of a document: mentions that are one person or value, and the owner of each value.

Nothing is drawn here. A plan depends on the text and its mentions alone, so the first pass over a corpus can count the people to be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.fitting import ANY, FIRST, Requirement, contradict, gender_by_article
from piiloom.surrogates.kinds.kind import owned_by
from piiloom.surrogates.known_names import NameResolver, name_words, parts_of, unaccented
from piiloom.surrogates.mention_rules import GENERAL, RuleContext, companies_told, general_tags_told, joined_names, told_by_place_names
from piiloom.surrogates.persona_assignment.groups import (
    AFTER,
    CODES,
    OPEN,
    GenderCues,
    gender_after,
    gender_after_age,
    gender_before,
    gender_cues,
)
from piiloom.surrogates.placeholders.settling import told_by_neighbours
from piiloom.surrogates.planned_people import NOBODY, Cluster, PlannedPeople, give_places, give_speakers

PERSON: Final = "person"
_PHONES: Final = frozenset({"phone", "fax"})
_DIGITS_OF_PHONE: Final = 9  # the last ones are the same whether the country code stands before them or not
_SIGNS: Final = re.compile(r"[\W_]+")


@dataclass(slots=True)
class DocumentPlan:
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


# Rules of who is who, in the order in which they apply: each returns the mentions with what the text tells of them.
RULES: Final[Sequence[Callable[[str, Sequence[Mention], RuleContext], Sequence[Mention]]]] = (
    companies_told,
    general_tags_told,
    told_by_place_names,
    told_by_neighbours,
    joined_names,
)


class Planner:
    """Makes plans. With *scope* "corpus", equal roles and numbers are one person in all documents.

    With the *country* of the texts, places that they name beside placeholders count. *genders* maps folded given names to genders.
    """

    def __init__(self, language: str, country: str = "", *, scope: str = "document", genders: Mapping[str, Gender] | None = None) -> None:
        self._country, self._language = country, language
        self._cues: GenderCues | None = gender_cues(language)
        self._everywhere = scope == "corpus"
        self._names = NameResolver(genders, language)
        self._owned = owned_by(PERSON)

    def plan(self, text: str, mentions: Sequence[Mention], turns: Sequence[tuple[int, str]] = ()) -> DocumentPlan:
        """Cluster the *mentions* (sorted, disjoint) of *text*. *turns* are those of a document whose speakers are known."""
        context = RuleContext(self._cues, self._country)
        for rule in RULES:
            mentions = rule(text, mentions, context)
        people = PlannedPeople(self._everywhere, self._names, context.whole_names)
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
            if kind in owned:
                of_persons.append(number)
            if original:
                originals = True
                key: tuple[str, str, str] | int = (kind, role, identity(kind, original))
            else:
                key = number if same == "mention" and not index else (kind, role, index)
            value = keys.get(key)
            if value is None:
                value = keys[key] = len(keys)
            else:
                again.add(value)
            values.append(value)
            owners.append(NOBODY)
        self._settle(text, mentions, people, of_persons, owners)
        clusters = people.clusters
        if turns:
            give_speakers(text, of_persons, mentions, owners, clusters, turns, self._language)
        return DocumentPlan(text, mentions, clusters, owners, values, codes_of(clusters), originals or people.originals, again)

    def _settle(self, text: str, mentions: Sequence[Mention], people: PlannedPeople, values: Sequence[int], owners: list[int]) -> None:
        """Say whose the *values* of people are, who several people together are, and what gender the text tells of each."""
        if not people.clusters:
            if values:
                people.add_nameless(text, values, mentions, owners)
            return
        if values:
            people.give(text, values, mentions, owners)
        people.join_groups(text, mentions, owners)
        if self._cues is not None:
            _tell_genders(text, mentions, people, owners, self._cues, self._language)
            _tell_genders_of_aged(text, mentions, people, values, owners, self._cues)
        if people.names_here is not None:
            _tell_genders_by_name(mentions, people.clusters, people.names_here)
        if values:
            give_places(text, values, mentions, owners, people.add_nobody)


def _tell_genders(
    text: str, mentions: Sequence[Mention], people: PlannedPeople, owners: Sequence[int], cues: GenderCues, language: str
) -> None:
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
        if gender is None and mention[3] in GENERAL:  # "a [VÍTIMA]" may be a man
            gender = gender_by_article(text, mention[0], language)
        if gender is None and mention[8]:
            gender = _gender_by_title(mention[8], cues, language)
        if gender is None:
            # Look only as far as the next mention of another person.
            limit = end + AFTER
            if place < last and mentions[numbers[place]][0] < limit:
                limit = _next_person(place, limit, mentions, numbers, owners)
            gender = gender_after(text, end, limit, cues)
        if gender is not None:
            cluster.code = CODES[gender]


def _gender_by_title(original: str, cues: GenderCues, language: str) -> Gender | None:
    """Return the gender that the titles in *original* tell: "la señora García"; of several people, "Mr. and Mrs. Smith", None."""
    names = parts_of(original, language)
    before = original[: names[0].start].split() if names else []
    told = {cues.before.get(word) for word in before} - {None}
    return told.pop() if len(told) == 1 and not any(unaccented(word) in name_words().families for word in before) else None


def _tell_genders_of_aged(
    text: str, mentions: Sequence[Mention], people: PlannedPeople, values: Sequence[int], owners: Sequence[int], cues: GenderCues
) -> None:
    """Set the gender that is open of each person whose age a noun follows: "the patient is a [AGE]-year-old woman"."""
    for number in values:
        if mentions[number][2] == "age" and owners[number] != NOBODY:
            cluster = people.clusters[owners[number]]
            if cluster.code == OPEN and cluster.size == 1:
                cluster.code = CODES[gender_after_age(text, mentions[number][1], cues)]


def _tell_genders_by_name(mentions: Sequence[Mention], clusters: Sequence[Cluster], names: NameResolver) -> None:
    """Set the gender that the text leaves open of people who are known by a given name alone."""
    for cluster in clusters:
        if cluster.code == OPEN and cluster.size == 1:
            told = (names.gender_of_word(mentions[number].original) for number in cluster.places if mentions[number].original)
            cluster.code = CODES[next((gender for gender in told if gender), None)]


def identity(kind: str, original: str) -> str:
    """Return what is equal in two ways of writing one value: its letters and digits; of a phone number the last nine digits."""
    bare = _SIGNS.sub("", original).casefold()
    return bare[-_DIGITS_OF_PHONE:] if kind in _PHONES else bare or original


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


Requirements = Mapping[tuple[int, int], Requirement]  # keys: (value number, cluster number of the owner or NOBODY)
NOTHING_ASKED: Final[Requirements] = {}


def asked_of_values(plan: DocumentPlan, notable: Mapping[int, Requirement]) -> Requirements:
    """Return what the articles and genitives around *notable* mentions require of each value, people's names excepted.

    If two articles contradict each other, the first one in the text counts.
    """
    asked: dict[tuple[int, int], Requirement] = {}
    for number, place in notable.items():
        if (place.sound or place.genitive or place.noun) and plan.mentions[number].kind != PERSON:
            key = plan.values[number], plan.owners[number]
            known = asked.get(key, Requirement(place.sound, place.genitive, noun=place.noun))
            codes = {known.sound, *known.also}
            also = (
                (*known.also, place.sound)
                if place.sound >= FIRST and place.sound not in codes and not _against(place, known)
                else known.also
            )
            asked[key] = Requirement(known.sound or place.sound, known.genitive or place.genitive, also=also, noun=known.noun or place.noun)
    return asked


def asked_of_place(of_value: Requirement | None, here: Requirement | None) -> Requirement | None:
    """Return the requirement at one place: that of its value (*of_value*).

    If the article at this place contradicts it, the place's own requirement (*here*) is returned instead.
    """
    if of_value is None or here is None or here.sound in {ANY, of_value.sound}:
        return of_value
    return here if here.sound < FIRST or _against(here, of_value) else of_value


def _against(here: Requirement, known: Requirement) -> bool:
    """Whether no value fits the small word *here* and those of *known*."""
    return any(code >= FIRST and contradict(code, here.sound) for code in (known.sound, *known.also))


def asked_of_age(plan: DocumentPlan, notable: Mapping[int, Requirement], owner: int) -> int:
    """Return the sound that the first article before an age of *owner* (a cluster number) requires, or ``ANY``."""
    places = (number for number in notable if plan.owners[number] == owner and plan.mentions[number].kind == "age")
    return next((sound for number in places if (sound := notable[number].sound)), ANY)
