"""Facts that depend on a text alone. They are cached, since most edits change spans and not the text."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.mention_search import SearchableText
from piiloom.corpus.normalising import ComparableText, fold
from piiloom.foundation.words import STOP_WORDS, WORD, Range
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.question_leaks import content_stems, stem

# Ends of the pieces in which identifiers are searched. No identifier crosses the end of a line, or of a sentence before a letter. After an
# edit only the piece that changed is searched again.
_PIECE_END = re.compile(r"[.!?] (?=[^\W\d_])|[\r\n]+")


# Where a text can be split for folding: after white space that is directly followed by a word. The folded pieces joined are the folded
# text.
_SEAM = re.compile(r"(?:[.!?] |[\r\n]+)(?=[^\W\d_])")


class _PiecedText(SearchableText):
    """A searchable text that is folded in cached pieces, so that an edit folds only one piece again."""

    @cached_property
    def folded(self) -> ComparableText:
        """What ``fold`` gives for the whole text."""
        seams = [0, *(found.end() for found in _SEAM.finditer(self.text)), len(self.text)]
        pieces = [_folded(self.text[start:end]) for start, end in pairwise(seams)]
        words = [text for text, _ in pieces]
        places = np.concatenate([ranges for _, ranges in pieces], axis=1) + np.repeat(seams[:-1], [len(text) for text in words])
        starts, ends = (array("q", row.tobytes()) for row in places)
        return ComparableText(text="".join(words), starts=starts, ends=ends)


@lru_cache(maxsize=8192)
def _folded(piece: str) -> tuple[str, NDArray[np.int64]]:
    found = fold(piece)
    return found.text, np.array([found.starts, found.ends], dtype=np.int64)


class TextFacts:
    """Facts about one text, each computed on first use and kept. Get it from ``facts_of``; several threads may share it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.searchable = _PiecedText(text)
        self._mentions: dict[str, tuple[Range, ...]] = {}
        self._identifiers: dict[str | None, tuple[tuple[str, Range], ...]] = {}

    @cached_property
    def stems(self) -> tuple[tuple[str, Range], ...]:
        """(stem, range) of each content word, in text order."""
        words = ((found.group().casefold(), found.span()) for found in WORD.finditer(self.text))
        return tuple((stem(word), place) for word, place in words if word not in STOP_WORDS)

    def mentions(self, value: str) -> tuple[Range, ...]:
        """Return the ranges of all whole-word occurrences that a reader takes for *value*."""
        found = self._mentions.get(value)
        if found is None:
            found = self._mentions[value] = tuple(self.searchable.mentions(value))
        return found

    def identifiers(self, region: str | None) -> tuple[tuple[str, Range], ...]:
        """Return (kind, range) of what ``piiloom.screening.identifiers`` finds, in text order. *region* is a country code."""
        found = self._identifiers.get(region)
        if found is None:
            found = self._identifiers[region] = tuple(self._looked_for(region))
        return found

    def _looked_for(self, region: str | None) -> Iterator[tuple[str, Range]]:
        position = 0
        ends = (found.end() for found in _PIECE_END.finditer(self.text))
        for end in (*ends, len(self.text)):
            for kind, (start, stop) in _identifiers(self.text[position:end], region):
                yield kind, (position + start, position + stop)
            position = end


@lru_cache(maxsize=8192)
def _identifiers(piece: str, region: str | None) -> tuple[tuple[str, Range], ...]:
    return tuple(sorted(find_identifiers(piece, region), key=lambda hit: (hit[1][0], -hit[1][1])))


@lru_cache(maxsize=64)
def facts_of(text: str) -> TextFacts:
    """Return the facts of *text*, from a cache of the latest texts if possible."""
    return TextFacts(text)


@lru_cache(maxsize=8192)
def stems_of(value: str) -> frozenset[str]:
    """The stems of the content words of a span's text."""
    return content_stems(value)


@lru_cache(maxsize=8192)
def kind_of(value: str, region: str | None) -> str | None:
    """Return the kind of identifier that *value* is from end to end; None if it is none or only contains one."""
    for kind, place in find_identifiers(value, region):
        if place == (0, len(value)):
            return kind
    return None
