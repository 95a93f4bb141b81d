"""What looks at all pairs of documents, in one pass over the files."""

from __future__ import annotations

from typing import Protocol

from piiloom.evaluation.inputs.documents import Pair


class Collector(Protocol):
    """Sees each pair once, in the order of the gold file; keeps no text unless that is its purpose."""

    def add(self, pair: Pair) -> None:
        """Take note of one pair."""
        ...
