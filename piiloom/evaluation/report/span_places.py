"""Where spans stand in their texts, how many a record has, and which types stand together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import Taxonomy

TENTHS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenth:
    """Spans that start in one tenth of their text, by relevance."""

    high: int
    low: int
    unjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypePair:
    """Two types: records planned for this pair, and records in whose text both types occur."""

    first: str
    second: str
    planned: int
    together: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlaces:
    """``tenths``: the ten tenths of a text (by code points), first to last. ``per_record``: (spans, records with so many), ascending.

    ``pairs``: the pairs of types that occur, in taxonomy order.
    """

    tenths: tuple[Tenth, ...]
    per_record: tuple[tuple[int, int], ...]
    pairs: tuple[TypePair, ...]


def measure_places(records: Iterable[Record], taxonomy: Taxonomy) -> SpanPlaces:
    """Count the spans of *records* by place, the records by number of spans, and the pairs of types."""
    tenths = [Counter[str | None]() for _ in range(TENTHS)]
    sizes = Counter[int]()
    planned, together = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    order = {name: place for place, name in enumerate(taxonomy.types)}

    def rank(name: str) -> tuple[int, str]:
        return order.get(name, len(order)), name

    for record in records:
        sizes[len(record.spans)] += 1
        for span in record.spans:
            tenths[TENTHS * span.start // len(record.context)][span.relevance] += 1
        together.update(combinations(sorted({span.entity_type for span in record.spans}, key=rank), 2))
        if record.plan is not None:
            first, second = sorted(record.plan.pair, key=rank)
            planned[first, second] += 1
    return SpanPlaces(
        tenths=tuple(Tenth(high=counts["high"], low=counts["low"], unjudged=counts[None]) for counts in tenths),
        per_record=tuple(sorted(sizes.items())),
        pairs=tuple(
            TypePair(first=a, second=b, planned=planned[a, b], together=together[a, b])
            for a, b in sorted(planned.keys() | together.keys(), key=lambda pair: (rank(pair[0]), rank(pair[1])))
        ),
    )
