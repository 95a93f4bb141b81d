"""Planning the people and places of a document: mentions that are one person or value, and the owner of each value.

Nothing is drawn here. A plan depends on the text and its mentions alone, so the first pass over a corpus can count the people to be drawn.

General tags without a number are somebody new at each mention, unless the text says otherwise:

- A writer who introduces themselves as "my name is [NAME]" and signs "Sincerely, [NAME]" is one person. Only a text with a single
  introduction counts, as several people introduce themselves in a conversation.
- Tags after the same title are one person: "Mr. [NAME]" in a note about a patient, "mevrouw [naam]" in a judgment. Where one sentence has
  two of one title ("Mr. [NAME] told Mr. [NAME]"), all mentions of that title stay somebody new.

Places that the text puts beside a placeholder count: "[CITY], Germany" gets a town there, "[CITY], TX" one in Texas. The parts of an
address before it ("[STREET], [ZIP] [CITY], Germany") are of the same place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.documents import Gender, Mention
from piiloom.surrogates.fitting import gender_by_article
from piiloom.surrogates.kinds.companies import companies_told
from piiloom.surrogates.kinds.kind import ELSEWHERE, WITHIN
from piiloom.surrogates.kinds.places import places_of
from piiloom.surrogates.kinds.registry import owned_by
from piiloom.surrogates.known_names import KnownNames, folded, name_words, parts_of
from piiloom.surrogates.name_joining import joined_names
from piiloom.surrogates.numbered_values import NOBODY, give_places
from piiloom.surrogates.persona_assignment.groups import (
    AFTER,
    CODES,
    OPEN,
    Cues,
    cues_of,
    gender_after,
    gender_after_age,
    gender_before,
    title_before,
)
from piiloom.surrogates.placeholders.settling import OWN_INDEX, told_by_neighbours
from piiloom.surrogates.planned_people import Cluster, PlannedPeople, give_speakers

GENERAL: Final = frozenset({"", "name"})  # roles of tags that do not say whose name it is
_BEFORE: Final = 32  # code points before a name within which it is announced
_CLOSED: Final = 60  # code points before a name within which the closing of a letter stands
_GAP: Final = re.compile(r"[ \t.,;:!*~_()'\"<>-]*")
_END: Final = re.compile(r"[ \t.,!*~_)'\"-]*(?:\n|\Z)")
_BEGINS: Final = re.compile(r"(?:\A|[.!?\n])[\s*~_(-]*\Z")
_POSSESSED: Final = re.compile(r"['’]s\b")
_TURN: Final = re.compile(r"^[ \t]*[^\s:][^:\n]{0,24}: ", re.MULTILINE)
_FEWEST_TURNS: Final = 3
# What people write beside their signature.
_SIGNED_WITH: Final = frozenset("email phone fax address location city region country occupation url age postcode street".split())


class _WritersFile(FileModel):
    introducing: list[str]
    closing: list[str]


@cache
def _introducing() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_file().introducing)})\s*[:,]?\s*\Z", re.IGNORECASE)


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_file().closing)})[\s,.;:!*~_-]*\Z", re.IGNORECASE)


@cache
def _file() -> _WritersFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "writers.yaml", _WritersFile)


def told_writers(text: str, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Return *mentions* with the writer's introduction and signature as one person; the same object if there are none."""
    introduced = list(_introductions(text, mentions))
    if len(introduced) != 1:
        return mentions
    first = introduced[0]
    index = f"{OWN_INDEX}{first}"
    out = list(mentions)
    out[first] = out[first]._replace(index=index, same="document", form=out[first].form or "full")
    signed = [number for number in range(first + 1, len(out)) if _is_signature(text, mentions, number)]
    if len(signed) == 1 and len(_TURN.findall(text)) < _FEWEST_TURNS:
        last = out[signed[0]]
        out[signed[0]] = last._replace(role=out[first].role, index=index, same="document", form=last.form or "given")
    return out


def _introductions(text: str, mentions: Sequence[Mention]) -> Iterator[int]:
    """Yield the numbers of the mentions with which somebody introduces themselves."""
    for number, mention in enumerate(mentions):
        if mention[2] != "person" or not is_anybody(mention) or _POSSESSED.match(text, mention[1]):
            continue
        if _introducing().search(text, max(0, mention[0] - _BEFORE), mention[0]):
            yield number


def is_anybody(mention: Mention) -> bool:
    """Whether a name is redacted by a general tag without a number, which is somebody new at each mention."""
    return mention[2] == "person" and mention[5] == "mention" and mention[3] in GENERAL and not mention[4] and not mention[8]


def _is_signature(text: str, mentions: Sequence[Mention], number: int) -> bool:
    """Whether mention *number* and what is written beside a signature end their line, after a closing or alone at the end of the text."""
    mention = mentions[number]
    if not is_anybody(mention):
        return False
    end = mention.end
    for after in mentions[number + 1 :]:
        if after.kind not in _SIGNED_WITH or not _GAP.fullmatch(text, end, after.start):
            break
        end = after.end
    last = _END.match(text, end)
    if last is None:
        return False
    if _closing().search(text, max(0, mention.start - _CLOSED), mention.start):
        return True
    alone = text.startswith("\n", last.end()) or not text[last.end() :].strip()  # a blank line follows, or nothing
    return alone and _BEGINS.search(text, 0, mention.start) is not None


_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n", ".\t")


def told_by_titles(text: str, mentions: Sequence[Mention], cues: Cues | None) -> Sequence[Mention]:
    """Return *mentions* with those after one title as one person; the same object if no title stands before two of them."""
    if cues is None:
        return mentions
    titled: dict[str, list[int]] = {}
    for number, mention in enumerate(mentions):
        if mention[2] == "person" and is_anybody(mention) and not mention[9]:
            title = title_before(text, mention[0], cues)
            if title and title not in cues.professions:
                titled.setdefault(title, []).append(number)
    out: list[Mention] | None = None
    for numbers in titled.values():
        if len(numbers) < 2 or _meet(text, mentions, numbers):
            continue
        out = out or list(mentions)
        for number in numbers:
            out[number] = out[number]._replace(index=f"{OWN_INDEX}{numbers[0]}", same="document")
    return mentions if out is None else out


def _meet(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> bool:
    """Whether two of the mentions stand in one sentence."""
    for one, two in pairwise(numbers):
        words = text[mentions[one].end : mentions[two].start].rsplit(maxsplit=1)  # without the title, whose full stop ends no sentence
        if len(words) < 2 or not any(sign in f"{words[0]} " for sign in _SENTENCE_ENDS):
            return True
    return False


_TOWNS: Final = frozenset({"city", "location"})
_OF_PLACES: Final = _TOWNS | {"address", "postcode", "region", "street"}
_GOES_ON: Final = frozenset({",", "("})
_BESIDE: Final = re.compile(r"[\s,]{0,3}")


class _CountriesFile(FileModel):
    countries_named: dict[str, list[str]]


def told_by_place_names(text: str, mentions: Sequence[Mention], country: str) -> Sequence[Mention]:
    """Return *mentions* with the form of those whose country, or whose region of *country*, stands right behind them.

    All mentions of one place have one form. If there are none, they are the same object.
    """
    forms: dict[int, str] = {}
    for number, mention in enumerate(mentions):
        if mention[2] in _OF_PLACES and not mention[6] and text[mention[1] : mention[1] + 2].lstrip(" ")[:1] in _GOES_ON:
            form = _form(text, mention, country)
            if form:
                forms |= dict.fromkeys(_parts_before(text, mentions, number), form)
    if not forms:
        return mentions
    shared = {_key(mentions[number]): form for number, form in forms.items()}
    shared.pop(None, None)
    told = [forms.get(number) or ("" if mention.form else shared.get(_key(mention), "")) for number, mention in enumerate(mentions)]
    return [_placed(mention, form) if form else mention for mention, form in zip(mentions, told, strict=True)]


def _parts_before(text: str, mentions: Sequence[Mention], last: int) -> Iterator[int]:
    """Yield *last* and the numbers of the parts of an address right before it."""
    yield last
    for number in range(last - 1, -1, -1):
        part = mentions[number]
        if part.kind not in _OF_PLACES or part.form or not _BESIDE.fullmatch(text, part.end, mentions[number + 1].start):
            return
        yield number


def _form(text: str, mention: Mention, country: str) -> str:
    found = _pattern(country).match(text, mention.end)
    if found is None:
        return ""
    name = found["name"]
    code = _codes().get(name)
    if code is None:
        return f"{WITHIN}{name}" if mention.kind in _TOWNS else ""
    return f"{ELSEWHERE}{code}" if code != country else ""


def _placed(mention: Mention, form: str) -> Mention:
    """Return *mention* with *form*; an unspecified place in a region is a town, and no region."""
    return mention._replace(form=form, kind="city" if mention.kind == "location" and form.startswith(WITHIN) else mention.kind)


def _key(mention: Mention) -> tuple[str, str, str, str] | None:
    """Return what the mentions of one place have in common; None if there is one mention only."""
    if mention.kind not in _OF_PLACES or (mention.same == "mention" and not mention.index and not mention.original):
        return None
    return mention.kind, mention.role, mention.index, mention.original


@cache
def _codes() -> dict[str, str]:
    read = load_yaml(files("piiloom.surrogates") / "data" / "words" / "countries_named.yaml", _CountriesFile).countries_named
    return {name: code for code, names in read.items() for name in names}


@cache
def _pattern(country: str) -> re.Pattern[str]:
    """Return the pattern of the name of a country, or of a region of *country* or its abbreviation, behind a comma or in brackets."""
    regions = {name for region in places_of(country).regions for name in (region.name, region.short) if name}
    names = sorted({*_codes(), *regions}, key=len, reverse=True)
    return re.compile(rf"(?:,\s{{1,2}}|\s?\()(?:[tT]he )?(?P<name>{any_of(names)})(?![\w-]|\.\w)")


PERSON: Final = "person"
_PHONES: Final = frozenset({"phone", "fax"})
_DIGITS_OF_PHONE: Final = 9  # the last ones are the same whether the country code stands before them or not
_SIGNS: Final = re.compile(r"[\W_]+")


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

    With the *country* of the texts, places that they name beside placeholders count. *genders* maps folded given names to genders.
    """

    def __init__(self, language: str, country: str = "", *, scope: str = "document", genders: Mapping[str, Gender] | None = None) -> None:
        self._country, self._language = country, language
        self._cues: Cues | None = cues_of(language)
        self._everywhere = scope == "corpus"
        self._names = KnownNames(genders, language)
        self._owned = owned_by(PERSON)

    def plan(self, text: str, mentions: Sequence[Mention], turns: Sequence[tuple[int, str]] = ()) -> Plan:
        """Cluster the *mentions* (sorted, disjoint) of *text*. *turns* are those of a document whose speakers are known."""
        told = companies_told(text, mentions)
        if "mention" in [mention[5] for mention in told]:  # somebody may be named by a general tag
            told = told_by_titles(text, told_writers(text, told), self._cues)
        if self._country:
            told = told_by_place_names(text, told, self._country)
        mentions, whole_names = joined_names(text, told_by_neighbours(text, told))
        people = PlannedPeople(self._everywhere, self._names, whole_names)
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
        return Plan(text, mentions, clusters, owners, values, codes_of(clusters), originals or people.originals, again)

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


def _tell_genders(text: str, mentions: Sequence[Mention], people: PlannedPeople, owners: Sequence[int], cues: Cues, language: str) -> None:
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


def _gender_by_title(original: str, cues: Cues, language: str) -> Gender | None:
    """Return the gender that the titles in *original* tell: "la señora García"; of several people, "Mr. and Mrs. Smith", None."""
    names = parts_of(original, language)
    before = original[: names[0].start].split() if names else []
    told = {cues.before.get(word) for word in before} - {None}
    return told.pop() if len(told) == 1 and not any(folded(word) in name_words().families for word in before) else None


def _tell_genders_of_aged(
    text: str, mentions: Sequence[Mention], people: PlannedPeople, values: Sequence[int], owners: Sequence[int], cues: Cues
) -> None:
    """Set the gender that is open of each person whose age a noun follows: "the patient is a [AGE]-year-old woman"."""
    for number in values:
        if mentions[number][2] == "age" and owners[number] != NOBODY:
            cluster = people.clusters[owners[number]]
            if cluster.code == OPEN and cluster.size == 1:
                cluster.code = CODES[gender_after_age(text, mentions[number][1], cues)]


def _tell_genders_by_name(mentions: Sequence[Mention], clusters: Sequence[Cluster], names: KnownNames) -> None:
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
