"""What is attacked: annotated documents with their true values, and what stands in their place where something does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from piiloom.corpus.normalising import value_form
from piiloom.evaluation.inputs.documents import Document
from piiloom.foundation.repeated_ids import text_hash

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
def value_key(entity_type: str, value: str) -> int:
    """Return a 64-bit key of a value (in any spelling that has the same form); 0 if nothing is left of it."""
    form = value_form(entity_type, value)
    return key_of(entity_type, form) if form else 0


def key_of(*texts: str) -> int:
    """Return a 64-bit key of *texts*, the same in every process; never 0."""
    return text_hash("\0".join(texts)) or 1
