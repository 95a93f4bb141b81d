"""One text on its way through the three phases: the questions of each phase, and the effect of the answers.

It asks nobody itself, so that the way is the same whoever answers, and whether answers are waited for or not.

Candidates for personal information, and the choices among them: ambiguous places, overlaps, and short numbers.

Phase II asks about places that may be several things. Phase III keeps one of candidates that overlap, and asks about numbers so short that
only the words around them say what they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Final, Self

from piiloom.detection.detector import Findings, ScoredSpan, Sentences, SetAside, cut_text
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.registry import PatternDetector
from piiloom.foundation.words import Range
from piiloom.patterns.engine import FLOOR, Match, last_of
from piiloom.patterns.resolving import OF_THE_LOCALE, PER_CHARACTER, SURER, disjoint
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

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


MARGIN: Final = 0.15  # candidates whose scores lie within it are asked about
MOST_OPTIONS: Final = 8
_SAME: Final = 0.8  # this share of the longer range in common makes two ranges one place


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousPlace:
    """Candidates of about the same range, the likeliest first, each for another entity."""

    candidates: tuple[EntityCandidate, ...]

    @property
    def best(self) -> EntityCandidate:
        """The likeliest candidate: the surest, where one of the locale's own counts more than a universal one."""
        return self.candidates[0]

    @property
    def score(self) -> float:
        """How sure the surest candidate is."""
        return max(one.score for one in self.candidates)

    @property
    def options(self) -> tuple[EntityCandidate, ...]:
        """Those that are about as sure as the surest; of a kind and its form in the locale (phone, pl_phone) the likelier one."""
        kinds: dict[str, EntityCandidate] = {}
        for one in self.candidates:
            if one.score >= self.score - MARGIN:
                kinds.setdefault(one.entity.form_of or one.entity.id, one)
        return tuple(kinds.values())[:MOST_OPTIONS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguity:
    """A question: which of *options* is ``value``, which stands between ``before`` and ``after`` in its sentence."""

    place: AmbiguousPlace
    before: str
    value: str
    after: str

    @property
    def options(self) -> tuple[EntityCandidate, ...]:
        """What may be answered, the likeliest first."""
        return self.place.options

    @property
    def key(self) -> tuple[object, ...]:
        """Equal questions have equal keys, and are asked once."""
        return (self.before, self.value, self.after, tuple(one.entity.id for one in self.options))


def group_places(candidates: Iterable[EntityCandidate]) -> list[AmbiguousPlace]:
    """Group *candidates* into places: the surest first, each with all that are left of about its range."""
    by_start = by_place(candidates)
    starts = [one.start for one in by_start]
    free = [True] * len(by_start)
    places: list[AmbiguousPlace] = []
    for number in sorted(range(len(by_start)), key=lambda number: by_start[number].rank):
        if not free[number]:
            continue
        seed = by_start[number]
        reach = (1 - _SAME) / _SAME * (seed.end - seed.start)
        by_entity: dict[str, EntityCandidate] = {}
        near = range(bisect_left(starts, seed.start - reach), bisect_right(starts, seed.start + reach))
        for other in sorted((at for at in near if free[at] and _same_place(seed, by_start[at])), key=lambda at: by_start[at].rank):
            free[other] = False
            by_entity.setdefault(by_start[other].entity.id, by_start[other])
        places.append(AmbiguousPlace(candidates=tuple(sorted(by_entity.values(), key=_likeliest))))
    return places


def _likeliest(one: EntityCandidate) -> tuple[object, ...]:
    """Sorts the candidates of a place, where lengths say nothing."""
    return (-_sure(one), -one.entity.priority, *one.rank)


def _sure(one: EntityCandidate) -> float:
    return one.score + (0.0 if one.entity.locale == UNIVERSAL else OF_THE_LOCALE)


def _same_place(one: EntityCandidate, other: EntityCandidate) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return common > 0 and common >= _SAME * max(one.end - one.start, other.end - other.start)


def ambiguities(sentences: Sentences, places: Iterable[AmbiguousPlace], threshold: float) -> list[Ambiguity]:
    """The questions about those of *places* that reach *threshold* and have several options, in text order."""
    open_places = (one for one in places if one.score >= threshold and len(one.options) > 1)
    found = [Ambiguity(place=one, **_around(sentences, one.best)) for one in open_places]
    return sorted(found, key=lambda one: (one.place.best.start, one.place.best.end, one.place.best.entity.id))


def _around(sentences: Sentences, one: EntityCandidate, beside: int = 0) -> dict[str, str]:
    """The value of a candidate, and what stands before and after it in its sentence and so many *beside*."""
    text, (begin, end) = sentences.text, sentences.around(one.start, one.end, beside=beside)
    return {"before": text[begin : one.start], "value": text[one.start : one.end], "after": text[one.end : end]}


def settled(places: Iterable[AmbiguousPlace], chosen: Mapping[int, str]) -> list[EntityCandidate]:
    """One candidate of each place: the entity *chosen* for it (by the place's ``id()``), or the surest.

    It has the place's best score, and knows what else it might be.
    """
    return by_place(_winner(place, chosen.get(id(place))) for place in places)


def _winner(place: AmbiguousPlace, chosen: str | None) -> EntityCandidate:
    winner = next((one for one in place.candidates if one.entity.id == chosen), place.best)
    others = tuple(one.entity.id for one in place.options if one is not winner)
    return replace(winner, score=place.score, others=others)


def by_context(question: Ambiguity) -> str:
    """What a rule answers: the surest option, where one of the locale's own counts more than a universal one.

    Scores hold what context words near the value say. Of options that are equally sure, the one whose context word stands nearest in the
    sentence, then the one of the higher priority.
    """
    before, after = question.before.lower(), question.after.lower()

    def rank(one: EntityCandidate) -> tuple[object, ...]:
        return (-_sure(one), _distance(before, after, one.entity.context), -one.entity.priority, one.rank)

    return min(question.options, key=rank).entity.id


_FAR: Final = 10_000


def _distance(before: str, after: str, phrases: Sequence[str]) -> int:
    """How far from the value the nearest of *phrases* is; those behind it count after all that stand before it."""
    nearest = _FAR * 2
    for phrase in phrases:
        at = last_of(before, phrase)
        if at >= 0:
            nearest = min(nearest, len(before) - at - len(phrase))
        elif (at := after.find(phrase)) >= 0:
            nearest = min(nearest, _FAR + at)
    return nearest


_HAS_PARTS: Final = "location"


def consolidated(candidates: Iterable[EntityCandidate], threshold: float) -> list[EntityCandidate]:
    """Return those of *candidates* that reach *threshold* and do not overlap, in text order.

    Of two of which one contains the other, the one stays that begins first; of those that begin together, the one of the higher priority,
    then the longer one. But what contains a structured value (a number, a code) of a higher priority that is at least as sure (if it is
    structured itself, clearly surer) goes first of all, unless it is a location: addresses have parts. Of two that overlap only in part,
    the surer one stays. The order of *candidates* does not matter.
    """
    sure = sorted((one for one in candidates if one.score >= threshold), key=_order)
    starts = [one.start for one in sure]
    kept: list[EntityCandidate] = []
    for one in sure:
        # All that are kept begin before it or with it, and the last of them ends last.
        if (not kept or (kept[-1].end < one.end and kept[-1].start < one.start)) and not _around_something_surer(one, sure, starts):
            kept.append(one)
    return disjoint(kept, threshold=threshold)


def _order(one: EntityCandidate) -> tuple[object, ...]:
    return (one.start, -one.entity.priority, -one.end, *one.rank)


def _around_something_surer(one: EntityCandidate, sure: Sequence[EntityCandidate], starts: Sequence[int]) -> bool:
    if one.entity.entity_type == _HAS_PARTS:
        return False
    least = one.score + (SURER if one.entity.structured else 0.0)
    for other in sure[bisect_left(starts, one.start) : bisect_left(starts, one.end)]:
        if other.end <= one.end and other.entity.structured and other.score >= least and other.entity.priority > one.entity.priority:
            return True
    return False


MOST_DIGITS: Final = 6
_AGE: Final = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCheck:
    """A question: is ``value`` between ``before`` and ``after`` really what *candidate* says? With one sentence before and after."""

    candidate: EntityCandidate
    before: str
    value: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Equal questions have equal keys, and are asked once."""
        return (self.before, self.value, self.after, self.candidate.entity.id)


def number_checks(sentences: Sentences, candidates: Iterable[EntityCandidate]) -> list[NumberCheck]:
    """The questions about those of *candidates* that are short numbers."""
    short = (one for one in candidates if is_short_number(sentences.text[one.start : one.end], one))
    return [NumberCheck(candidate=one, **_around(sentences, one, beside=1)) for one in short]


def is_short_number(value: str, candidate: EntityCandidate) -> bool:
    """Whether *value* has one to six digits and no letters (an age may have some), and nothing has confirmed it yet.

    A validator has, if it accepts it, and so have two finders that agree: the reader of phase I has seen what stands around it.
    """
    digits = sum(c.isdigit() for c in value)
    if candidate.validated or candidate.agreed or not 1 <= digits <= MOST_DIGITS:
        return False
    return candidate.entity.entity_type == _AGE or not any(map(str.isalpha, value))


def by_cues(check: NumberCheck, against: Iterable[str]) -> bool:
    """Return whether a label or context word of the entity is near, and no word against it is nearer before the value."""
    entity = check.candidate.entity
    labels = [phrase for pattern in entity.patterns if not pattern.followed_by for phrase in pattern.preceded_by]
    behind = [phrase for pattern in entity.patterns for phrase in pattern.followed_by]
    before, after = check.before.lower(), check.after.lower()
    speaking_for = max((_end_of_last(before, phrase) for phrase in (*entity.context, *labels)), default=-1)
    speaking_against = max((_end_of_last(before, phrase) for phrase in against), default=-1)
    if speaking_against > speaking_for:
        return False
    return speaking_for >= 0 or any(phrase in after for phrase in (*entity.context, *behind))


def _end_of_last(text: str, phrase: str) -> int:
    at = text.rfind(phrase)
    return -1 if at < 0 else at + len(phrase)


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
        return Findings(spans=[one.span() for one in done], set_aside=self.set_aside)


@lru_cache(maxsize=64)
def asked_types(patterns: PatternDetector, locale: str) -> AskedTypes:
    """The types that a reader looks for beside *patterns*."""
    return AskedTypes(patterns.engine(locale).catalogue)
