"""What a gate is, what it may know, and what it answers.

A gate judges a finished record from the record itself and from what was asked for, nothing else: not the provider's
word, not the stage results. Its reason codes are stable strings, ``<gate>.<fault>``; they end up in rejects, statistics
and the words with which a stage asks again. A detail names ids, types and offsets and never quotes the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from piiloom.corpus.record import Record, Relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """A value that the context must mention; ``text`` is the spelling agreed on (a repaired one replaces the drawn one)."""

    id: str
    text: str
    entity_type: str
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What was asked for.

    ``min_words`` and ``max_words`` bound the context (``piiloom.foundation.words`` counts; None: no upper bound). ``language`` is
    an ISO 639-1 code. ``high_types`` must each have a high-relevance span; None means both types of ``pair``, () that nothing matters.
    """

    pair: tuple[str, str]
    values: tuple[ExpectedValue, ...] = ()
    min_words: int = 1
    max_words: int | None = None
    language: str = "en"
    high_types: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a record is refused."""

    code: str
    detail: str


@runtime_checkable
class Gate(Protocol):
    """One reason, or one family of reasons, to refuse a record. ``codes`` explains every code it can give."""

    @property
    def name(self) -> str:
        """The part of its codes before the dot."""

    @property
    def codes(self) -> Mapping[str, str]:
        """Code to explanation."""

    def check(self, record: Record, expected: Expectations) -> Verdict | None:
        """None when the record may pass."""


@runtime_checkable
class MemoryGate(Gate, Protocol):
    """A gate that compares records with each other, in the order in which they come."""

    def prime(self, record: Record) -> None:
        """Remember *record* without judging it (it was accepted before)."""
