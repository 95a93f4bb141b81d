"""Near-duplicates: texts whose 5-word shingles have a Jaccard similarity of ``THRESHOLD`` or more.

Found with the exact index of ``piiloom.corpus.near_duplicates``, not with MinHash, which misses some just above the threshold
(``docs/decisions/0004-exact-jaccard-instead-of-minhash.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.evaluation.report.words import WordedTexts

THRESHOLD = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How many texts have a near-duplicate in the corpus (``near``), and how many a text with the same words (``identical``)."""

    near: int
    near_share: float | None
    identical: int
    identical_share: float | None


def measure_repeats(texts: Sequence[str], worded: WordedTexts) -> Repeats:
    """Count the texts with near-duplicates; *worded* holds the words of *texts*."""
    twins: dict[bytes, list[int]] = {}
    for number in range(len(texts)):
        twins.setdefault(worded.key(number), []).append(number)
    index = NearDuplicateIndex(THRESHOLD)
    groups = list(twins.values())
    near = {group for group, members in enumerate(groups) if len(members) > 1}
    identical = sum(len(groups[group]) for group in near)
    for group, members in enumerate(groups):
        similar = index.insert(str(group), texts[members[0]])
        if similar:
            near |= {group, *(int(key) for key in similar)}
    found = sum(len(groups[group]) for group in near)
    total = len(texts)
    return Repeats(
        near=found,
        near_share=found / total if total else None,
        identical=identical,
        identical_share=identical / total if total else None,
    )
