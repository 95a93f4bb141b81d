"""Counts of errors over all documents, by kind, type, length, place, locale and subject, and the types confused; tables, charts."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piiloom.evaluation.gallery.errors import BOUNDARY, KINDS, Row, RowKind
from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.evaluation.pages.charts import Chart, Series, stacked_bars
from piiloom.evaluation.pages.tables import Quoted, ReportTable, as_percent, count, printable, short
from piiloom.foundation.whole_files import drafted

Dimension = Literal["type", "characters", "words", "position", "locale", "subject"]
DIMENSIONS: tuple[Dimension, ...] = ("type", "characters", "words", "position", "locale", "subject")

NO_TYPE = "no type"
NOT_STATED = "not stated"
NO_PLACE = "no place"
MISSED, SPURIOUS = "missed", "spurious"
TENTHS = 10
# The first length of each bin; the last is open.
_CHARACTERS = (1, 5, 10, 15, 20, 30, 50)
_WORDS = (1, 2, 3, 4, 5, 8)
# Kinds in four classes, as charts show them.
CLASSES: dict[str, tuple[RowKind, ...]] = {
    "correct": ("correct",),
    "wrong type, boundary or relevance": ("wrong type", *BOUNDARY, "wrong relevance"),
    MISSED: ("missed",),
    SPURIOUS: ("spurious", "not in the text"),
}
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
_MOST_TYPES = 500


class ErrorCounts:
    """Counts of mentions: each gold mention counts once, by the kind of its row, and each predicted one that no gold mention goes with.

    ``kinds`` are their sums; ``by`` has them by dimension, (label, kind) → mentions; ``confusion`` is (gold type, predicted type) →
    mentions, where None stands for no mention on that side. Of a split mention, the matrix has the gold type with that type among the
    predicted ones, or with the one that was aligned.
    """

    def __init__(self) -> None:
        self.documents = 0
        self.with_errors = 0
        self.gold = 0
        self.found = 0
        self.kinds = Counter[RowKind]()
        self.by: dict[Dimension, Counter[tuple[str, RowKind]]] = {name: Counter() for name in DIMENSIONS}
        self.confusion = Counter[tuple[str | None, str | None]]()

    def add(self, pair: Pair, rows: Sequence[Row]) -> None:
        """Count the *rows* of *pair*."""
        text = pair.gold.text if pair.gold.text is not None else pair.found.text
        locale = pair.gold.locale or pair.found.locale or NOT_STATED
        self.documents += 1
        self.with_errors += any(row.kind != "correct" for row in rows)
        self.gold += len(pair.gold.mentions)
        self.found += len(pair.found.mentions)
        for row in rows:
            for mention in row.counted:
                self.kinds[row.kind] += 1
                self.by["type"][type_name(mention), row.kind] += 1
                self.by["characters"][bin_label(len(mention.text), _CHARACTERS), row.kind] += 1
                self.by["words"][bin_label(len(mention.text.split()), _WORDS), row.kind] += 1
                self.by["position"][_tenth(mention, text), row.kind] += 1
                self.by["locale"][locale, row.kind] += 1
                self.by["subject"][mention.subject or NOT_STATED, row.kind] += 1
                self.confusion[_confused(mention, row)] += 1

    def labels(self, dimension: Dimension) -> list[str]:
        """Return the labels that occur: bins in their order, others by mentions (most first) and name."""
        totals = Counter[str]()
        for (label, _), number in self.by[dimension].items():
            totals[label] += number
        order = _ORDER.get(dimension)
        return sorted(totals, key=lambda label: (order.index(label) if order else -totals[label], label))

    def of(self, dimension: Dimension, label: str, kinds: Sequence[RowKind]) -> int:
        """Return the mentions with *label* whose kind is among *kinds*."""
        return sum(self.by[dimension][label, kind] for kind in kinds)


def type_name(mention: AnnotatedMention) -> str:
    """Return the type, or a name for having none."""
    return NO_TYPE if mention.entity_type is None else mention.entity_type


def bin_label(number: int, edges: Sequence[int]) -> str:
    """Return ``5–9``, or ``50+`` for the last bin; what is below the first is in it."""
    place = max(0, bisect_right(edges, number) - 1)
    if place == len(edges) - 1:
        return f"{edges[place]}+"
    last = edges[place + 1] - 1
    return f"{edges[place]}" if edges[place] == last else f"{edges[place]}–{last}"


def _tenth(mention: AnnotatedMention, text: str | None) -> str:
    if mention.start is None or mention.end is None or not text:
        return NO_PLACE
    return str(min(TENTHS - 1, TENTHS * mention.start // len(text)) + 1)


def _confused(mention: AnnotatedMention, row: Row) -> tuple[str | None, str | None]:
    if not row.gold:
        return None, type_name(mention)
    if not row.found:
        return type_name(mention), None
    given = [type_name(one) for one in row.found]
    return type_name(mention), type_name(mention) if type_name(mention) in given else given[0]


_ORDER: dict[Dimension, list[str]] = {
    "characters": [bin_label(edge, _CHARACTERS) for edge in _CHARACTERS],
    "words": [bin_label(edge, _WORDS) for edge in _WORDS],
    "position": [*(str(tenth) for tenth in range(1, TENTHS + 1)), NO_PLACE],
}


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
        rows.append((SPURIOUS if gold is None else printable(gold), cells))
    columns = tuple(MISSED if name is None else printable(name) for name in names)
    return Matrix(columns=columns, rows=tuple(rows), merged=len(ranked) - len(kept))


def _chart(counts: ErrorCounts, dimension: Dimension) -> Chart:
    title, note = TITLES[dimension], _NOTES[dimension]
    series = tuple(Series(name=name, kind=mark) for name, mark in zip(CLASSES, _MARKS, strict=True))
    rows = [(short(printable(label), _NAME), numbers) for label, numbers in rows_in_classes(counts, dimension)]
    return Chart(
        name=dimension,
        title=title,
        note=f"{note} {_READING}",
        svg=stacked_bars(f"{title}: mentions", rows, series, "mentions"),
        table=_table(counts, dimension, title),
        legend=series,
    )


def _table(counts: ErrorCounts, dimension: Dimension, title: str) -> ReportTable:
    labels = counts.labels(dimension)
    rows = []
    for label in labels[:_TABLE_ROWS]:
        by = {kind: counts.of(dimension, label, (kind,)) for kind in KINDS}
        gold = sum(number for kind, number in by.items() if kind not in CLASSES[SPURIOUS])
        cells = (by["correct"], by["missed"], by["wrong type"], sum(by[kind] for kind in BOUNDARY), by["wrong relevance"])
        spurious = by["spurious"] + by["not in the text"]
        rows.append(
            (
                Quoted(short(label, _NAME)),
                count(gold),
                *map(count, cells),
                count(spurious),
                as_percent(by["correct"] / gold if gold else None),
            )
        )
    return ReportTable(
        title=title,
        columns=(dimension, "in gold", "correct", "missed", "wrong type", "boundary", "wrong relevance", "spurious", "correct of gold"),
        rows=tuple(rows),
        note=f"The first {_TABLE_ROWS} of {len(labels):,}." if len(labels) > _TABLE_ROWS else "",
    )


def write_confusion(path: Path, counts: ErrorCounts) -> None:
    """Write the matrix: gold types by rows, predicted ones by columns; the row spurious and the column missed come last.

    Beyond 500 types the rarest are "others". Raises ``OutputError`` if it cannot be written.
    """
    held = matrix(counts, _MOST_TYPES)
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(["gold", *held.columns])
    writer.writerows([name, *(cell.number for cell in cells)] for name, cells in held.rows)
    with drafted(path) as file:
        file.write(made.getvalue().encode())
