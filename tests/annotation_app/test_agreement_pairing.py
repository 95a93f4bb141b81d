"""Which spans answer each other, and what is counted of them."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from document_making import make_document
from hypothesis import given, settings
from hypothesis import strategies as st
from project_stories import document

from piiloom.annotation_app.figures.spans import AT, ComparedSpan, carried, compared_spans, likeness, match, spans_table
from tests.longer import examples


def spans(*places: tuple[int, int]) -> list[ComparedSpan]:
    return [ComparedSpan(start, end, "age", "low") for start, end in places]


def slow_pairs(left: list[ComparedSpan], right: list[ComparedSpan]) -> list[tuple[int, int]]:
    """The same by looking at every two spans."""

    def share(pair: tuple[int, int]) -> float:
        a, b = left[pair[0]], right[pair[1]]
        return (min(a.end, b.end) - max(a.start, b.start)) / (max(a.end, b.end) - min(a.start, b.start))

    found = [(i, j) for i in range(len(left)) for j in range(len(right)) if share((i, j)) > 0]
    pairs: list[tuple[int, int]] = []
    for i, j in sorted(found, key=lambda pair: (-share(pair), pair)):
        if all(i != a and j != b for a, b in pairs):
            pairs.append((i, j))
    return sorted(pairs)


def pair_up(left: list[ComparedSpan], right: list[ComparedSpan]) -> list[tuple[int, int]]:
    found = match(spans_table([left, right]), [0], [1])
    return [(int(i), int(j) - len(left)) for i, j in zip(found.left, found.right, strict=True)]


def test_spans_that_share_most_are_paired_first_and_each_once() -> None:
    assert pair_up(spans((0, 4), (5, 9)), spans((0, 9))) == [(0, 0)]
    assert pair_up(spans((0, 2), (3, 9)), spans((0, 9))) == [(1, 0)]
    assert pair_up(spans((0, 5), (5, 9)), spans((4, 6), (6, 9))) == [(0, 0), (1, 1)]
    assert pair_up(spans((0, 5)), spans((5, 9))) == []
    assert pair_up([], spans((5, 9))) == []


@st.composite
def disjoint(draw: st.DrawFn) -> list[ComparedSpan]:
    cuts = sorted(draw(st.lists(st.integers(0, 30), max_size=12, unique=True)))
    types, relevance = st.sampled_from(["age", "name", "code"]), st.sampled_from(["high", "low", None])
    return [ComparedSpan(start, end, draw(types), draw(relevance)) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]


@pytest.mark.long
@settings(max_examples=examples(200), deadline=None)
@given(documents=st.lists(disjoint(), min_size=2, max_size=6), data=st.data())
def test_pairing_many_documents_at_once_is_pairing_them_one_by_one(documents: list[list[ComparedSpan]], data: st.DataObject) -> None:
    numbers = st.integers(0, len(documents) - 1)
    chosen = data.draw(st.lists(st.tuples(numbers, numbers), max_size=6))
    table = spans_table(documents)
    found = match(table, [a for a, _ in chosen], [b for _, b in chosen])
    for number, (a, b) in enumerate(chosen):
        rows = np.flatnonzero(found.comparison == number)
        pairs = [(int(found.left[row] - table.first[a]), int(found.right[row] - table.first[b])) for row in rows]
        assert pairs == slow_pairs(documents[a], documents[b])


@settings(max_examples=50, deadline=None)
@given(left=disjoint(), right=disjoint())
def test_likeness_is_symmetric_and_sums_over_types(left: list[ComparedSpan], right: list[ComparedSpan]) -> None:
    table = spans_table([left, right])
    ways = [likeness(table, [a], [b], match(table, [a], [b]), np.array([0]), 1)[0].sum(axis=0) for a, b in ((0, 1), (1, 0))]
    assert ways[0][AT["left"]] == len(left)
    assert ways[0][AT["right"]] == len(right)
    assert ways[0][AT["whole"]] == len(set(left) & set(right))
    assert np.allclose(ways[0][2:], ways[1][2:])


def test_counts_of_a_case_done_by_hand() -> None:
    left = [ComparedSpan(0, 4, "age", "high"), ComparedSpan(6, 10, "name", "low"), ComparedSpan(12, 14, "name", None)]
    right = [ComparedSpan(0, 4, "age", "low"), ComparedSpan(6, 8, "code", "low"), ComparedSpan(20, 22, "age", "low")]
    table = spans_table([left, right])
    found = likeness(table, [0], [1], match(table, [0], [1]), np.array([0]), 1)[0]
    by_type = {name: dict(zip(AT, found[place], strict=True)) for place, name in enumerate(table.types)}
    assert by_type["age"] == {
        "left": 1, "right": 2, "exact": 1, "overlap": 1, "shared": 1, "typed": 1, "judged": 1, "related": 0, "whole": 0
    }  # fmt: skip
    # Half of the pair name–code (it shares 2 of 4 characters) belongs to either type.
    half = {"exact": 0, "overlap": 0.5, "shared": 0.25, "typed": 0, "judged": 0.5, "related": 0.5, "whole": 0}
    assert by_type["name"] == {"left": 2, "right": 0, **half}
    assert by_type["code"] == {"left": 0, "right": 1, **half}


def test_spans_of_an_edited_text_are_compared_on_one_text() -> None:
    left = document("I have asthma.", (7, 13, "health", "high"))
    right = document("I really have asthma.", (14, 20, "health", "high"))
    assert carried(compared_spans(right.marks), right.context, left.context) == compared_spans(left.marks)
    assert carried(compared_spans(left.marks), left.context, right.context) == compared_spans(right.marks)


def test_a_span_of_text_that_the_other_removed_still_counts() -> None:
    left = document("I have asthma.", (7, 13, "health", "high"))
    right = document("I have asthma. Ann knows.", (7, 13, "health", "high"), (15, 18, "name", "low"))
    theirs = carried(compared_spans(right.marks), right.context, left.context)
    assert len(theirs) == 2
    assert pair_up(list(compared_spans(left.marks)), list(theirs)) == [(0, 0)]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_span_is_lost_and_all_stay_disjoint_between_two_texts(seed: int) -> None:
    rng = random.Random(seed)
    one, other = make_document(rng), make_document(rng)
    moved = carried(compared_spans(one.marks), one.context, other.context)
    assert len(moved) == len(one.marks)
    assert all(a.start < a.end <= b.start for a, b in itertools.pairwise(moved))
