"""Find repeated ids (or texts) among any number of documents in bounded memory, and make ids unique.

Digests of the ids are in a file, eight bytes per document. They are searched one share at a time (by their first bits). The result is a
file of one 32-bit number per document: how often its id occurred before. A repeated id gets a suffix ``~2``, ``~3`` …; if ids of the
input end like that themselves, the suffix has one tilde more than any of them, so the new ids are unique.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

_WIDTH: Final = 8
_TILDES: Final = re.compile(r"(~+)\d+\Z")
# Digests that are sorted together, on average; takes at most 64 MB of memory.
_SHARE: Final = 1 << 20
_FEW: Final = 1 << 16  # so many are searched without numpy, which takes longer to load


class RepeatedIds(NamedTuple):
    """Where ids repeat: the file ``path`` has a little-endian 32-bit number per document, how often its id occurred before.

    ``mark`` ("~" or longer) goes between the id and the number of its occurrence.
    """

    path: Path
    mark: str


def digests_of(given: Iterable[str | None]) -> tuple[bytes, int]:
    """Return the digests of the ids *given* and the length of the longest run of tildes in an id that ends like ``~2``.

    Eight bytes per document, zeros for one without id; empty if no document has an id.
    """
    ids = list(given)
    if not any(ids):
        return b"", 0
    tildes = max((len(match[1]) for one in ids if one and "~" in one and (match := _TILDES.search(one))), default=0)
    empty = bytes(_WIDTH)
    return b"".join([text_digest(one) if one else empty for one in ids]), tildes


def text_digest(text: str) -> bytes:
    """Return the digest of an id, or of another text, in eight bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_WIDTH).digest()


def text_hash(text: str) -> int:
    """Return ``text_digest`` as a number, which is the same in every process (``hash()`` is not)."""
    return int.from_bytes(text_digest(text), "big")


class IdDigests:
    """Collects the digests of all ids (or whatever else is called *name*) in input order, in a file in *folder*."""

    def __init__(self, folder: Path, name: str = "ids") -> None:
        self._digests = folder / f"{name}.u64"
        self._ordinals = folder / f"{name}.u32"
        self._fh = self._digests.open("wb")
        self._any = False
        self._tildes = 0

    def add(self, digests: bytes, documents: int, tildes: int = 0) -> None:
        """Append the digests of the next *documents* documents; *digests* and *tildes* are results of ``digests_of``."""
        self._any = self._any or bool(digests)
        self._tildes = max(self._tildes, tildes)
        self._fh.write(digests or bytes(_WIDTH * documents))

    def close(self) -> None:
        """Close the file."""
        self._fh.close()

    def repeated(self, documents: int) -> tuple[RepeatedIds | None, int]:
        """Close the file and search it. Return the ``RepeatedIds`` (None if no id repeats) and how many documents repeat an earlier id."""
        self._fh.close()
        repeated = self._write_ordinals(documents) if self._any else 0
        return (RepeatedIds(self._ordinals, "~" * (self._tildes + 1)), repeated) if repeated else (None, 0)

    def _write_ordinals(self, documents: int) -> int:
        if documents > _FEW:
            return self._write_many(documents)
        before: Counter[bytes] = Counter()
        ordinals = array("I")
        with self._digests.open("rb") as fh:
            while digest := fh.read(_WIDTH):
                ordinals.append(before[digest])
                before[digest] += any(digest)
        if repeated := sum(map(bool, ordinals)):
            self._ordinals.write_bytes(ordinals.tobytes())
        return repeated

    def _write_many(self, documents: int) -> int:
        import numpy as np  # noqa: PLC0415 - only for many documents

        shares = max(1, -(-documents // _SHARE))
        bits = max(0, (shares - 1).bit_length())
        digests = np.memmap(self._digests, dtype="<u8", mode="r", shape=(documents,))
        repeated = 0
        out = None
        for share in range(1 << bits):
            places, values = [], []
            for at in range(0, documents, _SHARE):
                block = np.asarray(digests[at : at + _SHARE])
                chosen = block != 0
                if bits:
                    chosen &= (block >> np.uint64(64 - bits)) == np.uint64(share)
                found = np.flatnonzero(chosen)
                places.append(found + at)
                values.append(block[found])
            where, what = np.concatenate(places), np.concatenate(values)
            order = np.argsort(what, kind="stable")
            what = what[order]
            new = np.concatenate(([True], what[1:] != what[:-1])) if len(what) else np.zeros(0, bool)
            starts = np.maximum.accumulate(np.where(new, np.arange(len(what)), 0)) if len(what) else np.zeros(0, int)
            ordinals = np.arange(len(what)) - starts
            again = ordinals > 0
            if again.any():
                if out is None:
                    out = np.memmap(self._ordinals, dtype="<u4", mode="w+", shape=(documents,))
                out[where[order][again]] = ordinals[again]
                repeated += int(again.sum())
        if out is not None:
            out.flush()
        return repeated


def ordinals_of(first: int, count: int, repeated: RepeatedIds) -> Sequence[int]:
    """Return for each of *count* documents, the first being number *first*, how often its id occurred before."""
    ordinals = array("I")
    with repeated.path.open("rb") as fh:
        fh.seek(first * ordinals.itemsize)
        ordinals.fromfile(fh, count)
    return ordinals


def unique_ids(ids: Sequence[str], first: int, repeated: RepeatedIds) -> list[str]:
    """Return the *ids* of consecutive documents, the first being number *first*, with the suffix added to repeated ones."""
    ordinals = ordinals_of(first, len(ids), repeated)
    return [f"{one}{repeated.mark}{number + 1}" if number else one for one, number in zip(ids, ordinals, strict=True)]
