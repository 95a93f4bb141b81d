"""Errors of predictions: their kinds, the rows in which both sides are aligned, counts over all documents, tables and charts.

The gold and the predicted mentions of a document are aligned one way, whatever their order:

1. Mentions of the same place, or of the same string if one of them has no place: those of the same type and relevance first.
2. Of what is left, the two that overlap by most code points, and so on; at a tie the closer ones, then those of the same type, then the
   first in the text.
3. What is left then and overlaps one of two that were aligned in step 2, joins them: a mention is split, or several are merged.
4. The rest is missed, spurious, or not in the text.

Errors are counted by kind, type, length, place, locale and subject, and the types confused.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.evaluation.pages.parts import Chart, Quoted, ReportTable, Series, as_percent, count, printable, short, stacked_bars
from piiloom.foundation.whole_files import drafted

BoundaryKind = Literal["too long", "too short", "shifted", "split", "merged"]
RowKind = Literal["correct", "missed", "spurious", "not in the text", "wrong type", "wrong relevance"] | BoundaryKind

BOUNDARY: tuple[BoundaryKind, ...] = ("too long", "too short", "shifted", "split", "merged")
# All kinds but "correct", in the order in which they are shown.
ERRORS: tuple[RowKind, ...] = ("missed", "spurious", "not in the text", "wrong type", *BOUNDARY, "wrong relevance")
KINDS: tuple[RowKind, ...] = ("correct", *ERRORS)

MEANING: dict[RowKind, str] = {
    "correct": "place, type and relevance (where both state one) as in gold",
    "missed": "a gold mention that no prediction overlaps, or only such as go with others",
    "spurious": "a predicted mention where gold has none, or none that is left",
    "not in the text": "a predicted value that the text does not hold",
    "wrong type": "the place overlaps, but the types differ (the place or the relevance may differ, too)",
    "too long": "the predicted mention holds the gold one and more",
    "too short": "the predicted mention is a part of the gold one",
    "shifted": "both overlap, and each has a part of its own",
    "split": "several predicted mentions for one of gold",
    "merged": "one predicted mention for several of gold",
    "wrong relevance": "place and type are right, high and low are confused",
}
_Key = Callable[[AnnotatedMention], object]
_Numbered = dict[int, AnnotatedMention]  # in the order of the text
# An overlap, the best first when sorted: minus its code points, those of both together, whether type and relevance differ, both numbers.
_Overlap = tuple[int, int, bool, bool, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """Mentions that belong together: one of gold and one predicted, or one and several, or one alone.

    ``gold`` is empty for what is spurious, ``found`` for what was missed; the first of each are those that were aligned, the others
    follow in the order of the text. ``kind`` is the first that holds of wrong type, a boundary error, wrong relevance; ``also`` are
    the others that hold.
    """

    kind: RowKind
    gold: tuple[AnnotatedMention, ...] = ()
    found: tuple[AnnotatedMention, ...] = ()
    also: tuple[RowKind, ...] = ()

    @property
    def counted(self) -> tuple[AnnotatedMention, ...]:
        """The mentions that the row counts for: those of gold, or what was predicted without any."""
        return self.gold or self.found


def judged(gold: Sequence[AnnotatedMention], found: Sequence[AnnotatedMention]) -> Row:
    """Return the row of mentions that were aligned with each other; neither side is empty, and one of them has one mention."""
    kinds: list[RowKind] = []
    if not {one.entity_type for one in gold} & {one.entity_type for one in found}:
        kinds.append("wrong type")
    boundary = _boundary(gold, found)
    if boundary is not None:
        kinds.append(boundary)
    wanted, given = ({one.relevance for one in side} for side in (gold, found))
    if None not in wanted and None not in given and not wanted & given:
        kinds.append("wrong relevance")
    return Row(kinds[0] if kinds else "correct", tuple(gold), tuple(found), tuple(kinds[1:]))


def _boundary(gold: Sequence[AnnotatedMention], found: Sequence[AnnotatedMention]) -> BoundaryKind | None:
    if len(found) > 1:
        return "split"
    if len(gold) > 1:
        return "merged"
    wanted, given = gold[0].place, found[0].place
    if wanted is None or given is None or wanted == given:
        return None
    if given[0] <= wanted[0] and wanted[1] <= given[1]:
        return "too long"
    if wanted[0] <= given[0] and given[1] <= wanted[1]:
        return "too short"
    return "shifted"


def aligned_rows(pair: Pair) -> list[Row]:
    """Return the rows of *pair* in the order of the text, those without a place last; each mention of either side is in exactly one."""
    text = pair.gold.text if pair.gold.text is not None else pair.found.text
    gold, found = dict(enumerate(sorted(pair.gold.mentions, key=_order))), dict(enumerate(sorted(pair.found.mentions, key=_order)))
    rows = [Row("correct", (a,), (b,)) for a, b in _equals(gold, found, _key_of_place(2))]
    if gold and found:
        rows += [judged((a,), (b,)) for key in (_key_of_place(1), _key_of_place(0)) for a, b in _equals(gold, found, key)]
        rows += [judged((a,), (b,)) for a, b in _same_strings(gold, found)]
        rows += _overlapping(gold, found)
    rows += [Row("missed", (one,)) for one in gold.values()]
    for one in found.values():
        absent = one.place is None and text is not None and (not one.text or one.text not in text)
        rows.append(Row("not in the text" if absent else "spurious", (), (one,)))
    return sorted(rows, key=lambda row: (_order(row.counted[0]), not row.gold))


def _order(mention: AnnotatedMention) -> tuple[object, ...]:
    """Return a key that is equal only for mentions that are equal in all that is said of them."""
    place = (1, 0, 0) if mention.start is None or mention.end is None else (0, mention.start, mention.end)
    labels = (mention.entity_type or "", mention.relevance or "", mention.subtype or "", mention.value_id or "", mention.subject or "")
    return (*place, mention.text, mention.entity_type is None, *labels, mention.annotator or "", mention.identifier or "")


def _key_of_place(labels: int) -> _Key:
    """Return a key of the place and so many labels (type, relevance), None for mentions without a place."""
    return lambda one: None if one.place is None else (one.place, one.entity_type, one.relevance)[: 1 + labels]


def _string(labels: int, *, placed: bool) -> _Key:
    """Return a key of the string and so many labels, for mentions with a place or for those without."""
    return lambda one: None if (one.place is not None) != placed else (one.text, one.entity_type, one.relevance)[: 1 + labels]


def _equals(gold: _Numbered, found: _Numbered, key: _Key, found_key: _Key | None = None) -> list[tuple[AnnotatedMention, AnnotatedMention]]:
    """Take the mentions with an equal key that is not None out of both, and return them in twos."""
    offered: defaultdict[object, list[int]] = defaultdict(list)
    for number in reversed(found):
        offered[(found_key or key)(found[number])].append(number)
    offered.pop(None, None)
    taken = [(number, same.pop()) for number, one in gold.items() if (same := offered.get(key(one)))]
    return [(gold.pop(a), found.pop(b)) for a, b in taken]


def _same_strings(gold: _Numbered, found: _Numbered) -> Iterator[tuple[AnnotatedMention, AnnotatedMention]]:
    """Take mentions of the same string, of which one or both have no place, out of both, and yield them in twos."""
    if all(one.place for side in (gold, found) for one in side.values()):
        return
    for labels in (2, 1, 0):
        for wanted, given in ((False, False), (False, True), (True, False)):
            yield from _equals(gold, found, _string(labels, placed=wanted), _string(labels, placed=given))


def _overlapping(gold: _Numbered, found: _Numbered) -> list[Row]:
    """Take the mentions that overlap one of the other side out of both, as far as steps 2 and 3 place them, and return their rows."""
    overlaps = sorted(_overlaps(gold, found))
    groups: dict[tuple[str, int], tuple[list[int], list[int]]] = {}  # by the aligned ones: ("gold", number) and ("found", number)
    placed: set[tuple[str, int]] = set()
    for *_, a, b in overlaps:
        if ("gold", a) not in placed and ("found", b) not in placed:
            groups["gold", a] = groups["found", b] = ([a], [b])
            placed |= {("gold", a), ("found", b)}
    rows = [groups[key] for key in groups if key[0] == "gold"]
    for *_, a, b in overlaps:
        split, merged = groups.get(("gold", a)), groups.get(("found", b))
        if split is not None and ("found", b) not in placed and len(split[0]) == 1:
            split[1].append(b)
            placed.add(("found", b))
        elif merged is not None and ("gold", a) not in placed and len(merged[1]) == 1:
            merged[0].append(a)
            placed.add(("gold", a))
    return [judged([gold.pop(a) for a in _first_then_sorted(one)], [found.pop(b) for b in _first_then_sorted(two)]) for one, two in rows]


def _first_then_sorted(numbers: Sequence[int]) -> list[int]:
    return [numbers[0], *sorted(numbers[1:])]


def _overlaps(gold: _Numbered, found: _Numbered) -> Iterator[_Overlap]:
    """Yield all overlaps, by one way through both in the order of the text; a mention is looked at while it may overlap what begins."""
    sides = (gold, found)
    begins = sorted((one.place, side, number) for side in (0, 1) for number, one in sides[side].items() if one.place)
    running: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for (start, end), side, number in begins:
        facing = running[1 - side]
        facing[:] = [each for each in facing if each[1] > start]
        if end > start:
            for first, last, other in facing:
                a, b = (other, number) if side else (number, other)
                common, both = min(end, last) - start, max(end, last) - first
                differs = gold[a].entity_type != found[b].entity_type, gold[a].relevance != found[b].relevance
                yield -common, both, *differs, a, b
            running[side].append((start, end, number))


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
