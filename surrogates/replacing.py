"""Turn a plan into a text with surrogates: draw the people and the values, and fit each one to the surrounding text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from piiloom.surrogates.documents import Placed, Replaced
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.fitting import ANY, Place, capitalised, notable_places, sounds, takes_genitive
from piiloom.surrogates.kinds.ages import age as draw_age
from piiloom.surrogates.kinds.ages import near_age, suited_age
from piiloom.surrogates.kinds.calendars import date_order
from piiloom.surrogates.kinds.date_parsing import parse
from piiloom.surrogates.kinds.date_shifts import draw_shift, weekly_shift
from piiloom.surrogates.kinds.kind import cased_like
from piiloom.surrogates.kinds.registry import KINDS, Drawings
from piiloom.surrogates.name_styles import name_styles
from piiloom.surrogates.persona_assignment.drawing import NO_NEEDS, Needs, PersonaDrawer, Taken
from piiloom.surrogates.persona_assignment.name_forms import SUBTYPES, written
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.persona_assignment.registers import register_of
from piiloom.surrogates.planning import NOBODY, PERSON, Cluster, Plan
from piiloom.surrogates.requirements import NOTHING_ASKED, asked_of_age, asked_of_place, asked_of_values
from piiloom.surrogates.seeds import below, mix
from piiloom.surrogates.settings import Settings

_PEOPLE, _VALUES, _DAYS, _AGAIN = 0x10, 0x20, 0x50, 0x60
_SPREAD_OF_DAYS: Final = 730  # a document's own anchor is up to this many days before the anchor of the settings
_TRIES: Final = 96  # most values drawn to find one that fits its article or genitive
_YEARS: Final = re.compile(r"(?<!\d)(?:1[01])?\d{1,2}(?!\d)")
_AND: Final = {"en": "and", "nl": "en", "pt": "e", "de": "und", "fr": "et", "es": "y", "it": "e", "sv": "och"}
_FAMILY_FIRST: Final = frozenset({"family", "family_given"})
_GIVEN_LAST: Final = frozenset({"given", "nick", "family_given"})
NOTHING_GIVEN: Final[Mapping[int, str]] = {}
Shared = Mapping[tuple[str, str], tuple[int, Sequence[int]]]
People = tuple[Persona, ...]
# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_draw: Callable[[type[Draw], tuple[object, ...]], Draw] = tuple.__new__
_placed: Callable[[type[Placed], tuple[object, ...]], Placed] = tuple.__new__


class Replacer:
    """Puts surrogates into documents.

    The result for a document depends only on its plan, seed and groups, the shared people and the given values.
    """

    def __init__(self, settings: Settings, drawer: PersonaDrawer) -> None:
        self.settings = settings
        self.drawer = drawer
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
        "_given",
        "_notable",
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
        self._anchor = replacer.anchors[day_seed % _SPREAD_OF_DAYS]
        self._shift = replacer.draw_shift(day_seed)
        self._notable = notable_places(plan.text, plan.mentions, replacer.language)
        self._styles = name_styles(plan, replacer.register, seed) if plan.clusters else {}
        self._asked = asked_of_values(plan, self._notable) if self._notable else NOTHING_ASKED
        self._dated: set[int] = set()  # owners whose birth date is known from the text

    def replaced(self, groups: Sequence[int], shared: Shared) -> Replaced:
        text, owners, values, styles, notable = self._text, self._plan.owners, self._plan.values, self._styles, self._notable
        replacer, anchor, shift, value_seed, given = self._replacer, self._anchor, self._shift, self._value_seed, self._given
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
                if len(named) == 1 or not plural:
                    value = named[0].given if style == "given" else written(named[0], style)
                else:
                    value = self._together(named, style)
                    value_id = f"p{owner + 1}"  # the id of the pair or group, not of its first person
                if original and len(original) > 3 and original.isupper():
                    value = value.upper()
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
                    draw = _draw(Draw, (seed, country, language, anchor, shift, person, original, form, index))
                    value = make(draw) if plain else self._fitted(number, kind, draw)
                    if plain and value_number in again:
                        drawn[value_number, owner, form] = value
            if asked is not None and not original:
                value = _cased(asked, value)
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
            self._tell_birth(people)
        if self._asked:
            self._suit_ages(people)
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

    def _tell_birth(self, people: list[People]) -> None:
        """Set the birth dates of people whose birth date or age is known from the text, so that all other values agree with it."""
        known = [
            (mention, owner)
            for mention, owner in zip(self._plan.mentions, self._plan.owners, strict=True)
            if owner != NOBODY and mention.original and mention.kind in {"age", "birth_date"}
        ]
        order = date_order(self._replacer.language, self._replacer.country)
        for mention, owner in known:
            if mention.kind == "birth_date":
                layout = parse(mention.original, self._replacer.language, order, self._anchor)
                if layout is not None and layout.precision == "day":
                    people[owner][0].born = layout.when + timedelta(days=self._shift)
                    self._dated.add(owner)
        for mention, owner in known:
            years = _YEARS.search(mention.original) if mention.kind == "age" and owner not in self._dated else None
            if years:
                person = people[owner][0]
                self._tell_age(
                    person, near_age(int(years.group()), mix(person.seed, _AGAIN), asked_of_age(self._plan, self._notable, owner))
                )

    def _tell_age(self, person: Persona, age: int) -> None:
        person.born = self._anchor - timedelta(days=int(age * 365.2425) + 1 + below(mix(person.seed, _AGAIN), 363))

    def _suit_ages(self, people: list[People]) -> None:
        """Choose ages that fit their article ("an <AGE>-year-old").

        Left alone: people with a known birth date, and people shared across the corpus, who have one age everywhere.
        """
        for owner in {owner for _, owner in self._asked if owner != NOBODY}:
            sound = asked_of_age(self._plan, self._notable, owner)
            if not sound or owner in self._dated or self._plan.clusters[owner].corpus:
                continue
            person = people[owner][0]
            age = suited_age(person.age, mix(person.seed, _AGAIN), sound)
            if age != person.age:
                self._tell_age(person, age)

    def _together(self, people: People, form: str) -> str:
        names = [written(one, form) for one in people]
        return ", ".join(names[:-1]) + self._replacer.joiner + names[-1]

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
        if draw.original and kind == "age":
            if owner in self._dated:
                return draw.original  # birth date and other dates move together, so the age stays right
            if not _YEARS.search(draw.original):
                draw = draw._replace(owner=None)  # an age in words is derived from the original, not from the owner's birth date
        place = asked_of_place(self._asked.get((value_number, owner)), self._notable.get(number))
        if kind == "age":
            return draw_age(draw, place.sound if place else ANY)
        value = found = make(draw)
        if place is None:
            return value
        for attempt in range(1, _TRIES):
            if sounds(found, place.sound, self._replacer.locale) and (not place.genitive or takes_genitive(found)):
                return found
            found = make(draw._replace(seed=mix(draw.seed, attempt), owner=None))
        return value


def _cased(place: Place, value: str) -> str:
    """Return *value* in the capitals that its place requires."""
    if place.capitals:
        return value.upper()
    if place.begins and value[0].islower() and "@" not in value and "/" not in value:
        return capitalised(value)
    return value
