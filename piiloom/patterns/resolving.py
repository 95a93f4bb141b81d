"""Choose among matches that overlap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Entity

THRESHOLD: Final = 0.5
OF_THE_LOCALE: Final = 0.2  # what a locale has a rule for is more than what texts of all locales call "passport no"
SURER: Final = 0.2  # so much surer must a part of a longer match be to be chosen in its place
PER_CHARACTER: Final = 0.01  # of a long and a short match of about equal scores the long one is meant


class Ranked(Protocol):
    """What is chosen among: something that may be an entity, and how sure that is."""

    @property
    def start(self) -> int:
        """Where it begins."""

    @property
    def end(self) -> int:
        """Behind its last code point."""

    @property
    def entity(self) -> Entity:
        """What it may be."""

    @property
    def score(self) -> float:
        """How sure it is, 0 to 1."""


R = TypeVar("R", bound=Ranked)


def disjoint(matches: Iterable[R], *, threshold: float = THRESHOLD) -> list[R]:
    """Return matches with a score of at least *threshold* that do not overlap, in text order.

    What lies inside a longer match that is about as sure comes last. At one place an entity of the locale's own is preferred to a universal
    one that is at most 0.2 surer. Among different places the surest is chosen first, where each code point counts as 0.01; then the one
    with the higher priority, then the earlier one.
    """
    outer, inner = _nested([one for one in matches if one.score >= threshold])
    chosen: list[R] = []  # in text order
    starts: list[int] = []
    for match in (*_ranked(outer), *_ranked(inner)):
        at = bisect_left(starts, match.end)  # those from here on begin behind the match
        if at == 0 or chosen[at - 1].end <= match.start:
            chosen.insert(at, match)
            starts.insert(at, match.start)
    return chosen


def _nested(matches: Sequence[R]) -> tuple[list[R], list[R]]:
    """Split *matches*: the second are parts of a longer one with at least their score less ``SURER``."""
    outer: list[R] = []
    inner: list[R] = []
    around: list[R] = []  # those that began earlier, or here and are longer, and have not ended
    for match in sorted(matches, key=lambda one: (one.start, -one.end)):
        around = [one for one in around if one.end > match.start]
        length, score = match.end - match.start, match.score - SURER
        inside = any(one.end >= match.end and one.end - one.start > length and one.score >= score for one in around)
        (inner if inside else outer).append(match)
        around.append(match)
    return outer, inner


def _ranked(matches: Iterable[R]) -> list[R]:
    """One match of each place, the surest places first."""
    at_place: dict[tuple[int, int], list[R]] = {}
    for one in matches:
        at_place.setdefault((one.start, one.end), []).append(one)
    return [match for _, match in sorted((_chosen_at(place) for place in at_place.values()), key=lambda ranked: ranked[0])]


_Rank = tuple[float, int, int, str]


def _chosen_at(place: Sequence[R]) -> tuple[_Rank, R]:
    """The match that is meant of those at one place, with the rank of the place among others."""

    def order(one: R) -> tuple[float, int, str]:
        return -one.score - (0.0 if one.entity.locale == UNIVERSAL else OF_THE_LOCALE), -one.entity.priority, one.entity.id

    best = min(place, key=order)
    surest = max(one.score for one in place)
    return (-surest - PER_CHARACTER * (best.end - best.start), -best.entity.priority, best.start, best.entity.id), best
