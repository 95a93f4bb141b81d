"""Cheap random choices that depend only on a 64-bit seed and so are the same in every process.

``mix`` uses CPython's hash of a tuple of two integers, which is an xxHash of their values. Hash randomization does not affect it (that
is for str and bytes), it is the same since CPython 3.8 on every 64-bit machine, and it is several times as fast as integer arithmetic
in Python. The hash has no final avalanche step, so the salt goes into both integers; otherwise the values for two salts would differ
by nearly the same amount for every seed. Tests compare it with known numbers, to notice a Python with another hash, and with chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")
_MASK: Final = 0xFFFFFFFFFFFFFFFF
_GOLDEN: Final = 0x9E3779B97F4A7C15


def seed_of(*parts: object) -> int:
    """Return a 64-bit seed for *parts*, which are distinguished by their ``repr``."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mix(seed: int, salt: int) -> int:
    """Derive another 64-bit seed from *seed* and *salt*."""
    return hash((seed ^ salt * _GOLDEN, salt)) & _MASK


def below(seed: int, limit: int) -> int:
    """Return a number from 0 to *limit* - 1. Up to a *limit* of 2**32 the modulo bias is negligible."""
    return seed % limit


def pick(seed: int, items: Sequence[T]) -> T:
    """Return one of *items* (not empty), each with the same probability."""
    return items[seed % len(items)]
