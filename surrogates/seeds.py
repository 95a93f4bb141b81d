"""Random choices that depend on nothing but a 64-bit seed: equal in every process, and cheap.

``mix`` uses CPython's hash of a tuple of two integers: an xxHash of their values, which no hash randomisation touches (that is for
text and bytes), the same since CPython 3.8 on every 64-bit machine, and several times as fast as integer arithmetic in Python. That
hash has no final avalanche, so that the salt goes into both numbers: else the values of one seed under two salts would differ by
nearly the same everywhere. Tests hold it against known numbers (a Python that hashes otherwise would be noticed) and against chance.
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
    return hash((seed ^ salt * _GOLDEN, salt)) & _MASK


def below(seed: int, limit: int) -> int:
    """A number from 0 to *limit* - 1; *limit* may be up to 2**32 without a bias that could be seen."""
    return seed % limit


def pick(seed: int, items: Sequence[T]) -> T:
    """One of *items*, each as often as any other."""
    return items[seed % len(items)]
