"""What goes into the engine and what comes out of it, one document at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from piiloom.surrogates.mentions import Mention


class Document(NamedTuple):
    """One text. ``number`` is its place in the input order (0-based); ``mentions`` are given where spans came with the text."""

    number: int
    id: str
    text: str
    file: str
    line: int | None = None
    mentions: tuple[Mention, ...] | None = None


class Placed(NamedTuple):
    """One surrogate: ``[start, end)`` in the input text became ``[new_start, new_end)`` of the output text.

    ``value_id`` joins what belongs to one person, place or value of the document.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    kind: str
    entity_type: str
    subtype: str | None
    value_id: str
    role: str


@dataclass(slots=True)
class Filled:
    """A document with its surrogates, in text order.

    ``unknown`` and ``left`` are ranges of the input text; ``tallies`` add up to the report.
    """

    text: str
    placed: list[Placed]
    unknown: Sequence[tuple[int, int]] = ()
    left: Sequence[tuple[int, int]] = ()
    tallies: dict[str, int] = field(default_factory=dict)
