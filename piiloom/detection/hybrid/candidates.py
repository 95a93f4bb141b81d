"""Findings under way: what may be personal information, and which of several is surest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from piiloom.detection.detector import ScoredSpan
from piiloom.patterns.engine import Match
from piiloom.patterns.resolving import PER_CHARACTER
from piiloom.taxonomy.entities.entity import Entity

PATTERNS: Final = "patterns"
_AND: Final = "+"  # between the names of finders that agree


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCandidate:
    """``text[start:end]`` may be *entity*. ``detector`` says who thinks so; ``others``: ids of what else it may be, the likeliest first."""

    start: int
    end: int
    entity: Entity
    score: float
    detector: str
    validated: bool | None = None
    others: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[float, int, int, int, str, str]:
        """Sorts the surest first: by score and length, then priority, then place."""
        sure = self.score + PER_CHARACTER * (self.end - self.start)
        return (-round(sure, 6), -self.entity.priority, self.start, self.end, self.entity.id, self.detector)

    @property
    def agreed(self) -> bool:
        """Whether several finders think so."""
        return _AND in self.detector

    def span(self) -> ScoredSpan:
        """As what detectors give."""
        return ScoredSpan(
            start=self.start,
            end=self.end,
            entity_type=self.entity.entity_type,
            subtype=self.entity.id,
            score=self.score,
            detector=self.detector,
            validated=self.validated,
            candidates=(self.entity.id, *self.others) if self.others else (),
        )


def of_match(match: Match) -> EntityCandidate:
    """What a pattern found."""
    return EntityCandidate(
        start=match.start, end=match.end, entity=match.entity, score=match.score, detector=PATTERNS, validated=match.validated
    )


def merged_candidates(candidates: Iterable[EntityCandidate]) -> list[EntityCandidate]:
    """One candidate for each entity at each place. Where several finders agree, they are surer together; all are named."""
    by_place: dict[tuple[int, int, str], EntityCandidate] = {}
    for one in sorted(candidates, key=lambda one: one.rank):
        key = (one.start, one.end, one.entity.id)
        known = by_place.get(key)
        by_place[key] = one if known is None else _together(known, one)
    return sorted(by_place.values(), key=lambda one: one.rank)


def _together(one: EntityCandidate, other: EntityCandidate) -> EntityCandidate:
    names = one.detector.split(_AND)
    if other.detector in names:
        return one
    validated = one.validated if other.validated is None else other.validated
    score = round(1 - (1 - one.score) * (1 - other.score), 4)
    return replace(one, score=score, validated=validated, detector=_AND.join(sorted((*names, other.detector))))


def by_place(candidates: Iterable[EntityCandidate]) -> list[EntityCandidate]:
    """*candidates* by place."""
    return sorted(candidates, key=lambda one: (one.start, one.end, one.entity.id))


def candidate_spans(candidates: Sequence[EntityCandidate]) -> list[ScoredSpan]:
    """*candidates* as spans."""
    return [one.span() for one in candidates]
