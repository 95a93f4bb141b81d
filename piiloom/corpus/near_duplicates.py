"""Find near-duplicate texts exactly, without comparing every text with every other.

Two texts are near-duplicates when the Jaccard similarity of their sets of 5-word shingles reaches the threshold. Words
are those of ``piiloom.corpus.normalising.text_words``, lower-cased; a text of fewer than five words is one shingle. Texts with the
same words in the same order are duplicates whatever their punctuation, typography and case, because their shingle sets are equal.

The index is a numpy inverted list: every shingle of an indexed text is one sorted 64-bit integer (40 bits of shingle
hash, 24 bits of text number). Looking a text up finds its shingles by binary search and counts how many each earlier
text shares, which *is* the size of the intersection, so nothing is missed (``benchmarks/near_duplicates.py`` compares it
with MinHash, which misses some pairs just above the threshold). Sorted runs are merged when the newest has grown to half
the size of the one before it (a log-structured merge), so adding costs O(log n) amortised; no run grows beyond
``longest_run`` entries, since a merge needs room for both runs once more.

Memory: 8 bytes a shingle, so about 0.8 kB for a text of 100 words, plus its key. At most 2**24 texts. The same calls in
the same order give the same results in every process (CRC-32 of words, no ``hash()``). Two different shingles have the same
40-bit hash with probability 1e-12.

``Wordings`` finds all near-duplicates among texts that are known at once, much faster than by one insertion after another, by the same
definition and hashes. The method is a prefix-filtered all-pairs join (Bayardo 2007; Xiao 2008, PPJoin), vectorised with numpy:

1. Texts with the same words in the same order are one *wording*; only wordings are compared.
2. The shingles of a wording are ordered from the rarest to the most frequent. Two wordings with Jaccard ≥ t share one of the
   first ``n - ceil(t * n) + 1`` shingles of the longer and of the first ``n - ceil(2t/(1+t) * n) + 1`` of the shorter one.
3. A pair that shares such a shingle is a candidate if what follows in both is long enough to reach t; candidates are verified by
   counting all shingles that they share.

Memory: about 40 bytes a shingle while the lists are made, so about 0.4 GB for 100,000 texts of 100 words.
"""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.normalising import text_words

SHINGLE_WORDS = 5
_TEXT_BITS = np.uint64(24)
_TEXT_MASK = np.uint64(2**24 - 1)
_STEP = np.uint64(2**24)  # difference between the first entries of two consecutive hashes
# Odd 64-bit multipliers, one per position in a shingle: the initial hash values of SHA-512 (fractional parts of square roots).
_PLACES = np.array(
    [0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1],
    dtype=np.uint64,
)
# Pads texts of fewer words than a shingle has; no CRC-32, so that "a" and "a a" differ.
NO_WORD = 1 << 32
_PENDING = 64  # number of texts that are collected before they are merged into a sorted run
_LONGEST = 2**22  # entries (32 MB): about 40,000 texts of 100 words


def word_code(word: str) -> int:
    """Return the code of a word: equal for words that differ in case only, in every process."""
    return zlib.crc32(word.lower().encode("utf-8", "surrogatepass"))


def shingle_hashes(text: str) -> NDArray[np.uint64]:
    """Return the sorted, distinct hashes of the 5-word shingles of *text*: 40 bits each, shifted left by 24 bits."""
    codes = [word_code(word) for word in text_words(text)]
    codes += [NO_WORD] * (SHINGLE_WORDS - len(codes))
    return np.unique(mixed_shingles(np.array(codes, dtype=np.uint64)))


def mixed_shingles(column: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the hash of each five consecutive word codes of *column* (at least five): 40 bits, shifted left by 24 bits."""
    count = column.size - SHINGLE_WORDS + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(SHINGLE_WORDS):
        mixed += column[place : place + count] * _PLACES[place]
    mixed ^= mixed >> np.uint64(29)
    mixed *= _PLACES[0]
    return (mixed >> _TEXT_BITS) << _TEXT_BITS


class NearDuplicateIndex:
    """Index of texts by key that finds the near-duplicates of a text.

    *threshold* is the Jaccard similarity in (0, 1] (``ValueError`` otherwise). ``add`` is for filtering: it does *not* index a
    near-duplicate, so a chain of slowly changing texts is compared with the texts that were kept. ``similar`` and ``insert`` are
    for grouping, where every text must be indexed.
    """

    def __init__(self, threshold: float = 0.5, *, longest_run: int = _LONGEST) -> None:
        if not 0.0 < threshold <= 1.0:
            raise ValueError("threshold must lie in (0, 1]")
        self._threshold, self._longest_run = threshold, longest_run
        self._keys: list[str] = []
        self._sizes = np.zeros(1024, dtype=np.int64)
        self._runs: list[NDArray[np.uint64]] = []  # sorted entries, sizes falling from left to right
        self._pending: dict[int, list[int]] = {}  # shifted hash -> numbers of the texts not yet in a run
        self._pending_entries: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, text: str) -> str | None:
        """Return the key of the most similar indexed text if *text* is its near-duplicate; otherwise index *text*, return None."""
        hashes = shingle_hashes(text)
        earlier = self.nearest(hashes)
        if earlier is None:
            self.put(key, hashes)
        return earlier

    def nearest(self, hashes: NDArray[np.uint64]) -> str | None:
        """Return the key of the most similar indexed near-duplicate of the text with these ``shingle_hashes``, or None."""
        numbers, similarity = self._matches(hashes)
        return self._keys[int(numbers[similarity.argmax()])] if numbers.size else None

    def similar(self, text: str) -> list[str]:
        """Return the keys of all indexed near-duplicates of *text*, in the order of indexing."""
        return self._similar(shingle_hashes(text))

    def insert(self, key: str, text: str) -> list[str]:
        """Index *text* in any case, and return the keys of its near-duplicates that were indexed before."""
        hashes = shingle_hashes(text)
        found = self._similar(hashes)
        self.put(key, hashes)
        return found

    def _similar(self, hashes: NDArray[np.uint64]) -> list[str]:
        return [self._keys[number] for number in self._matches(hashes)[0]]

    def _matches(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of the texts that reach the threshold, ascending, and their Jaccard similarities."""
        sharing = self._sharing(hashes)
        if not sharing:
            return np.empty(0, dtype=np.int64), np.empty(0)
        shared = np.bincount(np.concatenate(sharing))
        # Jaccard >= t implies that at least a share t of the text's own shingles is shared, which leaves few candidates.
        numbers = np.flatnonzero(shared >= self._threshold * hashes.size - 1e-6)
        common = shared[numbers]
        similarity = common / (self._sizes[numbers] + hashes.size - common)
        reached = similarity >= self._threshold
        return numbers[reached], similarity[reached]

    def _sharing(self, hashes: NDArray[np.uint64]) -> list[NDArray[np.int64]]:
        """Return arrays of text numbers: each text occurs, over all arrays, once per hash in *hashes* that it contains."""
        found: list[NDArray[np.int64]] = []
        for run in self._runs:
            starts = run.searchsorted(hashes)
            # Most shingles are new, so continue only with those whose hash is in the run.
            hits = np.flatnonzero((run[np.minimum(starts, run.size - 1)] & ~_TEXT_MASK) == hashes)
            if hits.size:
                ends = run.searchsorted(hashes[hits] + (_STEP - np.uint64(1)), side="right")
                pieces = [run[start:end] for start, end in zip(starts[hits].tolist(), ends.tolist(), strict=True)]
                found.append((np.concatenate(pieces) & _TEXT_MASK).astype(np.int64))
        recent = [number for value in hashes.tolist() for number in self._pending.get(value, ())]
        if recent:
            found.append(np.array(recent, dtype=np.int64))
        return found

    def put(self, key: str, hashes: NDArray[np.uint64]) -> None:
        """Index the text with these ``shingle_hashes`` without searching for near-duplicates."""
        number = len(self._keys)
        if number == self._sizes.size:
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._sizes[number] = hashes.size
        self._keys.append(key)
        for value in hashes.tolist():
            self._pending.setdefault(value, []).append(number)
        self._pending_entries.append(hashes | np.uint64(number))
        if len(self._pending_entries) == _PENDING:
            self._merge_pending()

    def _merge_pending(self) -> None:
        """Turn the pending texts into a sorted run, then merge runs while the last is at least half as long as the one before.

        No merge makes a run longer than ``longest_run``.
        """
        self._runs.append(np.sort(np.concatenate(self._pending_entries)))
        self._pending.clear()
        self._pending_entries.clear()
        while len(self._runs) > 1 and self._runs[-2].size <= min(2 * self._runs[-1].size, self._longest_run - self._runs[-1].size):
            merged = np.concatenate(self._runs[-2:])
            del self._runs[-2:]
            # Sorted in place after the two parts are freed, to limit peak memory. "stable" (timsort) profits from the sorted parts.
            merged.sort(kind="stable")
            self._runs.append(merged)


Numbers = NDArray[np.int64]
Integer = TypeVar("Integer", np.int64, np.uint64)
# Says which pairs are worth verifying: (wordings, wordings) -> mask.
PairFilter = Callable[[Numbers, Numbers], NDArray[np.bool_]]

_CHUNK = 4096  # texts whose shingles are hashed at once
_BLOCK = 2_000_000  # candidate pairs, or looked-up shingles, that are held at once
_WORDING_BITS = 24
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
    their case, punctuation and typography.
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
                column = array("Q", map(codes.__getitem__, text_words(text)))
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

    def near_pairs(self, threshold: float, *, wanted: PairFilter | None = None) -> Iterator[tuple[Numbers, Numbers]]:
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
        owner = (entries & np.uint64(2**_WORDING_BITS - 1)).astype(np.int64)
        sizes = np.bincount(owner, minlength=count)
        self.wording: Numbers = np.argsort(sizes, kind="stable")
        self._sizes: Numbers = sizes[self.wording]
        place = np.empty(count, dtype=np.int64)
        place[self.wording] = np.arange(count)
        rank, shared = _ranks(entries >> np.uint64(_WORDING_BITS))
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
            pairs = _distinct((left[enough] << _WORDING_BITS) | right[enough])
            yield pairs >> _WORDING_BITS, pairs & (2**_WORDING_BITS - 1)

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
        return (rank << _WORDING_BITS) | self._owner[entries]

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
