"""Find all near-duplicates among texts that are known at once, exactly, much faster than by one insertion after another.

The definition is that of ``piiloom.corpus.near_duplicates`` (Jaccard similarity of sets of 5-word shingles), and so are the hashes.
The method is a prefix-filtered all-pairs join (Bayardo 2007; Xiao 2008, PPJoin), vectorised with numpy:

1. Texts with the same words in the same order are one *wording*; only wordings are compared.
2. The shingles of a wording are ordered from the rarest to the most frequent. Two wordings with Jaccard ≥ t share one of the
   first ``n - ceil(t * n) + 1`` shingles of the longer and of the first ``n - ceil(2t/(1+t) * n) + 1`` of the shorter one.
3. A pair that shares such a shingle is a candidate if what follows in both is long enough to reach t; candidates are verified by
   counting all shingles that they share.

Memory: about 40 bytes a shingle while the lists are made, so about 0.4 GB for 100,000 texts of 100 words.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.near_duplicates import NO_WORD, SHINGLE_WORDS, mixed_shingles, word_code
from piiloom.foundation.words import words

Numbers = NDArray[np.int64]
Integer = TypeVar("Integer", np.int64, np.uint64)
# Says which pairs are worth verifying: (wordings, wordings) -> mask.
Wanted = Callable[[Numbers, Numbers], NDArray[np.bool_]]

_CHUNK = 4096  # texts whose shingles are hashed at once
_BLOCK = 2_000_000  # candidate pairs, or looked-up shingles, that are held at once
_TEXT_BITS = 24
_RANK_BITS = 40
_ROUNDING = 1e-9  # a product such as 0.55 * 20 may come out just above the whole number that it is


class _Codes(dict[str, int]):
    """The code of each word that was asked for."""

    def __missing__(self, word: str) -> int:
        code = self[word] = word_code(word)
        return code


class Wordings:
    """The wordings of *texts*, an iterable that is read once; at most 2**24 wordings.

    ``of_text[n]`` is the wording of text number n: texts have the same one if they have the same words in the same order, whatever
    their case and punctuation.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        numbers: dict[bytes, int] = {}
        of_text = array("q")
        entries: list[NDArray[np.uint64]] = []
        of_spelling: dict[str, int] = {}  # saves the work for texts that come again, as those with several questions
        codes, remaining = _Codes(), iter(texts)
        while chunk := list(islice(remaining, _CHUNK)):
            fresh: list[array[int]] = []
            first = len(numbers)
            for text in chunk:
                if text in of_spelling:
                    of_text.append(of_spelling[text])
                    continue
                column = array("Q", map(codes.__getitem__, words(text)))
                number = numbers.setdefault(hashlib.blake2b(column.tobytes(), digest_size=16).digest(), len(numbers))
                of_spelling[text] = number
                of_text.append(number)
                if number == first + len(fresh):
                    column.extend([NO_WORD] * (SHINGLE_WORDS - len(column)))
                    fresh.append(column)
            if fresh:
                entries.append(_entries(fresh, first))
        self.of_text: Numbers = np.array(of_text, dtype=np.int64)
        self.count = len(numbers)
        self._entries = np.concatenate(entries) if entries else np.empty(0, dtype=np.uint64)

    def near_pairs(self, threshold: float, *, wanted: Wanted | None = None) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield all pairs of different wordings with a Jaccard similarity of at least *threshold*, in blocks of two arrays.

        A pair may come more than once. *wanted* is asked before a block is verified, and leaves out pairs that need not be known
        (as those that are linked already). May be called once: the shingles are given up on the way.
        """
        if not 0.0 < threshold <= 1.0:
            raise ValueError("threshold must lie in (0, 1]")
        lists = _RankedLists(self._entries, self.count)
        self._entries = np.empty(0, dtype=np.uint64)
        for left, right in lists.candidates(threshold):
            asked = slice(None) if wanted is None else np.flatnonzero(wanted(lists.wording[left], lists.wording[right]))
            larger, smaller = left[asked], right[asked]
            similar = lists.similar(larger, smaller, threshold)
            if similar.any():
                yield lists.wording[larger[similar]], lists.wording[smaller[similar]]


def _entries(columns: list[array[int]], first: int) -> NDArray[np.uint64]:
    """Return (shingle hash, wording) for each shingle, 40 and 24 bits; *columns* are the word codes of the wordings *first* and up."""
    lengths = np.array([len(column) for column in columns])
    ends = np.cumsum(lengths)
    joined = np.frombuffer(b"".join(column.tobytes() for column in columns), dtype=np.uint64)
    whole = np.ones(joined.size, dtype=np.bool_)
    for back in range(1, SHINGLE_WORDS):
        whole[ends - back] = False  # what begins here would run on into the next text
    owners = np.repeat(np.arange(first, first + len(columns), dtype=np.uint64), lengths)
    hashes = mixed_shingles(joined)
    return np.asarray(hashes[whole[: hashes.size]] | owners[whole])


class _RankedLists:
    """The shingles of all wordings, in lists from the rarest to the most frequent.

    Wordings are numbered anew by size, the smallest first; ``wording`` gives their old numbers. A shingle is its rank by frequency.
    Those of a single wording are in no list: they match nothing, but count in ``_sizes`` and as the first places of a list (``_alone``).
    """

    def __init__(self, entries: NDArray[np.uint64], count: int) -> None:
        entries = _distinct(entries)
        owner = (entries & np.uint64(2**_TEXT_BITS - 1)).astype(np.int64)
        sizes = np.bincount(owner, minlength=count)
        self.wording: Numbers = np.argsort(sizes, kind="stable")
        self._sizes: Numbers = sizes[self.wording]
        place = np.empty(count, dtype=np.int64)
        place[self.wording] = np.arange(count)
        rank, shared = _ranks(entries >> np.uint64(_TEXT_BITS))
        keys = (place[owner[shared]].astype(np.uint64) << np.uint64(_RANK_BITS)) | rank
        del entries, owner, rank, shared
        keys.sort()
        self._keys = keys
        self._owner: Numbers = (keys >> np.uint64(_RANK_BITS)).astype(np.int64)
        listed = np.bincount(self._owner, minlength=count)
        self._starts: Numbers = np.concatenate([[0], np.cumsum(listed)])
        self._alone: Numbers = self._sizes - listed

    def candidates(self, threshold: float) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield candidate pairs (larger, smaller or as large) in blocks, distinct within a block, sorted by the larger one."""
        least = np.ceil(threshold * self._sizes - _ROUNDING).astype(np.int64)
        place = self._alone[self._owner] + np.arange(self._owner.size) - self._starts[self._owner]
        room = (self._sizes - least)[self._owner]
        probes = np.flatnonzero(place <= room)
        overlap = np.ceil(2 * threshold / (1 + threshold) * self._sizes - _ROUNDING).astype(np.int64)
        indexed = np.flatnonzero(place <= (self._sizes - overlap)[self._owner])
        probes, indexed = self._by_shingle(probes), self._by_shingle(indexed)
        shingle_first = self._shingle_first(indexed)
        own = self._shingle_first(probes)
        smallest = self._sizes.searchsorted(least)
        begin = shingle_first.searchsorted(own - self._owner[probes] + smallest[self._owner[probes]])
        counts = np.maximum(shingle_first.searchsorted(own) - begin, 0)
        left_over = self._sizes[self._owner] - place
        for start, stop in _blocks(counts):
            many = counts[start:stop]
            probe = np.repeat(probes[start:stop], many)
            other = indexed[np.repeat(begin[start:stop] - np.cumsum(many) + many, many) + np.arange(many.sum())]
            left, right = self._owner[probe], self._owner[other]
            needed = np.ceil(threshold / (1 + threshold) * (self._sizes[left] + self._sizes[right]) - _ROUNDING)
            enough = np.minimum(left_over[probe], left_over[other]) >= needed
            pairs = _distinct((left[enough] << _TEXT_BITS) | right[enough])
            yield pairs >> _TEXT_BITS, pairs & (2**_TEXT_BITS - 1)

    def similar(self, left: Numbers, right: Numbers, threshold: float) -> NDArray[np.bool_]:
        """Return which of the pairs reach *threshold*."""
        common = np.zeros(left.size, dtype=np.int64)
        lengths = self._starts[right + 1] - self._starts[right]
        for start, stop in _blocks(lengths):
            many = lengths[start:stop]
            pair = np.repeat(np.arange(start, stop), many)
            at = np.repeat(self._starts[right[start:stop]] - np.cumsum(many) + many, many) + np.arange(many.sum())
            rank = self._keys[at] & np.uint64(2**_RANK_BITS - 1)
            wanted = (left[pair].astype(np.uint64) << np.uint64(_RANK_BITS)) | rank
            found = self._keys.searchsorted(wanted)
            hit = self._keys[np.minimum(found, self._keys.size - 1)] == wanted
            common[start:stop] = np.bincount(pair[hit] - start, minlength=stop - start)
        total = self._sizes[left] + self._sizes[right] - common
        return np.asarray(common / total >= threshold)

    def _shingle_first(self, entries: Numbers) -> Numbers:
        """Return (shingle, owner) of list entries as integers that sort by both."""
        rank = (self._keys[entries] & np.uint64(2**_RANK_BITS - 1)).astype(np.int64)
        return (rank << _TEXT_BITS) | self._owner[entries]

    def _by_shingle(self, entries: Numbers) -> Numbers:
        return entries[np.argsort(self._shingle_first(entries))]


def _distinct(numbers: NDArray[Integer]) -> NDArray[Integer]:
    """Sort *numbers* in place, and return the different ones; quicker than ``np.unique``, which hashes them first."""
    numbers.sort()
    first = np.ones(numbers.size, dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def _ranks(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the rank by frequency of each of the sorted *hashes* that occurs more than once, and the mask of these."""
    first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])) if hashes.size else np.empty(0, dtype=np.int64)
    frequency = np.diff(np.append(first, hashes.size))
    shared = np.repeat(frequency > 1, frequency)
    often = frequency[frequency > 1]
    rank = np.empty(often.size, dtype=np.uint64)
    rank[np.argsort(often, kind="stable")] = np.arange(often.size, dtype=np.uint64)
    return np.repeat(rank, often), shared


def _blocks(counts: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges of positions whose *counts* add up to no more than ``_BLOCK`` (a single one may be larger)."""
    total = np.cumsum(counts)
    start = 0
    while start < counts.size:
        done = total[start - 1] if start else 0
        stop = max(int(total.searchsorted(done + _BLOCK, side="right")), start + 1)
        if total[stop - 1] > done:
            yield start, stop
        start = stop
