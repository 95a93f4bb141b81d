"""Groups of people (gender × UN region), handed out in exact balance over what the texts leave open.

The whole corpus is looked at first: each person to be cast is one byte (``OPEN``, ``FEMALE``, ``MALE``), in input order. Which
open ones become women, and who comes from where, is decided by a permutation that seed and place determine, so that it depends
neither on the number of workers nor on the version of a library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.seeds import mix

Region = Literal["Africa", "Americas", "Asia", "Europe", "Oceania"]
REGIONS: Final[tuple[Region, ...]] = ("Africa", "Americas", "Asia", "Europe", "Oceania")
GENDERS: Final[tuple[Gender, ...]] = ("female", "male")
# A group's number is its place here; even distribution means as many people in each.
GROUPS: Final[tuple[tuple[Gender, Region], ...]] = tuple((gender, region) for gender in GENDERS for region in REGIONS)
OPEN, FEMALE, MALE = 0, 1, 2
CODES: Final[dict[Gender | None, int]] = {None: OPEN, "female": FEMALE, "male": MALE}

_GENDER_SALT, _REGION_SALT = 0x6E, 0x7E
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS: Final = 6
_PART: Final = 1 << 16


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
    """The group (a place in ``GROUPS``) of each person, in the order of *codes*. Takes four bytes a person while it works."""
    weights = weights or Weights()
    known = np.frombuffer(codes, dtype=np.uint8)
    total, is_open = len(known), known == OPEN
    women = known == FEMALE
    wanted = quotas(total, weights.genders, first=seed & 1)[0] - int(np.count_nonzero(women))
    for part, ranks in _ranked(is_open, seed, _GENDER_SALT):
        women[part][is_open[part]] = ranks < max(wanted, 0)
    groups = np.zeros(total, dtype=np.uint8)
    start = seed % len(REGIONS)
    for number in range(len(GENDERS)):
        members = ~women if number else women
        count = int(np.count_nonzero(members))
        ends = np.cumsum(quotas(count, weights.regions, first=start), dtype=np.uint64)
        start += count % len(REGIONS)  # what is left over goes on where the first gender's ended
        for part, ranks in _ranked(members, seed, _REGION_SALT + number):
            groups[part][members[part]] = np.searchsorted(ends, ranks, side="right") + number * len(REGIONS)
    return groups


def _ranked(members: NDArray[np.bool_], seed: int, salt: int) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Part by part, where each of the *members* in it comes when all of them are shuffled."""
    count, seen = int(np.count_nonzero(members)), 0
    for at in range(0, len(members), _PART):
        part = slice(at, at + _PART)
        size = int(np.count_nonzero(members[part]))
        if size:
            yield part, _shuffled(np.arange(seen, seen + size, dtype=np.uint64), count, seed, salt)
        seen += size


def _shuffled(places: NDArray[np.uint64], count: int, seed: int, salt: int) -> NDArray[np.uint64]:
    """Where *places* below *count* come in a permutation that *seed* and *salt* determine, without the others being looked at.

    A Feistel network permutes the numbers below a power of four; those that it leads to *count* or beyond are led on until they are
    below (cycle walking: Black and Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
    """
    half = np.uint64(max(1, ((count - 1).bit_length() + 1) // 2))
    mask = np.uint64((1 << int(half)) - 1)
    keys = [np.uint64(mix(seed, (salt << 8) + turn)) for turn in range(_ROUNDS)]
    found, walking, values = places.copy(), np.arange(len(places)), places
    while len(walking):
        left, right = values >> half, values & mask
        for key in keys:
            left, right = right, left ^ (_scrambled(right, key) & mask)
        values = left << half | right
        arrived = values < count
        found[walking[arrived]] = values[arrived]
        walking, values = walking[~arrived], values[~arrived]
    return found


def _scrambled(values: NDArray[np.uint64], key: np.uint64) -> NDArray[np.uint64]:
    """SplitMix64's finalizer of *values* and *key*, its better half."""
    z = values * _GOLDEN ^ key
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z >> np.uint64(32)


def spread(counts: Mapping[str, int]) -> int:
    """The difference between the largest and the smallest of *counts*; 0 for none."""
    return max(counts.values()) - min(counts.values()) if counts else 0
