"""From a group and a seed to a person whose name fits all places where it will stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import islice
from typing import Final, NamedTuple, Protocol

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.casting.groups import GROUPS, Region
from piiloom.surrogates.fitting import ANY, sounds, takes_genitive
from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.persona import Persona
from piiloom.surrogates.seeds import below, mix

_NAME: Final = 0x61
_TRIES: Final = 48  # names of a country that are tried for one that is free and fits everywhere
_MOST_TAKEN: Final = 1000  # names that are not given again; more would leave too few to choose from
_COUNTRIES: Final = 8  # countries of the region that are tried; then sound and genitive are given up


class Pools(Protocol):
    """Where names come from (``piiloom.pii_values.names.pools.NamePools``)."""

    def countries(self, region: Region) -> tuple[str, ...]:
        """Countries of a region, as often as each is to be drawn."""
        ...

    def given(self, country: str, gender: Gender) -> tuple[str, ...]:
        """Given names, any as likely as another."""
        ...

    def family(self, country: str, gender: Gender | None = None) -> tuple[str, ...]:
        """Family names, any as likely as another, in the forms of *gender*."""
        ...


class Needs(NamedTuple):
    """What the places ask of a name: the sound that the given and the family name begin with, and that an -s can be hung on them."""

    given_sound: int = ANY
    family_sound: int = ANY
    given_genitive: bool = False
    family_genitive: bool = False


NO_NEEDS: Final = Needs()
Taken = dict[str, None]  # names that a document has given, in order
# A country, its given names and its family names, and how many these are.
_Names = tuple[str, Sequence[str], Sequence[str], int, int]


class Caster:
    """Casts people; *country* is where those live of whom the text tells nothing else."""

    def __init__(self, pools: Pools, country: str) -> None:
        self._pools = pools
        self._country = country
        # Of each group its countries, as often as each is to be drawn; their names are looked up when first asked for.
        self._countries = [pools.countries(region) for _, region in GROUPS]
        self._names: list[list[_Names | None]] = [[None] * len(countries) for countries in self._countries]
        self._own: dict[tuple[str, Gender], _Names] = {}

    def cast(
        self, seed: int, group: int, anchor: date, value_id: str, taken: Taken, needs: Needs = NO_NEEDS, origin: str | None = None
    ) -> Persona:
        """The person of *seed* in a group (a place in ``GROUPS``), with no name that is *taken* in the document already.

        *origin* overrides the country that the names are from. The names are added to *taken*; of thousands of people in one document
        the first are forgotten again, so that those far apart may bear one name.
        """
        if len(taken) >= _MOST_TAKEN:
            for name in list(islice(taken, _MOST_TAKEN // 2)):
                del taken[name]
        gender, region = GROUPS[group]
        names = self._names[group]
        given_seed = mix(seed, _NAME)
        family_seed = given_seed >> 32
        for turn in range(_COUNTRIES):
            if origin:
                known = self._own.get((origin, gender)) or self._named(origin, gender)
            else:
                at = (seed >> 8 + 4 * turn) % len(names)  # other bits at each turn
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
        return Persona(seed, gender, region, country, self._country, given, family, anchor, value_id=value_id)

    def _of_group(self, group: int, at: int) -> _Names:
        found = self._names[group][at] = self._named(self._countries[group][at], GROUPS[group][0])
        return found

    def _named(self, country: str, gender: Gender) -> _Names:
        """The pools of a country and gender; raises ``UsageError`` for a country without names."""
        givens, families = self._pools.given(country, gender), self._pools.family(country, gender)
        if not givens or not families:
            raise UsageError(f"no names of {country} are known", remedy="Take --groups exact, or another --locale or names index.")
        found = self._own[country, gender] = country, givens, families, len(givens), len(families)
        return found


def _suited(names: Sequence[str], seed: int, taken: Taken, sound: int, genitive: bool) -> tuple[str, bool]:
    """The first of the names that *seed* gives that is free and fits, and True; a free one and False where none does."""
    first = names[below(seed, len(names))]
    if first not in taken and not sound and not genitive:
        return first, True
    free = None
    for number in range(_TRIES):
        name = names[below(mix(seed, number), len(names))] if number else first
        if name in taken:
            continue
        if sounds(name, sound) and (not genitive or takes_genitive(name)):
            return name, True
        free = free or name
    return free or first, False
