"""Clusters of documents: what a bootstrap draws, and what a permutation swaps, as a whole.

Documents that share a group key of one kind (a story, a persona, a text) are no independent evidence; drawn one by one, they would make
intervals too narrow.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import TYPE_CHECKING

import numpy as np

from piiloom.corpus.releases.links import Links
from piiloom.evaluation.inputs.documents import Document, Pair
from piiloom.evaluation.scoring.group_keys import checked_kind, keys_of_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Clusters:
    """A ``Collector`` of the cluster of each document; takes 16 bytes a document, and the keys.

    Gold documents with a key of *kind* ("story", "persona" …) in common are one cluster. A document with several keys of the kind
    joins their clusters to one, and a document without such a key is a cluster by itself. So with "document" each is one, unless the
    file says by keys "document:…" that some are parts of the same.
    """

    def __init__(self, kind: str = "document") -> None:
        self.kind = checked_kind(kind, option="--cluster")
        self.keyed = 0  # documents that have a key of the kind
        self._node_of = array("q")  # of each document
        self._prints = array("Q")  # of each node, for their order
        self._node_of_key: dict[str, int] = {}
        self._links: list[list[int]] = []

    def add(self, pair: Pair) -> None:
        """Note the cluster of the gold document of *pair*."""
        keys = keys_of_kind(pair.gold, self.kind)
        if not keys:
            self._node_of.append(self._node(self._own_name(pair.gold)))
            return
        self.keyed += 1
        nodes = [self._node_of_group(key) for key in keys]
        self._node_of.append(nodes[0])
        if len(nodes) > 1:
            self._links.append(nodes)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self._node_of)

    def numbers(self) -> NDArray[np.int64]:
        """Return the cluster number of each document, from 0 on without gaps; shape (documents,).

        Clusters are numbered by digests of their keys, ids or texts, so a number does not depend on the order of documents (unless
        several have the same text and no id). Then a bootstrap of the same documents in another order draws the same.
        """
        roots = np.arange(len(self._prints), dtype=np.int64)
        if self._links:
            links = Links(len(self._prints))
            for nodes in self._links:
                links.join_all(nodes)
            roots = links.roots()
        prints = np.frombuffer(self._prints, dtype=np.uint64)
        least = np.full(len(roots), np.iinfo(np.uint64).max, dtype=np.uint64)
        np.minimum.at(least, roots, prints)
        heads = np.flatnonzero(roots == np.arange(len(roots)))
        number = np.zeros(len(roots), dtype=np.int64)
        number[heads[np.argsort(least[heads], kind="stable")]] = np.arange(len(heads))
        return number[roots[np.frombuffer(self._node_of, dtype=np.int64)]]

    def _node_of_group(self, key: str) -> int:
        if key not in self._node_of_key:
            self._node_of_key[key] = self._node(key)
        return self._node_of_key[key]

    def _node(self, name: str) -> int:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        self._prints.append(int.from_bytes(digest[:8], "big"))
        return len(self._prints) - 1

    def _own_name(self, document: Document) -> str:
        if document.id is not None:
            return f"id {document.id}"
        return f"at {len(self._node_of)}" if document.text is None else f"text {document.text}"
