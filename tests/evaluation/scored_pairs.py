"""Pairs of documents by their counts, for tests of what is computed from counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import Scheme, SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme


def exact_scheme() -> Scheme:
    return make_scheme("exact", SchemeSettings())


def scored_pair(number: int, counts: Sequence[int], keys: Iterable[str] = (), **fields: Any) -> Pair:
    """A pair with (tp, fp, fn) = *counts*."""
    tp, fp, fn = counts
    gold = tuple(_mention(at) for at in range(tp + fn))
    found = gold[:tp] + tuple(_mention(at) for at in range(100, 100 + fp))
    common: dict[str, Any] = {"where": f"a:{number}", "id": f"d{number}", "group_keys": tuple(keys), **fields}
    return Pair(gold=AnnotatedDocument(mentions=gold, **common), found=AnnotatedDocument(mentions=found, **common))


def random_counts(rng: np.random.Generator, size: int, most: int = 5) -> np.ndarray:
    """Counts of *size* clusters, shape (size, 3)."""
    return rng.integers(0, most + 1, size=(size, 3)).astype(float)


def f1(totals: Sequence[float]) -> float:
    """F1 of (tp, fp, fn), written down apart from the code that is tested."""
    tp, fp, fn = totals
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0


def _mention(at: int) -> AnnotatedMention:
    return AnnotatedMention(text="x", entity_type="name", start=at, end=at + 1)
