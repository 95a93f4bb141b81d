"""What is attacked: annotated documents with their true values, and what stands in their place where something does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from piiloom.corpus.normalising import fold
from piiloom.evaluation.inputs.documents import Document

Policy = Literal["none", "relevance-aware", "predictions", "surrogates", "all"]
# What is masked, from the least to the most.
POLICIES: Final[tuple[Policy, ...]] = ("none", "relevance-aware", "predictions", "surrogates", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A document with its true values (a mention's text is "" where its original is not known).

    ``found``: what a detector found in it, if its predictions are what is masked. ``surrogates``: what stands in the place of each mention
    of the document, in their order, if they have been replaced.
    """

    document: Document
    found: Document | None = None
    surrogates: tuple[str, ...] | None = None


@lru_cache(maxsize=1 << 16)
def normalised(value: str) -> str:
    """Return *value* as values are compared: without regard to case, width, typography and runs of white space."""
    return fold(value).text.strip()


@lru_cache(maxsize=1 << 16)
def value_key(entity_type: str, value: str) -> int:
    """Return a 64-bit key of a value (in any spelling that is the same when normalised); 0 if nothing is left of it."""
    plain = normalised(value)
    return key_of(entity_type, plain) if plain else 0


def key_of(*texts: str) -> int:
    """Return a 64-bit key of *texts*, the same in every process; never 0."""
    hashed = hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed, "big") or 1
