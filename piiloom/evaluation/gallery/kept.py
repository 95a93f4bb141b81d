"""A document with errors, cut to what the page shows: of a long text only what stands around its errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from piiloom.evaluation.gallery.errors import Row
from piiloom.evaluation.inputs.documents import Mention, Pair
from piiloom.evaluation.pages.cells import short

# Code points of a text that are kept whole, and about as many of a longer one.
LONGEST = 4000
_AROUND = 300  # on either side of an error
_GAP = 100  # fewer are not left out
_LONG_MENTION = 1000  # of a longer one, the end is not kept
_MOST_ERRORS = 40
_MOST_CORRECT = 200
_LONGEST_VALUE = 300
_MOST_MENTIONS = 20  # of one row on either side


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


def _cut_value(mention: Mention) -> Mention:
    return mention if len(mention.text) <= _LONGEST_VALUE else replace(mention, text=short(mention.text, _LONGEST_VALUE))
