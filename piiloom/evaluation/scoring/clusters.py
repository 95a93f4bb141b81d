"""Clusters of documents: what a bootstrap draws, and what a permutation swaps, as a whole.

Documents that share a group key of one kind (a story, a persona, a text) are no independent evidence; drawn one by one, they would make
intervals too narrow.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.grouping import Links
from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.foundation.errors import UsageError

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
    whole, nth = np.concatenate(digests), np.concatenate([_occurrence(one) for one in digests])
    order = np.lexsort((nth, whole))
    new = np.ones(len(order), dtype=np.int64)
    new[1:] = (np.diff(whole[order]) != 0) | (np.diff(nth[order]) != 0)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
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
