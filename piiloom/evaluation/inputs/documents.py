"""Annotated documents: what evaluation compares, whatever files they come from.

Unlike records, they may hold overlapping mentions, types that no taxonomy knows, and values without a place in the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from piiloom.corpus.record import Relevance

# What a file says a mention is; "none": it identifies nobody and need not be masked.
IdentifierKind = Literal["direct", "quasi", "none"]
# What a scheme compares: values as strings, each once; mentions as strings, as often as they are there; or mentions by their places.
Needs = Literal["values", "mentions", "places"]
NEEDS: tuple[Needs, ...] = ("places", "mentions", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedMention:
    """One annotated value.

    ``start`` and ``end`` are code points, half-open; both are None if the file gives no place, or none that exists. ``text`` is the
    value as the file has it; if there is a place, it is what stands there. ``entity_type`` is None if the file states none.
    ``annotator`` is set where a file has several annotators, ``identifier`` where it says what kind of identifier a mention is,
    ``score`` (0 to 1) where a detector says how sure it is; ``detector`` is the name of that detector. ``written_relevance`` is the
    spelling of a CAPID file, stripped and in lower case: another one than 1 or 0 has a meaning to ``relevance``, but none to the scheme
    ``capid``.
    """

    text: str
    entity_type: str | None
    start: int | None = None
    end: int | None = None
    relevance: Relevance | None = None
    written_relevance: str | None = None
    subtype: str | None = None
    value_id: str | None = None
    subject: str | None = None
    annotator: str | None = None
    identifier: IdentifierKind | None = None
    score: float | None = None
    detector: str | None = None

    @property
    def place(self) -> tuple[int, int] | None:
        """The range [start, end), or None."""
        return None if self.start is None or self.end is None else (self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedDocument:
    """One text with its mentions, in the order of the file.

    ``id`` is None if the file has none, ``text`` if the file is a table of entities. ``where`` is the file and line it was read from.
    ``malformed`` counts entries that are no annotation (a model's invalid JSON); they are in no mention.
    """

    where: str
    id: str | None = None
    text: str | None = None
    question: str | None = None
    locale: str | None = None
    group_keys: tuple[str, ...] = ()
    mentions: tuple[AnnotatedMention, ...] = ()
    malformed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One document as it should be annotated, and as it was."""

    gold: AnnotatedDocument
    found: AnnotatedDocument


def distinct_values(mentions: Iterable[AnnotatedMention]) -> tuple[AnnotatedMention, ...]:
    """Return one mention of each value, in the order of the first mentions; those without a place come last, in their order.

    As in a CAPID file, which names each value once, it is the first highly relevant mention, or else the first with a relevance, or
    else the first. Blank values are left out.
    """
    by_value: dict[str, list[AnnotatedMention]] = {}
    for mention in sorted(mentions, key=lambda one: (one.start is None, one.start or 0)):
        by_value.setdefault(mention.text, []).append(mention)
    return tuple(
        next((one for relevance in ("high", "low") for one in same if one.relevance == relevance), same[0])
        for value, same in by_value.items()
        if value.strip()
    )


class Collector(Protocol):
    """Sees each pair once, in the order of the gold file; keeps no text unless that is its purpose."""

    def add(self, pair: Pair) -> None:
        """Take note of one pair."""
        ...
