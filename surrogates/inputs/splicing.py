"""Putting new words into a text that a file spells in its own way (escapes, entities, markup in between).

A text is a row of pieces: runs that stand in the file as they are, and single characters that it spells otherwise. Between pieces
the file may hold what is no text (tags): that is never touched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from piiloom.surrogates.documents import Filled


class Piece(NamedTuple):
    """``text[start:end]`` is spelt ``raw[raw_start:raw_end]``; equal lengths mean that both are the same signs, else it is one sign."""

    start: int
    end: int
    raw_start: int
    raw_end: int


def spliced(raw: str, start: int, end: int, pieces: Sequence[Piece], filled: Filled, spell: Callable[[str], str]) -> str:
    """``raw[start:end]`` with the surrogates of *filled*, each spelt by *spell* and put where the range it replaces begins."""
    starts = [piece.start for piece in pieces]
    out: list[str] = []
    at = start
    for place in filled.placed:
        number = bisect_right(starts, place.start) - 1
        new = spell(filled.text[place.new_start : place.new_end])
        while number < len(pieces) and pieces[number].start < place.end:
            piece = pieces[number]
            if piece.end - piece.start == piece.raw_end - piece.raw_start:
                cut = piece.raw_start + max(0, place.start - piece.start)
                cut_end = piece.raw_start + min(place.end, piece.end) - piece.start
            else:
                cut, cut_end = piece.raw_start, piece.raw_end
            out += (raw[at:cut], new)
            new, at = "", cut_end
            number += 1
    out.append(raw[at:end])
    return "".join(out)


def respelt(text: str, filled: Filled, spell: Callable[[str], str]) -> str:
    """The same for a text that the file spells as it is."""
    out: list[str] = []
    at = 0
    for place in filled.placed:
        out += (text[at : place.start], spell(filled.text[place.new_start : place.new_end]))
        at = place.end
    out.append(text[at:])
    return "".join(out)
