"""Of matches that overlap, the surest and longest stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from piiloom.patterns.engine import Match
from piiloom.patterns.resolving import disjoint
from piiloom.taxonomy.entities.catalogue_file import Entity
from tests.longer import few
from tests.patterns.test_engine import PATTERNS, entity

ENTITIES = [entity(number, PATTERNS[0]) for number in range(3)]
MATCHES = st.builds(
    lambda start, length, number, score: Match(start=start, end=start + length, entity=ENTITIES[number], score=score, validated=None),
    st.integers(0, 30),
    st.integers(1, 8),
    st.integers(0, 2),
    st.sampled_from((0.2, 0.5, 0.6, 0.9)),
)


@few
@given(st.lists(MATCHES, max_size=12), st.randoms())
def test_the_choice_is_disjoint_sure_and_does_not_depend_on_the_order(matches, random):
    chosen = disjoint(matches)
    assert all(one.end <= other.start for one, other in pairwise(chosen))
    assert all(one.score >= 0.5 for one in chosen)
    random.shuffle(matches)
    assert [(one.start, one.end, one.score) for one in disjoint(matches)] == [(one.start, one.end, one.score) for one in chosen]
    for left_out in matches:
        if left_out.score >= 0.5 and left_out not in chosen:
            assert any(one.start < left_out.end and left_out.start < one.end for one in chosen)


def test_length_and_score():
    def one(start: int, end: int, score: float) -> Match:
        return Match(start=start, end=end, entity=ENTITIES[0], score=score, validated=None)

    assert disjoint([one(0, 10, 0.6), one(2, 6, 0.6)]) == [one(0, 10, 0.6)]
    assert disjoint([one(0, 10, 0.6), one(2, 6, 0.9)]) == [one(2, 6, 0.9)]
    assert disjoint([one(0, 10, 0.4)]) == []


def test_at_one_place_the_locales_own_entity_is_preferred_to_a_universal_one_that_is_a_little_surer():
    own = replace(ENTITIES[0], id="own", locale="pl_PL", priority=1)

    def chosen(*matches: tuple[int, int, Entity, float]) -> list[tuple[int, str]]:
        made = [Match(start=start, end=end, entity=what, score=score, validated=None) for start, end, what, score in matches]
        return [(found.start, found.entity.id) for found in disjoint(made)]

    assert chosen((0, 9, ENTITIES[1], 0.9), (0, 9, own, 0.8)) == [(0, "own")]
    assert chosen((0, 9, ENTITIES[1], 0.9), (0, 9, own, 0.6)) == [(0, "e1")]
    assert chosen((0, 19, ENTITIES[1], 1.0), (5, 14, own, 0.9)) == [(0, "e1")]
