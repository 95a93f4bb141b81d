"""One text on its way through the three phases: the questions of each phase, and the effect of the answers.

It asks nobody itself, so that the way is the same whoever answers, and whether answers are waited for or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Self

from piiloom.detection.chunking import Sentences, cut_text
from piiloom.detection.detector import Findings, SetAside
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.hybrid.candidates import (
    MARGIN,
    Ambiguity,
    AmbiguousPlace,
    EntityCandidate,
    NumberCheck,
    ambiguities,
    candidate_spans,
    consolidated,
    group_places,
    merged_candidates,
    number_checks,
    of_match,
    settled,
)
from piiloom.detection.registry import PatternDetector
from piiloom.foundation.words import Range
from piiloom.patterns.engine import FLOOR
from piiloom.patterns.resolving import disjoint
from piiloom.taxonomy.entities.entity import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue


class AskedTypes:
    """The entities of *catalogue* that patterns do not find by their shape: they have none, or only a label in front gives them away."""

    def __init__(self, catalogue: LocaleCatalogue) -> None:
        self.catalogue = catalogue
        labelled = (one for one in catalogue.entities.values() if not one.structured or all(form.preceded_by for form in one.patterns))
        self.entities: Mapping[str, Entity] = {one.id: one for one in labelled}

    def find(self, name: str) -> Entity | None:
        """Return the entity that *name* means: its id, English or native name, in any case and with any signs between the words."""
        return self.entities.get(name) or self._by_name.get(_folded(name))

    @cached_property
    def _by_name(self) -> Mapping[str, Entity]:
        found: dict[str, Entity] = {}
        for name_of in map(attrgetter, ("id", "name", "native")):
            for entity in self.entities.values():
                found.setdefault(_folded(name_of(entity)), entity)
        return found


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def prompt_entity(entity: Entity) -> dict[str, str]:
    """What a prompt tells of *entity*."""
    return {"id": entity.id, "name": entity.name, "native": entity.native}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSettings:
    """``phases``: how many are taken, 0 to 3; 0 gives what the patterns alone give. ``chunk_chars``: a longer text is read in pieces."""

    patterns: PatternDetector
    phases: int
    chunk_chars: int

    @classmethod
    def of(cls, settings: DetectorSettings) -> Self:
        """Return those of a detector's *settings*."""
        return cls(patterns=PatternDetector.made(settings), phases=settings.phases, chunk_chars=settings.chunk_chars)

    @property
    def threshold(self) -> float:
        """Spans with a lower score are not told."""
        return self.patterns.threshold


class TextUnderWay:
    """*text* of *locale*: call the methods in their order, as far as the settings have phases."""

    def __init__(self, text: str, locale: str, settings: PhaseSettings) -> None:
        engine = settings.patterns.engine(locale)
        self.text, self.settings = text, settings
        self.sentences = Sentences(text)
        self.asked = asked_types(settings.patterns, locale)
        self.set_aside: list[SetAside] = []
        matches = engine.find(text, floor=max(FLOOR, settings.threshold - MARGIN))
        self._candidates: list[EntityCandidate] = [of_match(match) for match in matches]
        self._places: list[AmbiguousPlace] = []
        self._kept: list[EntityCandidate] = []

    @property
    def catalogue(self) -> LocaleCatalogue:
        """What is looked for."""
        return self.asked.catalogue

    def pieces(self) -> list[Range]:
        """Phase I: the pieces to read; blank ones are left out."""
        whole = ((one.start, one.end) for one in self._candidates if one.score >= self.settings.threshold)
        pieces = cut_text(self.text, self.sentences.ends, whole, self.settings.chunk_chars)
        return [(start, end) for start, end in pieces if not self.text[start:end].isspace()]

    def add(self, candidates: Iterable[EntityCandidate], set_aside: Iterable[SetAside] = ()) -> None:
        """Phase I: take what was read."""
        self._candidates += candidates
        self.set_aside += set_aside

    def ambiguities(self) -> list[Ambiguity]:
        """Phase II: the questions about places that may be several things."""
        self._places = group_places(merged_candidates(self._candidates))
        places: Iterable[AmbiguousPlace] = self._places
        if self.settings.phases > 2:
            # What will be dropped for lying within something else is not worth a question.
            stays = {(one.start, one.end) for one in consolidated(settled(self._places, {}), self.settings.threshold)}
            places = (place for place in places if (place.best.start, place.best.end) in stays)
        return ambiguities(self.sentences, places, self.settings.threshold)

    def settle(self, answers: Iterable[tuple[Ambiguity, str]]) -> None:
        """Phase II: take the answers, ids of entities."""
        self._candidates = settled(self._places, {id(question.place): answer for question, answer in answers})

    def checks(self) -> list[NumberCheck]:
        """Phase III: drop what lies within something else; return the questions about short numbers."""
        self._kept = consolidated(self._candidates, self.settings.threshold)
        return number_checks(self.sentences, self._kept)

    def confirm(self, refused: Iterable[NumberCheck]) -> None:
        """Phase III: drop the *refused* numbers."""
        gone = {check.candidate.start: check for check in refused}
        self._kept = [one for one in self._kept if one.start not in gone]
        for check in gone.values():
            one = check.candidate
            self.set_aside.append(
                SetAside(phase=3, reason="refused_number", subtype=one.entity.id, value=check.value, start=one.start, end=one.end)
            )

    def findings(self) -> Findings:
        """What came of it."""
        done = self._kept if self.settings.phases == 3 else disjoint(merged_candidates(self._candidates), threshold=self.settings.threshold)
        return Findings(spans=candidate_spans(done), set_aside=self.set_aside)


@lru_cache(maxsize=64)
def asked_types(patterns: PatternDetector, locale: str) -> AskedTypes:
    """The types that a reader looks for beside *patterns*."""
    return AskedTypes(patterns.engine(locale).catalogue)
