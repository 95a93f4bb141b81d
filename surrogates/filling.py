"""From a plan to a text with surrogates: names written in their forms, values drawn, each fitted to what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from surrogates.casting.cast import NO_NEEDS, Caster, Needs
from surrogates.casting.name_forms import SUBTYPES, written
from surrogates.casting.registers import register_of
from surrogates.casting.styles import name_styles
from surrogates.documents import Filled, Placed
from surrogates.draws import Draw
from surrogates.fitting import ANY, begins_sentence, capitalised, genitive_follows, in_capitals, needed_sound, sounds, takes_genitive
from surrogates.kinds.ages import near_age
from surrogates.kinds.date_formats import parse
from surrogates.kinds.date_shifts import draw_shift, weekly_shift
from surrogates.kinds.facts import facts_of
from surrogates.kinds.kind import cased_like
from surrogates.kinds.registry import KINDS, Kind
from surrogates.mentions import Mention
from surrogates.persona import Persona
from surrogates.planning import NOBODY, PERSON, Plan
from surrogates.seeds import below, mix
from surrogates.settings import Settings

_PEOPLE, _VALUES, _SHIFT, _DAYS, _AGAIN = 0x10, 0x20, 0x40, 0x50, 0x60
_SPREAD_OF_DAYS: Final = 730  # documents lie within so many days before the anchor
_TRIES: Final = 24  # values that are tried for one that fits its article
_YEARS: Final = re.compile(r"(?<!\d)(?:1[01])?\d{1,2}(?!\d)")
_AND: Final = {"en": "and", "nl": "en", "pt": "e", "de": "und", "fr": "et", "es": "y", "it": "e", "sv": "och"}
NOTHING_GIVEN: Final[Mapping[int, str]] = {}


class Filler:
    """Fills documents one after another; what a document becomes depends on its seed, its plan and its groups only."""

    def __init__(self, settings: Settings, caster: Caster) -> None:
        self.settings = settings
        self.caster = caster
        self.language = settings.language
        self.country = settings.country
        self.register = register_of(settings.language)
        self.joiner = f" {_AND.get(settings.language, '&')} "

    def fill(
        self,
        plan: Plan,
        seed: int,
        groups: Sequence[int],
        shared: Mapping[tuple[str, str], tuple[int, Sequence[int]]],
        given: Mapping[int, str] = NOTHING_GIVEN,
    ) -> Filled:
        """Put surrogates into *plan*'s text.

        *groups* are those of the document's own people, in the order of ``Plan.codes``; *shared* gives seed and groups of people
        whom the corpus shares; *given* are values drawn elsewhere, by their numbers.
        """
        return _Page(self, plan, seed, groups, shared, given).filled()


class _Page:
    """One document while it is filled."""

    def __init__(
        self,
        filler: Filler,
        plan: Plan,
        seed: int,
        groups: Sequence[int],
        shared: Mapping[tuple[str, str], tuple[int, Sequence[int]]],
        given: Mapping[int, str],
    ) -> None:
        settings = filler.settings
        self._filler = filler
        self._plan = plan
        self._text = plan.text
        self._seed = seed
        self._language = filler.language
        self._given = given
        self._taken: set[str] = set()
        self._anchor = settings.anchor - timedelta(days=below(mix(seed, _DAYS), _SPREAD_OF_DAYS))
        shift_seed = mix(seed, _SHIFT)
        self._shift = weekly_shift(shift_seed) if settings.keep_weekdays else draw_shift(shift_seed)
        self._styles = name_styles(plan, filler.register, seed) if plan.clusters else {}
        self._dated: set[int] = set()  # owners whose birth date the text gives
        self._people = self._cast(groups, shared)

    def filled(self) -> Filled:
        text, plan = self._text, self._plan
        pieces: list[str] = []
        placed: list[Placed] = []
        at = grown = 0
        owners, values = plan.owners, plan.values
        for number, mention in enumerate(plan.mentions):
            start, end = mention.start, mention.end
            owner = owners[number]
            if mention.kind == PERSON:
                people = self._people[owner]
                form = self._styles[number]
                value, value_id = self._named(people, form, plural=mention.plural), people[0].value_id
                entity_type: str = "name"
                subtype = SUBTYPES[form]
            else:
                kind = KINDS[mention.kind]
                person = self._people[owner][0] if owner != NOBODY else None
                value = self._value(mention, kind, person, values[number], dated=owner in self._dated)
                value_id = person.value_id if person is not None else f"v{values[number] + 1}"
                entity_type, subtype = kind.entity_type, kind.subtype
            value = self._cased(mention, value)
            new_start = start + grown
            placed.append(Placed(start, end, new_start, new_start + len(value), mention.kind, entity_type, subtype, value_id, mention.role))
            pieces.append(text[at:start])
            pieces.append(value)
            at = end
            grown += len(value) - (end - start)
        pieces.append(text[at:])
        return Filled("".join(pieces), placed)

    # People

    def _cast(self, groups: Sequence[int], shared: Mapping[tuple[str, str], tuple[int, Sequence[int]]]) -> list[tuple[Persona, ...]]:
        people: list[tuple[Persona, ...]] = []
        at, seed = 0, mix(self._seed, _PEOPLE)
        origin = self._filler.country if self._filler.settings.balance == "cue" else None
        for number, cluster in enumerate(self._plan.clusters):
            needs = self._needs(cluster.places)
            if cluster.corpus:
                own_seed, own_groups = shared[cluster.key]
                taken: set[str] = set()  # a shared person bears one name everywhere, whatever else stands in the document
                anchor, needs = self._filler.settings.anchor, NO_NEEDS
            else:
                own_seed, own_groups = mix(seed, number), groups[at : at + cluster.size]
                at += cluster.size
                taken, anchor = self._taken, self._anchor
            cast = tuple(
                self._filler.caster.cast(
                    mix(own_seed, turn) if turn else own_seed,
                    int(group),
                    anchor,
                    f"p{number + 1}" if not turn else f"p{number + 1}b",
                    taken=taken,
                    needs=needs,
                    origin=origin,
                )
                for turn, group in enumerate(own_groups)
            )
            people.append(cast)
        self._tell_birth(people)
        return people

    def _needs(self, places: Sequence[int]) -> Needs:
        """What articles and genitives around the mentions of a person ask of the name."""
        text = self._text
        given = family = ANY
        given_genitive = family_genitive = False
        asked = False
        for number in places:
            mention = self._plan.mentions[number]
            sound = needed_sound(text, mention.start, self._language)
            genitive = genitive_follows(text, mention.end)
            if not sound and not genitive:
                continue
            asked = True
            style = self._styles[number]
            if sound and style in {"family", "family_given"}:
                family = family or sound
            elif sound:
                given = given or sound
            if genitive and style in {"given", "nick", "family_given"}:
                given_genitive = True
            elif genitive:
                family_genitive = True
        return Needs(given, family, given_genitive, family_genitive) if asked else NO_NEEDS

    def _tell_birth(self, people: list[tuple[Persona, ...]]) -> None:
        """Known birth dates and ages decide when their owner was born, so that all else agrees with them."""
        known = [
            (mention, owner)
            for mention, owner in zip(self._plan.mentions, self._plan.owners, strict=True)
            if owner != NOBODY and mention.original and mention.kind in {"age", "birth_date"}
        ]
        order = facts_of(self._filler.country).order if known else "dmy"
        for mention, owner in known:
            if mention.kind == "birth_date":
                layout = parse(mention.original, self._language, order, self._anchor)
                if layout is not None and layout.precision == "day":
                    people[owner][0].born = layout.when + timedelta(days=self._shift)
                    self._dated.add(owner)
        for mention, owner in known:
            years = _YEARS.search(mention.original) if mention.kind == "age" and owner not in self._dated else None
            if years:
                person = people[owner][0]
                age = near_age(int(years.group()), mix(person.seed, _AGAIN))
                person.born = self._anchor - timedelta(days=int(age * 365.2425) + 1 + below(mix(person.seed, _AGAIN), 363))

    def _named(self, people: tuple[Persona, ...], form: str, *, plural: bool) -> str:
        if not plural or len(people) == 1:
            return written(people[0], form)
        return self._filler.joiner.join(written(one, form) for one in people)

    # Values

    def _value(self, mention: Mention, kind: Kind, person: Persona | None, number: int, *, dated: bool) -> str:
        given = self._given.get(number) if self._given else None
        if given is not None:
            return cased_like(mention.original, given)
        seed = mix(mix(self._seed, _VALUES), number)
        owner = person if kind.owner == PERSON else None
        if kind.name == "age" and mention.original:
            if dated:
                return mention.original  # birth date and other dates move together, so the age stays right
            owner = owner if _YEARS.search(mention.original) else None  # an age in words moves by itself
        draw = Draw(
            seed, self._filler.country, self._language, self._anchor, self._shift, owner, mention.original, mention.form, mention.index
        )
        value = kind.draw(draw)
        sound = needed_sound(self._text, mention.start, self._language)
        genitive = sound == ANY and genitive_follows(self._text, mention.end)
        if (not sound and not genitive) or (owner is not None and kind.name == "age"):
            return value
        best = value
        for attempt in range(1, _TRIES):
            if sounds(best, sound) and (not genitive or takes_genitive(best)):
                return best
            best = kind.draw(draw._replace(seed=mix(seed, attempt), owner=None))
        return value

    def _cased(self, mention: Mention, value: str) -> str:
        text = self._text
        if mention.original:
            letters = mention.original
            return value.upper() if letters.isupper() and len(letters) > 3 and mention.kind == PERSON else value
        if in_capitals(text, mention.start, mention.end):
            return value.upper()
        if value[0].islower() and begins_sentence(text, mention.start) and "@" not in value and "/" not in value:
            return capitalised(value)
        return value
