"""Assign people to groups (gender × UN region) in exact balance, as far as the texts leave the gender open.

A first pass over the corpus yields one byte per person (``OPEN``, ``FEMALE`` or ``MALE``), in input order. A seeded permutation of
the positions then decides which open people become women and which region each person is from. The result depends neither on the
number of workers nor on the version of a library.
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
# A group's number is its index here. With equal weights, each group gets the same number of people.
GROUPS: Final[tuple[tuple[Gender, Region], ...]] = tuple((gender, region) for gender in GENDERS for region in REGIONS)
OPEN, FEMALE, MALE = 0, 1, 2
CODES: Final[dict[Gender | None, int]] = {None: OPEN, "female": FEMALE, "male": MALE}

_GENDER_SALT, _REGION_SALT = 0x6E, 0x7E
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS: Final = 6
_PART: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Weights:
    """Relative weights of the genders (order of ``GENDERS``) and regions (order of ``REGIONS``); equal weights give exact balance."""

    genders: tuple[float, float] = (1.0, 1.0)
    regions: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 1.0, 1.0)

    @classmethod
    def parse(cls, text: str) -> Weights:
        """Parse weights such as ``"female=2,Africa=3"``; names that are left out weigh 1.

        Raises ``UsageError`` for unknown names, for numbers that are negative or not finite, and if all genders or all regions weigh 0.
        """
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
                raise UsageError(f"{part!r} is not a weight", remedy=f"Write NAME=NUMBER with a name of {', '.join(names.values())}.")
            found[key] = weight
        genders = (found.get("female", 1.0), found.get("male", 1.0))
        a, b, c, d, e = (found.get(region, 1.0) for region in REGIONS)
        if not sum(genders) or not a + b + c + d + e:
            raise UsageError(
                "the weights of all genders or of all regions are 0", remedy="Give one gender and one region a weight above 0."
            )
        return cls(genders, (a, b, c, d, e))


def quotas(total: int, weights: Sequence[float], *, first: int = 0) -> list[int]:
    """Split *total* into whole shares in proportion to *weights*, by the largest remainder method.

    Ties are resolved in index order starting at *first*, cyclically.
    """
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    shares = [int(part) for part in exact]
    count = len(weights)
    # Round the remainders, so that floating-point error does not break ties.
    order = sorted(range(count), key=lambda i: (-round(exact[i] - shares[i], 9), (i - first) % count))
    for place in order[: total - sum(shares)]:
        shares[place] += 1
    return shares


def assign_groups(codes: bytes, seed: int, weights: Weights | None = None) -> NDArray[np.uint8]:
    """Return each person's group as an index into ``GROUPS``, shape ``(len(codes),)``, in the order of *codes*.

    *codes* holds one byte per person (``OPEN``, ``FEMALE`` or ``MALE``). The work takes about four bytes of memory per person.
    """
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
        start += count % len(REGIONS)  # the second gender's leftover people go to the regions after those that got the first gender's
        for part, ranks in _ranked(members, seed, _REGION_SALT + number):
            groups[part][members[part]] = np.searchsorted(ends, ranks, side="right") + number * len(REGIONS)
    return groups


def _ranked(members: NDArray[np.bool_], seed: int, salt: int) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Yield, for each slice of ``_PART`` people, the slice and the shuffled ranks of the *members* in it.

    The ranks are those in one shuffle of all members, so they run from 0 to the number of members - 1 over all slices.
    """
    count, seen = int(np.count_nonzero(members)), 0
    for at in range(0, len(members), _PART):
        part = slice(at, at + _PART)
        size = int(np.count_nonzero(members[part]))
        if size:
            yield part, _shuffled(np.arange(seen, seen + size, dtype=np.uint64), count, seed, salt)
        seen += size


def _shuffled(places: NDArray[np.uint64], count: int, seed: int, salt: int) -> NDArray[np.uint64]:
    """Map *places* (numbers below *count*) through a permutation that *seed* and *salt* determine; no other numbers are computed.

    A Feistel network permutes the numbers below a power of four. A result of *count* or more is put through the network again until
    it is below *count* (cycle walking: Black and Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
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
    """Return the upper 32 bits, which mix best, of SplitMix64's finalizer over *values* and *key*."""
    z = values * _GOLDEN ^ key
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z >> np.uint64(32)


def spread(counts: Mapping[str, int]) -> int:
    """Return the difference between the largest and the smallest of *counts*; 0 if it is empty."""
    return max(counts.values()) - min(counts.values()) if counts else 0
