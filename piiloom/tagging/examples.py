"""Texts with their spans, from which the models learn, and a part of them held out in whole groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from piiloom.corpus.record import Relevance
from piiloom.corpus.releases.links import Links
from piiloom.foundation.seeding import derive_rng


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """One gold span; ``relevance`` is None if it has not been judged."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingExample:
    """A text, the question about it ("": none), and its spans, sorted and disjoint.

    Examples that share one of their ``group_keys`` (a story, a scenario …) say too much about each other to learn from one what the other
    is to be tested on.
    """

    context: str
    question: str
    spans: tuple[GoldSpan, ...]
    group_keys: tuple[str, ...] = ()


One = TypeVar("One", bound=TaggingExample)


def groups_of(examples: Sequence[One]) -> list[list[One]]:
    """Return the examples that hang together by a key or by the same context, the group of the first example first."""
    links, holders = Links(len(examples)), dict[str, int]()
    for position, example in enumerate(examples):
        for key in (*(f"key:{key}" for key in example.group_keys), f"text:{example.context}"):
            links.join(holders.setdefault(key, position), position)
    together: dict[int, list[One]] = {}
    for position, example in enumerate(examples):
        together.setdefault(links.root(position), []).append(example)
    return list(together.values())


def split_groups(examples: Sequence[One], share: float, *, seed: int) -> tuple[list[One], list[One]]:
    """Return *examples* in two parts, the second with about *share* of them; no group is in both. One group leaves the second empty."""
    groups = groups_of(examples)
    derive_rng("tagging", "held out", seed).shuffle(groups)
    kept: list[One] = []
    held: list[One] = []
    for group in groups[1:]:
        (held if len(held) < share * len(examples) else kept).extend(group)
    return groups[0] + kept if groups else [], held
