"""Look at all pairs of documents once: count the errors, write them to ``errors.jsonl``, keep some documents to show.

A seeded sample of documents is kept for each kind of error and type, whatever the order of the documents. Each document has a number that
follows from the seed and its content. A sample of n keeps the n documents of lowest number it has seen, which is a random sample without
replacement that needs no more room than n, and that no order changes. Of a long text only what is around its errors is kept.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from piiloom.corpus.formats.native_rows import row_line
from piiloom.evaluation.gallery.counts import ErrorCounts, type_name
from piiloom.evaluation.gallery.errors import KINDS, Row, RowKind, aligned_rows
from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.evaluation.pages.tables import short
from piiloom.foundation.seeding import derive_seed

# Code points of a text that are kept whole, and about as many of a longer one.
LONGEST = 4000
_AROUND = 300  # on either side of an error
_GAP = 100  # fewer are not left out
_LONG_MENTION = 1000  # of a longer one, the end is not kept
_MOST_ERRORS = 40
_MOST_CORRECT = 200
_LONGEST_VALUE = 300
_MOST_MENTIONS = 20  # of one row on either side
_Key = tuple[int, str]
_Group = tuple[RowKind, str]
_EACH = 10  # kept of each kind and type, beside the sample of all
_MOST_GROUPS = 300  # predictions may have any number of types
_MOST_CHARACTERS = 1_500_000  # on the page
DEFAULT_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDocument:
    """``excerpts``: parts of the text as (start, text), one if it is whole, none if the file has no text; ``length`` is that of the text.

    ``errors`` and ``correct`` are the rows that are shown, ``left_out`` the number of errors that are not. Values in rows are cut, and so
    are rows with very many mentions (``shortened``).
    """

    id: str | None
    where: str
    question: str | None
    locale: str | None
    excerpts: tuple[tuple[int, str], ...]
    length: int
    errors: tuple[Row, ...]
    correct: tuple[Row, ...]
    left_out: int
    shortened: bool

    @property
    def size(self) -> int:
        """About how many characters it takes on the page."""
        mentions = sum(len(row.gold) + len(row.found) for row in self.errors)
        return sum(len(text) for _, text in self.excerpts) + len(self.question or "") + 400 * mentions + 100 * len(self.correct)


def kept_document(pair: Pair, rows: Sequence[Row]) -> KeptDocument:
    """Return what is kept of *pair*."""
    gold, found = pair.gold, pair.found
    text = gold.text if gold.text is not None else found.text
    errors = [row for row in rows if row.kind != "correct"]
    kept = errors[:_MOST_ERRORS]
    windows = [] if text is None else _windows(len(text), kept)
    kept = [row for row in kept if _is_seen(row, windows)]
    correct = [row for row in rows if row.kind == "correct" and any(one.place for one in row.gold) and _is_seen(row, windows)]
    question = gold.question if gold.question is not None else found.question
    return KeptDocument(
        id=gold.id if gold.id is not None else found.id,
        where=gold.where,
        question=None if question is None else short(question, LONGEST),
        locale=gold.locale or found.locale,
        excerpts=tuple((start, (text or "")[start:end]) for start, end in windows),
        length=len(text or ""),
        errors=tuple(map(_cut, kept)),
        correct=tuple(map(_cut, correct[:_MOST_CORRECT])),
        left_out=len(errors) - len(kept),
        shortened=any(max(len(row.gold), len(row.found)) > _MOST_MENTIONS for row in kept),
    )


def _windows(length: int, errors: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the ranges of the text to keep, in order and apart."""
    if length <= LONGEST:
        return [(0, length)]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(place for row in errors for place in _places(row)):
        first, last = start - _AROUND, min(end, start + _LONG_MENTION) + _AROUND
        first, last = (0 if first < _GAP else first), (length if last > length - _GAP else last)
        if kept and first < kept[-1][1] + _GAP:
            kept[-1] = (kept[-1][0], max(last, kept[-1][1]))
        elif sum(end - start for start, end in kept) >= LONGEST:
            break
        else:
            kept.append((first, last))
    return kept or [(0, LONGEST)]


def _places(row: Row) -> Iterator[tuple[int, int]]:
    return (one.place for one in (*row.gold, *row.found) if one.place is not None)


def _is_seen(row: Row, windows: Sequence[tuple[int, int]]) -> bool:
    """Whether the row has no place, or one of its mentions begins in a window."""
    places = list(_places(row))
    return not places or any(first <= start <= last for start, _ in places for first, last in windows)


def _cut(row: Row) -> Row:
    return replace(row, gold=tuple(map(_cut_value, row.gold[:_MOST_MENTIONS])), found=tuple(map(_cut_value, row.found[:_MOST_MENTIONS])))


def _cut_value(mention: AnnotatedMention) -> AnnotatedMention:
    return mention if len(mention.text) <= _LONGEST_VALUE else replace(mention, text=short(mention.text, _LONGEST_VALUE))


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


class GalleryCollector:
    """A ``Collector`` of errors: it counts them, writes all of them to the file *log*, and keeps the texts of some documents.

    *limit* is how many documents are shown, *seed* draws them.
    """

    def __init__(self, *, limit: int = DEFAULT_LIMIT, seed: int = 7, log: BinaryIO | None = None) -> None:
        self.counts = ErrorCounts()
        self.seed = seed
        self._limit, self._log = limit, log
        self._all = _LowestKept(limit)
        self._groups: dict[_Group, _LowestKept] = {}
        self._ranks: dict[_Group, tuple[int, _Group]] = {}

    def add(self, pair: Pair) -> None:
        """Take note of one pair."""
        rows = aligned_rows(pair)
        self.counts.add(pair, rows)
        errors = [row for row in rows if row.kind != "correct"]
        if self._log is not None:
            self._log.writelines(_line(error_json(pair, row)) for row in errors)
        if not errors:
            return
        document = pair.gold
        key = (derive_seed(self.seed, "gallery", document.id, document.text, document.question), document.where)
        kept: KeptDocument | None = None
        for sample in (self._all, *(self._group((row.kind, type_name(row.counted[0]))) for row in errors)):
            if sample.wants(key):
                kept = kept or kept_document(pair, rows)
                sample.add(key, kept)

    def shown(self) -> list[KeptDocument]:
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
        self._ranks[group] = (derive_seed(self.seed, *group), group)
        if len(self._groups) > _MOST_GROUPS:  # those of lowest rank stay, whatever order they come in
            _, last = max(self._ranks.values())
            del self._groups[last], self._ranks[last]
        return made

    def _in_turn(self) -> Iterator[tuple[_Key, KeptDocument]]:
        groups = [self._groups[name] for name in sorted(self._groups, key=lambda group: (KINDS.index(group[0]), group[1]))]
        for place in range(_EACH):
            yield from ((sample.keys[place], sample.documents[sample.keys[place]]) for sample in groups if place < len(sample.keys))
        yield from ((key, self._all.documents[key]) for key in self._all.keys)


def error_json(pair: Pair, row: Row) -> dict[str, Any]:
    """Return an error as JSON; ``where`` is the file and line of gold, ``also`` lists what else is wrong."""
    return {
        "document": pair.gold.id if pair.gold.id is not None else pair.found.id,
        "where": pair.gold.where,
        "kind": row.kind,
        "also": list(row.also),
        "locale": pair.gold.locale or pair.found.locale,
        "question": pair.gold.question if pair.gold.question is not None else pair.found.question,
        "gold": [_mention_json(one) for one in row.gold],
        "found": [_mention_json(one) for one in row.found],
    }


def _mention_json(mention: AnnotatedMention) -> dict[str, Any]:
    return {
        "text": mention.text,
        "type": mention.entity_type,
        "start": mention.start,
        "end": mention.end,
        "relevance": mention.relevance,
        "subject": mention.subject,
    }


def _line(row: dict[str, Any]) -> bytes:
    try:
        return row_line(row)
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can tell
        return json.dumps(row).encode("ascii") + b"\n"
