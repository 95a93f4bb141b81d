"""Casting: the people of a document, and their names in the form of each place.

People with one family name in the text share one afterwards: "John Smith and his wife Mary Smith", "[U] [W]" and "[V] [W]".
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any, Final, NamedTuple

from piiloom.foundation.seeding import mix, part_seed
from piiloom.pii_values.names.regions import borne_by
from piiloom.surrogates.days import LiteralDate, People, suit_ages, tell_known, tell_stated, tell_young
from piiloom.surrogates.fitting import ANY, Requirement
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.known_names import (
    birth_name_in,
    family_told,
    form_of,
    has_title,
    name_parts,
    name_words,
    names_within,
    parts_of,
    unaccented,
)
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.personas import (
    NO_NEEDS,
    SUBTYPES,
    NameNeeds,
    NameRegister,
    PersonaDrawer,
    Taken,
    written,
    written_like,
)
from piiloom.surrogates.placeholders.surroundings import LETTER, family_letter
from piiloom.surrogates.planned_people import Cluster
from piiloom.surrogates.planning import PERSON, DocumentPlan, Requirements, identity


def share_family_names(
    plan: DocumentPlan, people: Sequence[tuple[FictitiousPerson, ...]], language: str = ""
) -> Mapping[str, FictitiousPerson]:
    """Give all people of *plan* whose originals end in one family name, or whose letters do, that of the first of them.

    A name in the form of the other gender ("Nováková") is not shared. People of the whole corpus have one name everywhere, and keep it.
    Return the first bearer of each family name, by its last word or its letter.
    """
    first: dict[str, FictitiousPerson] = {}
    for cluster, (person, *_) in zip(plan.clusters, people, strict=True):
        if cluster.size != 1 or cluster.corpus:
            continue
        family = _family_name(plan, cluster, language)
        known = first.setdefault(family, person) if family else person
        if known is not person and (known.gender == person.gender or borne_by(known.family, known.origin) is None):
            person.family = known.family
    return first


def _family_name(plan: DocumentPlan, cluster: Cluster, language: str) -> str:
    """Return the last word of the family name that the originals of *cluster* tell, folded, or its letter; "" if they tell none."""
    if cluster.key[0] == LETTER:
        return family_letter(cluster.key[1])
    for number in cluster.places:
        mention = plan.mentions[number]
        given, family = name_parts(mention.original, language)
        if family and len(family[-1]) > 1 and (given != family or mention.form == "family" or has_title(mention.original, language)):
            return family[-1]
    return ""


_PEOPLE, _FURTHER = 0x10, 0x70
_TRIES: Final = 24  # people drawn until one is not named as the original was
_FURTHER_NAMES: Final = frozenset({"middle", "middle_initial", "second", "birth"})
_FAMILY_FIRST: Final = frozenset({"family", "family_given"})
_GIVEN_LAST: Final = frozenset({"given", "nick", "family_given"})
Shared = Mapping[tuple[str, str], tuple[int, Sequence[int]]]


class CastTerms(NamedTuple):
    """What is the same for all documents: where names come from (*origin* None: from everywhere), and how several are joined."""

    drawer: PersonaDrawer
    language: str
    country: str
    joiner: str
    origin: str | None


class Cast:
    """The people of one document. *notable* and *asked* say what the text around names and values requires, *styles* how names stand.

    *anchor* is the day as of which ages hold, *shift* by how many days known dates move, *told* are the dates that stand in the text
    (None: it has neither ages nor birth dates to put in).
    ``dated`` are the clusters whose birth date was known, once ``draw`` was called.
    """

    __slots__ = ("_anchor", "_asked", "_families", "_named", "_notable", "_plan", "_seed", "_shift", "_styles", "_terms", "_told", "dated")

    def __init__(
        self,
        terms: CastTerms,
        plan: DocumentPlan,
        seed: int,
        *,
        anchor: date,
        shift: int,
        notable: Mapping[int, Requirement],
        asked: Requirements,
        styles: Sequence[str],
        told: Sequence[LiteralDate] | None,
    ) -> None:
        self._terms, self._plan, self._seed = terms, plan, seed
        self._anchor, self._shift, self._told = anchor, shift, told
        self._notable, self._asked, self._styles = notable, asked, styles
        self._families: Mapping[str, FictitiousPerson] = {}
        self._named: Mapping[str, FictitiousPerson] = {}
        self.dated: set[int] = set()

    def draw(self, groups: Sequence[int], shared: Shared) -> list[People]:
        """Return the people of each cluster of the plan; arguments as for ``Replacer.replace``."""
        draw, anchor, origin = self._terms.drawer.draw, self._anchor, self._terms.origin
        people: list[People] = []
        joined: list[int] = []
        taken: Taken = self._originals() if self._plan.originals else {}
        at, seed = 0, mix(self._seed, _PEOPLE)
        for number, cluster in enumerate(self._plan.clusters):
            value_id = f"p{number + 1}"
            if cluster.corpus:
                # A shared person has one name in the whole corpus, so nothing in this document may influence it.
                own_seed, own_groups = shared[cluster.key]
                people.append(self._people(own_seed, own_groups, value_id, {}, NO_NEEDS))
                continue
            needs = self._needs(cluster) if self._notable else NO_NEEDS
            size, own_seed = cluster.size, mix(seed, number)
            if size == 1:
                told = (own_seed, groups[at], anchor, value_id, taken, needs, origin)
                people.append((self._person(cluster, *told) if self._plan.originals else draw(*told),))
            else:
                people.append(self._people(own_seed, groups[at : at + size], value_id, taken, needs))
            at += size
            if cluster.parts:
                joined.append(number)
            elif not size:
                people[-1] = (
                    FictitiousPerson(part_seed(own_seed)[2], "female", "", "", self._terms.country, "", "", anchor, value_id=value_id),
                )
        for number in joined:
            people[number] = tuple([one for part in self._plan.clusters[number].parts for one in people[part]])
        self._tell(people)
        return people

    def _person(self, cluster: Cluster, seed: int, *arguments: Any) -> FictitiousPerson:
        """Draw the person of *cluster*, who is not to be named as an original: "J. S." where the initials are the same."""
        person = self._terms.drawer.draw(seed, *arguments)
        for turn in range(1, _TRIES):
            if not self._named_as_before(cluster, person):
                break
            person = self._terms.drawer.draw(mix(seed, turn), *arguments)
        return person

    def _originals(self) -> Taken:
        """Return the words of all original names, as written and with a capital: nobody is to be named so."""
        words = (word.text for mention in self._plan.mentions if mention.kind == PERSON for word in parts_of(mention.original))
        return dict.fromkeys(form for word in words for form in (word, word.capitalize()))

    def _named_as_before(self, cluster: Cluster, person: FictitiousPerson) -> bool:
        """Whether an original of *cluster* would be written for *person* as before."""
        mentions = ((self._plan.mentions[number].original, self._styles[number]) for number in cluster.places)
        return any(
            original and identity(PERSON, written_like(original, person, style, self._terms.language)) == identity(PERSON, original)
            for original, style in mentions
        )

    def _tell(self, people: Sequence[People]) -> None:
        """Let the people be what the text tells of them: who has one family name, and when they were born."""
        plan, terms, notable = self._plan, self._terms, self._notable
        if plan.originals or any(cluster.key[0] == LETTER for cluster in plan.clusters):
            self._families = share_family_names(plan, people, terms.language)
        if plan.originals:
            self._named = self._people_named(people)
            self.dated = tell_known(
                plan, people, notable, shift=self._shift, anchor=self._anchor, language=terms.language, country=terms.country
            )
        stated = tell_stated(plan, people, self._told, terms.language, terms.country) if self._told is not None else set()
        if self._told is not None:
            stated |= tell_young(plan, people, notable, self.dated | stated)
        if self._asked:
            suit_ages(plan, people, notable, self._asked, self.dated | stated)

    def _people_named(self, people: Sequence[People]) -> dict[str, FictitiousPerson]:
        """Return the people whose originals are known, by each of these, folded."""
        clusters, mentions = self._plan.clusters, self._plan.mentions
        return {
            unaccented(mentions[number].original): person
            for one, (person, *_) in zip(clusters, people, strict=True)
            for number in one.places
        }

    def _people(self, seed: int, groups: Sequence[int], value_id: str, taken: Taken, needs: NameNeeds) -> People:
        draw, anchor, origin = self._terms.drawer.draw, self._anchor, self._terms.origin
        if len(groups) == 1:
            return (draw(seed, groups[0], anchor, value_id, taken, needs, origin),)
        return tuple(
            [draw(mix(seed, turn), group, anchor, value_id + "ab"[turn], taken, needs, origin) for turn, group in enumerate(groups)]
        )

    def _needs(self, cluster: Cluster) -> NameNeeds:
        """Return what the articles and genitives around a person's mentions require of the given name and the family name."""
        given = family = ANY
        given_genitive = family_genitive = False
        places = self._places_of(cluster)
        if not any(number in self._notable for number in places):
            return NO_NEEDS
        for number in places:
            place = self._notable.get(number)
            if place is None:
                continue
            style = self._styles[number]
            if style in _FAMILY_FIRST:
                family = family or place.sound
            else:
                given = given or place.sound
            if place.genitive and style in _GIVEN_LAST:
                given_genitive = True
            elif place.genitive:
                family_genitive = True
        return NameNeeds(given, family, given_genitive, family_genitive)

    def _places_of(self, cluster: Cluster) -> Sequence[int]:
        """Return the mentions of a person and those that have the letter of their family name alone, whoever is meant: "d'[W]"."""
        if cluster.key[0] != LETTER:
            return cluster.places
        letter = family_letter(cluster.key[1])
        kin = [one for one in self._plan.clusters if one.key[0] == LETTER and one is not cluster and family_letter(one.key[1]) == letter]
        return [*cluster.places, *(number for one in kin for number in one.places if self._styles[number] == "family")]

    def together(self, people: People, form: str) -> str:
        """Return the names of several *people*, joined as the language joins them."""
        names = [written(one, form) for one in people]
        return ", ".join(names[:-1]) + self._terms.joiner + names[-1]

    def name(self, person: FictitiousPerson, style: str, original: str, end: int) -> str:
        """Return the name of *person* as *original* is written, or in the form *style*; its place in the text ends at *end*."""
        if original and style != "birth":
            return self._like(original, person, style)
        text = original or self._plan.text[end - 2 : end].removesuffix("]")
        return self._further(person, style, end, text) if style in _FURTHER_NAMES else written(person, style)

    def _like(self, original: str, person: FictitiousPerson, style: str) -> str:
        """Return the name of *person* as *original* is written, with further people in it and a further family name after "née"."""
        language = self._terms.language
        birth = birth_name_in(original)
        if birth is not None:
            told = original[birth.end() :]
            return written_like(original, person, style, language)[: -len(told)] + self._further(person, "birth", 0, told)
        names = names_within(original)
        if len(names) == 1:
            return written_like(original, person, style, language)
        shared = len(parts_of(names[0], language)) == 1 and not has_title(names[0], language)
        written_names = [
            written_like(names[0], person, "given" if shared and len(parts_of(names[-1], language)) > 1 else "family", language)
        ]
        for number, name in enumerate(names[1:], 1):
            if number % 2:
                written_names.append(name)
                continue
            known = self._named.get(unaccented(name)) or self._named.get(parts_of(name, language)[0].key)
            other = known if known is not None and known is not person else self._other(person, number)
            other.family = person.family if shared else other.family
            one = shared and number < len(names) - 1
            written_names.append(written_like(name, other, "given" if one else "family", language))
        return "".join(written_names)

    def _other(self, person: FictitiousPerson, number: int) -> FictitiousPerson:
        """Return another person beside *person*, of the other gender, or for the number 0 of the same."""
        gender = person.gender
        if number:
            gender = "male" if gender == "female" else "female"
        taken: Taken = {person.given: None, person.family: None}
        seed, group = mix(person.seed, _FURTHER + number), GROUPS.index((gender, person.region))
        return self._terms.drawer.draw(seed, group, self._anchor, "", taken, NO_NEEDS, person.origin)

    def _further(self, person: FictitiousPerson, style: str, end: int, told: str) -> str:
        """Return a further given name ("middle", or its initial) or family name ("second", "birth") of *person*, of the same origin.

        A birth name is that of the people who have the family name, or the letter of one, that was *told*, if there are any.
        """
        known = self._families.get(unaccented(told).rpartition(" ")[2]) if style == "birth" else None
        if known is not None:
            return known.family
        other = self._other(person, 0)
        if style == "middle_initial":
            return other.given[0] + "." * (self._plan.text[end : end + 1] != ".")
        return other.given if style == "middle" else other.family


_STYLE: Final = 0x30
_WHOLE: Final = frozenset({"middle", "second"})
_BEFORE: Final = 16  # code points before a name within which its title stands
_BLANKS: Final = " \u00a0\n\r\t"
_OPENED: Final = "(\"'“‘"


@cache
def _titles() -> frozenset[str]:
    return frozenset(name_words().titles)


@cache
def _ends() -> frozenset[str]:
    """Return the last three characters of each title (of short ones with the sign before them): most text before a name ends in none."""
    spelled = {form + dot for title in _titles() for form in (title, title.capitalize(), title.upper()) for dot in ("", ".")}
    return frozenset((sign + form)[-3:] for form in spelled.union(name_words().cased) for sign in _BLANKS + _OPENED)


def titled(text: str, start: int) -> bool:
    """Whether a title ("Dr.", "mevrouw") comes right before *start*."""
    if start < 3 or text[start - 1] not in " \u00a0":
        return False
    words = text[max(0, start - _BEFORE) : start].split()
    if not words:
        return False
    last = words[-1].lstrip(_OPENED)
    return last.rstrip(".").lower() in _titles() or last in name_words().cased


def name_styles(plan: DocumentPlan, register: NameRegister, seed: int, known: Container[str] = (), language: str = "") -> list[str]:
    """Return the form (a key of ``SUBTYPES``) of each mention of a person, by mention number; "" for others. *known*: folded given names.

    In order of precedence: the form that the mention gives, that of its original, "family" after a title, "née" or "les époux", the
    register's choice.
    """
    styles = [""] * len(plan.mentions)
    text, mentions, of_role, ends = plan.text, plan.mentions, register.of_role, _ends()
    for cluster in plan.clusters:
        turn = 0
        parts: _PartsOfNames | None = None
        for number in cluster.places:
            start, _, _, role, index, same, form, _, original, _, _ = mentions[number]
            if form and form in SUBTYPES and not (original and form in _WHOLE):
                style = form
            elif original:
                parts = parts or _PartsOfNames.of(plan, cluster.places, language)
                told = titled(text, start) or has_title(original, language)
                style = form_of(original, language) or parts.form(original, titled=told, known=known)
            elif ((start < 4 or text[start - 4 : start - 1] in ends) and titled(text, start)) or family_told(text, start):
                style = "family"
            elif same == "mention" and not index:
                style = register.of_tag(mix(seed, _STYLE + number))
            else:
                style = of_role(role)[turn]
            styles[number] = style
            turn = 1
    return styles


class _PartsOfNames(NamedTuple):
    """One person's given and family names (folded), as known from originals of several words. ``often``: mentioned more than once."""

    givens: frozenset[str]
    families: frozenset[str]
    often: bool
    language: str

    @classmethod
    def of(cls, plan: DocumentPlan, places: Sequence[int], language: str) -> _PartsOfNames:
        """Collect the names from the mentions *places* of one person in a text in *language*."""
        names = [name_parts(original, language) for original in {plan.mentions[number].original for number in places}]
        full = [(given, family) for given, family in names if given != family]
        return cls(
            frozenset(p for given, _ in full for p in given), frozenset(p for _, family in full for p in family), len(places) > 1, language
        )

    def form(self, original: str, *, titled: bool, known: Container[str]) -> str:
        """Return the form of a one-word *original*, "family" or "given": what the person's full names tell, else what a title tells.

        Else a word in *known* is a given name, and so is a person's only name without a title.
        """
        given, _ = name_parts(original, self.language)
        word = given[0] if given else ""
        if word in self.families:
            return "family"
        if word in self.givens:
            return "given"
        return "family" if titled or (word not in known and (self.often or bool(self.families))) else "given"
