"""Draw the people of one document, and write their names in the form of each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from piiloom.surrogates.fitting import ANY, Place
from piiloom.surrogates.literal_dates import LiteralDate
from piiloom.surrogates.persona_assignment.drawing import NO_NEEDS, Needs, PersonaDrawer, Taken
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.name_forms import written
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.persona_assignment.written_like import written_like
from piiloom.surrogates.planned_people import Cluster
from piiloom.surrogates.planning import Plan
from piiloom.surrogates.requirements import Asked
from piiloom.surrogates.seeds import mix, parted
from piiloom.surrogates.shared_family_names import share_family_names
from piiloom.surrogates.told_births import suit_ages, tell_known, tell_stated, tell_young

_PEOPLE, _FURTHER = 0x10, 0x70
_FURTHER_NAMES: Final = frozenset({"middle", "middle_initial", "second"})
_FAMILY_FIRST: Final = frozenset({"family", "family_given"})
_GIVEN_LAST: Final = frozenset({"given", "nick", "family_given"})
Shared = Mapping[tuple[str, str], tuple[int, Sequence[int]]]
People = tuple[Persona, ...]


class Terms(NamedTuple):
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

    __slots__ = ("_anchor", "_asked", "_notable", "_plan", "_seed", "_shift", "_styles", "_terms", "_told", "dated")

    def __init__(
        self,
        terms: Terms,
        plan: Plan,
        seed: int,
        *,
        anchor: date,
        shift: int,
        notable: Mapping[int, Place],
        asked: Asked,
        styles: Sequence[str],
        told: Sequence[LiteralDate] | None,
    ) -> None:
        self._terms, self._plan, self._seed = terms, plan, seed
        self._anchor, self._shift, self._told = anchor, shift, told
        self._notable, self._asked, self._styles = notable, asked, styles
        self.dated: set[int] = set()

    def draw(self, groups: Sequence[int], shared: Shared) -> list[People]:
        """Return the people of each cluster of the plan; arguments as for ``Replacer.replace``."""
        draw, anchor, origin = self._terms.drawer.draw, self._anchor, self._terms.origin
        people: list[People] = []
        joined: list[int] = []
        taken: Taken = {}
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
                people.append((draw(own_seed, groups[at], anchor, value_id, taken, needs, origin),))
            else:
                people.append(self._people(own_seed, groups[at : at + size], value_id, taken, needs))
            at += size
            if cluster.parts:
                joined.append(number)
            elif not size:
                people[-1] = (Persona(parted(own_seed)[2], "female", "", "", self._terms.country, "", "", anchor, value_id=value_id),)
        for number in joined:
            people[number] = tuple([one for part in self._plan.clusters[number].parts for one in people[part]])
        terms = self._terms
        if self._plan.originals:
            share_family_names(self._plan, people)
            self.dated = tell_known(
                self._plan, people, self._notable, shift=self._shift, anchor=anchor, language=terms.language, country=terms.country
            )
        stated = tell_stated(self._plan, people, self._told, terms.language, terms.country) if self._told is not None else set()
        if self._told is not None:
            stated |= tell_young(self._plan, people, self._notable, self.dated | stated)
        if self._asked:
            suit_ages(self._plan, people, self._notable, self._asked, self.dated | stated)
        return people

    def _people(self, seed: int, groups: Sequence[int], value_id: str, taken: Taken, needs: Needs) -> People:
        draw, anchor, origin = self._terms.drawer.draw, self._anchor, self._terms.origin
        if len(groups) == 1:
            return (draw(seed, groups[0], anchor, value_id, taken, needs, origin),)
        return tuple(
            [draw(mix(seed, turn), group, anchor, value_id + "ab"[turn], taken, needs, origin) for turn, group in enumerate(groups)]
        )

    def _needs(self, cluster: Cluster) -> Needs:
        """Return what the articles and genitives around a person's mentions require of the given name and the family name."""
        given = family = ANY
        given_genitive = family_genitive = False
        if not any(number in self._notable for number in cluster.places):
            return NO_NEEDS
        for number in cluster.places:
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
        return Needs(given, family, given_genitive, family_genitive)

    def together(self, people: People, form: str) -> str:
        """Return the names of several *people*, joined as the language joins them."""
        names = [written(one, form) for one in people]
        return ", ".join(names[:-1]) + self._terms.joiner + names[-1]

    def name(self, person: Persona, style: str, original: str, end: int) -> str:
        """Return the name of *person* as *original* is written, or in the form *style*; its place in the text ends at *end*."""
        if original:
            return written_like(original, person, style)
        return self._further(person, style, end) if style in _FURTHER_NAMES else written(person, style)

    def _further(self, person: Persona, style: str, end: int) -> str:
        """Return a further given name ("middle", or its initial) or family name ("second") of *person*, of the same origin."""
        group = GROUPS.index((person.gender, person.region))
        other = self._terms.drawer.draw(
            mix(person.seed, _FURTHER), group, self._anchor, "", {person.given: None, person.family: None}, NO_NEEDS, person.origin
        )
        if style == "middle_initial":
            return other.given[0] + "." * (self._plan.text[end : end + 1] != ".")
        return other.given if style == "middle" else other.family
