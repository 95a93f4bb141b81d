"""Secret keys, and cheap random choices that depend only on a 64-bit seed and so are the same in every process.

All seeds of a run come from its key, by HMAC: whoever has the outputs and the code cannot compute them without the key.

``mix`` uses CPython's hash of a tuple of two integers, which is an xxHash of their values. Hash randomization does not affect it (that
is for str and bytes), it is the same since CPython 3.8 on every 64-bit machine, and it is several times as fast as integer arithmetic
in Python. The hash has no final avalanche step, so the salt goes into both integers; otherwise the values for two salts would differ
by nearly the same amount for every seed. Tests compare it with known numbers, to notice a Python with another hash, and with chance.
The hash can be inverted, so a seed could be found from the values drawn from it. ``parted`` gives seeds from which no other is found.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from struct import Struct
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")
_MASK: Final = 0xFFFFFFFFFFFFFFFF
_GOLDEN: Final = 0x9E3779B97F4A7C15
_EIGHT: Final = Struct(">8Q")
_THREE: Final = Struct(">3Q")


class DocumentSeeds(NamedTuple):
    """Seeds of one document, of which none tells another.

    ``people`` is for names and all that belongs to people, ``shift`` for the days by which known dates move, ``days`` for dates that are
    drawn, ``values`` for all other values. ``style`` is for ways of writing, which a reader sees.
    """

    people: int
    shift: int
    days: int
    values: int
    style: int


def keyed_seeds(key: bytes, purpose: str, *parts: object) -> tuple[int, ...]:
    """Return eight independent seeds that only *key*, *purpose* and *parts* together determine (HMAC-SHA512)."""
    message = "\0".join((purpose, *map(str, parts))).encode("utf-8", "surrogatepass")
    return _EIGHT.unpack(hmac.digest(key, message, "sha512"))


def document_seeds(key: bytes, text: str, ordinal: int) -> DocumentSeeds:
    """Return the seeds of the document *text*, before which *ordinal* documents of the same text come."""
    return DocumentSeeds(*keyed_seeds(key, "document", ordinal, text)[: len(DocumentSeeds._fields)])


def parted(seed: int) -> tuple[int, int, int]:
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
