"""What the attacker knows of everybody: all annotated values of all documents, and which of them are left under which policy.

It holds numbers only: a 64-bit key of each distinct text and value, and nine bytes a mention.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RegisterBuilder:
    """Takes down the values of persons, by key. The same person may come up again; what is left anywhere of a value is left."""

    def __init__(self) -> None:
        self._persons: dict[int, int] = {}
        self._values: dict[int, int] = {}
        self._rows = array("I"), array("I"), array("B")

    def person(self, key: int) -> int:
        """Return the number of the person with *key*."""
        return self._persons.setdefault(key, len(self._persons))

    def add(self, person: int, value: int, left: int) -> None:
        """Take down that *person* has the value with this key; the bits of *left* are the policies under which it can be read."""
        for column, number in zip(self._rows, (person, self._values.setdefault(value, len(self._values)), left), strict=True):
            column.append(number)

    def register(self) -> Register:
        """Return the register of what has been taken down."""
        persons, values, left = (np.frombuffer(column, dtype=column.typecode) if column else np.zeros(0, int) for column in self._rows)
        # The same for any order of the documents: values in the order of their keys.
        keys = np.fromiter(self._values, dtype=np.uint64, count=len(self._values))
        rank = np.empty(len(keys), dtype=np.int64)
        rank[np.argsort(keys)] = np.arange(len(keys))
        pairs = persons.astype(np.int64) * max(1, len(keys)) + rank[values]
        distinct, back = np.unique(pairs, return_inverse=True)
        bits = np.zeros(len(distinct), dtype=np.uint8)
        np.bitwise_or.at(bits, back, left.astype(np.uint8))
        return Register(len(self._persons), distinct // max(1, len(keys)), distinct % max(1, len(keys)), bits)


class Register:
    """The distinct values of ``size`` persons: rows of (person, value, bits), ascending. Values are numbered from 0."""

    def __init__(self, size: int, persons: NDArray[np.int64], values: NDArray[np.int64], bits: NDArray[np.uint8]) -> None:
        self.size = size
        self._persons, self._values, self._bits = persons, values, bits

    def left(self, bit: int) -> list[list[int]]:
        """Return, for each person, the values that are left under the policy of *bit*, ascending."""
        chosen = (self._bits & bit) > 0
        return _split(self._persons[chosen], self._values[chosen], self.size)

    @cached_property
    def holders(self) -> Sequence[frozenset[int]]:
        """The persons who have each value, left or not."""
        order = np.argsort(self._values, kind="stable")
        count = int(self._values.max()) + 1 if len(self._values) else 0
        return [frozenset(persons) for persons in _split(self._values[order], self._persons[order], count)]


def _split(keys: NDArray[np.int64], items: NDArray[np.int64], count: int) -> list[list[int]]:
    """Return the *items* of each key from 0 to *count*; *keys* are ascending."""
    ends = np.searchsorted(keys, np.arange(1, count + 1)).tolist()
    flat = items.tolist()
    return [flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)] if count else []
