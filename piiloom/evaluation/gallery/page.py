"""The gallery: one HTML file that fetches nothing. All that it shows is gathered here; the template only lays it out.

A kept text comes in pieces, with the marks of gold and predicted mentions; long stretches without an error are folded. Places are code
points, and so are the indices of a Python string; the page gets pieces and never counts.

Look at all pairs of documents once: count the errors, write them to ``errors.jsonl``, keep some documents to show.

A seeded sample of documents is kept for each kind of error and type, whatever the order of the documents. Each document has a number that
follows from the seed and its content. A sample of n keeps the n documents of lowest number it has seen, which is a random sample without
replacement that needs no more room than n, and that no order changes. Of a long text only what is around its errors is kept.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from piiloom.corpus.formats.native_rows import row_line
from piiloom.evaluation.gallery.counts import (
    BOUNDARY,
    ERRORS,
    KINDS,
    MEANING,
    NOT_STATED,
    ErrorCounts,
    Row,
    RowKind,
    aligned_rows,
    charts,
    matrix,
    type_name,
)
from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.evaluation.pages.parts import LABEL, Shown, as_percent, count, printable, render_page, short
from piiloom.foundation.seeding import derive_seed
from piiloom.foundation.whole_files import drafted

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


_NAME = 80  # characters of an id in a heading
_OPTION = 60
_TEXT = 120  # of types, subjects and places of files in tables
_FOLDED_FROM = 700  # code points without an error
_BESIDE_FOLD = 200  # that stay open on either side
_FILTERS = {"kind": "kind of error", "type": "type", "relevance": "relevance", "locale": "locale", "subject": "subject"}


def gallery_page(collector: GalleryCollector, title: str) -> str:
    """Return the page as HTML; equal documents give equal text, whatever their order."""
    counts, kept = collector.counts, collector.shown()
    filters = _Filters(kept)
    shown = {
        "title": printable(title),
        "facts": (),
        "key_figures": _key_figures(counts),
        "kinds": [
            (kind, MEANING[kind], count(counts.kinds[kind]), count(sum(row.kind == kind for one in kept for row in one.errors)))
            for kind in ERRORS
        ],
        "charts": charts(counts),
        "matrix": matrix(counts),
        "facets": filters.shown(),
        "documents": [_document(one, filters) for one in kept],
        "with_errors": counts.with_errors,
        "seed": collector.seed,
    }
    return render_page(__package__, shown, script="gallery.js", style="gallery.css")


def write_gallery(path: Path, collector: GalleryCollector, title: str) -> None:
    """Write the page to *path*, replacing what is there. Raises ``OutputError``."""
    with drafted(path) as file:
        file.write(gallery_page(collector, title).encode("utf-8", "replace"))


class _Filters:
    """The options of the filters: what occurs among the shown errors, numbered."""

    def __init__(self, documents: Sequence[KeptDocument]) -> None:
        rows = [(document, row) for document in documents for row in document.errors]
        self._options: dict[str, list[str]] = {
            "kind": list(KINDS),
            "type": sorted({type_name(one) for _, row in rows for one in (*row.gold, *row.found)}),
            "relevance": ["high", "low", NOT_STATED],
            "locale": sorted({document.locale or NOT_STATED for document in documents}),
            "subject": sorted({one.subject or NOT_STATED for _, row in rows for one in row.counted}),
        }
        self._numbers = {name: {option: str(place) for place, option in enumerate(options)} for name, options in self._options.items()}

    def of(self, document: KeptDocument, row: Row) -> dict[str, str]:
        """Return the options that apply to an error: its kind alone, the types of both sides, the rest of gold if there is one.

        They are the numbers of the options, apart by a space, as a filter compares them.
        """
        found: dict[str, set[str]] = {
            "kind": {row.kind},
            "type": {type_name(one) for one in (*row.gold, *row.found)},
            "relevance": {one.relevance or NOT_STATED for one in row.counted},
            "locale": {document.locale or NOT_STATED},
            "subject": {one.subject or NOT_STATED for one in row.counted},
        }
        return {name: " ".join(sorted(self._numbers[name][option] for option in options)) for name, options in found.items()}

    def shown(self) -> list[Shown]:
        """Return the filters with their options as (value, name); those with a single option are left out.

        A value is the numbers, apart by a space, one of which an error must have.
        """
        made: list[Shown] = []
        for name, options in self._options.items():
            named = [(self._numbers[name][option], short(printable(option), _OPTION)) for option in options if option != "correct"]
            if name == "kind":
                any_boundary = " ".join(self._numbers[name][kind] for kind in BOUNDARY)
                named.insert(ERRORS.index(BOUNDARY[0]), (any_boundary, "boundary (any)"))
            if len(named) > 1:
                made.append({"name": name, "title": _FILTERS[name], "options": named})
        return made


def _document(document: KeptDocument, filters: _Filters) -> Shown:
    stretches, after = _stretches(document)
    return {
        "name": short(printable(document.id if document.id is not None else document.where), _NAME),
        "where": short(printable(document.where), _TEXT),
        "question": None if document.question is None else printable(document.question),
        "locale": None if document.locale is None else short(printable(document.locale), _TEXT),
        "has_text": bool(document.excerpts),
        "stretches": stretches,
        "after": after,
        "errors": [
            {
                "kind": row.kind,
                "also": row.also,
                "gold": [_mention(one) for one in row.gold],
                "found": [_mention(one) for one in row.found],
                "facets": filters.of(document, row),
            }
            for row in document.errors
        ],
        "left_out": document.left_out,
        "shortened": document.shortened,
    }


def _mention(mention: AnnotatedMention) -> Shown:
    return {
        "text": printable(mention.text),
        "type": short(printable(type_name(mention)), _TEXT),
        "relevance": mention.relevance,
        "subject": short(printable(mention.subject or ""), _TEXT),
    }


def _key_figures(counts: ErrorCounts) -> tuple[tuple[str, str, str], ...]:
    kinds = counts.kinds

    def of_gold(number: int) -> str:
        return f"{as_percent(number / counts.gold if counts.gold else None)} of gold"

    boundary = sum(kinds[kind] for kind in BOUNDARY)
    extra = kinds["spurious"] + kinds["not in the text"]
    return (
        (count(counts.documents), "documents", f"{count(counts.with_errors)} with errors"),
        (count(counts.gold), "gold mentions", f"{count(counts.found)} predicted"),
        (count(kinds["correct"]), "correct", of_gold(kinds["correct"])),
        (count(kinds["missed"]), "missed", of_gold(kinds["missed"])),
        (count(extra), "spurious", f"{as_percent(extra / counts.found if counts.found else None)} of predicted"),
        (count(kinds["wrong type"]), "wrong type", of_gold(kinds["wrong type"])),
        (count(boundary), "boundary errors", of_gold(boundary)),
        (count(kinds["wrong relevance"]), "wrong relevance", of_gold(kinds["wrong relevance"])),
    )


class _Mark(NamedTuple):
    """A mention in its text, and what is written after it: the number of its error ("" if correct) and what it is."""

    start: int
    end: int
    side: Literal["gold", "found", "correct"]
    number: str
    text: str


def _stretches(document: KeptDocument) -> tuple[list[Shown], int]:
    """Return the text of *document* in stretches of pieces, and how many code points follow that are left out.

    Of a stretch, ``before`` are the code points before it that the page leaves out; what is ``folded`` is hidden until asked for.
    """
    marks = [mark for number, row in enumerate(document.errors, start=1) for mark in _marks(row, str(number))]
    errors = [(mark.start, mark.end) for mark in marks]
    marks += [mark for row in document.correct for mark in _marks(row, "")]
    made: list[Shown] = []
    at = 0
    for start, text in document.excerpts:
        shown, before = printable(text), start - at
        for first, last, folded in _folds(start, start + len(shown), errors):
            pieces = _pieces(shown[first - start : last - start], first, marks)
            made.append({"pieces": pieces, "before": before, "folded": folded, "length": last - first})
            before = 0
        at = start + len(shown)
    return made, document.length - at


def _marks(row: Row, number: str) -> list[_Mark]:
    alone = row.kind if not row.gold or not row.found else ""
    wrong = [("gold", f"{alone or 'gold'}: ", row.gold), ("found", f"{alone or 'predicted'}: ", row.found)]
    sides: list[Any] = [("correct", "✓ ", row.gold)] if row.kind == "correct" else wrong
    placed = ((side, what, one, one.place) for side, what, mentions in sides for one in mentions)
    return [_Mark(place[0], place[1], side, number, what + _told(one)) for side, what, one, place in placed if place]


def _told(mention: AnnotatedMention) -> str:
    """Return type and, if it is stated, relevance."""
    name = short(printable(mention.entity_type), LABEL) if mention.entity_type is not None else "no type"
    return f"{name} · {mention.relevance}" if mention.relevance else name


def _folds(start: int, end: int, errors: Sequence[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Return the range in parts (start, end, folded): what is far from the *errors* in it is folded."""
    within = sorted(place for place in errors if place[0] < end and place[1] > start)
    made: list[tuple[int, int, bool]] = []
    opened = at = start
    for first, last in [*within, *([(end, end)] if within else [])]:
        if first - at >= _FOLDED_FROM:
            begin = at if at == start else at + _BESIDE_FOLD
            if opened < begin:
                made.append((opened, begin, False))
            opened = first if first == end else first - _BESIDE_FOLD
            made.append((begin, opened, True))
        at = max(at, last)
    return [*made, *([(opened, end, False)] if opened < end else [])]


def _pieces(text: str, start: int, marks: Sequence[_Mark]) -> list[Shown]:
    """Cut *text*, which begins at *start* of the document, wherever a mark begins or ends; return the pieces with classes and labels."""
    end = start + len(text)
    near = [mark for mark in marks if mark.start < end and mark.end > start]
    cuts = sorted({start, end, *(cut for mark in near for cut in (mark.start, mark.end) if start < cut < end)})
    made: list[Shown] = []
    for first, last in pairwise(cuts):
        over = [mark for mark in near if mark.start <= first and mark.end >= last]
        classes = [side for side in ("gold", "found", "correct") if any(mark.side == side for mark in over)]
        classes += [f"{side}-begins" for side in ("gold", "found") if any(mark.side == side and mark.start == first for mark in over)]
        labels = [mark for mark in over if mark.end == last or (last == end and mark.end > end)]
        made.append({"text": text[first - start : last - start], "classes": " ".join(classes), "labels": labels})
    return made
