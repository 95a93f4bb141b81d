"""Simulate the known-pool attack on family names that de-identification could miss in texts of a country.

Leftovers are drawn from the country's family names by rank, the r-th with a share proportional to 1 / r ** 0.8 (name frequencies are
close to Zipf's law; the exponent is our estimate). If the originals of a corpus are known, they are used instead. Surrogates are drawn
as the engine does: evenly from the ten groups, and uniformly from the pools of their countries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Protocol

from piiloom.foundation.seeding import below, mix, pick
from piiloom.surrogates.leakage.known_pool import PoolAttack, attack
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.personas import Pools

_EXPONENT: Final = 0.8
_PEOPLE: Final = 2000
_LEFTOVER, _SURROGATE = 0x1EF7, 0x5066


class RankedNames(Protocol):
    """A source of names sorted by frequency (``piiloom.pii_values.names.index.NamesIndex``)."""

    def first_names(self, country: str, gender: str) -> Sequence[str]:
        """Given names, most frequent first."""
        ...

    def last_names(self, country: str, gender: str | None = None) -> Sequence[str]:
        """Family names, most frequent first."""
        ...


def family_attack(
    pools: Pools, ranked: RankedNames, country: str, seed: int, originals: Sequence[str] = (), *, own_country: bool = False
) -> PoolAttack:
    """Attack family names: they occur alone most often, and then no given name hints at their language.

    *originals* are known leftovers; without them 2,000 are drawn. ``own_country``: surrogates are names of *country*
    (``--groups cue``), not of the ten groups.
    """
    real = _zipf(ranked.last_names(country))
    leftovers = list(originals) or [_drawn(real, mix(seed, _LEFTOVER + i)) for i in range(_PEOPLE)]
    surrogates, shares = _evenly(pools, seed, country if own_country else None)
    frequency = dict(real) if not originals else {name: count / len(originals) for name, count in Counter(originals).items()}
    return attack(leftovers, surrogates, shares.keys(), lambda name: frequency.get(name, 0.0), lambda name: shares.get(name, 0.0))


def possible_names(pools: Pools) -> dict[str, int]:
    """Return the number of possible full names of each group."""
    found = {}
    for gender, region in GROUPS:
        countries = dict.fromkeys(pools.countries(region))
        found[f"{gender} {region}"] = sum(len(pools.given(code, gender)) * len(pools.family(code, gender)) for code in countries)
    return found


def _zipf(names: Sequence[str]) -> list[tuple[str, float]]:
    weights = [(rank + 1) ** -_EXPONENT for rank in range(len(names))]
    whole = sum(weights)
    return [(name, weight / whole) for name, weight in zip(names, weights, strict=True)]


def _drawn(shares: Sequence[tuple[str, float]], seed: int) -> str:
    point = below(seed, 1 << 32) / (1 << 32)
    for name, share in shares:
        point -= share
        if point < 0:
            return name
    return shares[-1][0]


def _evenly(pools: Pools, seed: int, only: str | None) -> tuple[list[str], dict[str, float]]:
    """Draw family names of surrogates. Return them, and the probability of each possible name; if given, *only* is their country."""
    shares: dict[str, float] = {}
    for gender, region in GROUPS:
        countries = (only,) if only else pools.countries(region)
        for code in countries:
            names = pools.family(code, gender)
            for name in names:
                shares[name] = shares.get(name, 0.0) + 1 / (len(GROUPS) * len(countries) * len(names))
    drawn = []
    for number in range(_PEOPLE):
        one = mix(seed, _SURROGATE + number)
        gender, region = GROUPS[number % len(GROUPS)]
        drawn.append(pick(mix(one, 1), pools.family(only or pick(one, pools.countries(region)), gender)))
    return drawn, shares
