"""Spans as people are compared on them: as columns of many documents, and matched pair by pair.

A Python loop over a hundred thousand spans would take seconds. Pairs of overlapping spans are one-to-one; the largest intersection over
union is matched first.

Finished documents are cached by record; each update reads only what has changed since the last one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.documents.document import SpanMark
from piiloom.annotation_app.documents.merging import edits_between, realigned_through
from piiloom.corpus.store.annotation_events import (
    BaseRow,
    DocumentRow,
    base_rows,
    base_spans,
    changed_documents,
    edited_contexts,
    work_record_ids,
)
from piiloom.corpus.store.database import Store

Integers = NDArray[np.int64]
RELEVANCE_LEVELS = ("high", "low")
NOT_JUDGED = -1


class ComparedSpan(NamedTuple):
    """A span reduced to what is compared: offsets, type and relevance, without ids."""

    start: int
    end: int
    entity_type: str
    relevance: str | None


def compared_spans(marks: Sequence[SpanMark]) -> tuple[ComparedSpan, ...]:
    """Convert the marks of a document."""
    return tuple(ComparedSpan(mark.start, mark.end, mark.entity_type, mark.relevance) for mark in marks)


def carried(spans: Sequence[ComparedSpan], context: str, target: str) -> tuple[ComparedSpan, ...]:
    """Map *spans* of *context* to offsets of *target*.

    Spans whose text is not in *target* are kept as one-character spans beyond its end, after all others. So they count as spans
    that nobody else has.
    """
    marks = [SpanMark(id=str(number), start=s.start, end=s.end, entity_type=s.entity_type) for number, s in enumerate(spans)]
    moved = {int(mark.id): mark for mark in realigned_through(marks, edits_between(context, target))}
    kept = [spans[number]._replace(start=mark.start, end=mark.end) for number, mark in moved.items()]
    lost = [span for number, span in enumerate(spans) if number not in moved]
    beyond = len(target) + 1
    return tuple(kept) + tuple(span._replace(start=beyond + 2 * n, end=beyond + 2 * n + 1) for n, span in enumerate(lost))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansTable:
    """The spans of numbered documents, sorted by document and then in text order.

    ``document``, ``start``, ``end``, ``type`` (an index into ``types``) and ``relevance`` (an index into ``RELEVANCE_LEVELS``, or
    ``NOT_JUDGED``) have one row per span. ``first`` has the row of each document's first span, followed by the number of spans
    (shape: documents + 1).
    """

    types: tuple[str, ...]
    document: Integers
    start: Integers
    end: Integers
    type: Integers
    relevance: Integers
    first: Integers

    @property
    def count(self) -> Integers:
        """The number of spans of each document."""
        return np.diff(self.first)


def spans_table(documents: Sequence[Sequence[ComparedSpan]]) -> SpansTable:
    """Build the table of *documents*. Documents that are the same object, which is common, are converted only once."""
    types = tuple(sorted({span.entity_type for spans in {id(spans): spans for spans in documents}.values() for span in spans}))
    places = {name: place for place, name in enumerate(types)}
    known: dict[int, Integers] = {}
    pieces = []
    for spans in documents:
        piece = known.get(id(spans))
        if piece is None:
            piece = known[id(spans)] = _columns(spans, places)
        pieces.append(piece)
    columns = np.concatenate(pieces, axis=1) if pieces else np.zeros((4, 0), dtype=np.int64)
    count = np.array([piece.shape[1] for piece in pieces], dtype=np.int64)
    return SpansTable(
        types=types,
        document=np.repeat(np.arange(len(pieces)), count),
        start=columns[0],
        end=columns[1],
        type=columns[2],
        relevance=columns[3],
        first=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
    )


def ranges(starts: Integers, counts: Integers) -> Integers:
    """Return the concatenated ranges ``[s, s+1, … s+c-1]`` for each start s and count c."""
    total = int(counts.sum())
    offsets = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + np.arange(total) - offsets


def _columns(spans: Iterable[ComparedSpan], places: dict[str, int]) -> Integers:
    rows = [(s.start, s.end, places[s.entity_type], RELEVANCE_LEVELS.index(s.relevance) if s.relevance else NOT_JUDGED) for s in spans]
    return np.array(rows, dtype=np.int64).reshape(-1, 4).T


Floats = NDArray[np.float64]
# ``left`` and ``right``: number of spans in each document. The others are over pairs of matched spans: ``overlap``: all pairs;
# ``exact``: same ends; ``shared``: sum of intersection over union; ``typed``: same type; ``judged``: both sides have a relevance;
# ``related``: of these, the same relevance; ``whole``: same ends, type and relevance.
LIKENESS_COUNTS = ("left", "right", "exact", "overlap", "shared", "typed", "judged", "related", "whole")
AT = {name: place for place, name in enumerate(LIKENESS_COUNTS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Pairs of spans, as parallel arrays.

    ``comparison`` is the index of the pair of documents, ``left`` and ``right`` are rows of the span table, ``shared`` is the
    intersection over union in code points.
    """

    comparison: Integers
    left: Integers
    right: Integers
    shared: Floats


def match(table: SpansTable, left: Sequence[int] | Integers, right: Sequence[int] | Integers) -> Matches:
    """Match the spans of document ``left[i]`` with those of document ``right[i]``, for each ``i``; pairs are in text order.

    On equal overlap, the pair with the earlier left span wins, then that with the earlier right span.
    """
    comparison, a, b = _overlapping(table, np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64))
    common = np.minimum(table.end[a], table.end[b]) - np.maximum(table.start[a], table.start[b])
    shared = common / (np.maximum(table.end[a], table.end[b]) - np.minimum(table.start[a], table.start[b]))
    kept = _each_once(comparison, a, b, shared, len(table.document))
    return Matches(comparison=comparison[kept], left=a[kept], right=b[kept], shared=shared[kept])


def rows_of_spans(table: SpansTable, documents: Integers) -> tuple[Integers, Integers]:
    """Return, for all spans of *documents* in order, the position in *documents* and the row of *table*."""
    counts = table.count[documents]
    return np.repeat(np.arange(len(documents)), counts), ranges(table.first[documents], counts)


def mention_of(table: SpansTable, matches: Matches) -> Integers:
    """Return the mention of each span: spans linked by pairs, directly or through others, get the row of the first of them.

    These are the connected components of the graph of pairs.
    """
    label = np.arange(len(table.document))
    while True:  # each round passes the smallest number on to directly paired spans
        smallest = np.minimum(label[matches.left], label[matches.right])
        further = label.copy()
        np.minimum.at(further, matches.left, smallest)
        np.minimum.at(further, matches.right, smallest)
        if np.array_equal(further, label):
            return label
        label = further


def likeness(
    table: SpansTable, left: Sequence[int] | Integers, right: Sequence[int] | Integers, matches: Matches, owners: Integers, size: int
) -> Floats:
    """Return ``LIKENESS_COUNTS`` by owner and type, shape (*size*, types, counts).

    Comparison ``i`` is between documents ``left[i]`` and ``right[i]`` and is counted for ``owners[i]`` (0 to *size* - 1). A pair of
    spans counts one half for the type of each side, so that the sum over types is the number of pairs.
    """
    kinds = len(table.types)
    found = np.zeros((size * kinds, len(LIKENESS_COUNTS)))
    for column, documents in (("left", np.asarray(left)), ("right", np.asarray(right))):
        counts = table.count[documents] if len(documents) else np.zeros(0, dtype=np.int64)
        rows = ranges(table.first[documents], counts) if len(documents) else counts
        cells = np.repeat(owners, counts) * kinds + table.type[rows]
        found[:, AT[column]] = np.bincount(cells, minlength=size * kinds)
    gains = pair_gains(table, matches)
    owner = owners[matches.comparison] * kinds
    for side in (matches.left, matches.right):
        cells = owner + table.type[side]
        for name, gained in gains.items():
            found[:, AT[name]] += np.bincount(cells, weights=gained / 2, minlength=size * kinds)
    return found.reshape(size, kinds, len(LIKENESS_COUNTS))


def pair_gains(table: SpansTable, matches: Matches) -> dict[str, Floats]:
    """Return what each pair of *matches* adds to each of the pair counts, by name of the count."""
    a, b = matches.left, matches.right
    exact = (table.start[a] == table.start[b]) & (table.end[a] == table.end[b])
    typed = table.type[a] == table.type[b]
    judged = (table.relevance[a] != NOT_JUDGED) & (table.relevance[b] != NOT_JUDGED)
    same = table.relevance[a] == table.relevance[b]
    return {
        "exact": exact.astype(float),
        "overlap": np.ones(len(a)),
        "shared": matches.shared,
        "typed": typed.astype(float),
        "judged": judged.astype(float),
        "related": (judged & same).astype(float),
        "whole": (exact & typed & same).astype(float),
    }


def _overlapping(table: SpansTable, left: Integers, right: Integers) -> tuple[Integers, Integers, Integers]:
    """Return (comparison, left row, right row) of all pairs that share a character.

    The spans of a document are disjoint, so those that overlap a given span are consecutive and found by binary search.
    """
    counts = table.count[left]
    comparison = np.repeat(np.arange(len(left)), counts)
    a = ranges(table.first[left], counts)
    # Shift the offsets of each document so that all documents share one number line without overlaps.
    far = int(table.end.max(initial=0)) + 1
    base = right[comparison] * far
    from_ = np.searchsorted(table.document * far + table.end, base + table.start[a], side="right")
    until = np.searchsorted(table.document * far + table.start, base + table.end[a], side="left")
    meeting = np.maximum(until - from_, 0)
    return np.repeat(comparison, meeting), np.repeat(a, meeting), ranges(from_, meeting)


def _each_once(comparison: Integers, a: Integers, b: Integers, shared: Floats, spans: int) -> Integers:
    """Return the rows to keep so that no span is in two pairs of one comparison (greedy, highest *shared* first)."""
    by_left, by_right = comparison * spans + a, comparison * spans + b
    _, left_at, left_times = np.unique(by_left, return_inverse=True, return_counts=True)
    _, right_at, right_times = np.unique(by_right, return_inverse=True, return_counts=True)
    alone = (left_times[left_at] == 1) & (right_times[right_at] == 1)
    rivals = np.flatnonzero(~alone)
    rivals = rivals[np.lexsort((b[rivals], a[rivals], -shared[rivals], comparison[rivals]))]
    taken: set[tuple[str, int]] = set()
    kept = []
    for row in rivals:  # few: most spans overlap with only one other
        ends = ("left", int(by_left[row])), ("right", int(by_right[row]))
        if taken.isdisjoint(ends):
            taken.update(ends)
            kept.append(int(row))
    return np.sort(np.concatenate([np.flatnonzero(alone), np.array(kept, dtype=np.int64)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedVersion:
    """One person's finished version. ``spans`` are offsets of the original text, even if the person edited it."""

    annotator: str
    verdict: str
    changed_at: str
    spans: tuple[ComparedSpan, ...]
    context_edited: bool
    question_edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRecord:
    """A record as it was before annotation, and its finished versions, sorted by annotator."""

    base: BaseRow
    spans: tuple[ComparedSpan, ...]
    versions: tuple[FinishedVersion, ...]

    @property
    def record_id(self) -> str:
        """The id of the record."""
        return self.base.record_id

    @property
    def accepted(self) -> tuple[FinishedVersion, ...]:
        """The accepted versions; the spans of rejected ones are not compared."""
        return tuple(version for version in self.versions if version.verdict == "accepted")


class FinishedRecords:
    """Incremental cache of all finished records of a store. Thread-safe. Unchanged documents are not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0
        self._bases: dict[str, tuple[BaseRow, tuple[ComparedSpan, ...]]] = {}
        self._versions: dict[str, dict[str, FinishedVersion]] = {}
        self._records: dict[str, FinishedRecord] = {}

    def load(self, store: Store) -> list[FinishedRecord]:
        """Return all records of the work list that somebody has finished, sorted by id; unchanged ones are the same objects as before.

        Records that were deleted from the store are left out.
        """
        with self._lock:
            rows = list(changed_documents(store, self._newest))
            if rows:
                self._take(store, rows)
                self._newest = max(row.event for row in rows)
            stored = work_record_ids(store)
            return [self._records[record_id] for record_id in sorted(self._records.keys() & stored)]

    def _take(self, store: Store, rows: Sequence[DocumentRow]) -> None:
        changed = {row.record_id for row in rows}
        self._read_bases(store, sorted(changed - self._bases.keys()))
        texts = self._edited_texts(store, rows)
        parsed: dict[str, tuple[ComparedSpan, ...]] = {}
        for row in rows:
            if row.record_id not in self._bases:
                continue  # practice, a control, or deleted
            versions = self._versions.setdefault(row.record_id, {})
            if row.verdict == "open":
                versions.pop(row.annotator, None)
            else:
                versions[row.annotator] = self._version(row, parsed, texts)
        for record_id in changed & self._versions.keys():
            self._records.pop(record_id, None)
            if versions := self._versions[record_id]:
                base, spans = self._bases[record_id]
                ordered = tuple(versions[name] for name in sorted(versions))
                self._records[record_id] = FinishedRecord(base=base, spans=spans, versions=ordered)

    def _read_bases(self, store: Store, record_ids: Sequence[str]) -> None:
        rows = base_rows(store, record_ids)
        spans = base_spans(store, [row.record_order for row in rows.values()])
        for record_id, row in rows.items():
            self._bases[record_id] = row, tuple(ComparedSpan(*span) for span in spans.get(row.record_order, ()))

    def _edited_texts(self, store: Store, rows: Iterable[DocumentRow]) -> Mapping[tuple[str, str], tuple[str, str]]:
        """Return (edited text, original text) by (record id, person), for those documents whose text was edited."""
        edited = {(row.record_id, row.annotator) for row in rows if self._is_edited(row)}
        if not edited:
            return {}
        bases, theirs = edited_contexts(store, {record_id for record_id, _ in edited})
        return {key: (theirs[key], bases[key[0]]) for key in edited if key in theirs and key[0] in bases}

    def _is_edited(self, row: DocumentRow) -> bool:
        known = self._bases.get(row.record_id)
        return known is not None and known[0].context_hash != row.context_hash

    def _version(
        self, row: DocumentRow, parsed: dict[str, tuple[ComparedSpan, ...]], texts: Mapping[tuple[str, str], tuple[str, str]]
    ) -> FinishedVersion:
        spans = parsed.get(row.spans)
        if spans is None:
            found = (ComparedSpan(one["start"], one["end"], one["type"], one["relevance"]) for one in json.loads(row.spans))
            spans = parsed[row.spans] = tuple(found)
        if (changed := texts.get((row.record_id, row.annotator))) is not None:
            spans = carried(spans, *changed)
        base, base_spans_ = self._bases[row.record_id]
        return FinishedVersion(
            annotator=row.annotator,
            verdict=row.verdict,
            changed_at=row.changed_at,
            spans=base_spans_ if spans == base_spans_ else spans,
            context_edited=row.context_hash != base.context_hash,
            question_edited=row.question_hash != base.question_hash,
        )
