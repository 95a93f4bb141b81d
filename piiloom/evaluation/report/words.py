"""Texts as arrays of word ids, on which the figures about wording are computed.

Words are those of ``piiloom.foundation.words``, in lower case. A corpus of 10,000 texts has a million words; as ids in one array
they take eight bytes each, and distinct n-grams can be counted by sorting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from piiloom.foundation.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedTexts:
    """The words of texts. Text *i* is ``ids[bounds[i]:bounds[i + 1]]``; ids are indexes into ``vocabulary``."""

    vocabulary: tuple[str, ...]
    ids: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordedTexts:
        """Create it from *texts*."""
        numbers: dict[str, int] = {}
        ids: list[int] = []
        bounds = [0]
        for text in texts:
            ids += [numbers.setdefault(word.lower(), len(numbers)) for word in words(text)]
            bounds.append(len(ids))
        return cls(vocabulary=tuple(numbers), ids=np.array(ids, dtype=np.int64), bounds=np.array(bounds, dtype=np.int64))

    def __len__(self) -> int:
        return self.bounds.size - 1

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of words of each text, shape (texts,)."""
        return np.diff(self.bounds)

    def words_of(self, number: int, first: int | None = None) -> tuple[str, ...]:
        """Return the words of text *number*, only the *first* so many if given."""
        start, end = int(self.bounds[number]), int(self.bounds[number + 1])
        end = end if first is None else min(end, start + first)
        return tuple(self.vocabulary[word] for word in self.ids[start:end].tolist())

    def key(self, number: int) -> bytes:
        """Return a key of text *number* that is equal exactly for texts with the same words in the same order."""
        return self.ids[self.bounds[number] : self.bounds[number + 1]].tobytes()

    def beginning(self, order: Iterable[int], size: int) -> WordedTexts:
        """Return the texts with the numbers in *order*, up to *size* words in total; the last text may be cut."""
        parts: list[NDArray[np.int64]] = []
        bounds = [0]
        for number in order:
            if bounds[-1] >= size:
                break
            part = self.ids[self.bounds[number] : self.bounds[number + 1]][: size - bounds[-1]]
            parts.append(part)
            bounds.append(bounds[-1] + part.size)
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        return WordedTexts(vocabulary=self.vocabulary, ids=ids, bounds=np.array(bounds, dtype=np.int64))


def distinct_shares(texts: WordedTexts) -> tuple[float | None, ...]:
    """Return distinct-n for each n in ``ORDERS``: the number of different n-grams divided by that of all; None without n-grams.

    N-grams do not cross text boundaries. The count is exact: the id of an n-gram is made from the id of its first n-1 words and the id
    of its last word.
    """
    owner = np.repeat(np.arange(len(texts)), texts.lengths())
    starts = np.arange(texts.ids.size)
    grams = texts.ids
    shares: list[float | None] = []
    for order in ORDERS:
        if order > 1:
            whole = starts + order - 1 < texts.ids.size
            starts, grams = starts[whole], grams[whole]
            inside = owner[starts] == owner[starts + order - 1]
            starts, grams = starts[inside], grams[inside]
            grams = grams * len(texts.vocabulary) + texts.ids[starts + order - 1]
        different, grams = np.unique(grams, return_inverse=True)
        shares.append(different.size / grams.size if grams.size else None)
    return tuple(shares)
