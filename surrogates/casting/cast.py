"""From a group and a seed to a person whose name fits all places where it will stand."""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple, Protocol

from foundation.errors import UsageError
from surrogates.casting.groups import GROUPS, Region
from surrogates.fitting import ANY, sounds, takes_genitive
from surrogates.mentions import Gender
from surrogates.persona import Persona
from surrogates.seeds import below, mix, pick

_COUNTRY, _GIVEN, _FAMILY = 0xC0, 0x61, 0xFA
_TRIES: Final = 48  # names of a country that are tried for one that is free and fits everywhere
_COUNTRIES: Final = 8  # countries of the region that are tried; then sound and genitive are given up


class Pools(Protocol):
    """Where names come from (``pii_values.names.pools.NamePools``)."""

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


class Caster:
    """Casts people; *country* is where those live of whom the text tells nothing else."""

    def __init__(self, pools: Pools, country: str) -> None:
        self._pools = pools
        self._country = country
        self._countries = [pools.countries(region) for _, region in GROUPS]
        self._names: dict[tuple[str, Gender], tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def cast(
        self, seed: int, group: int, anchor: date, value_id: str, *, taken: set[str], needs: Needs = NO_NEEDS, origin: str | None = None
    ) -> Persona:
        """The person of *seed* in a group (a place in ``GROUPS``), with no name that is *taken* in the document already.

        *origin* overrides the country that the names are from. The names are added to *taken*.
        """
        gender, region = GROUPS[group]
        for turn in range(_COUNTRIES):
            country = origin or pick(mix(seed, _COUNTRY + turn), self._countries[group])
            givens, families = self._names.get((country, gender)) or self._known(country, gender)
            if needs is NO_NEEDS:
                given, family = pick(mix(seed, _GIVEN), givens), pick(mix(seed, _FAMILY), families)
                if given not in taken and family not in taken:
                    break
            given, one = _suited(givens, mix(seed, _GIVEN), taken, needs.given_sound, needs.given_genitive)
            family, two = _suited(families, mix(seed, _FAMILY), taken, needs.family_sound, needs.family_genitive)
            if one and two:
                break
        taken.add(given)
        taken.add(family)
        return Persona(
            seed=seed,
            gender=gender,
            region=region,
            origin=country,
            country=self._country,
            given=given,
            family=family,
            anchor=anchor,
            value_id=value_id,
        )

    def _known(self, country: str, gender: Gender) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pools of a country and gender; raises ``UsageError`` for a country without names."""
        names = self._pools.given(country, gender), self._pools.family(country, gender)
        if not all(names):
            raise UsageError(f"no names of {country} are known", remedy="Take --groups exact, or another --locale or names index.")
        self._names[country, gender] = names
        return names


def _suited(names: tuple[str, ...], seed: int, taken: set[str], sound: int, genitive: bool) -> tuple[str, bool]:
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
