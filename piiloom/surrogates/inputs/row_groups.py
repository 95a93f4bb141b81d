"""Rows of a table that are one document (``--group-by``), such as the turns of a lesson, and texts that lie in several cells.

The document's text has a line for each row: its text, after "speaker: " where a column has the speakers. Each cell is written back to
its own place, so the table keeps its form. The rows of one document follow one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Placed, Replaced
from piiloom.surrogates.inputs.parts import Found, Skip, Slot, without

_AFTER_SPEAKER: Final = ": "


class CellText(NamedTuple):
    """The text of a cell, and where it begins in its document."""

    text: str
    slot: Slot
    at: int = 0


class CellsSlot:
    """The ``Slot`` of a document of which each part lies in a cell of its own. *skips* are the rows of the table that were set aside."""

    __slots__ = ("_cells", "_skips", "end", "start")
    ranges: Final = ()

    def __init__(self, cells: Sequence[CellText], skips: Sequence[Skip] = ()) -> None:
        self._cells, self._skips = cells, skips
        self.start, self.end = min(cell.slot.start for cell in cells), max(cell.slot.end for cell in cells)

    def rest(self, raw: str) -> str:
        """Return what is between the cells."""
        return self._with(raw, [(cell.slot.start, cell.slot.end, "") for cell in self._cells])

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``. Raises ``DataError`` if a placeholder goes from one cell into another."""
        return self._with(
            raw,
            [
                (slot.start, slot.end, slot.rewritten(raw, done) if done.placed else raw[slot.start : slot.end])
                for (_, slot, _), done in zip(self._cells, divided(replaced, self._cells), strict=True)
            ],
        )

    def _with(self, raw: str, cells: list[tuple[int, int, str]]) -> str:
        out: list[str] = []
        at = self.start
        for start, end, new in sorted(cells):
            out += (without(self._skips, raw, at, start), new)
            at = end
        return "".join(out)


def divided(replaced: Replaced, cells: Sequence[CellText]) -> Iterator[Replaced]:
    """Yield the part of *replaced* in each of *cells*, with its own offsets. Raises ``DataError`` if a place is in no cell as a whole."""
    places, number, grown = replaced.placed, 0, 0
    for text, _, at in cells:
        own: list[Placed] = []
        end, new_at = at + len(text), at + grown
        while number < len(places) and places[number].start < end:
            place = places[number]
            if place.start < at or place.end > end:
                break
            start, stop, new_start, new_stop = (place.start - at, place.end - at, place.new_start - new_at, place.new_end - new_at)
            own.append(place._replace(start=start, end=stop, new_start=new_start, new_end=new_stop))
            grown = place.new_end - place.end
            number += 1
        yield Replaced(replaced.text[new_at : end + grown], own)
    if number < len(places):
        raise DataError("a placeholder goes from one cell into another", remedy="Close it in its row, or leave --group-by out")


class RowGroups:
    """Collects the rows of a table, in order, and joins those of one document."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, int, CellText | None, CellText]] = []
        self._ended: set[str] = set()

    def add(self, key: str, line: int, speaker: CellText | None, text: CellText) -> bool:
        """Add a row of the document *key*. Return whether that document is still open: its rows must not lie apart."""
        if self._rows and self._rows[-1][0] != key:
            self._ended.add(self._rows[-1][0])
        self._rows.append((key, line, speaker, text))
        return key not in self._ended

    def found(self, skips: Sequence[Skip]) -> Iterator[Found]:
        """Yield the documents."""
        first = 0
        for number in range(1, len(self._rows) + 1):
            if number == len(self._rows) or self._rows[number][0] != self._rows[first][0]:
                yield self._found(first, number, skips)
                first = number

    def _found(self, first: int, end: int, skips: Sequence[Skip]) -> Found:
        pieces: list[str] = []
        cells: list[CellText] = []
        turns: list[tuple[int, str]] = []
        at = 0
        for _, _, speaker, text in self._rows[first:end]:
            said = [] if speaker is None else [speaker.text, _AFTER_SPEAKER]
            if speaker is not None:
                turns.append((at, speaker.text))
                cells.append(speaker._replace(at=at))
            cells.append(text._replace(at=at + sum(map(len, said))))
            pieces += (*said, text.text, "\n")
            at = cells[-1].at + len(text.text) + 1
        key, line, _, _ = self._rows[first]
        return Found("".join(pieces[:-1]), key or None, line, "", CellsSlot(cells, skips), turns=tuple(turns))
