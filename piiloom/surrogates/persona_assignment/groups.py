"""Assign people to groups (gender × UN region) in exact balance within each role, as far as the texts leave the gender open.

A first pass over the corpus yields one byte per person (``OPEN``, ``FEMALE`` or ``MALE``), in input order. A seeded permutation of
the positions then decides which open people become women and which region each person is from. The result depends neither on the
number of workers nor on the version of a library.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

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

_GENDER_SALT, _REGION_SALT, _ROLE_SALT = 0x6E, 0x7E, 0x501E00
_GOLDEN: Final = 0x9E3779B97F4A7C15
_64_BITS: Final = 0xFFFFFFFFFFFFFFFF
_ROUNDS: Final = 6
_MOST_ROLES: Final = 254  # a byte holds the number of a role


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


def assign_groups(codes: bytes, seed: int, weights: Weights | None = None, roles: bytes = b"") -> bytes:
    """Return each person's group as an index into ``GROUPS``, one byte per person, in the order of *codes*.

    *codes* holds one byte per person (``OPEN``, ``FEMALE`` or ``MALE``). *roles* holds the number of each person's role: the people of
    each role are balanced among themselves, and what is left over of one role goes to the groups after those of the role before.
    """
    weights = weights or Weights()
    if len(set(roles)) < 2:
        return _assigned(codes, seed, weights, seed)
    parts: dict[int, bytearray] = {}
    for code, role in zip(codes, roles, strict=True):
        parts.setdefault(role, bytearray()).append(code)
    groups: dict[int, Iterator[int]] = {}
    placed = 0
    for role, part in sorted(parts.items()):
        groups[role] = iter(_assigned(bytes(part), mix(seed, _ROLE_SALT + role), weights, seed, placed))
        placed += len(part)
    return bytes(next(groups[role]) for role in roles)


def _assigned(codes: bytes, seed: int, weights: Weights, first: int, placed: int = 0) -> bytes:
    """Assign the people of one role; *placed* people have a group already. *first* tells the group in which leftover people begin."""
    wanted = quotas(len(codes), weights.genders, first=(first + placed) & 1)[0] - codes.count(FEMALE)
    ranks = _shuffled(codes.count(OPEN), seed, _GENDER_SALT)
    men = bytes(code == MALE or (code == OPEN and next(ranks) >= wanted) for code in codes)
    start = (first + placed // len(GENDERS)) % len(REGIONS)
    ends, places = [], []
    for number in range(len(GENDERS)):
        count = men.count(number)
        ends.append(list(accumulate(quotas(count, weights.regions, first=start))))
        places.append(_shuffled(count, seed, _REGION_SALT + number))
        start += count % len(REGIONS)  # the second gender's leftover people go to the regions after those that got the first gender's
    return bytes(bisect_right(ends[number], next(places[number])) + number * len(REGIONS) for number in men)


def _shuffled(count: int, seed: int, salt: int) -> Iterator[int]:
    """Yield the numbers below *count* in an order that *seed* and *salt* determine; none is kept.

    A Feistel network permutes the numbers below a power of four. A result of *count* or more is put through the network again until
    it is below *count* (cycle walking: Black and Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    a, b, c, d, e, f = (_scrambled(half, mix(seed, (salt << 8) + turn)) for turn in range(_ROUNDS))
    for place in range(count):
        value = place
        while True:
            left, right = value >> half, value & mask
            left ^= a[right]
            right ^= b[left]
            left ^= c[right]
            right ^= d[left]
            left ^= e[right]
            right ^= f[left]
            value = left << half | right
            if value < count:
                break
        yield value


def _scrambled(bits: int, key: int) -> list[int]:
    """Return what a round of the network with *key* makes of each number of so many *bits*.

    It is SplitMix64's finalizer over the number and *key*, of which the upper 32 bits mix best.
    """
    mask = (1 << bits) - 1
    made = []
    for value in range(1 << bits):
        z = value * _GOLDEN & _64_BITS ^ key
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _64_BITS
        made.append(z >> 32 & mask)
    return made


def role_name(role: str) -> str:
    """Return *role* as outputs name it: one word, "person" if there is none."""
    return "-".join(re.findall(r"[\w.]+", role)) or "person"


class Roles:
    """The roles of people, one byte per person in ``numbers``: the place of the role in ``names``, the last one for all further roles."""

    def __init__(self) -> None:
        self.numbers = bytearray()
        self.names: dict[str, int] = {}

    def add(self, role: str, people: int) -> None:
        """Note the *role* of some people."""
        known = self.names.get(role)
        if known is None:
            known = self.names[role] = min(len(self.names), _MOST_ROLES)
        self.numbers += bytes([known]) * people

    def extend(self, names: Sequence[str], numbers: bytes) -> None:
        """Add people whose roles are *numbers* of *names*."""
        for name in names:
            self.add(name, 0)
        self.numbers += numbers.translate(bytes(self.names[names[min(at, len(names) - 1)]] for at in range(256))) if names else b""


def spread(counts: Mapping[str, int]) -> int:
    """Return the difference between the largest and the smallest of *counts*; 0 if it is empty."""
    return max(counts.values()) - min(counts.values()) if counts else 0
