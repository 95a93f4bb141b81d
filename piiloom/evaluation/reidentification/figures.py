"""The figures of an attack: k and uniqueness by policy, and what surrogates of names give away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from piiloom.evaluation.reidentification.linking import Linked
from piiloom.evaluation.reidentification.subjects import Policy
from piiloom.evaluation.reidentification.surrogate_names import SurrogateLinks
from piiloom.evaluation.reidentification.uniqueness import LARGEST, SEARCHED, Standing

# First k of each bar of the histogram; the last is open.
BINS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
SMALL: Final = 5


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
    linked: Linked

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
            "linked_by_rare_values": self.linked.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFigures:
    """The figures of all policies. ``documents`` are distinct texts, ``records`` what was read; ``types`` None: all."""

    records: int
    documents: int
    types: tuple[str, ...] | None
    name_types: tuple[str, ...]
    rare: int
    policies: Mapping[Policy, PolicyFigures]
    surrogate_names: SurrogateLinks | None

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
            "surrogate_names": None if self.surrogate_names is None else self.surrogate_names.to_json(),
        }


def policy_figures(standings: Iterable[Standing], alone: int, linked: Linked) -> PolicyFigures:
    """Sum the standings of all documents up."""
    all_k: Counter[int] = Counter()
    by_size: Counter[int] = Counter()
    values = holding = in_part = 0
    for one in standings:
        all_k[one.k] += 1
        values += one.left
        holding += one.left > 0
        in_part += one.in_part
        if one.smallest is not None:
            by_size[one.smallest] += 1
    return PolicyFigures(
        values=values,
        holding=holding,
        unique=all_k[1],
        small=sum(number for k, number in all_k.items() if k < SMALL),
        unique_by={size: sum(by_size[each] for each in range(1, size + 1)) for size in range(1, LARGEST + 1)},
        in_part=in_part,
        alone=alone,
        least_k=min(all_k),
        median_k=_median(all_k),
        histogram=_binned(all_k),
        linked=linked,
    )


def _median(counts: Counter[int]) -> int:
    """Return the (lower) median of a distribution."""
    left = (counts.total() + 1) // 2
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return 0


def _binned(all_k: Counter[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for first, after in zip(BINS, (*BINS[1:], None), strict=True):
        name = f"{first}+" if after is None else str(first) if after == first + 1 else f"{first}-{after - 1}"
        found[name] = sum(number for k, number in all_k.items() if first <= k and (after is None or k < after))
    return found
