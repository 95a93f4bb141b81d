"""Of matches that overlap, the surest and longest stays."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from piiloom.patterns.engine import Match
from piiloom.patterns.resolving import disjoint
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
