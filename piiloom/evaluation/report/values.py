"""Figures about values: types, their relevance, how often values repeat, whether card numbers are well-formed.

Two mentions have the same value if they have the same type and the same spelling, ignoring case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from stdnum import luhn

from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import Taxonomy

TOP_VALUES = 5
_CARD = re.compile(r"[0-9]{13,19}")
_SEPARATORS = re.compile(r"[ -]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCount:
    """A value (lower-cased), its mentions, and their share of all mentions of the type."""

    value: str
    mentions: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFigures:
    """The figures of one type.

    ``open``: by the taxonomy, values of this type should seldom repeat. ``repeats``: (number of mentions, number of values with so many).
    """

    type: str
    open: bool
    mentions: int
    high: int
    low: int
    unjudged: int
    records: int
    distinct: int
    distinct_share: float
    top: tuple[ValueCount, ...]
    repeats: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFigures:
    """Codes of 13 to 19 digits (spaces and hyphens aside), and how many of them pass the Luhn check."""

    numbers: int
    passing_luhn: int


@dataclass(slots=True)
class _Tally:
    relevance: Counter[str | None] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    records: int = 0


def measure_types(records: Iterable[Record], taxonomy: Taxonomy) -> tuple[TypeFigures, ...]:
    """Measure all types that occur, in the order of *taxonomy*; unknown types follow, sorted by name."""
    tallies: dict[str, _Tally] = {}
    for record in records:
        for span in record.spans:
            tally = tallies.setdefault(span.entity_type, _Tally())
            tally.relevance[span.relevance] += 1
            tally.values[span.text_in(record.context).lower()] += 1
        for name in {span.entity_type for span in record.spans}:
            tallies[name].records += 1
    order = {name: place for place, name in enumerate(taxonomy.types)}
    return tuple(_figures(name, tallies[name], taxonomy) for name in sorted(tallies, key=lambda name: (order.get(name, len(order)), name)))


def measure_cards(records: Iterable[Record]) -> CardFigures:
    """Count card-like numbers among the spans of type "code"."""
    codes = (span.text_in(record.context) for record in records for span in record.spans if span.entity_type == "code")
    cards = [digits for digits in (_SEPARATORS.sub("", code) for code in codes) if _CARD.fullmatch(digits)]
    return CardFigures(numbers=len(cards), passing_luhn=sum(luhn.is_valid(card) for card in cards))


def _figures(name: str, tally: _Tally, taxonomy: Taxonomy) -> TypeFigures:
    mentions = tally.values.total()
    known = taxonomy.types.get(name)
    ranked = sorted(tally.values.items(), key=lambda item: (-item[1], item[0]))
    return TypeFigures(
        type=name,
        open=known is not None and known.open,
        mentions=mentions,
        high=tally.relevance["high"],
        low=tally.relevance["low"],
        unjudged=tally.relevance[None],
        records=tally.records,
        distinct=len(tally.values),
        distinct_share=len(tally.values) / mentions,
        top=tuple(ValueCount(value=value, mentions=count, share=count / mentions) for value, count in ranked[:TOP_VALUES]),
        repeats=tuple(sorted(Counter(tally.values.values()).items())),
    )
