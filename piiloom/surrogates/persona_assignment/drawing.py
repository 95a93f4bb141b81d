"""Draw a person from a group and a seed, with a name that fits every place in the text where it is inserted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import islice
from typing import Final, NamedTuple, Protocol

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.articles import ANY, sounds
from piiloom.surrogates.fitting import takes_genitive
from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.persona_assignment.groups import GROUPS, Region
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.seeds import below, mix, parted

_TRIES: Final = 48  # names of one country that are tried until one is free and fits everywhere
_MOST_TAKEN: Final = 1000  # at this size the older half of a document's used names is forgotten, so that enough names are left
_COUNTRIES: Final = 8  # draws of a country in the region; after that, sound and genitive are ignored


class Pools(Protocol):
    """The interface that names are read from; implemented by ``piiloom.pii_values.names.pools.NamePools``."""

    def countries(self, region: Region) -> tuple[str, ...]:
        """Return the countries of a region; a country is repeated according to its weight in the draw."""
        ...

    def given(self, country: str, gender: Gender) -> tuple[str, ...]:
        """Return the given names; each entry is equally likely to be drawn."""
        ...

    def family(self, country: str, gender: Gender | None = None) -> tuple[str, ...]:
        """Return the family names in the forms for *gender*; each entry is equally likely to be drawn."""
        ...


class Needs(NamedTuple):
    """What the surrounding text requires of a name.

    The sounds are ``ANY``, ``VOWEL`` or ``CONSONANT`` (see ``fitting``): what the name must begin with. The genitive flags say that
    an -s follows in the text, so the name must not end in a sibilant.
    """

    given_sound: int = ANY
    family_sound: int = ANY
    given_genitive: bool = False
    family_genitive: bool = False


NO_NEEDS: Final = Needs()
Taken = dict[str, None]  # the names already used in a document, oldest first
# Country, given names, family names, number of given names, number of family names.
_Names = tuple[str, Sequence[str], Sequence[str], int, int]


class PersonaDrawer:
    """Draws people from the name pools. *country* (ISO 3166 alpha-2) is where they live."""

    def __init__(self, pools: Pools, country: str) -> None:
        self._pools = pools
        self._country = country
        # The countries of each group, repeated by weight. Their names are looked up on first use.
        self._countries = [pools.countries(region) for _, region in GROUPS]
        self._names: list[list[_Names | None]] = [[None] * len(countries) for countries in self._countries]
        self._own: dict[tuple[str, Gender], _Names] = {}

    def draw(
        self, seed: int, group: int, anchor: date, value_id: str, taken: Taken, needs: Needs = NO_NEEDS, origin: str | None = None
    ) -> Persona:
        """Return the person that *seed* determines in *group* (an index into ``GROUPS``).

        Names in *taken* are avoided, and the new names are added to it. If no free name is found, a used one is repeated. When *taken*
        is full, its older half is dropped, so in a document with thousands of people two that are far apart may share a name.
        *origin* overrides the country that the names come from. Raises ``UsageError`` if that country has no names. The person's other
        values have a seed of their own, so that they do not give the name away.
        """
        if len(taken) >= _MOST_TAKEN:
            for name in list(islice(taken, _MOST_TAKEN // 2)):
                del taken[name]
        gender, region = GROUPS[group]
        names = self._names[group]
        given_seed, country_seed, own_seed = parted(seed)
        family_seed = given_seed >> 32
        for turn in range(_COUNTRIES):
            if origin:
                known = self._own.get((origin, gender)) or self._named(origin, gender)
            else:
                at = (country_seed >> 4 * turn) % len(names)  # each turn uses other bits of the seed
                known = names[at] or self._of_group(group, at)
            country, givens, families, how_many_given, how_many_family = known
            given, family = givens[given_seed % how_many_given], families[family_seed % how_many_family]
            if needs is NO_NEEDS and given not in taken and family not in taken:
                break
            given, one = _suited(givens, given_seed, taken, needs.given_sound, needs.given_genitive)
            family, two = _suited(families, family_seed, taken, needs.family_sound, needs.family_genitive)
            if (one and two) or origin:  # no other country to look in
                break
        taken[given] = taken[family] = None
        return Persona(own_seed, gender, region, country, self._country, given, family, anchor, value_id=value_id)

    def _of_group(self, group: int, at: int) -> _Names:
        key = self._countries[group][at], GROUPS[group][0]
        found = self._names[group][at] = self._own.get(key) or self._named(*key)  # a country stands there up to ten times
        return found

    def _named(self, country: str, gender: Gender) -> _Names:
        """Return the pools of a country and gender. Raises ``UsageError`` if there are no names for it."""
        givens, families = self._pools.given(country, gender), self._pools.family(country, gender)
        if not givens or not families:
            raise UsageError(f"no names of {country} are known", remedy="Use --groups balanced, or choose another --locale or names index.")
        found = self._own[country, gender] = country, givens, families, len(givens), len(families)
        return found


def _suited(names: Sequence[str], seed: int, taken: Taken, sound: int, genitive: bool) -> tuple[str, bool]:
    """Try names in an order that *seed* determines, and return the first that is free and fits, with True.

    If none of ``_TRIES`` does, try all that come after the last one. If none fits, return a free one (or, failing that, the first one
    tried) with False.
    """
    first = names[below(seed, len(names))]
    if first not in taken and not sound and not genitive:
        return first, True

    def fits(name: str) -> bool:
        return name not in taken and sounds(name, sound) and (not genitive or takes_genitive(name))

    free = None
    for number in range(_TRIES):
        name = names[below(mix(seed, number), len(names))] if number else first
        if fits(name):
            return name, True
        free = free or (name if name not in taken else None)
    start = below(seed, len(names))
    rare = next((name for name in (*names[start:], *names[:start]) if fits(name)), None)  # few begin with an i
    if rare is not None:
        return rare, True
    return free or first, False
