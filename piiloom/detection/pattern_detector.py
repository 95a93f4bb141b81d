"""The patterns of the entity catalogue as a detector: no model, no key, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piiloom.detection.detector import ScoredSpan
from piiloom.patterns.engine import Match, PatternEngine, engine_for
from piiloom.patterns.prefilters import Backend
from piiloom.patterns.resolving import THRESHOLD, disjoint


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDetector:
    """Finds what the patterns of a locale describe.

    ``own`` are a user's catalogue files; ``unconfirmed`` adds types without a source, ``also`` those that are looked for on request only.
    """

    own: tuple[Path, ...] = ()
    unconfirmed: bool = False
    also: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    backend: Backend = "auto"
    name: str = "patterns"

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:  # noqa: ARG002 - patterns read no question
        """Return disjoint spans in text order; see ``Detector``."""
        return [self._span(match) for match in disjoint(self.matches(text, locale), threshold=self.threshold)]

    def matches(self, text: str, locale: str) -> Sequence[Match]:
        """All matches, also overlapping and unsure ones."""
        return self.engine(locale).find(text)

    def engine(self, locale: str) -> PatternEngine:
        """The engine for texts of *locale*, with its catalogue. Raises ``UsageError`` for an unknown locale."""
        return engine_for(locale, self.own, unconfirmed=self.unconfirmed, also=frozenset(self.also), backend=self.backend)

    def _span(self, match: Match) -> ScoredSpan:
        return ScoredSpan(
            start=match.start,
            end=match.end,
            entity_type=match.entity.entity_type,
            subtype=match.entity.id,
            score=match.score,
            detector=self.name,
            validated=match.validated,
        )
