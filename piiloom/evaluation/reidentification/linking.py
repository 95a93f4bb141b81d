"""Documents that the attacker takes to be of one person, because a rare value is left in both."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.releases.grouping import Links
from piiloom.evaluation.reidentification.register import Register


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """Documents linked with another, the groups they form, and the size of the largest."""

    documents: int
    groups: int
    largest: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"documents": self.documents, "groups": self.groups, "largest_group": self.largest}


def linked_by_rare_values(register: Register, bit: int, rare: int) -> Linked:
    """Link documents in which the same value is left, if at most *rare* persons of the register have it."""
    held: dict[int, list[int]] = {}
    for document, values in enumerate(register.left(bit)):
        for value in values:
            held.setdefault(value, []).append(document)
    links = Links(register.size)
    for value, documents in held.items():
        if len(register.holders[value]) <= rare:
            links.join_all(documents)
    sizes = [size for size in Counter(links.roots().tolist()).values() if size > 1]
    return Linked(documents=sum(sizes), groups=len(sizes), largest=max(sizes, default=0))
