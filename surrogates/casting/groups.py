"""Groups of people (gender × UN region), handed out in exact balance over what the texts leave open.

The whole corpus is looked at first: each person to be cast is one byte (``OPEN``, ``FEMALE``, ``MALE``), in input order. Which
open ones become women, and who comes from where, is decided by a permutation that seed and place determine (a stable sort by
mixed keys), so that it depends neither on the number of workers nor on the version of a library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from foundation.errors import UsageError
from surrogates.mentions import Gender

Region = Literal["Africa", "Americas", "Asia", "Europe", "Oceania"]
REGIONS: Final[tuple[Region, ...]] = ("Africa", "Americas", "Asia", "Europe", "Oceania")
GENDERS: Final[tuple[Gender, ...]] = ("female", "male")
# A group's number is its place here; even distribution means as many people in each.
GROUPS: Final[tuple[tuple[Gender, Region], ...]] = tuple((gender, region) for gender in GENDERS for region in REGIONS)
OPEN, FEMALE, MALE = 0, 1, 2
CODES: Final[dict[Gender | None, int]] = {None: OPEN, "female": FEMALE, "male": MALE}

_GENDER_SALT, _REGION_SALT = 0x6E, 0x7E
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Weights:
    """How many of each gender and region there are to be, in any unit; equal ones mean exact balance."""

    genders: tuple[float, float] = (1.0, 1.0)
    regions: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 1.0, 1.0)

    @classmethod
    def parse(cls, text: str) -> Weights:
        """``"female=2,Africa=3"``: those not named weigh 1; raises ``UsageError`` for unknown names and numbers below 0."""
        found: dict[str, float] = {}
        names = {name.casefold(): name for name in (*GENDERS, *REGIONS)}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, number = part.partition("=")
            key = names.get(name.strip().casefold())
            try:
                weight = float(number)
            except ValueError:
                weight = -1.0
            if key is None or not 0 <= weight < float("inf"):
                raise UsageError(f"{part!r} is no weight", remedy=f"Write NAME=NUMBER with a name of {', '.join(names.values())}.")
            found[key] = weight
        genders = (found.get("female", 1.0), found.get("male", 1.0))
        a, b, c, d, e = (found.get(region, 1.0) for region in REGIONS)
        if not sum(genders) or not a + b + c + d + e:
            raise UsageError("weights that are all 0 leave nobody to cast", remedy="Give one gender and one region a weight above 0.")
        return cls(genders, (a, b, c, d, e))


def quotas(total: int, weights: Sequence[float], *, first: int = 0) -> list[int]:
    """*total* shared out by *weights* with the largest remainders; ties go to the places from *first* on, round and round."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    shares = [int(part) for part in exact]
    count = len(weights)
    # Rounded, so that equal remainders stay equal whatever floating point makes of them.
    order = sorted(range(count), key=lambda i: (-round(exact[i] - shares[i], 9), (i - first) % count))
    for place in order[: total - sum(shares)]:
        shares[place] += 1
    return shares


def assign(codes: bytes, seed: int, weights: Weights | None = None) -> NDArray[np.uint8]:
    """The group (a place in ``GROUPS``) of each person, in the order of *codes*."""
    weights = weights or Weights()
    known = np.frombuffer(codes, dtype=np.uint8)
    total = len(known)
    women = known == FEMALE
    open_places = np.flatnonzero(known == OPEN)
    wanted = quotas(total, weights.genders, first=seed & 1)[0]
    wanted = min(max(wanted - int(women.sum()), 0), len(open_places))
    chosen = open_places[_shuffled(len(open_places), seed, _GENDER_SALT)[:wanted]]
    women[chosen] = True
    groups = np.zeros(total, dtype=np.uint8)
    start = seed % len(REGIONS)
    for number, members in enumerate((np.flatnonzero(women), np.flatnonzero(~women))):
        shares = quotas(len(members), weights.regions, first=start)
        start += len(members) % len(REGIONS)  # what is left over goes on where the first gender's ended
        order = _shuffled(len(members), seed, _REGION_SALT + number)
        regions = np.repeat(np.arange(len(REGIONS), dtype=np.uint8), shares)
        groups[members[order]] = regions + np.uint8(number * len(REGIONS))
    return groups


def _shuffled(count: int, seed: int, salt: int) -> NDArray[np.intp]:
    """A permutation of *count* places: the order of SplitMix64's values for them."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN + np.uint64((seed ^ (salt << 32)) & 0xFFFFFFFFFFFFFFFF)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.argsort(z, kind="stable")


def spread(counts: Mapping[str, int]) -> int:
    """The difference between the largest and the smallest of *counts*; 0 for none."""
    return max(counts.values()) - min(counts.values()) if counts else 0
