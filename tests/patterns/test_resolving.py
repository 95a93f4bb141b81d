"""Of matches at one place the surest is chosen, and of about equally sure ones the longer and the locale's own."""

from dataclasses import replace

from piiloom.patterns.engine import Match
from piiloom.patterns.resolving import disjoint
from piiloom.taxonomy.entities.entity import EntityPattern
from tests.patterns.test_engine import entity

UNIVERSAL = replace(entity(1, EntityPattern(pattern=r"\d{9}", score=0.5)), id="general", priority=90)
OWN = replace(UNIVERSAL, id="own", locale="zh_CN", priority=10)


def match(start: int, end: int, what: str, score: float) -> Match:
    return Match(start=start, end=end, entity=OWN if what == "own" else UNIVERSAL, score=score, validated=None)


def chosen(*matches: Match) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.entity.id) for one in disjoint(matches)]


def test_the_locales_own_entity_is_preferred_to_a_universal_one_that_is_a_little_surer() -> None:
    assert chosen(match(0, 9, "general", 0.9), match(0, 9, "own", 0.8)) == [(0, 9, "own")]
    assert chosen(match(0, 9, "general", 0.9), match(0, 9, "own", 0.6)) == [(0, 9, "general")]


def test_the_longer_of_two_equally_sure_matches_is_chosen_and_the_unsure_left_out() -> None:
    assert chosen(match(0, 4, "own", 0.7), match(0, 9, "own", 0.7), match(20, 25, "own", 0.7), match(30, 34, "own", 0.49)) == [
        (0, 9, "own"),
        (20, 25, "own"),
    ]
