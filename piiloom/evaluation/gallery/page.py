"""The gallery: one HTML file that fetches nothing. All that it shows is gathered here; the template only lays it out.

A kept text comes in pieces, with the marks of gold and predicted mentions; long stretches without an error are folded. Places are code
points, and so are the indices of a Python string; the page gets pieces and never counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from piiloom.evaluation.gallery.collector import GalleryCollector, KeptDocument
from piiloom.evaluation.gallery.counts import NOT_STATED, ErrorCounts, charts, matrix, type_name
from piiloom.evaluation.gallery.errors import BOUNDARY, ERRORS, KINDS, MEANING, Row
from piiloom.evaluation.inputs.documents import AnnotatedMention
from piiloom.evaluation.pages.rendering import Shown, render_page
from piiloom.evaluation.pages.tables import LABEL, as_percent, count, printable, short
from piiloom.foundation.whole_files import drafted

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
