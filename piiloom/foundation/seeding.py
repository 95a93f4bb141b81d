"""Seeds that are the same in all processes and on all machines (those of ``hash()`` are not).

A choice of surrogates depends only on a 64-bit seed, and so is the same in every process. All seeds of a run come from its key, by HMAC:
nobody can compute them from the outputs and the code without the key.

``mix`` uses CPython's hash of a tuple of two integers, which is an xxHash of their values. Hash randomization does not affect it (that
is for str and bytes). It is the same since CPython 3.8 on every 64-bit machine, and several times as fast as integer arithmetic in
Python. The hash has no final avalanche step, so the salt goes into both integers. Otherwise the values for two salts would differ by
nearly the same amount for every seed. Tests compare it with known numbers, to notice a Python with another hash, and with chance. The
hash can be inverted, so a seed could be found from the values drawn from it. ``part_seed`` gives seeds from which no other is found.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import secrets
from collections.abc import Sequence
from struct import Struct
from typing import Final, TypeVar
from zlib import crc32

T = TypeVar("T")

KEY_BYTES: Final = 32
_MASK: Final = 0xFFFFFFFFFFFFFFFF
_GOLDEN: Final = 0x9E3779B97F4A7C15
_EIGHT: Final = Struct(">8Q")
_THREE: Final = Struct(">3Q")
COST_OF_SEEDS: Final = (
    "--seed makes surrogates reproducible for everybody: whoever knows or guesses the seed can recover dates and predict names from "
    "what is published. Leave it out for a corpus that others get"
)


def digest(*parts: object) -> str:
    """Return the SHA-256 (hex) of the canonical JSON of *parts*; equal for equal values in every process."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed derived from *parts*."""
    return int(digest(*parts)[:16], 16) >> 1


def derive_rng(*parts: object) -> random.Random:
    """Return a random generator seeded from *parts*; draws from one generator never affect another."""
    return random.Random(derive_seed(*parts))


def secret_key(seed: int | None = None) -> bytes:
    """Return a random key; with *seed* a reproducible one, which is no secret: whoever knows the seed has it."""
    return secrets.token_bytes(KEY_BYTES) if seed is None else hashlib.sha256(f"key of seed {seed}".encode()).digest()


def keyed_seeds(key: bytes, purpose: str, *parts: object) -> tuple[int, ...]:
    """Return eight independent seeds that only *key*, *purpose* and *parts* together determine (HMAC-SHA512)."""
    message = "\0".join((purpose, *map(str, parts))).encode("utf-8", "surrogatepass")
    return _EIGHT.unpack(hmac.digest(key, message, "sha512"))


def part_seed(seed: int) -> tuple[int, int, int]:
    """Return three seeds, from which neither *seed* nor one another can be found."""
    return _THREE.unpack(hashlib.blake2b(seed.to_bytes(8, "big"), digest_size=_THREE.size).digest())


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


def salt_of(name: str) -> int:
    """Return the salt for *name*, which makes its draws independent of all others from the same seed."""
    return crc32(name.encode())
