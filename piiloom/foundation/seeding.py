"""Seeds that are the same in all processes and on all machines (those of ``hash()`` are not)."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
from typing import Final

KEY_BYTES: Final = 32
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
