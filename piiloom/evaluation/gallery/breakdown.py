"""Tables and charts of the counts: by kind, type, length, position, locale and subject, and the matrix of types."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.evaluation.gallery.counts import CLASSES, DIMENSIONS, MISSED, SPURIOUS, Dimension, ErrorCounts
from piiloom.evaluation.gallery.errors import BOUNDARY, KINDS
from piiloom.evaluation.pages.cells import Quoted, count, percent, short, visible
from piiloom.evaluation.pages.charts import Chart, Series, stacked_bars
from piiloom.evaluation.pages.tables import ReportTable

_ROWS = 25  # of a chart
_TABLE_ROWS = 200
_MATRIX = 40  # types
_NAME = 60  # characters of a label
OTHERS = "others"

# The classes of CLASSES, in their order, as charts mark them.
_MARKS = ("unjudged", "low", "high", "hollow")
TITLES: dict[Dimension, str] = {
    "type": "Errors by type",
    "characters": "Errors by length in characters",
    "words": "Errors by length in words",
    "position": "Errors by place in the text",
    "locale": "Errors by locale",
    "subject": "Errors by subject",
}
_NOTES: dict[Dimension, str] = {
    "type": "The type in gold; of a spurious mention the predicted one.",
    "characters": "Length of the gold mention; of a spurious one its own.",
    "words": "Words between blanks, of the gold mention; of a spurious one its own.",
    "position": "The tenth of the text in which the mention begins, 1 to 10.",
    "locale": "The locale of the document.",
    "subject": "The person whom a gold mention is about, where the file says so.",
}
_READING = "Each gold mention counts once; a spurious one has no gold mention beside it."


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """``shade``: 0 to 10, the share of its row, 0 only for none; ``right``: gold and predicted type are the same."""

    number: int
    shade: int
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Gold types by predicted types. ``columns`` ends with missed, ``rows`` (name, cells) with spurious; ``merged`` types are "others"."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MatrixCell, ...]], ...]
    merged: int


def charts(counts: ErrorCounts) -> list[Chart]:
    """Return a chart for each dimension that tells mentions apart."""
    return [_chart(counts, name) for name in DIMENSIONS if len(counts.labels(name)) > 1 or name == "type"]


def rows_in_classes(counts: ErrorCounts, dimension: Dimension, most: int = _ROWS) -> list[tuple[str, tuple[int, ...]]]:
    """Return (label, mentions of each of ``CLASSES``) of a dimension; beyond *most* they are one row, "others"."""
    labels = counts.labels(dimension)
    kept = labels if len(labels) <= most else labels[: most - 1]
    rows = [(label, tuple(counts.of(dimension, label, kinds) for kinds in CLASSES.values())) for label in kept]
    rest = [[counts.of(dimension, label, kinds) for label in labels[len(kept) :]] for kinds in CLASSES.values()]
    return [*rows, *([(OTHERS, tuple(map(sum, rest)))] if len(kept) < len(labels) else [])]


def matrix(counts: ErrorCounts, most: int = _MATRIX) -> Matrix:
    """Return the confusion matrix of the *most* frequent types."""
    sizes: dict[str, int] = {}
    for pair, number in counts.confusion.items():
        for name in {one for one in pair if one is not None}:
            sizes[name] = sizes.get(name, 0) + number
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    kept = set(ranked if len(ranked) <= most else ranked[: most - 1])
    numbers: dict[tuple[str | None, str | None], int] = {}
    for (gold, found), number in counts.confusion.items():
        key = (gold if gold is None or gold in kept else OTHERS, found if found is None or found in kept else OTHERS)
        numbers[key] = numbers.get(key, 0) + number
    names: list[str | None] = [*sorted(kept), *([OTHERS] if len(kept) < len(ranked) else []), None]
    rows = []
    for gold in names:
        line = [numbers.get((gold, found), 0) for found in names]
        whole = sum(line)
        cells = tuple(
            MatrixCell(number=number, shade=-(-10 * number // whole) if number else 0, right=gold == found and gold is not None)
            for found, number in zip(names, line, strict=True)
        )
        rows.append((SPURIOUS if gold is None else visible(gold), cells))
    columns = tuple(MISSED if name is None else visible(name) for name in names)
    return Matrix(columns=columns, rows=tuple(rows), merged=len(ranked) - len(kept))


def _chart(counts: ErrorCounts, dimension: Dimension) -> Chart:
    title, note = TITLES[dimension], _NOTES[dimension]
    series = tuple(Series(name=name, kind=mark) for name, mark in zip(CLASSES, _MARKS, strict=True))
    rows = [(short(visible(label), _NAME), numbers) for label, numbers in rows_in_classes(counts, dimension)]
    svg = stacked_bars(f"{title}: mentions", rows, series, "mentions")
    return Chart(name=dimension, title=title, note=f"{note} {_READING}", svg=svg, table=_table(counts, dimension, title), legend=series)


def _table(counts: ErrorCounts, dimension: Dimension, title: str) -> ReportTable:
    labels = counts.labels(dimension)
    rows = []
    for label in labels[:_TABLE_ROWS]:
        by = {kind: counts.of(dimension, label, (kind,)) for kind in KINDS}
        gold = sum(number for kind, number in by.items() if kind not in CLASSES[SPURIOUS])
        cells = (by["correct"], by["missed"], by["wrong type"], sum(by[kind] for kind in BOUNDARY), by["wrong relevance"])
        spurious = by["spurious"] + by["not in the text"]
        rows.append(
            (Quoted(short(label, _NAME)), count(gold), *map(count, cells), count(spurious), percent(by["correct"] / gold if gold else None))
        )
    columns = (dimension, "in gold", "correct", "missed", "wrong type", "boundary", "wrong relevance", "spurious", "correct of gold")
    note = f"The first {_TABLE_ROWS} of {len(labels):,}." if len(labels) > _TABLE_ROWS else ""
    return ReportTable(title=title, columns=columns, rows=tuple(rows), note=note)
