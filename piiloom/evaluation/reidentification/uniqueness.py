"""How many persons of the register each document may be of, and how few of its values suffice to tell.

The candidates of a document are all persons who have every value that is left in it; k is their number, at least 1 since the person
whom it is about is among them. Masking more only ever adds candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Final

from piiloom.evaluation.reidentification.register import Register

# Combinations of up to three values are tried, of the twelve rarest of a document: 298 at most.
LARGEST: Final = 3
SEARCHED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One document: its ``k``, and the size of the smallest combination found that only its person has.

    ``smallest`` is None if all its values together do not tell (k > 1), or if more than ``LARGEST`` are needed. ``in_part``: it has more
    values than are searched, and a smaller combination may have been missed.
    """

    k: int
    left: int
    smallest: int | None
    in_part: bool = False


def standings(register: Register, bit: int) -> Iterator[Standing]:
    """Yield the standing of each document under the policy of *bit*."""
    holders = register.holders
    for person, values in enumerate(register.left(bit)):
        if not values:
            yield Standing(k=register.size, left=0, smallest=None)
            continue
        sets = sorted((holders[value] for value in values), key=len)  # stable, so the order of the values decides between equals
        k = len(reduce(frozenset.__and__, sets))
        smallest = _smallest(person, sets[:SEARCHED]) if k == 1 else None
        in_part = k == 1 and len(sets) > SEARCHED and (smallest or LARGEST + 1) > 2
        yield Standing(k=k, left=len(sets), smallest=smallest, in_part=in_part)


def alone(register: Register, bit: int) -> int:
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
