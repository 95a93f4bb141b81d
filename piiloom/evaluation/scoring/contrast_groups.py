"""Does a masker change its mind with the question? Records of one text with different questions, looked at together.

A gold mention **changes** if its relevance is high for one question of the group and low for another. It is **consistent** if in each
record of the group it is masked where it is of low relevance, and not where it is of high relevance (``masking`` says what a masker
masks). A group is consistent if all of its changing mentions are; one in which nothing changes says nothing, and does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from piiloom.corpus.record import CONTRAST_GROUP
from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.schemes.masking import is_covered, masked_ranges
from piiloom.evaluation.schemes.precision_recall import share

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is known of a mention so far: bits.
_HIGH, _LOW, _WRONG = 1, 2, 4
_CHANGES = _HIGH | _LOW


class ContrastGroups:
    """A ``Collector`` of groups, whose records may stand anywhere in the file. It keeps a number a mention of a group, and no text."""

    columns = ("groups", "consistent_groups", "mentions", "consistent_mentions")
    headline = ("contrast_consistency", "contrast_consistency_mentions")

    def __init__(self) -> None:
        self._groups: dict[str, dict[tuple[int, int], int]] = {}

    def add(self, pair: Pair) -> None:
        """Take note of a record, if it is one of a group."""
        group = next((key for key in pair.gold.group_keys if key.startswith(CONTRAST_GROUP)), None)
        if group is None:
            return
        seen = self._groups.setdefault(group, {})
        masked = masked_ranges(pair.found)
        for mention in pair.gold.mentions:
            if mention.place is not None and mention.relevance is not None:
                is_low = mention.relevance == "low"
                bits = (_LOW if is_low else _HIGH) | (0 if is_covered(mention, masked) == is_low else _WRONG)
                seen[mention.place] = seen.get(mention.place, 0) | bits

    @property
    def rows(self) -> NDArray[np.float64]:
        """The counts of each group in which something changes, of shape (groups, columns), sorted by the name of the group."""
        found = []
        for _, seen in sorted(self._groups.items()):
            changing = [bits for bits in seen.values() if bits & _CHANGES == _CHANGES]
            consistent = sum(not bits & _WRONG for bits in changing)
            if changing:
                found.append((1, consistent == len(changing), len(changing), consistent))
        return np.asarray(found, dtype=float).reshape(-1, len(self.columns))

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the shares of sums of ``rows``, of shape (…, columns). 0/0 counts as 0."""
        groups, consistent, mentions, consistent_mentions = (totals[..., at].astype(float) for at in range(len(self.columns)))
        return {"contrast_consistency": share(consistent, groups), "contrast_consistency_mentions": share(consistent_mentions, mentions)}
