"""The register of an attacker (all annotated values of all documents), and what follows from it: uniqueness, and links of documents.

The register holds numbers only: a 64-bit key of each distinct text and value, and nine bytes a mention.

**Uniqueness**: the candidates of a document are all persons who have every value that is left in it; k is their number, at least 1 since
the person whom it is about is among them. Masking more only ever adds candidates.

**Surrogates of names** ("hiding in plain sight"): a reader of a corpus with surrogates cannot tell them from originals. But if the same
person always gets the same surrogate, the documents of that person can be put together; and a surrogate that is a real name of the corpus
is either a value that was not replaced, or points to somebody else.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.releases.grouping import Links

# Combinations of up to three values are tried, of the twelve rarest of a document: 298 at most.
LARGEST: Final = 3
SEARCHED: Final = 12


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

    def register(self) -> ValueRegister:
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
        return ValueRegister(len(self._persons), distinct // max(1, len(keys)), distinct % max(1, len(keys)), bits)


class ValueRegister:
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


def standings(register: ValueRegister, bit: int) -> Iterator[tuple[int, int, int | None, bool]]:
    """Yield, for each document under the policy of *bit*, its k, how many values are left, and the smallest combination that tells.

    That is the size of the smallest combination found that only its person has: None if all its values together do not tell (k > 1), or
    if more than ``LARGEST`` are needed. Last, whether it has more values than are searched, and a smaller one may have been missed.
    """
    holders = register.holders
    for person, values in enumerate(register.left(bit)):
        if not values:
            yield register.size, 0, None, False
            continue
        sets = sorted((holders[value] for value in values), key=len)  # stable, so the order of the values decides between equals
        k = len(reduce(frozenset.__and__, sets))
        smallest = _smallest(person, sets[:SEARCHED]) if k == 1 else None
        yield k, len(sets), smallest, k == 1 and len(sets) > SEARCHED and (smallest or LARGEST + 1) > 2


def alone(register: ValueRegister, bit: int) -> int:
    """Return how many documents have a combination of values left that no other document has: classes of one, as k-anonymity counts.

    Unlike k above, this does not ask what the others had before masking: masking one of two equal documents makes both alone.
    """
    classes = Counter(map(tuple, register.left(bit)))
    return sum(number == 1 for number in classes.values())


def _smallest(person: int, sets: Sequence[frozenset[int]]) -> int | None:
    """Return the size of the smallest combination of *sets* (ascending in size) whose only common member is *person*."""
    if len(sets[0]) == 1:
        return 1
    others = [one - {person} for one in sets]
    for size in range(2, LARGEST + 1):
        for combination in combinations(range(len(sets)), size):
            *first, last = combination
            # Disjointness is known at the first common member; most combinations have one soon.
            if reduce(frozenset.__and__, [others[at] for at in first]).isdisjoint(others[last]):
                return size
    return None


def linked_by_rare_values(register: ValueRegister, bit: int, rare: int) -> dict[str, int]:
    """Link documents in which the same value is left, if at most *rare* persons of the register have it.

    Return the number of documents linked with another, of the groups they form, and the size of the largest.
    """
    held: dict[int, list[int]] = {}
    for document, values in enumerate(register.left(bit)):
        for value in values:
            held.setdefault(value, []).append(document)
    links = Links(register.size)
    for value, documents in held.items():
        if len(register.holders[value]) <= rare:
            links.join_all(documents)
    sizes = [size for size in Counter(links.roots().tolist()).values() if size > 1]
    return {"documents": sum(sizes), "groups": len(sizes), "largest_group": max(sizes, default=0)}


def surrogate_links(rows: Collection[tuple[int, int, int]]) -> dict[str, int] | None:
    """Return what surrogates of names give away; None if there are no surrogates of names.

    *rows*: surrogate, original (0: not known) and document, by key. Linked pairs are pairs of documents that share a surrogate; it stands
    for the same original in both documents of a true pair. Originals, and what surrogates are one of, are those that are known.
    """
    if not rows:
        return None
    documents_of: dict[int, set[int]] = {}
    together: dict[tuple[int, int], set[int]] = {}
    written: dict[int, set[int]] = {}
    originals_of: dict[int, set[int]] = {}
    for surrogate, original, document in rows:
        documents_of.setdefault(surrogate, set()).add(document)
        if original:
            together.setdefault((surrogate, original), set()).add(document)
            written.setdefault(original, set()).add(document)
            originals_of.setdefault(surrogate, set()).add(original)
    unchanged = {new for new in originals_of if not written.get(new, set()).isdisjoint(documents_of[new])}
    shared = {new: documents for new, documents in documents_of.items() if len(documents) > 1}
    return {
        "documents": len({document for _, _, document in rows}),
        "surrogates": len(documents_of),
        "originals": len(written),
        "surrogates_in_several_documents": len(shared),
        "linked_documents": len(set().union(*shared.values())),
        "linked_pairs": sum(comb(len(documents), 2) for documents in shared.values()),
        "truly_linked_pairs": sum(comb(len(documents), 2) for documents in together.values()),
        "originals_with_one_surrogate_in_several_documents": len(
            {original for (_, original), documents in together.items() if len(documents) > 1}
        ),
        "surrogates_that_are_an_original_of_their_document": len(unchanged),
        "surrogates_that_are_an_original_of_another_document": sum(new in written and new not in unchanged for new in originals_of),
        "surrogates_of_several_originals": sum(len(originals) > 1 for originals in originals_of.values()),
    }
