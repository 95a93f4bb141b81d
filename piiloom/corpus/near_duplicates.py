"""Find near-duplicate texts exactly, without comparing every text with every other.

Two texts are near-duplicates when the Jaccard similarity of their sets of 5-word shingles reaches the threshold. Words
are those of ``piiloom.foundation.words.WORD``, lower-cased; a text of fewer than five words is one shingle. Texts with the
same words in the same order are duplicates whatever their punctuation and case, because their shingle sets are equal.

The index is a numpy inverted list: every shingle of an indexed text is one sorted 64-bit integer (40 bits of shingle
hash, 24 bits of text number). Looking a text up finds its shingles by binary search and counts how many each earlier
text shares, which *is* the size of the intersection, so nothing is missed (``benchmarks/near_duplicates.py`` compares it
with MinHash, which misses some pairs just above the threshold). Sorted runs are merged when the newest has grown to half
the size of the one before it (a log-structured merge), so adding costs O(log n) amortised; no run grows beyond
``longest_run`` entries, since a merge needs room for both runs once more.

Memory: 8 bytes a shingle, so about 0.8 kB for a text of 100 words, plus its key. At most 2**24 texts. The same calls in
the same order give the same results in every process (CRC-32 of words, no ``hash()``). Two different shingles have the same
40-bit hash with probability 1e-12.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from piiloom.foundation.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    codes = [word_code(word) for word in words(text)]
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
