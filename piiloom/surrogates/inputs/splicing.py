"""Replace ranges of a text inside a file that encodes the text with escapes, entities or markup.

A text is a sequence of pieces: runs that are in the file literally, and single characters that the file escapes. Between pieces the
file may have content that is no text (tags), which is never changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from piiloom.surrogates.documents import Replaced

Change = tuple[int, int, str]  # start and end in the file, and what comes there


class Piece(NamedTuple):
    """A piece: ``text[start:end]`` is written as ``raw[raw_start:raw_end]``.

    Equal lengths mean that both are the same characters; otherwise the piece is one escaped character.
    """

    start: int
    end: int
    raw_start: int
    raw_end: int


def spliced(raw: str, start: int, end: int, pieces: Sequence[Piece], replaced: Replaced, spell: Callable[[str], str]) -> str:
    """Return ``raw[start:end]`` with the surrogates of *replaced* put in.

    Each surrogate is escaped by *spell* and put where the range that it replaces begins. *spell* is called once per surrogate, in order.
    """
    return changed(raw, start, end, changes_of(pieces, replaced, spell))


def changed(raw: str, start: int, end: int, changes: Iterable[Change]) -> str:
    """Return ``raw[start:end]`` with *changes* (in order, disjoint)."""
    out: list[str] = []
    at = start
    for cut, cut_end, new in changes:
        out += (raw[at:cut], new)
        at = cut_end
    out.append(raw[at:end])
    return "".join(out)


def changes_of(pieces: Sequence[Piece], replaced: Replaced, spell: Callable[[str], str]) -> Iterator[Change]:
    """Yield the changes to the file that put the surrogates of *replaced* in."""
    starts = [piece.start for piece in pieces]
    for place in replaced.placed:
        number = bisect_right(starts, place.start) - 1
        new = spell(replaced.text[place.new_start : place.new_end])
        while number < len(pieces) and pieces[number].start < place.end:
            piece = pieces[number]
            if piece.end - piece.start == piece.raw_end - piece.raw_start:
                cut = piece.raw_start + max(0, place.start - piece.start)
                cut_end = piece.raw_start + min(place.end, piece.end) - piece.start
            else:
                cut, cut_end = piece.raw_start, piece.raw_end
            yield cut, cut_end, new
            new = ""
            number += 1


def respelt(text: str, replaced: Replaced, spell: Callable[[str], str]) -> str:
    """Return *text* with the surrogates of *replaced*, each escaped by *spell*; for a text that is in the file literally."""
    out: list[str] = []
    at = 0
    for place in replaced.placed:
        out += (text[at : place.start], spell(replaced.text[place.new_start : place.new_end]))
        at = place.end
    out.append(text[at:])
    return "".join(out)
