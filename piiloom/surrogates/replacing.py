"""Turn a plan into a text with surrogates: draw the people and the values, and fit each one to the surrounding text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import timedelta
from io import StringIO
from typing import Final

from piiloom.foundation.seeding import mix, pick
from piiloom.foundation.words import with_capital
from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_shifts import draw_shift, shifted_text, weekly_shift
from piiloom.surrogates.casting import Cast, CastTerms, Shared, name_styles
from piiloom.surrogates.days import planned_days
from piiloom.surrogates.documents import DocumentSeeds, Placed, Replaced
from piiloom.surrogates.fitting import ANY, Requirement, fits, notable_places
from piiloom.surrogates.kinds.amounts import age as draw_age
from piiloom.surrogates.kinds.amounts import middle_of_range
from piiloom.surrogates.kinds.kind import KINDS, Draw, Drawings, FictitiousPerson, cased_like
from piiloom.surrogates.kinds.places import phrase_lists
from piiloom.surrogates.kinds.wording import with_form_of, without_form_beside
from piiloom.surrogates.persona_assignment.personas import SUBTYPES, PersonaDrawer, joiner_of, register_of
from piiloom.surrogates.placeholders.settling import OWN_INDEX
from piiloom.surrogates.planned_people import NOBODY
from piiloom.surrogates.planning import NOTHING_ASKED, PERSON, DocumentPlan, asked_of_place, asked_of_values, identity
from piiloom.surrogates.settings import EngineSettings

# Facts of which a person has one, and what moves with the document's dates: their values come from the person or from the original alone.
FACTS: Final = frozenset({"age", "birth_date", "birth_year", "gender", "date", "datetime", "year", "month", "weekday", "time", "duration"})
_TRIES_FOR_ORIGINALS: Final = 12
_TRIES_FOR_ARTICLES: Final = 48  # where the value must fit an article
_TURN: Final = 0xD1F


class OriginalValues:
    """The values that were put in for the originals of one document.

    The first phone number of a person is the one that the rest of the document would give them; each other one is drawn anew.
    """

    def __init__(self, plan: DocumentPlan) -> None:
        self._plan = plan
        self._turns: dict[tuple[int, int], int] = {}  # which of the owner's values of its kind it is: (owner, value number) -> 0, 1 …
        self._values: dict[tuple[str, str], int] = {}  # which value number has a value already
        self._others: dict[tuple[int, int], FictitiousPerson] = {}
        counts: dict[tuple[int, str], int] = {}
        for mention, owner, value in zip(plan.mentions, plan.owners, plan.values, strict=True):
            if mention.original and NOBODY not in {owner, value} and (owner, value) not in self._turns:
                turn = counts.get((owner, mention.kind), 0)
                counts[owner, mention.kind] = turn + 1
                self._turns[owner, value] = turn

    def distinct(self, number: int, draw: Draw, make: Callable[[Draw], str], fits: Callable[[str], bool] | None = None) -> str:
        """Return the value that *make* draws for mention *number*: none that another original has, nor the original itself.

        It *fits* the articles before it, if that is given. Where no such value is found (there are few religions), the first one that is
        distinct is returned, else the first one that is not the original.
        """
        kind, value_number, owner = self._plan.mentions[number].kind, self._plan.values[number], self._plan.owners[number]
        if draw.owner is not None:
            draw = draw._replace(owner=self._other(owner, draw.owner, self._turns.get((owner, value_number), 0)))
        old = identity(kind, draw.original)
        first = distinct = ""
        for turn in range(_TRIES_FOR_ORIGINALS if fits is None else _TRIES_FOR_ARTICLES):
            value = make(draw if not turn else self._again(draw, turn))
            first = first or value
            told = identity(kind, value)
            if told != old and self._values.get((kind, told), value_number) == value_number:
                distinct = distinct or value
                if fits is None or fits(value):
                    distinct = value
                    break
            if told != old and identity(kind, first) == old:
                first = value
        if distinct:
            self._values[kind, identity(kind, distinct)] = value_number
        return distinct or first

    def _other(self, owner: int, person: FictitiousPerson, turn: int) -> FictitiousPerson:
        if not turn:
            return person
        known = self._others.get((owner, turn))
        if known is None:
            known = self._others[owner, turn] = person.again(turn)
        return known

    @staticmethod
    def _again(draw: Draw, turn: int) -> Draw:
        owner = draw.owner.again(_TURN + turn) if draw.owner is not None else None
        return draw._replace(seed=mix(draw.seed, _TURN + turn), owner=owner)


_SPREAD_OF_DAYS: Final = 730  # a document's own anchor is up to this many days before the anchor of the settings
_SHIFTS, _MOST_DATES = 24, 64  # shifts that are tried, and dates of a document that are looked at
_TRIES: Final = 96  # most values drawn to find one that fits its article or genitive
_LONG: Final = 4096  # mentions in a document whose people are let go as soon as they are named
_NAMED: Final = ()
_BESIDE: Final = frozenset({"company", "year", "birth_year", "url"})
_APOSTROPHES: Final = frozenset({"'", "’"})
NOTHING_GIVEN: Final[Mapping[int, str]] = {}
# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_draw: Callable[[type[Draw], tuple[object, ...]], Draw] = tuple.__new__
_placed: Callable[[type[Placed], tuple[object, ...]], Placed] = tuple.__new__


class Replacer:
    """Puts surrogates into documents. *given_names* (folded) tell what a known name of one word is.

    The result for a document depends only on its plan, seeds and groups, the shared people and the given values.
    """

    def __init__(self, settings: EngineSettings, drawer: PersonaDrawer, given_names: Container[str] = ()) -> None:
        self.settings = settings
        self.given_names = given_names
        self.language = settings.language
        self.country = settings.country
        self.locale = f"{settings.language}_{settings.country}"
        self.register = register_of(settings.language)
        self.kinds = Drawings()
        self.anchors = [settings.anchor - timedelta(days=days) for days in range(_SPREAD_OF_DAYS)]
        self.draw_shift = weekly_shift if settings.keep_weekdays else draw_shift
        origin = settings.country if settings.own_names else None
        self.terms = CastTerms(drawer, settings.language, settings.country, f" {joiner_of(settings.language)} ", origin)

    def replace(
        self, plan: DocumentPlan, seeds: DocumentSeeds, groups: Sequence[int], shared: Shared, given: Mapping[int, str] = NOTHING_GIVEN
    ) -> Replaced:
        """Put surrogates into *plan*'s text.

        *groups* has one group per document-local person, in the order of ``Plan.codes``. *shared* maps (role, index) to the seed and
        groups of people shared across the corpus. *given* maps value numbers to values that were drawn elsewhere (by a model).
        """
        done = _DocumentReplacer(self, plan, seeds, given).replaced(groups, shared)
        if plan.originals:
            done.tallies.update(_equal(plan, done))
        return done


class _DocumentReplacer:
    """State of one document while it is being replaced."""

    __slots__ = (
        "_anchor",
        "_asked",
        "_cast",
        "_days",
        "_given",
        "_notable",
        "_originals",
        "_plan",
        "_replacer",
        "_shift",
        "_style",
        "_styles",
        "_text",
        "_value_seed",
    )

    def __init__(self, replacer: Replacer, plan: DocumentPlan, seeds: DocumentSeeds, given: Mapping[int, str]) -> None:
        self._replacer = replacer
        self._plan = plan
        self._text = plan.text
        self._value_seed = seeds.values
        self._style = seeds.style
        self._given = given
        anchor = replacer.anchors[seeds.days % _SPREAD_OF_DAYS]
        self._days, self._anchor, told, dating = planned_days(plan, seeds.days, anchor, replacer.language, replacer.country)
        self._shift = self._shift_away(seeds.shift) if plan.originals else replacer.draw_shift(seeds.shift)
        self._notable = notable_places(plan.text, plan.mentions, replacer.language)
        self._styles = name_styles(plan, replacer.register, seeds.style, replacer.given_names, replacer.language) if plan.clusters else []
        self._asked = asked_of_values(plan, self._notable) if self._notable else NOTHING_ASKED
        self._originals: OriginalValues | None = None
        self._cast = Cast(
            replacer.terms,
            plan,
            seeds.people,
            anchor=self._anchor,
            shift=self._shift,
            notable=self._notable,
            asked=self._asked,
            styles=self._styles,
            told=told if dating else None,
        )

    def replaced(self, groups: Sequence[int], shared: Shared) -> Replaced:
        text, plan, values, styles, notable = self._text, self._plan, self._plan.values, self._styles, self._notable
        replacer, anchor, shift, value_seed, given = self._replacer, self._anchor, self._shift, self._value_seed, self._given
        kinds, country, language, again = replacer.kinds, replacer.country, replacer.language, plan.again
        cast, fitted, days, manner = self._cast, self._asked, self._days, self._style
        people = cast.draw(groups, shared) if plan.clusters else []
        once = self._named_once() if len(plan.owners) > _LONG else _NAMED
        written = StringIO()  # a list of the pieces of a long document would take several times the space of its text
        placed: list[Placed] = []
        drawn: dict[tuple[int, int, str], str] = {}  # repeated values are drawn once; keys: (value number, owner, form)
        put, place = written.write, placed.append
        all_plain = not (notable or given or plan.originals)
        at = grown = 0
        for number, (owner, mention) in enumerate(zip(plan.owners, plan.mentions, strict=True)):
            start, end, kind, role, index, _, form, _, original, plural, _ = mention
            asked = notable.get(number) if notable else None
            if kind == PERSON:
                named, style = people[owner], styles[number]
                value_id, entity_type, subtype = named[0].value_id, "name", SUBTYPES[style]
                if len(named) > 1 and (plural or plan.clusters[owner].joint):
                    value = cast.together(named, style)
                    value_id = f"p{owner + 1}"  # the id of the pair or group, not of its first person
                else:
                    value = named[0].given if style == "given" and not original else cast.name(named[0], style, original, end)
                if once and owner in once:
                    people[owner] = ()
            else:
                entity_type, subtype, make = kinds[kind]
                value_number = values[number]
                person, value_id = None, f"v{value_number + 1}"
                if owner != NOBODY:
                    person = _meant(people[owner][0], index) if index else people[owner][0]
                    value_id = person.value_id
                plain = all_plain or (asked is None and not original and not given and (value_number, owner) not in fitted)
                repeated = plain and value_number in again
                if repeated and (value_number, owner, form) in drawn:
                    value = drawn[value_number, owner, form]
                else:
                    seed, day = mix(value_seed, value_number), days.get(value_number)
                    draw = _draw(Draw, (seed, country, language, anchor, shift, person, original, form, index, day, manner))
                    value = make(draw) if plain else self._fitted(number, kind, draw)
                    if repeated:
                        drawn[value_number, owner, form] = value
            if kind in _BESIDE or (asked is not None and not original):
                value = _suited(kind, value, text, (start, end), None if original else asked)
            new_start = start + grown
            new_end = new_start + len(value)
            place(_placed(Placed, (start, end, new_start, new_end, kind, entity_type, subtype, value_id, role)))
            put(text[at:start])
            put(value)
            at, grown = end, new_end - end
        put(text[at:])
        return Replaced(written.getvalue(), placed)

    def _shift_away(self, seed: int) -> int:
        """Return a shift by which no original date stays as it is, if there is one: a year stays under less than half a year."""
        replacer, anchor = self._replacer, self._anchor
        order = date_order(replacer.language, replacer.country)
        dates = list(dict.fromkeys(one.original for one in self._plan.mentions if one.original and one.kind in FACTS and one.kind != "age"))
        shifts = [replacer.draw_shift(mix(seed, turn) if turn else seed) for turn in range(_SHIFTS)]

        def stay(shift: int) -> int:
            return sum(shifted_text(one, shift, replacer.language, order, anchor) == one for one in dates[:_MOST_DATES])

        return next((shift for shift in shifts if not stay(shift)), None) or min(shifts, key=stay)

    def _named_once(self) -> Container[int]:
        """Return the people (numbers of clusters) who are named at one place only, and to whom nothing belongs."""
        counts = Counter(self._plan.owners)
        return {owner for owner, count in counts.items() if count == 1 and owner != NOBODY}

    def _like_original(self, number: int, kind: str, draw: Draw) -> str:
        """Return the value at mention *number* whose original is known."""
        if kind == "age":  # birth date and other dates move together, so the age stays right
            return draw.original if middle_of_range(draw.original) is None or draw.owner is None else str(draw.owner.age)
        if self._originals is None:
            self._originals = OriginalValues(self._plan)
        place, locale = self._asked.get((self._plan.values[number], self._plan.owners[number])), self._replacer.locale
        suits = (lambda value: fits(value, place, locale, kind)) if place is not None else None
        value = self._originals.distinct(number, draw, KINDS[kind].draw, suits)
        return with_form_of(draw.original, value) if kind == "company" else value

    def _fitted(self, number: int, kind: str, draw: Draw) -> str:
        """Return the value at mention *number* in the special cases.

        These are: a value drawn elsewhere, a known original, and a place whose article, genitive or capitals matter. If none of
        ``_TRIES`` values fits the article and the genitive, the first one is returned.
        """
        value_number, owner = self._plan.values[number], self._plan.owners[number]
        if value_number in self._given:
            return cased_like(draw.original, self._given[value_number])
        make = KINDS[kind].draw
        if draw.original and (kind not in FACTS or (kind == "age" and owner in self._cast.dated)):
            return self._like_original(number, kind, draw)
        place = asked_of_place(self._asked.get((value_number, owner)), self._notable.get(number))
        if kind == "age":
            return draw_age(draw, place.sound if place else ANY)
        value = found = make(draw)
        if place is None:
            return value
        for attempt in range(1, _TRIES):
            if fits(found, place, self._replacer.locale, kind):
                return found
            found = make(draw._replace(seed=mix(draw.seed, attempt), owner=None))
        named = (
            [name for name in phrase_lists(draw.language)["country"] if fits(name, place, self._replacer.locale, kind)]
            if kind == "country"
            else ()
        )
        return pick(draw.seed, named) if named else value  # "aux [PAYS]": few names fit


def _equal(plan: DocumentPlan, done: Replaced) -> Counter[str]:
    """Count the surrogates that equal their originals but for case and signs, by kind."""
    pairs = zip(plan.mentions, done.placed, strict=True)
    return Counter(
        f"equal {place.kind}"
        for mention, place in pairs
        if mention.original and identity(place.kind, mention.original) == identity(place.kind, done.text[place.new_start : place.new_end])
    )


def _meant(person: FictitiousPerson, index: str) -> FictitiousPerson:
    """Return *person*, with other choices for a value that is told apart from another of theirs by where it stands."""
    return person.again(int(index[1:])) if index[0] == OWN_INDEX else person


def _suited(kind: str, value: str, text: str, at: tuple[int, int], place: Requirement | None) -> str:
    """Return *value* in the capitals that its *place* requires, and without what already stands beside it.

    That is the legal form of a company, the century of a year ("'26"), or the scheme of an address ("https://[URL]").
    """
    if kind == "company":
        value = without_form_beside(value, text, *at)
    elif kind == "url":
        value = value.partition("://")[2] or value if text.endswith("://", 0, at[0]) else value
    elif kind in _BESIDE and len(value) == 4 and value.isdecimal() and text[at[0] - 1 : at[0]] in _APOSTROPHES:
        value = value[2:]
    if place is None:
        return value
    if place.noun and value.casefold().startswith(f"{place.noun} "):
        value = value[len(place.noun) + 1 :]
    if place.capitals:
        return value.upper()
    if place.begins and value[0].islower() and "@" not in value and "/" not in value:
        return with_capital(value)
    return value
