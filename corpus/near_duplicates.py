"""Near-duplicate texts, found exactly and without comparing every text with every other.

Two texts are near-duplicates when the Jaccard similarity of their sets of 5-word shingles reaches the threshold. Words
are those of ``piiloom.foundation.words.WORD``, lower-cased; a text of fewer than five words is one shingle. Texts with the
same words are twins whatever their punctuation and case (their shingle sets are equal).

The index is a numpy inverted list: every shingle of an indexed text is one sorted 64-bit integer (40 bits of shingle
hash, 24 bits of text number). Looking a text up finds its shingles by binary search and counts how many each earlier
text shares, which *is* the size of the intersection, so nothing is missed (``benchmarks/near_duplicates.py`` compares it
with MinHash, which misses some pairs just above the threshold). Sorted runs are merged when the newest has grown to half
the size of the one before it (a log-structured merge), so adding costs O(log n) amortised; no run grows beyond
``longest_run`` entries, since a merge needs room for both runs once more.

Memory: 8 bytes a shingle, so about 0.8 kB for a text of 100 words, beside its key. At most 2**24 texts. Equal calls in
equal order give equal answers in every process (CRC-32 of words, no ``hash()``). Two different shingles share their
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
_STEP = np.uint64(2**24)  # distance between the first entries of two neighbouring hashes
# Odd 64-bit constants (from the fractional digits of square roots, as SHA-512 has them): one for each place in a shingle.
_PLACES = np.array(
    [0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1],
    dtype=np.uint64,
)
_PENDING = 64  # texts that wait, unsorted by text, before they become a sorted run
_LONGEST = 2**22  # entries (32 MB): about 40,000 texts of 100 words


def shingle_hashes(text: str) -> NDArray[np.uint64]:
    """The sorted, distinct hashes of the 5-word shingles of *text*, each shifted left by 24 bits."""
    codes = [zlib.crc32(word.lower().encode("utf-8", "surrogatepass")) for word in words(text)]
    # Fewer words than a shingle has: pad with a code that no CRC-32 equals, so that "a" and "a a" stay apart.
    codes += [1 << 32] * (SHINGLE_WORDS - len(codes))
    column = np.array(codes, dtype=np.uint64)
    count = len(codes) - SHINGLE_WORDS + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(SHINGLE_WORDS):
        mixed += column[place : place + count] * _PLACES[place]
    mixed ^= mixed >> np.uint64(29)
    mixed *= _PLACES[0]
    return np.unique((mixed >> _TEXT_BITS) << _TEXT_BITS)


class NearDuplicateIndex:
    """Texts seen so far, by key; tells which of them a text nearly repeats.

    ``add`` is what a gate needs: a text that duplicates an earlier one is named and *not* indexed, so a chain of
    slowly changing texts is measured against what was kept. ``similar`` and ``insert`` are for grouping, where every
    text must be indexed.
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
        """The key of the most similar earlier text if *text* is its near-duplicate; otherwise index *text* and return None."""
        hashes = shingle_hashes(text)
        earlier = self.nearest(hashes)
        if earlier is None:
            self.put(key, hashes)
        return earlier

    def nearest(self, hashes: NDArray[np.uint64]) -> str | None:
        """The key of the most similar indexed text if the text with these ``shingle_hashes`` is its near-duplicate."""
        numbers, similarity = self._matches(hashes)
        return self._keys[int(numbers[similarity.argmax()])] if numbers.size else None

    def similar(self, text: str) -> list[str]:
        """The keys of all indexed texts that *text* nearly repeats, in the order in which they came."""
        return self._similar(shingle_hashes(text))

    def insert(self, key: str, text: str) -> list[str]:
        """Index *text* in any case and return what ``similar`` gave before."""
        hashes = shingle_hashes(text)
        found = self._similar(hashes)
        self.put(key, hashes)
        return found

    def _similar(self, hashes: NDArray[np.uint64]) -> list[str]:
        return [self._keys[number] for number in self._matches(hashes)[0]]

    def _matches(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of the texts that reach the threshold, rising, and their Jaccard similarities."""
        sharing = self._sharing(hashes)
        if not sharing:
            return np.empty(0, dtype=np.int64), np.empty(0)
        shared = np.bincount(np.concatenate(sharing))
        # Jaccard >= t needs t of the text's own shingles at least: this leaves few texts to divide for.
        numbers = np.flatnonzero(shared >= self._threshold * hashes.size - 1e-6)
        common = shared[numbers]
        similarity = common / (self._sizes[numbers] + hashes.size - common)
        reached = similarity >= self._threshold
        return numbers[reached], similarity[reached]

    def _sharing(self, hashes: NDArray[np.uint64]) -> list[NDArray[np.int64]]:
        """The numbers of the texts that hold each of *hashes*, one array a hash and run."""
        found: list[NDArray[np.int64]] = []
        for run in self._runs:
            starts = run.searchsorted(hashes)
            # Most shingles are new: look only where the entry found has the wanted hash.
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
        """Index the text with these ``shingle_hashes`` without looking for others."""
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
        """Turn the waiting texts into a sorted run, then merge runs while the last is at least half as long as the one before."""
        self._runs.append(np.sort(np.concatenate(self._pending_entries)))
        self._pending.clear()
        self._pending_entries.clear()
        while len(self._runs) > 1 and self._runs[-2].size <= min(2 * self._runs[-1].size, self._longest_run - self._runs[-1].size):
            merged = np.concatenate(self._runs[-2:])
            del self._runs[-2:]
            # In place, after the halves are gone: this is the peak of memory. "stable" recognises the two sorted runs.
            merged.sort(kind="stable")
            self._runs.append(merged)
