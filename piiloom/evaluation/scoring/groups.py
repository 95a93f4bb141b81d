"""Figures by group of documents (locale, pair, story …), and their mean over the groups."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from piiloom.evaluation.inputs.documents import Document, Pair
from piiloom.evaluation.schemes.base import Scheme, is_count
from piiloom.evaluation.scoring.bootstrap import Interval, Resampling, cluster_sums, ends, intervals
from piiloom.evaluation.scoring.group_keys import checked_kind, keys_of_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What a group weighs in a mean: its documents ("sample count"), its gold mentions ("entities"), or as much as any other.
Weight = Literal["documents", "entities", "equal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """One group: how many documents and gold mentions it has, its figures, and intervals of the headline if these were asked for."""

    name: str
    documents: int
    entities: int
    figures: dict[str, float]
    intervals: dict[str, Interval | None]

    def to_json(self) -> dict[str, Any]:
        """Return all of it but the name as JSON values."""
        found: dict[str, Any] = {"documents": self.documents, "entities": self.entities, **self.figures}
        if self.intervals:
            found["intervals"] = {name: ends(one) for name, one in self.intervals.items()}
        return found


class Groups:
    """A ``Collector`` of the groups of each gold document; takes 24 bytes a document.

    *by* is "locale" or a kind of group keys: with "story" a document with the key "story:age-health.gym" is in the group
    "age-health.gym". A document with several keys of the kind is in several groups; one without is in none, and counted in ``without``.
    """

    def __init__(self, by: str) -> None:
        self.by = checked_kind(by, option="--by")
        self.without = 0
        self._number_of: dict[str, int] = {}
        self._rows = array("q")  # the document of each membership,
        self._groups = array("q")  # and its group
        self._entities = array("q")  # of each document

    def add(self, pair: Pair) -> None:
        """Note the groups of the gold document of *pair*."""
        names = self._names(pair.gold)
        self.without += not names
        for name in names:
            self._rows.append(len(self._entities))
            self._groups.append(self._number_of.setdefault(name, len(self._number_of)))
        self._entities.append(len(pair.gold.mentions))

    def figures(
        self,
        scheme: Scheme,
        rows: NDArray[np.float64],
        *,
        clusters: NDArray[np.int64] | None = None,
        resampling: Resampling | None = None,
    ) -> tuple[GroupFigures, ...]:
        """Return the figures of all groups, sorted by name; with *clusters* (of each document) and *resampling* also intervals.

        *rows*: the counts of each document, shape (documents, columns).
        """
        of_document, of_group = (np.frombuffer(each, dtype=np.int64) for each in (self._rows, self._groups))
        entities = np.frombuffer(self._entities, dtype=np.int64)
        found = []
        for name, number in sorted(self._number_of.items()):
            members = of_document[of_group == number]
            own: dict[str, Interval | None] = {}
            if clusters is not None and resampling is not None:
                _, numbers = np.unique(clusters[members], return_inverse=True)
                own = intervals(scheme, cluster_sums(rows[members], numbers), resampling)
            figures = {figure: float(value) for figure, value in scheme.figures(rows[members].sum(axis=0)).items()}
            found.append(
                GroupFigures(name=name, documents=len(members), entities=int(entities[members].sum()), figures=figures, intervals=own)
            )
        return tuple(found)

    def _names(self, document: Document) -> tuple[str, ...]:
        if self.by == "locale":
            return () if document.locale is None else (document.locale,)
        return tuple(key[len(self.by) + 1 :] for key in keys_of_kind(document, self.by))


def mean_over_groups(scheme: Scheme, groups: Sequence[GroupFigures], weight: Weight) -> dict[str, float]:
    """Return the mean of each figure over *groups*, weighted by *weight*; counts have none. 0/0 counts as 0."""
    weights = [{"documents": group.documents, "entities": group.entities, "equal": 1}[weight] for group in groups]
    whole = sum(weights)
    names = [name for name in groups[0].figures if not is_count(name) and name not in scheme.columns] if groups else []
    return {
        name: sum(share * group.figures[name] for share, group in zip(weights, groups, strict=True)) / whole if whole else 0.0
        for name in names
    }
