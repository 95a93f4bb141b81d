"""Turn topics and subtopics into distinct (pair, topic, subtopic) triplets, in a fixed order.

The order goes round the topics of a pair: the first subtopic of every topic, then the second of every topic, and so on. So
a few records cover many topics, and subtopics are asked for only where they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.stages.phrases import Distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedTriplet:
    """A triplet that repeats an earlier one of its pair; ``code`` says in which way."""

    topic: str
    subtopic: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTriplets:
    """The distinct (topic, subtopic) of a pair in order, as far as known.

    ``missing``: topics whose subtopics must be known before more can be listed. ``complete``: there are no more to be found.
    """

    found: tuple[tuple[str, str], ...]
    dropped: tuple[DroppedTriplet, ...]
    missing: tuple[str, ...]
    complete: bool


def topic_order(topics: Sequence[str], seed: int, pair: tuple[str, str]) -> list[str]:
    """Shuffle the topics of *pair* by *seed*, so that small sets of different seeds differ."""
    ordered = list(topics)
    derive_rng("topic order", seed, pair).shuffle(ordered)
    return ordered


def list_triplets(topics: Sequence[str], subtopics: Mapping[str, Sequence[str]], wanted: int) -> PairTriplets:
    """List up to *wanted* distinct triplets over *topics* (in order); *subtopics* may lack topics not yet asked about.

    A topic that was asked about and given up has an empty list.
    """
    seen = Distinct()
    found: list[tuple[str, str]] = []
    dropped: list[DroppedTriplet] = []
    longest = max((len(entries) for entries in subtopics.values()), default=0)
    for place in range(max(1, longest)):
        for position, topic in enumerate(topics):
            if len(found) == wanted:
                return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=(), complete=False)
            if topic not in subtopics:
                # Everything this round may still need, so that it can be asked for at once.
                still = [t for t in topics[position:] if t not in subtopics][: wanted - len(found)]
                return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=tuple(still), complete=False)
            if place >= len(subtopics[topic]):
                continue
            subtopic = subtopics[topic][place]
            code = seen.add(f"{topic} {subtopic}")
            if code is None:
                found.append((topic, subtopic))
            else:
                dropped.append(DroppedTriplet(topic=topic, subtopic=subtopic, code=code))
    return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=(), complete=True)
