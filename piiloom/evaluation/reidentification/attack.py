"""The attack: what is left in each document under each policy of masking, how unique that is, and what links documents.

docs/reidentification.md states the attacker's rules.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import combinations
from math import comb
from statistics import median_low
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.normalising import value_form
from piiloom.corpus.releases.grouping import Links
from piiloom.evaluation.inputs.documents import AnnotatedDocument
from piiloom.evaluation.schemes.masking import found_ranges, is_covered
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.repeated_ids import text_hash

# Combinations of up to three values are tried, of the twelve rarest of a document: 298 at most.
LARGEST: Final = 3
SEARCHED: Final = 12


class ValueRegister:
    """The distinct values of persons, by key: rows of (person, value, bits), ascending, of which both are numbered from 0 on.

    What is left anywhere of a value of a person is left. *values*: rows of (person, value, bits of the policies under which it can be
    read), in any order. All numbers follow the order of the keys, whatever that of the documents is.
    """

    def __init__(self, persons: Collection[int], values: tuple[array[int], array[int], array[int]]) -> None:
        self.size = len(persons)
        known = np.sort(np.fromiter(persons, dtype=np.uint64, count=self.size))
        of, keys, left = (np.array(column, dtype=column.typecode) for column in values)
        distinct, numbers = np.unique(keys, return_inverse=True)
        width = max(1, len(distinct))
        pairs, back = np.unique(np.searchsorted(known, of) * width + numbers, return_inverse=True)
        self._persons, self._values = np.divmod(pairs, width)
        self._bits = np.zeros(len(pairs), dtype=np.uint8)
        np.bitwise_or.at(self._bits, back, left)

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


MaskPolicy = Literal["none", "relevance-aware", "predictions", "surrogates", "all"]
# What is masked, from the least to the most.
POLICIES: Final[tuple[MaskPolicy, ...]] = ("none", "relevance-aware", "predictions", "surrogates", "all")
# First k of each bar of the histogram; the last is open.
BINS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
SMALL: Final = 5
NAME_TYPES: Final = ("name",)
RARE: Final = 3
_BITS: Final = {policy: 1 << number for number, policy in enumerate(POLICIES)}
_WHY_NOT: Final[dict[MaskPolicy, str]] = {
    "relevance-aware": "no value has a relevance",
    "predictions": "there are no predictions",
    "surrogates": "there are no surrogates",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A document with its true values (a mention's text is "" where its original is not known).

    ``found``: what a detector found in it, if its predictions are what is masked. ``surrogates``: what stands in the place of each mention
    of the document, in their order, if they have been replaced.
    """

    document: AnnotatedDocument
    found: AnnotatedDocument | None = None
    surrogates: tuple[str, ...] | None = None


@lru_cache(maxsize=1 << 16)
def value_key(entity_type: str, value: str) -> int:
    """Return a 64-bit key of a value (in any spelling that has the same form); 0 if nothing is left of it."""
    form = value_form(entity_type, value)
    return text_key(entity_type, form) if form else 0


def text_key(*texts: str) -> int:
    """Return a 64-bit key of *texts*, the same in every process; never 0."""
    return text_hash("\0".join(texts)) or 1


def still_read(subject: Subject, policy: MaskPolicy) -> list[bool] | None:
    """Say of each mention of the document whether its true value can be read; None if *subject* does not allow the policy.

    - ``none``: all can; ``all``: none can.
    - ``relevance-aware``: those of high relevance can.
    - ``predictions``: those that predictions, of whatever type, do not cover (``schemes.masking``). (A mention without a place: no
      prediction without a place has its value.)
    - ``surrogates``: those whose surrogate is the value itself.
    """
    mentions = subject.document.mentions
    if policy == "none":
        return [True] * len(mentions)
    if policy == "all":
        return [False] * len(mentions)
    if policy == "relevance-aware" and any(one.relevance is not None for one in mentions):
        return [one.relevance == "high" for one in mentions]
    if policy == "predictions" and subject.found is not None:
        ranges, values = found_ranges(subject.found), {value_form("", one.text) for one in subject.found.mentions if one.place is None}
        return [not (value_form("", one.text) in values if one.place is None else is_covered(one, ranges)) for one in mentions]
    if policy == "surrogates" and subject.surrogates is not None:
        forms = ((one.entity_type or "", one.text, new) for one, new in zip(mentions, subject.surrogates, strict=True))
        return [value_form(kind, text) == value_form(kind, new) for kind, text, new in forms]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFigures:
    """The documents under one policy.

    ``values``: distinct values left, summed over documents. ``holding``: documents with any. ``unique``: those of k = 1; ``small``: those
    of k < 5. ``unique_by[n]``: those that n of their values suffice to tell, or fewer. ``in_part``: those for which a smaller
    combination may have been missed. ``alone``: see ``uniqueness.alone``. ``histogram``: documents by bin of k.
    """

    values: int
    holding: int
    unique: int
    small: int
    unique_by: Mapping[int, int]
    in_part: int
    alone: int
    least_k: int
    median_k: int
    histogram: Mapping[str, int]
    linked: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {
            "values_left": self.values,
            "documents_with_values": self.holding,
            "unique": self.unique,
            "unique_by": {str(size): number for size, number in self.unique_by.items()},
            "unique_searched_in_part": self.in_part,
            "alone_in_what_is_left": self.alone,
            "k": {"least": self.least_k, "median": self.median_k, f"below_{SMALL}": self.small, "histogram": dict(self.histogram)},
            "linked_by_rare_values": dict(self.linked),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFigures:
    """The figures of all policies. ``documents`` are distinct texts, ``records`` what was read; ``types`` None: all."""

    records: int
    documents: int
    types: tuple[str, ...] | None
    name_types: tuple[str, ...]
    rare: int
    policies: Mapping[MaskPolicy, PolicyFigures]
    surrogate_names: Mapping[str, int] | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {
            "records": self.records,
            "documents": self.documents,
            "attacker": {
                "types": None if self.types is None else list(self.types),
                "rare": self.rare,
                "largest_combination": LARGEST,
                "values_searched": SEARCHED,
            },
            "policies": {policy: one.to_json() for policy, one in self.policies.items()},
            "surrogate_names": None if self.surrogate_names is None else dict(self.surrogate_names),
        }


def policy_figures(register: ValueRegister, bit: int, rare: int) -> PolicyFigures:
    """Sum the standings of all documents up."""
    all_k, left, smallest, in_part = zip(*standings(register, bit), strict=True)
    return PolicyFigures(
        values=sum(left),
        holding=sum(number > 0 for number in left),
        unique=all_k.count(1),
        small=sum(k < SMALL for k in all_k),
        unique_by={size: sum(one is not None and one <= size for one in smallest) for size in range(1, LARGEST + 1)},
        in_part=sum(in_part),
        alone=alone(register, bit),
        least_k=min(all_k),
        median_k=median_low(all_k),
        histogram=_binned(all_k),
        linked=linked_by_rare_values(register, bit, rare),
    )


def _binned(all_k: Sequence[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for first, after in zip(BINS, (*BINS[1:], None), strict=True):
        name = f"{first}+" if after is None else str(first) if after == first + 1 else f"{first}-{after - 1}"
        found[name] = sum(first <= k and (after is None or k < after) for k in all_k)
    return found


class Attack:
    """Takes subjects in, one pass, and keeps numbers only.

    *policies*: those to attack; None: all that the subjects allow. *types*: the types that the attacker looks at; None: all. *name_types*:
    those whose surrogates are compared. *rare*: how many documents at most have a value that links them.
    """

    def __init__(
        self,
        *,
        policies: Sequence[MaskPolicy] | None = None,
        types: Collection[str] | None = None,
        name_types: Collection[str] = NAME_TYPES,
        rare: int = RARE,
    ) -> None:
        if rare < 2:
            raise UsageError("a value links two documents at least", where="--rare", remedy="Give 2 or more")
        self._policies = policies
        self._types = None if types is None else frozenset(types)
        self._name_types = frozenset(name_types)
        self._rare = rare
        self._persons: set[int] = set()
        self._values = array("Q"), array("Q"), array("B")  # person and value, by key, and the bits of the policies that leave it
        self._names: set[tuple[int, int, int]] = set()  # surrogate, original (0: not known) and person
        self._records = 0
        self._allowed: set[MaskPolicy] = set()

    def add(self, subject: Subject) -> None:
        """Take one document in. Documents of the same text are about the same person, and what is left in any of them is known."""
        self._records += 1
        document = subject.document
        # A table of entities has no text: each of its documents is a person of its own.
        named = ("document", str(self._records)) if document.text is None else ("text", document.text)
        person = text_key(*named)
        self._persons.add(person)
        bits = [0] * len(document.mentions)
        for policy in self._policies or POLICIES:
            read = still_read(subject, policy)
            if read is not None:
                self._allowed.add(policy)
                bits = [known | _BITS[policy] * left for known, left in zip(bits, read, strict=True)]
        for place, (mention, left) in enumerate(zip(document.mentions, bits, strict=True)):
            entity_type = mention.entity_type or ""
            if self._types is not None and entity_type not in self._types:
                continue
            value = value_key(entity_type, mention.text)
            if value:
                for column, number in zip(self._values, (person, value, left), strict=True):
                    column.append(number)
            if subject.surrogates is not None and entity_type in self._name_types:
                surrogate = value_key(entity_type, subject.surrogates[place])
                if surrogate:
                    self._names.add((surrogate, value, person))

    def figures(self) -> AttackFigures:
        """Return the figures. Raises ``DataError`` if there are no documents, ``UsageError`` for a policy that they do not allow."""
        if not self._records:
            raise DataError("there are no documents to attack", remedy="Name a file or release that has some")
        for policy in self._policies or ():
            if policy not in self._allowed:
                raise UsageError(_WHY_NOT[policy], where=f"--mask {policy}", remedy="Leave it out")
        register = ValueRegister(self._persons, self._values)
        wanted = [policy for policy in POLICIES if policy in (self._policies or self._allowed)]
        return AttackFigures(
            records=self._records,
            documents=register.size,
            types=None if self._types is None else tuple(sorted(self._types)),
            name_types=tuple(sorted(self._name_types)),
            rare=self._rare,
            policies={policy: policy_figures(register, _BITS[policy], self._rare) for policy in wanted},
            surrogate_names=surrogate_links(self._names),
        )
