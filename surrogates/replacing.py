"""Turn a plan into a text with surrogates: draw the people and the values, and fit each one to the surrounding text."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import timedelta
from typing import Final

from piiloom.surrogates.day_order import planned_days
from piiloom.surrogates.documents import Placed, Replaced
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.fitting import ANY, Place, capitalised, notable_places, sounds, takes_genitive
from piiloom.surrogates.kinds.ages import age as draw_age
from piiloom.surrogates.kinds.date_shifts import draw_shift, weekly_shift
from piiloom.surrogates.kinds.kind import cased_like
from piiloom.surrogates.kinds.legal_forms import with_form_of, without_form_before
from piiloom.surrogates.kinds.registry import KINDS, Drawings
from piiloom.surrogates.name_styles import name_styles
from piiloom.surrogates.original_values import FACTS, OriginalValues
from piiloom.surrogates.persona_assignment.drawing import NO_NEEDS, Needs, PersonaDrawer, Taken
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.name_forms import SUBTYPES, written
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.persona_assignment.written_like import written_like
from piiloom.surrogates.persona_assignment.registers import register_of
from piiloom.surrogates.planned_people import NOBODY, Cluster
from piiloom.surrogates.planning import PERSON, Plan
from piiloom.surrogates.requirements import NOTHING_ASKED, asked_of_place, asked_of_values
from piiloom.surrogates.seeds import mix
from piiloom.surrogates.settings import Settings
from piiloom.surrogates.told_births import suit_ages, tell_known, tell_stated

_PEOPLE, _VALUES, _DAYS, _FURTHER = 0x10, 0x20, 0x50, 0x70
_SPREAD_OF_DAYS: Final = 730  # a document's own anchor is up to this many days before the anchor of the settings
_TRIES: Final = 96  # most values drawn to find one that fits its article or genitive
_AND: Final = {"en": "and", "nl": "en", "pt": "e", "de": "und", "fr": "et", "es": "y", "it": "e", "sv": "och"}
_FURTHER_NAMES: Final = frozenset({"middle", "middle_initial", "second"})
_BESIDE: Final = frozenset({"company", "year", "birth_year"})
_APOSTROPHES: Final = frozenset({"'", "’"})
_FAMILY_FIRST: Final = frozenset({"family", "family_given"})
_GIVEN_LAST: Final = frozenset({"given", "nick", "family_given"})
NOTHING_GIVEN: Final[Mapping[int, str]] = {}
Shared = Mapping[tuple[str, str], tuple[int, Sequence[int]]]
People = tuple[Persona, ...]
# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_draw: Callable[[type[Draw], tuple[object, ...]], Draw] = tuple.__new__
_placed: Callable[[type[Placed], tuple[object, ...]], Placed] = tuple.__new__


class Replacer:
    """Puts surrogates into documents. *given_names* (folded) tell what a known name of one word is.

    The result for a document depends only on its plan, seed and groups, the shared people and the given values.
    """

    def __init__(self, settings: Settings, drawer: PersonaDrawer, given_names: Container[str] = ()) -> None:
        self.settings = settings
        self.drawer = drawer
        self.given_names = given_names
        self.language = settings.language
        self.country = settings.country
        self.locale = f"{settings.language}_{settings.country}"
        self.register = register_of(settings.language)
        self.joiner = f" {_AND.get(settings.language, '&')} "
        self.kinds = Drawings()
        self.anchors = [settings.anchor - timedelta(days=days) for days in range(_SPREAD_OF_DAYS)]
        self.draw_shift = weekly_shift if settings.keep_weekdays else draw_shift
        self.origin = settings.country if settings.own_names else None

    def replace(self, plan: Plan, seed: int, groups: Sequence[int], shared: Shared, given: Mapping[int, str] = NOTHING_GIVEN) -> Replaced:
        """Put surrogates into *plan*'s text.

        *groups* has one group per document-local person, in the order of ``Plan.codes``. *shared* maps (role, index) to the seed and
        groups of people shared across the corpus. *given* maps value numbers to values that were drawn elsewhere (by a model).
        """
        return _DocumentReplacer(self, plan, seed, given).replaced(groups, shared)


class _DocumentReplacer:
    """State of one document while it is being replaced."""

    __slots__ = (
        "_anchor",
        "_asked",
        "_dated",
        "_days",
        "_given",
        "_notable",
        "_originals",
        "_plan",
        "_replacer",
        "_seed",
        "_shift",
        "_styles",
        "_text",
        "_value_seed",
    )

    def __init__(self, replacer: Replacer, plan: Plan, seed: int, given: Mapping[int, str]) -> None:
        self._replacer = replacer
        self._plan = plan
        self._text = plan.text
        self._seed = seed
        self._value_seed = mix(seed, _VALUES)
        self._given = given
        day_seed = mix(seed, _DAYS)
        self._days, self._anchor = planned_days(plan, self._value_seed, replacer.anchors[day_seed % _SPREAD_OF_DAYS])
        self._shift = replacer.draw_shift(day_seed)
        self._notable = notable_places(plan.text, plan.mentions, replacer.language)
        self._styles = name_styles(plan, replacer.register, seed, replacer.given_names) if plan.clusters else {}
        self._asked = asked_of_values(plan, self._notable) if self._notable else NOTHING_ASKED
        self._dated: set[int] = set()  # owners whose birth date is known from the text
        self._originals = OriginalValues(plan) if plan.originals else None

    def replaced(self, groups: Sequence[int], shared: Shared) -> Replaced:
        text, owners, values, styles, notable = self._text, self._plan.owners, self._plan.values, self._styles, self._notable
        replacer, anchor, shift, value_seed, given = self._replacer, self._anchor, self._shift, self._value_seed, self._given
        days = self._days
        kinds, country, language, again = replacer.kinds, replacer.country, replacer.language, self._plan.again
        people, fitted = (self._draw_people(groups, shared) if self._plan.clusters else []), self._asked
        pieces: list[str] = []
        placed: list[Placed] = []
        drawn: dict[tuple[int, int, str], str] = {}  # repeated values are drawn once; keys: (value number, owner, form)
        put, place = pieces.append, placed.append
        at = grown = 0
        for number, mention in enumerate(self._plan.mentions):
            owner = owners[number]
            start, end, kind, role, index, _, form, _, original, plural, _ = mention
            asked = notable.get(number) if notable else None
            if kind == PERSON:
                named, style = people[owner], styles[number]
                value_id, entity_type, subtype = named[0].value_id, "name", SUBTYPES[style]
                if len(named) > 1 and (plural or self._plan.clusters[owner].joint):
                    value = self._together(named, style)
                    value_id = f"p{owner + 1}"  # the id of the pair or group, not of its first person
                elif original:
                    value = written_like(original, named[0], style)
                elif style == "given":
                    value = named[0].given
                else:
                    value = self._further(named[0], style, end) if style in _FURTHER_NAMES else written(named[0], style)
            else:
                entity_type, subtype, make = kinds[kind]
                value_number = values[number]
                if owner == NOBODY:
                    person, value_id = None, f"v{value_number + 1}"
                else:
                    person = people[owner][0]
                    value_id = person.value_id
                plain = asked is None and not original and not given and not (fitted and (value_number, owner) in fitted)
                known = drawn.get((value_number, owner, form)) if plain and value_number in again else None
                if known is not None:
                    value = known
                else:
                    seed = mix(value_seed, value_number)
                    draw = _draw(Draw, (seed, country, language, anchor, shift, person, original, form, index, days.get(value_number)))
                    value = make(draw) if plain else self._fitted(number, kind, draw)
                    if plain and value_number in again:
                        drawn[value_number, owner, form] = value
            if asked is not None and not original:
                value = _cased(asked, value)
            if kind in _BESIDE:
                value = _beside(kind, value, text, start, end)
            new_start = start + grown
            new_end = new_start + len(value)
            place(_placed(Placed, (start, end, new_start, new_end, kind, entity_type, subtype, value_id, role)))
            put(text[at:start])
            put(value)
            at = end
            grown = new_end - end
        put(text[at:])
        return Replaced("".join(pieces), placed)

    # People

    def _draw_people(self, groups: Sequence[int], shared: Shared) -> list[People]:
        draw, anchor, origin = self._replacer.drawer.draw, self._anchor, self._replacer.origin
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
            if not size:
                joined.append(number)
        for number in joined:
            people[number] = tuple([one for part in self._plan.clusters[number].parts for one in people[part]])
        if self._plan.originals:
            replacer = self._replacer
            self._dated = tell_known(
                self._plan, people, self._notable, shift=self._shift, anchor=anchor, language=replacer.language, country=replacer.country
            )
        fixed = self._dated | tell_stated(self._plan, people)
        if self._asked:
            suit_ages(self._plan, people, self._notable, self._asked, fixed)
        return people

    def _people(self, seed: int, groups: Sequence[int], value_id: str, taken: Taken, needs: Needs) -> People:
        draw, anchor, origin = self._replacer.drawer.draw, self._anchor, self._replacer.origin
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

    def _together(self, people: People, form: str) -> str:
        names = [written(one, form) for one in people]
        return ", ".join(names[:-1]) + self._replacer.joiner + names[-1]

    def _further(self, person: Persona, style: str, end: int) -> str:
        """Return a further given name ("middle", or its initial) or family name ("second") of *person*, of the same origin."""
        group = GROUPS.index((person.gender, person.region))  # type: ignore[arg-type]
        other = self._replacer.drawer.draw(
            mix(person.seed, _FURTHER), group, self._anchor, "", {person.given: None, person.family: None}, NO_NEEDS, person.origin
        )
        if style == "middle_initial":
            return other.given[0] + "." * (self._text[end : end + 1] != ".")
        return other.given if style == "middle" else other.family

    # Values

    def _fitted(self, number: int, kind: str, draw: Draw) -> str:
        """Return the value at mention *number* in the special cases.

        These are: a value drawn elsewhere, a known original, and a place whose article, genitive or capitals matter. If none of
        ``_TRIES`` values fits the article and the genitive, the first one is returned.
        """
        value_number, owner = self._plan.values[number], self._plan.owners[number]
        if value_number in self._given:
            return cased_like(draw.original, self._given[value_number])
        make = KINDS[kind].draw
        if draw.original and kind == "age" and owner in self._dated:
            return draw.original  # birth date and other dates move together, so the age stays right
        place = asked_of_place(self._asked.get((value_number, owner)), self._notable.get(number))
        if kind == "age":
            return draw_age(draw, place.sound if place else ANY)
        if draw.original and self._originals is not None and kind not in FACTS:
            value = self._originals.distinct(number, draw, make)
            return with_form_of(draw.original, value) if kind == "company" else value
        value = found = make(draw)
        if place is None:
            return value
        for attempt in range(1, _TRIES):
            if sounds(found, place.sound, self._replacer.locale) and (not place.genitive or takes_genitive(found)):
                return found
            found = make(draw._replace(seed=mix(draw.seed, attempt), owner=None))
        return value


def _beside(kind: str, value: str, text: str, start: int, end: int) -> str:
    """Return *value* without what already stands beside its place: the legal form of a company, the century of a year ("'26")."""
    if kind == "company":
        return without_form_before(value, text, end)
    return value[2:] if len(value) == 4 and value.isdecimal() and text[start - 1 : start] in _APOSTROPHES else value


def _cased(place: Place, value: str) -> str:
    """Return *value* in the capitals that its place requires."""
    if place.capitals:
        return value.upper()
    if place.begins and value[0].islower() and "@" not in value and "/" not in value:
        return capitalised(value)
    return value
