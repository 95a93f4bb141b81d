"""Phase II: places that may be several things, and what is made of the answers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from piiloom.detection.hybrid.candidates import EntityCandidate, by_place
from piiloom.detection.sentences import Sentences
from piiloom.patterns.engine import last_of
from piiloom.patterns.resolving import OF_THE_LOCALE
from piiloom.taxonomy.entities.entity import UNIVERSAL

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
    """A question: which of *options* is ``value`` between ``before`` and ``after``? The sentence is ``text[begin:end]``."""

    place: AmbiguousPlace
    before: str
    value: str
    after: str
    begin: int

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
    found = [_question(sentences, one) for one in places if one.score >= threshold and len(one.options) > 1]
    return sorted(found, key=lambda one: (one.place.best.start, one.place.best.end, one.place.best.entity.id))


def _question(sentences: Sentences, place: AmbiguousPlace) -> Ambiguity:
    text, best = sentences.text, place.best
    begin, end = sentences.around(best.start, best.end)
    return Ambiguity(
        place=place, before=text[begin : best.start], value=text[best.start : best.end], after=text[best.end : end], begin=begin
    )


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
