"""Seeds that are the same in all processes and on all machines (those of ``hash()`` are not)."""

from __future__ import annotations

import hashlib
import json
import random


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
