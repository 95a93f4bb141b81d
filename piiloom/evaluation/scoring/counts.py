"""Collectors of counts over all documents: by scheme, by group of documents (locale, pair, story …), by band of score; and of clusters.

Clusters of documents are what a bootstrap draws, and what a permutation swaps, as a whole. Documents that share a group key of one kind
(a story, a persona, a text) are no independent evidence; drawn one by one, they would make intervals too narrow.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.grouping import Links
from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.evaluation.schemes.base import OVERALL, Scheme, figures_of, is_count
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings, cluster_sums, ends, intervals
from piiloom.foundation.errors import UsageError
from piiloom.tagging.model import BINS, ReliabilityBin, expected_error, reliability

_KIND = re.compile(r"\w[\w.-]*")


def checked_kind(kind: str, *, option: str) -> str:
    """Return *kind* if a group key could be of it; raises ``UsageError``, naming *option*, if not."""
    if not _KIND.fullmatch(kind):
        raise UsageError(f"{kind!r} is no kind of group keys", where=option, remedy="Give the part before the colon of a key, as story")
    return kind


def keys_of_kind(document: AnnotatedDocument, kind: str) -> tuple[str, ...]:
    """Return the group keys of *document* that are of *kind*, each once."""
    return tuple(dict.fromkeys(key for key in document.group_keys if key.startswith(f"{kind}:")))


class Clusters:
    """A ``Collector`` of the cluster of each document; takes 24 bytes a document, and the keys.

    Gold documents with a key of *kind* ("story", "persona" …) in common are one cluster. A document with several keys of the kind
    joins their clusters to one, and a document without such a key is a cluster by itself. So with "document" each is one, unless the
    file says by keys "document:…" that some are parts of the same.
    """

    def __init__(self, kind: str = "document") -> None:
        self.kind = checked_kind(kind, option="--cluster")
        self.keyed = 0  # documents that have a key of the kind
        self.documents = array("Q")  # digests of their ids or texts
        self.nodes = array("Q")  # digests of keys, and of documents that have none
        self.node_of = array("q")  # the place in ``nodes`` of each document
        self.links: list[list[int]] = []  # places that are one cluster
        self._place_of_key: dict[str, int] = {}

    def add(self, pair: Pair) -> None:
        """Note the cluster of the gold document of *pair*."""
        self.documents.append(_digest(self._name(pair.gold)))
        keys = keys_of_kind(pair.gold, self.kind)
        if not keys:
            self.node_of.append(len(self.nodes))
            self.nodes.append(self.documents[-1])
            return
        self.keyed += 1
        places = [self._place(key) for key in keys]
        self.node_of.append(places[0])
        if len(places) > 1:
            self.links.append(places)

    def numbers(self) -> NDArray[np.int64]:
        """Return the cluster number of each document, from 0 on without gaps; shape (documents,).

        Clusters are numbered by digests of their keys, ids or texts, so a number does not depend on the order of documents (unless
        several have the same text and no id). Then a bootstrap of the same documents in another order draws the same.
        """
        return joint_numbers([self])[0]

    def _place(self, key: str) -> int:
        if key not in self._place_of_key:
            self._place_of_key[key] = len(self.nodes)
            self.nodes.append(_digest(f"key {key}"))
        return self._place_of_key[key]

    def _name(self, document: AnnotatedDocument) -> str:
        if document.id is not None:
            return f"id {document.id}"
        return f"at {len(self.documents)}" if document.text is None else f"text {document.text}"


def joint_numbers(passes: Sequence[Clusters]) -> list[NDArray[np.int64]]:
    """Return for each of several passes over the same gold the cluster number of each document, as ``Clusters.numbers`` does.

    The same cluster has the same number in each. A pass may have documents that others lack: a table of entities names only the
    documents in which there is one.
    """
    nodes = _numbered([np.frombuffer(one.nodes, dtype=np.uint64) for one in passes])
    size = sum(len(one) for one in nodes)
    roots = np.arange(size, dtype=np.int64)
    if any(one.links for one in passes):
        links = Links(size)
        for one, own in zip(passes, nodes, strict=True):
            for places in one.links:
                links.join_all(own[places].tolist())
        roots = links.roots()
    found = [roots[own[np.frombuffer(one.node_of, dtype=np.int64)]] for one, own in zip(passes, nodes, strict=True)]
    _, numbers = np.unique(np.concatenate(found), return_inverse=True)
    return _split_like(numbers, found)


def count_documents(passes: Sequence[Clusters]) -> int:
    """Return how many documents there are in all of *passes* together."""
    return 1 + max(int(one.max(initial=-1)) for one in _numbered([np.frombuffer(each.documents, dtype=np.uint64) for each in passes]))


def _numbered(digests: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.int64]]:
    """Number what is the same in several lists: the first with a digest in one list is the first with it in another, and so on.

    Numbers follow the order of the digests.
    """
    _, ranks = np.unique(np.concatenate(digests), return_inverse=True)
    nth = np.concatenate([_occurrence(one) for one in digests])
    _, numbers = np.unique(ranks * (1 + nth.max(initial=0)) + nth, return_inverse=True)
    return _split_like(numbers, digests)


def _occurrence(digests: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many equal ones stand before each."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return found


def _split_like(whole: NDArray[np.int64], parts: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
    return np.split(whole, np.cumsum([len(part) for part in parts])[:-1])


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big")


# What a group weighs in a mean: its documents ("sample count"), its gold mentions ("entities"), or as much as any other.
GroupWeight = Literal["documents", "entities", "equal"]


class CountTable:
    """A ``Collector`` of counts. It keeps 8 bytes a document and column, and no text."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._rows = array("d")
        self._sums: dict[str, list[float]] = {}  # of each type; lists: an array for each few numbers would cost more than to count

    def add(self, pair: Pair) -> None:
        """Count one pair."""
        for name, row in self.scheme.count(pair.gold, pair.found).items():
            if name == OVERALL:
                self._rows.extend(row)
            elif name in self._sums:
                self._sums[name] = list(map(add, self._sums[name], row))
            else:
                self._sums[name] = list(row)

    @property
    def rows(self) -> NDArray[np.float64]:
        """The counts over all types, of shape (documents, columns)."""
        return np.frombuffer(self._rows, dtype=float).reshape(-1, len(self.scheme.columns))

    @property
    def by_type(self) -> dict[str, NDArray[np.float64]]:
        """The sums of each type, of shape (columns,), sorted by type."""
        return {name: np.array(sums, dtype=float) for name, sums in sorted(self._sums.items())}

    def overall(self) -> dict[str, float]:
        """Return the figures over all documents and types."""
        return figures_of(self.scheme, self.rows.sum(axis=0))


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
        resampling: ResamplingSettings | None = None,
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

    def _names(self, document: AnnotatedDocument) -> tuple[str, ...]:
        if self.by == "locale":
            return () if document.locale is None else (document.locale,)
        return tuple(key[len(self.by) + 1 :] for key in keys_of_kind(document, self.by))


def mean_over_groups(scheme: Scheme, groups: Sequence[GroupFigures], weight: GroupWeight) -> dict[str, float]:
    """Return the mean of each figure over *groups*, weighted by *weight*; counts have none. 0/0 counts as 0."""
    weights = [{"documents": group.documents, "entities": group.entities, "equal": 1}[weight] for group in groups]
    whole = sum(weights)
    names = [name for name in groups[0].figures if not is_count(name) and name not in scheme.columns] if groups else []
    return {
        name: sum(share * group.figures[name] for share, group in zip(weights, groups, strict=True)) / whole if whole else 0.0
        for name in names
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFigures:
    """Of ``spans`` with a score (``unscored`` have none).

    ``ece``: the expected calibration error, the mean over spans of how far the mean score of their band is from its share of right ones,
    with ten bands of equal width (Naeini, Cooper and Hauskrecht, 2015). ``brier``: the mean of (score - 1 if right, else 0) squared. Both
    are None without a scored span.
    """

    spans: int
    unscored: int
    ece: float | None
    brier: float | None
    bands: tuple[ReliabilityBin, ...]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        bands = [
            {"from": one.tenth / BINS, "to": (one.tenth + 1) / BINS, "spans": one.count, "mean_score": one.said, "right": one.right}
            for one in self.bands
        ]
        return {"spans": self.spans, "unscored": self.unscored, "ece": self.ece, "brier": self.brier, "bands": bands}


class CalibrationCollector:
    """See ``scoring.collector.Collector``. A predicted span is right if the gold has one of the same place and type, each once."""

    def __init__(self) -> None:
        self._scores, self._right = array("d"), array("b")
        self._unscored = 0

    def add(self, pair: Pair) -> None:
        """See ``Collector``."""
        gold = Counter((one.start, one.end, one.entity_type) for one in pair.gold.mentions)
        surest_first = sorted(pair.found.mentions, key=lambda one: -(one.score or 0.0))
        for one in surest_first:
            if one.score is None:
                self._unscored += 1
                continue
            key = (one.start, one.end, one.entity_type)
            self._scores.append(one.score)
            self._right.append(gold[key] > 0)
            gold[key] -= 1

    def figures(self) -> CalibrationFigures:
        """Return what came of it."""
        scores, right = np.array(self._scores), np.array(self._right, dtype=float)
        if not len(scores):
            return CalibrationFigures(spans=0, unscored=self._unscored, ece=None, brier=None, bands=())
        bins = reliability(self._scores, [bool(one) for one in self._right])
        return CalibrationFigures(
            spans=len(scores),
            unscored=self._unscored,
            ece=expected_error(bins),
            brier=float(((scores - right) ** 2).mean()),
            bands=tuple(bins),
        )
