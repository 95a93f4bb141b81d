"""What every detector offers: ``detect(text, locale, question=None) -> spans``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from piiloom.corpus.record import Relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpan:
    """``text[start:end]`` (code points, half-open) is taken for personal information. Spans of one text may overlap.

    ``entity_type`` is one of the 15 types, ``subtype`` the id of the entity in the catalogue. ``score`` is the detector's confidence, 0
    to 1. ``detector`` names who found it: "patterns", "model", "names index" …. ``validated``: the entity's validator accepted the value;
    None: it has none. ``candidates`` are the ids of all entities that it may be, if there are several, the likeliest first.
    ``relevance_score`` is the probability that the relevance is "high", from detectors that know one.
    """

    start: int
    end: int
    entity_type: str
    subtype: str | None
    score: float
    detector: str
    validated: bool | None = None
    relevance: Relevance | None = None
    candidates: tuple[str, ...] = ()
    relevance_score: float | None = None


@runtime_checkable
class Detector(Protocol):
    """Finds personal information in texts."""

    @property
    def name(self) -> str:
        """How ``--detector`` calls it."""
        ...

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return the spans of *text* in text order. *question* is for detectors that judge relevance; others ignore it.

        Raises ``UsageError`` for a locale that the detector does not know.
        """
        ...


@runtime_checkable
class AsyncDetector(Detector, Protocol):
    """A detector that waits for a model; many texts can be under way at once."""

    async def detect_async(self, text: str, locale: str, question: str | None = None, *, item_id: str = "") -> Sequence[ScoredSpan]:
        """As ``detect``. *item_id* names the text in the journal of calls."""
        ...
