"""Which documents with errors are kept: a seeded sample for each kind of error and type, whatever the order of the documents.

Each document has a number that follows from the seed and its content. A sample of n keeps the n documents of lowest number it has seen,
which is a random sample without replacement that needs no more room than n, and that no order changes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

from piiloom.evaluation.gallery.counts import type_name
from piiloom.evaluation.gallery.errors import KINDS, Kind, Row
from piiloom.evaluation.gallery.kept import KeptDocument, kept_document
from piiloom.evaluation.inputs.documents import Pair
from piiloom.foundation.seeding import derive_seed

_Key = tuple[int, str]
_Group = tuple[Kind, str]
_EACH = 10  # kept of each kind and type, beside the sample of all
_MOST_GROUPS = 300  # predictions may have any number of types
_MOST_CHARACTERS = 1_500_000  # on the page


class _LowestKept:
    """The documents of the lowest keys, up to *size*."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.keys: list[_Key] = []
        self.documents: dict[_Key, KeptDocument] = {}

    def wants(self, key: _Key) -> bool:
        return key not in self.documents and (len(self.keys) < self._size or (self._size > 0 and key < self.keys[-1]))

    def add(self, key: _Key, document: KeptDocument) -> None:
        insort(self.keys, key)
        self.documents[key] = document
        if len(self.keys) > self._size:
            del self.documents[self.keys.pop()]


class ErrorSample:
    """Keeps documents with errors; *limit* is how many are shown."""

    def __init__(self, *, limit: int, seed: int) -> None:
        self._limit, self._seed = limit, seed
        self._all = _LowestKept(limit)
        self._groups: dict[_Group, _LowestKept] = {}
        self._ranks: dict[_Group, tuple[int, _Group]] = {}

    def add(self, pair: Pair, rows: Sequence[Row]) -> None:
        """Take note of a document and its *rows*, of which one or more are errors."""
        document = pair.gold
        key = (derive_seed(self._seed, "gallery", document.id, document.text, document.question), document.where)
        samples = [self._all, *(self._group((row.kind, type_name(row.counted[0]))) for row in rows if row.kind != "correct")]
        kept: KeptDocument | None = None
        for sample in samples:
            if sample.wants(key):
                kept = kept or kept_document(pair, rows)
                sample.add(key, kept)

    def chosen(self) -> list[KeptDocument]:
        """Return the documents to show, by id: of each kind and type one, then a second … then any, as many as the page has room for."""
        taken: dict[_Key, KeptDocument] = {}
        room = _MOST_CHARACTERS
        for key, document in self._in_turn():
            if key in taken or document.size > room:
                continue
            if len(taken) >= self._limit:
                break
            taken[key] = document
            room -= document.size
        return sorted(taken.values(), key=lambda one: (one.id or "", one.where))

    def _group(self, group: _Group) -> _LowestKept:
        if group in self._groups:
            return self._groups[group]
        made = self._groups[group] = _LowestKept(min(_EACH, self._limit))
        self._ranks[group] = (derive_seed(self._seed, *group), group)
        if len(self._groups) > _MOST_GROUPS:  # those of lowest rank stay, whatever order they come in
            _, last = max(self._ranks.values())
            del self._groups[last], self._ranks[last]
        return made

    def _in_turn(self) -> Iterator[tuple[_Key, KeptDocument]]:
        groups = [self._groups[name] for name in sorted(self._groups, key=lambda group: (KINDS.index(group[0]), group[1]))]
        for place in range(_EACH):
            for sample in groups:
                if place < len(sample.keys):
                    yield sample.keys[place], sample.documents[sample.keys[place]]
        for key in self._all.keys:
            yield key, self._all.documents[key]
