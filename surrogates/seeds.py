"""Random choices that depend on nothing but a 64-bit seed: equal in every process, and cheap (well below a microsecond).

The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")
_MASK: Final = 0xFFFFFFFFFFFFFFFF
_GOLDEN: Final = 0x9E3779B97F4A7C15


def seed_of(*parts: object) -> int:
    """A 64-bit seed for *parts* (told apart by their ``repr``)."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mix(seed: int, salt: int) -> int:
    """Another 64-bit seed for *seed* and *salt*."""
    z = (seed ^ (salt * _GOLDEN)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def below(seed: int, limit: int) -> int:
    """A number from 0 to *limit* - 1; *limit* may be up to 2**32 without a bias that could be seen."""
    return (seed >> 11) * limit >> 53


def pick(seed: int, items: Sequence[T]) -> T:
    """One of *items*, each as often as any other."""
    return items[(seed >> 11) * len(items) >> 53]
