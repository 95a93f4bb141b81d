"""The people of a plan while it is being made: which mentions are one person, whose a value is, and who is meant by several together.

Redactors by models number each kind by itself, "[NAME_1] (DOB [DATE_OF_BIRTH_1]), [AGE_1], [CITY_1]". A number alone joins nothing: the
first name and the first city far apart are only the first of their kinds. A value belongs to the person whom the text has beside it: in
brackets or commas behind the name, after a possessive, under the name in a form, or right before the name.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.amounts import KIN
from piiloom.surrogates.known_names import NameResolver
from piiloom.surrogates.persona_assignment.groups import CODES, OPEN, announced_together, named_before
from piiloom.surrogates.placeholders.settling import ADDRESS_PARTS, BLANK, OWN_INDEX, address_run
from piiloom.surrogates.placeholders.vocabulary import vocabulary

NOBODY: Final = -1
DATING: Final = frozenset({"age", "birth_date", "birth_year"})  # kinds that must agree on when a person was born
_PERSON: Final = "person"
_LONGEST: Final = 48  # code points between a person and a value beside them
_APART: Final = re.compile(
    r"(?<!\btel)(?<!\bno)(?<!\bnr)(?<!\bph)(?<!\bgeb)(?<!\bd\.o\.b)[.!?](?:\s|$)|;|\n(?!\s*[^\n]{0,24}[:=]\s*$)", re.IGNORECASE
)
_BEFORE: Final = re.compile(r"[-\s]?[\w\s-]{0,24}")  # what stands between a value and the person behind it: "[AGE_1]-year-old [NAME_1]"
_APPOSITION: Final = re.compile(r"[-\s]?[\w\s,-]{0,32}")  # the same, with one number: "[AGE_1]-year-old man, [NAME_1]"
_TOGETHER: Final = re.compile(r"\s*(?:,|&|\band\b|\ben\b|\bund\b|\bet\b|\by\b|\be\b|\boch\b|\bog\b)\s*", re.IGNORECASE)
_RELATIVE: Final = re.compile(
    r"(?:['’]s|\b(?:his|her|their|my|your|our|zijn|haar|mijn|hun|seine?[rnm]?|ihre?[rnm]?|meine?[rnm]?|son|sa|ses|mon|ma|su|sus|mi"
    r"|suo|sua|mio|mia|seu|meu|minha|hans|hennes|min|mitt))\s+(?:[^\W\d_]+\s+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_ValueKey = tuple[str, str, str]


def is_numbered(mention: Mention) -> bool:
    """Whether *mention* is a value with a number that its tag bears."""
    return mention.kind != _PERSON and bool(mention.index) and not mention.original and not mention.index.startswith(OWN_INDEX)


def give_numbered(text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int]) -> None:
    """Set the *owners* of numbered *values* that nobody owns yet: the persons beside whom the text has them.

    Equal values have one owner, whichever mention tells it. Beside one mention of a person stand one age and one birth date of theirs.
    """
    numbered = [n for n in values if owners[n] == NOBODY and is_numbered(mentions[n]) and mentions[n].form not in KIN]
    found: dict[_ValueKey, int] = {}
    taken: set[tuple[int, str]] = set()
    for number in numbered:
        key, kind = _key_of_value(mentions[number]), mentions[number].kind
        person = _beside(text, mentions, number) if key not in found else None
        if person is not None and not (kind in DATING and (person, kind) in taken):
            found[key] = owners[person]
            taken.add((person, kind))
    for run in _addresses(text, numbered, mentions):
        told = next((found[key] for key in map(_key_of_value, (mentions[n] for n in run)) if key in found), NOBODY)
        found.update((_key_of_value(mentions[n]), told) for n in run if told != NOBODY)
    for number in numbered:
        owners[number] = found.get(_key_of_value(mentions[number]), NOBODY)


def give_places(text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int], nobody: Callable[[], int]) -> None:
    """Let the parts of an address that nobody owns, with equal numbers, lie in one place; *nobody* makes somebody whom nothing names."""
    numbered = [n for n in values if is_numbered(mentions[n])]
    found = {_key_of_value(mentions[n]): owners[n] for n in numbered if owners[n] != NOBODY}
    for run in _addresses(text, numbered, mentions):
        keys = [_key_of_value(mentions[n]) for n in run]
        told = next((found[key] for key in keys if key in found), None)
        told = nobody() if told is None else told
        found.update((key, told) for key in keys if key not in found)
    for number in numbered:
        owners[number] = found.get(_key_of_value(mentions[number]), owners[number])


def _key_of_value(mention: Mention) -> _ValueKey:
    return mention.kind, mention.role, mention.index


def _addresses(text: str, numbered: Sequence[int], mentions: Sequence[Mention]) -> Iterator[list[int]]:
    """Yield the parts of each address with equal numbers that only signs separate: "[CITY_1], [STATE_1] [ZIPCODE_1]"."""
    run: list[int] = []
    for number in [n for n in numbered if mentions[n].kind in ADDRESS_PARTS]:
        joined = run and run[-1] == number - 1 and BLANK.fullmatch(text, mentions[run[-1]].end, mentions[number].start)
        if joined and mentions[run[-1]].index == mentions[number].index:
            run.append(number)
            continue
        if len(run) > 1:
            yield run
        run = [number]
    if len(run) > 1:
        yield run


def _beside(text: str, mentions: Sequence[Mention], number: int) -> int | None:
    """Return the number of the mention of the person beside whom the value at mention *number* stands, or None."""
    at = number
    while at and _joins(text, mentions[at - 1], mentions[at]):
        at -= 1
        if mentions[at].kind == _PERSON:
            return _meant(text, mentions, at, number)
    value, after = mentions[number], mentions[number + 1] if number + 1 < len(mentions) else None
    if after is None or after.kind != _PERSON or _of_relative(text[value.end : after.start]):
        return None
    between = _APPOSITION if after.index == value.index else _BEFORE
    return number + 1 if between.fullmatch(text, value.end, after.start) is not None else None


def _meant(text: str, mentions: Sequence[Mention], person: int, number: int) -> int:
    """Return the mention of the person meant: *person*, or of several that are named together the one with the number of the value.

    So "[NAME_1] and [NAME_2], [AGE_1] and [AGE_2] years old" is read; in "[NAME_1] and [NAME_2] ([AGE_1])" the nearest is meant.
    """
    value = mentions[number]
    end = next((n for n in range(number + 1, len(mentions)) if not _joins(text, mentions[n - 1], mentions[n])), len(mentions))
    if not any(mentions[n].kind == value.kind and mentions[n].index != value.index for n in range(person + 1, end)):
        return person
    at = person
    while at and mentions[at - 1].kind == _PERSON and _TOGETHER.fullmatch(text, mentions[at - 1].end, mentions[at].start):
        at -= 1
    return next((n for n in range(at, person + 1) if mentions[n].index == value.index), person)


def _joins(text: str, one: Mention, two: Mention) -> bool:
    gap = text[one.end : two.start]
    return len(gap) <= _LONGEST and _APART.search(gap) is None and not _of_relative(gap)


def _of_relative(gap: str) -> bool:
    """Whether *gap* speaks of somebody of another person's: "[NAME_1] and her mother, [AGE_1]"."""
    words = [found[1].casefold() for found in _RELATIVE.finditer(gap)]
    return any((word := vocabulary().get(one)) is not None and word.what == "role" for one in words)


_WORD: Final = re.compile(r"[^\W\d_]+")
_SENTENCE_ENDS: Final = re.compile(r"[.!?]\s|\n")


@dataclass(slots=True)
class Cluster:
    """The mentions of one person, or of two people named together (``size`` 2).

    ``key`` is (role, index) of the first mention. ``code`` is the gender code (``persona_assignment.groups``). ``places`` are mention
    numbers. ``corpus``: the person is shared across the corpus. If ``parts`` is set, the cluster refers to the people of these other
    clusters together and has none of its own (``size`` 0); ``joint``: its mentions in the singular do, too. One
    without ``places`` and ``parts`` is a person whom the document does not name.
    """

    key: tuple[str, str]
    code: int
    size: int
    places: list[int]
    corpus: bool = False
    parts: tuple[int, ...] = ()
    joint: bool = False


@lru_cache(maxsize=1 << 12)
def _key(role: str, index: str) -> tuple[str, str]:
    """Return the two as a tuple, the same one for many people: in a long document they would take ten bytes in a hundred."""
    return role, index


class PlannedPeople:
    """Clusters of mentions. ``numbers`` are the numbers of all mentions of people.

    *everywhere*: equal roles and numbers are one person in all documents. *whole_names*: by mention number, the whole name of which a
    known original is a part.
    """

    __slots__ = ("_by_id", "_by_key", "_everywhere", "_names", "_whole_names", "clusters", "names_here", "numbers", "originals")

    def __init__(self, everywhere: bool, names: NameResolver, whole_names: Mapping[int, str]) -> None:
        self.clusters: list[Cluster] = []
        self.numbers: list[int] = []
        self.originals = False
        self.names_here: NameResolver | None = None
        self._by_key: dict[tuple[str, str] | None, int] = {}  # no entry has the key None: it means a person of one mention
        self._by_id: dict[str, int] = {}  # people with a known original by the id that their span bears
        self._everywhere = everywhere
        self._names = names
        self._whole_names = whole_names

    def add(self, number: int, mention: Mention) -> int:
        """Add mention *number* to the cluster of its person, or to a new cluster. Return the cluster's number."""
        _, _, _, role, index, same, _, gender, original, plural, _ = mention
        self.numbers.append(number)
        key: tuple[str, str] | None = None
        if original:
            self.originals = True
            if self.names_here is None:
                self.names_here = self._names.of_document()
            whole = self._whole_names.get(number, original)
            key = ("original", self.names_here.key_of(whole))
            gender = gender or self.names_here.gender_of(whole)
        elif index or same != "mention":
            key = (role, index)
        clusters = self.clusters
        at = self._by_key.get(key)
        if original and index and not index.startswith(OWN_INDEX):
            at = self._by_id.setdefault(index, len(clusters) if at is None else at)
            at = None if at == len(clusters) else at
        if at is None:
            at = len(clusters)
            corpus = key is not None and not original and (same == "corpus" or (self._everywhere and not index.startswith(OWN_INDEX)))
            clusters.append(Cluster(_key(role, index), CODES[gender], 2 if plural else 1, [number], corpus))
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

    def add_nameless(self, text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int]) -> None:
        """Let the ages and birth dates among *values*, and the parts of an address, be one person's in a document that names nobody.

        So they agree. Values with a number of their own are left out, as are those that the text tells.
        """
        dating = [number for number in values if mentions[number].kind in DATING and mentions[number].form not in KIN]
        own = [number for number in dating if not mentions[number].index]
        if len({mentions[number].kind for number in dating}) == len({mentions[number][2:5] for number in dating}):
            own = dating  # "DOB [DATE_OF_BIRTH_1], [AGE_1]"
        own += address_run(text, mentions, values)
        if own:
            self.clusters.append(Cluster(("", ""), OPEN, 0, []))
            for number in own:
                owners[number] = 0
        give_places(text, values, mentions, owners, self.add_nobody)

    def add_nobody(self) -> int:
        """Add a person whom nothing names, and return their cluster's number."""
        self.clusters.append(Cluster(("", ""), OPEN, 0, []))
        return len(self.clusters) - 1

    def give(self, text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int]) -> None:
        """Set the *owners* of mentions of values (*values* has their numbers) that belong to a person.

        The owner is the person with the same role and index, if there is one, or with the same id of a span. Otherwise a value with an
        index belongs to the person beside whom the text has it, if there is one, and a value without an index to the person mentioned
        last before it (or the first one). A repeated original goes to its earlier owner.
        """
        numbers = self.numbers
        known: dict[tuple[str, str], int] = {}
        for number in values:
            _, _, kind, role, index, _, form, _, original, _, _ = mentions[number]
            owner = known.get((kind, original)) if original else None
            if owner is None:
                named = self._by_key.get((role, index)) if role else None
                if named is None and original and index:
                    named = self._by_id.get(index)
                if named is not None:
                    owner = named
                elif not original and (form in KIN or (index and (kind in DATING or not index.startswith(OWN_INDEX)))):
                    owner = NOBODY
                else:
                    before = bisect_left(numbers, number)
                    owner = owners[numbers[before - 1 if before else 0]]
                    if original and before and not role:
                        known[kind, original] = owner
            owners[number] = owner
        give_numbered(text, values, mentions, owners)
        _date_one_person(text, values, mentions, owners, self.clusters)

    def join_groups(self, text: str, mentions: Sequence[Mention], owners: Sequence[int]) -> None:
        """Resolve mentions of several people together who are named elsewhere, so that they are no further people.

        "Appellant sub 6" is 8a and 8b where the document has these, "eisers" the plaintiffs 1, 2 …, and who is announced as several
        ("hierna gezamenlijk: [eisers]") is the people named before.
        """
        for at, cluster in enumerate(self.clusters):
            if cluster.size == 1 and not cluster.key[1][-1:].isdigit():
                start = mentions[cluster.places[0]][0]
                if text[start - 2 : start - 1] != ":":
                    continue
            if cluster.corpus and not self._everywhere:
                continue
            parts, joint = self._numbered_parts(cluster), True
            if not parts and cluster.size == 2 and not cluster.key[1]:
                parts, joint = self._all_of_role(cluster.key[0]), False
            if not parts:
                first = mentions[cluster.places[0]]
                if (cluster.size == 2 or text[first.start - 2 : first.start - 1] == ":") and announced_together(text, first.start):
                    before = named_before(text, cluster.places[0], mentions, self.numbers)
                    parts, joint = self._suited(at, [owners[number] for number in before]), True
            if len(parts) > 1 and not any(self.clusters[part].corpus or not self.clusters[part].size for part in parts):
                cluster.parts, cluster.size, cluster.corpus, cluster.joint = tuple(parts), 0, False, joint

    def _numbered_parts(self, cluster: Cluster) -> list[int]:
        role, index = cluster.key
        if not index or not index[-1].isdigit():
            return []
        parts = [self._by_key[role, index + letter] for letter in "abcdef" if (role, index + letter) in self._by_key]
        return parts if len(parts) > 1 else []

    def _all_of_role(self, role: str) -> list[int]:
        return [at for at, one in enumerate(self.clusters) if one.key[0] == role and one.key[1] and one.size == 1]

    def _suited(self, at: int, before: Sequence[int]) -> list[int]:
        """Return the distinct clusters in *before*, without cluster *at*: those of its own role only, if there are two."""
        others = [part for part in dict.fromkeys(before) if part != at]
        own = [part for part in others if self.clusters[part].key[0] == self.clusters[at].key[0]]
        return own if len(own) > 1 else others


class _SpeakersFile(FileModel):
    speakers: dict[str, dict[str, list[str]]]


@cache
def _spoken_words(language: str) -> dict[str, str]:
    """Return what words of *language* tell of the person whom they are about: "own", "addressed" or "others"."""
    read = load_data("piiloom.surrogates", "words/speakers.yaml", _SpeakersFile).speakers
    return {word: about for about, words in read.get(language, {}).items() for word in words}


def give_speakers(
    text: str,
    values: Sequence[int],
    mentions: Sequence[Mention],
    owners: list[int],
    clusters: Sequence[Cluster],
    turns: Sequence[tuple[int, str]],
    language: str,
) -> None:
    """Set the *owners* of values that a speaker tells of themselves ("my account"), or of the one other speaker ("your account").

    A speaker is the only person whose role is the speaker's name; a value of one whom the document does not name is nobody's. Values
    with a role or a number of their own stay as they are, and so do those before which the sentence last names somebody, or has a
    word for others ("her account"), and all values if no speaker is named.
    """
    starts, known = [start for start, _ in turns], _spoken_words(language)
    roles = Counter(cluster.key[0] for cluster in clusters if cluster.size)
    speakers = {cluster.key[0]: at for at, cluster in enumerate(clusters) if cluster.size == 1 and roles[cluster.key[0]] == 1}
    names = {name.casefold() for _, name in turns}
    if names.isdisjoint(speakers):
        return
    for number in values:
        mention = mentions[number]
        start, name = turns[max(0, bisect_right(starts, mention.start) - 1)]
        if mention.role or mention.index or mention.original or mention.form in KIN:
            continue
        begin = mention.start - len(_SENTENCE_ENDS.split(text[start + len(name) + 1 : mention.start])[-1])
        words = [(at.start(), known[word]) for at in _WORD.finditer(text, begin, mention.start) if (word := at[0].casefold()) in known]
        last, about = words[-1] if words else (begin, "own")
        before = mentions[number - 1] if number else None
        if about == "others" or (before is not None and before.kind == "person" and before.start >= last):
            continue
        meant = {name.casefold()} if about == "own" else names - {name.casefold()}
        if len(meant) == 1 and roles[min(meant)] < 2:
            owners[number] = speakers.get(min(meant), NOBODY)


def _date_one_person(text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int], clusters: Sequence[Cluster]) -> None:
    """Let the document's only birth date and only age be one person's, unless each stands in a sentence with its own person."""
    births: list[int] = []
    ages: list[int] = []
    for number in values:
        mention = mentions[number]
        if mention[2] in DATING and not mention.original and not mention.index and owners[number] != NOBODY:
            (ages if mention.kind == "age" else births).append(number)
    if not births or not ages or len({owners[number] for number in births}) > 1 or len({owners[number] for number in ages}) > 1:
        return
    birth, age = owners[births[0]], owners[ages[0]]
    if birth == age or mentions[births[0]].role != mentions[ages[0]].role:
        return
    born, aged = (any(_in_sentence(text, number, mentions, clusters[owners[number]]) for number in one) for one in (births, ages))
    if born and aged:
        return
    for number in births if aged else ages:
        owners[number] = age if aged else birth


def _in_sentence(text: str, number: int, mentions: Sequence[Mention], cluster: Cluster) -> bool:
    """Whether a mention of the person of *cluster* stands before mention *number* in its sentence."""
    before = bisect_left(cluster.places, number)
    if not before:
        return False
    gap = text[mentions[cluster.places[before - 1]].end : mentions[number].start]
    return "\n" not in gap and ". " not in gap
