"""Texts with their spans, from which the models learn."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.record import Relevance


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
