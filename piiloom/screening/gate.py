"""The interface of a gate, its input (``Expectations``) and its result (``GateVerdict``).

A gate judges a finished record by the record and the expectations alone; it does not use provider or stage results. Reason
codes are stable strings, ``<gate>.<fault>``; they are used in rejects, in statistics and in the prompt of a retry. A
verdict's detail names ids, types and offsets and never quotes the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from piiloom.corpus.record import Record, Relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """A value that the context must mention. ``text`` is the final spelling: a repaired one replaces the one first drawn."""

    id: str
    text: str
    entity_type: str
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What was requested of a record.

    ``pair`` are the two entity types of the record. ``min_words`` and ``max_words`` bound the context (counted by
    ``piiloom.foundation.words``; None: no upper bound). ``language`` is an ISO 639-1 code. Each of ``high_types`` must have a
    high-relevance span; None means both types of ``pair``, () means none. ``lookalikes`` are case-folded texts that need no span.
    """

    pair: tuple[str, ...]
    values: tuple[ExpectedValue, ...] = ()
    min_words: int = 1
    max_words: int | None = None
    language: str = "en"
    high_types: tuple[str, ...] | None = None
    lookalikes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """Why a record is refused: a reason code of the gate and a detail."""

    code: str
    detail: str


@runtime_checkable
class Gate(Protocol):
    """Interface of a gate: a check for one kind of fault. ``codes`` explains every reason code that it can give."""

    @property
    def name(self) -> str:
        """The part before the dot in the gate's reason codes."""

    @property
    def codes(self) -> Mapping[str, str]:
        """Explanation of each reason code."""

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Return why *record* is refused, or None if it passes."""


@runtime_checkable
class MemoryGate(Gate, Protocol):
    """A stateful gate that compares each record with the earlier ones."""

    def prime(self, record: Record) -> None:
        """Store *record*, which was accepted before, without checking it."""
