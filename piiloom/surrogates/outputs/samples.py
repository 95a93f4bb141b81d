"""Samples of filled texts for ``report.html``: what stood there, and what stands there now.

They never hold an original: where one is known, its kind stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from piiloom.surrogates.documents import Document, Replaced

LOOKED_AT: Final = 500  # documents at the beginning of the input, of which samples are made
_BEFORE, _LENGTH, _MOST, _ANYWAY = 90, 420, 14, 6
_ORIGINAL: Final = re.compile(r"^([^:=]*[:=]).*?([>\])}*#]*)$", re.DOTALL)


class Piece(NamedTuple):
    """A piece of a sample: ``kind`` is "" where nothing changed."""

    kind: str
    before: str
    after: str


class Sample(NamedTuple):
    """A passage of the document at ``place``; ``cut``: whether there is text before and after it."""

    place: str
    pieces: tuple[Piece, ...]
    cut: tuple[bool, bool]


def samples_of(documents: Iterable[tuple[Document, Replaced]]) -> list[Sample]:
    """Return a sample of each document that is looked at and has a surrogate."""
    return [sample_of(document, done) for document, done in documents if document.number < LOOKED_AT and done.placed]


def sample_of(document: Document, replaced: Replaced) -> Sample:
    """Return the passage around the first surrogates."""
    text = document.text
    start = max(0, replaced.placed[0].start - _BEFORE)
    end = min(len(text), start + _LENGTH)
    pieces: list[Piece] = []
    at = start
    for place in replaced.placed:
        if place.end > end and pieces:
            end = min(end, place.start)
            break
        if place.start > at:
            pieces.append(Piece("", text[at : place.start], text[at : place.start]))
        told = document.mentions is not None
        stood = f"‹{place.entity_type}›" if told else _without_original(text[place.start : place.end])
        pieces.append(Piece(place.kind, stood, replaced.text[place.new_start : place.new_end]))
        at = place.end
    end = max(end, at)
    if end > at:
        pieces.append(Piece("", text[at:end], text[at:end]))
    where = document.file if document.line is None else f"{document.file}:{document.line}"
    return Sample(where, tuple(pieces), (start > 0, end < len(text)))


def _without_original(tag: str) -> str:
    """Return the placeholder *tag* without a value that it bears, as in "<<PATIENT:Jack>>"."""
    return _ORIGINAL.sub(r"\1…\2", tag)


class Chosen:
    """Of the samples, in input order, those that are shown: the first ones, and those with a kind that none before has."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._kinds: set[str] = set()

    def add(self, samples: Iterable[Sample]) -> None:
        """Take over what is shown of *samples*."""
        for sample in samples:
            kinds = {piece.kind for piece in sample.pieces if piece.kind}
            if len(self.samples) < _MOST and (len(self.samples) < _ANYWAY or kinds - self._kinds):
                self.samples.append(sample)
                self._kinds |= kinds
