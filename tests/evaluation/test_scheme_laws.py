"""What holds for every scheme on places: a law is about whatever figures of precision, recall and F a scheme has."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import SCHEMES, make_scheme
from tests.evaluation.scheme_documents import SIZE, TEXT, TYPES, any_places, disjoint_places, document, pair, shuffled, table_of
from tests.longer import few

# Each scheme has cases counted by hand among the quick tests.
pytestmark = pytest.mark.long

# Schemes on values compare strings in the order of the file, one of them greedily: a law on places or on any order is not theirs.
ON_PLACES = [name for name in SCHEMES if make_scheme(name, SchemeSettings()).needs == "places"]
# Those that treat both sides alike; nervaluate does as long as no mention is over 100 characters.
SYMMETRIC = ["exact", "partial", "token", "nervaluate"]
PRECISION_OR_RECALL = re.compile(r"(?:^|_)(?:precision|recall|f\d+)$")

for_each_scheme = pytest.mark.parametrize("name", ON_PLACES)


@st.composite
def several_pairs(draw, places=any_places):
    return [pair(draw(places()), draw(places())) for _ in range(draw(st.integers(1, 2)))]


def shares(figures):
    return {name: value for name, value in figures.items() if PRECISION_OR_RECALL.search(name)}


def sums(table):
    """All counts: over all types, and by type."""
    return {"": list(table.rows.sum(axis=0)), **{kind: list(row) for kind, row in table.by_type.items()}}


def test_schemes_on_places_are_here():
    assert set(SYMMETRIC) <= set(ON_PLACES)


@for_each_scheme
@few
@given(pairs=several_pairs(), seed=st.integers(0, 9))
def test_neither_the_order_of_documents_nor_of_mentions_matters(name, pairs, seed):
    others = [Pair(gold=shuffled(one.gold, seed), found=shuffled(one.found, seed + 1)) for one in reversed(pairs)]
    kept, turned = sums(table_of(name, pairs)), sums(table_of(name, others))
    assert kept.keys() == turned.keys()
    for kind, row in kept.items():
        assert turned[kind] == pytest.approx(row)


@for_each_scheme
@few
@given(pairs=several_pairs(), kind=st.sampled_from(TYPES))
def test_a_spurious_mention_never_raises_precision_and_leaves_recall(name, pairs, kind):
    # A word is put behind the text of the first document, so that the mention in it overlaps none.
    longer = [replace(side, text=f"{TEXT} Eve") for side in (pairs[0].gold, pairs[0].found)]
    spurious = AnnotatedMention(text="Eve", entity_type=kind, start=SIZE + 1, end=SIZE + 4)
    worse = Pair(gold=longer[0], found=replace(longer[1], mentions=(*longer[1].mentions, spurious)))
    before, after = (shares(table_of(name, [first, *pairs[1:]]).overall()) for first in (pairs[0], worse))
    for figure, value in before.items():
        assert after[figure] <= value + 1e-12
        if figure.endswith("recall"):
            assert after[figure] == pytest.approx(value)


@pytest.mark.parametrize("name", SYMMETRIC)
@few
@given(pairs=several_pairs())
def test_gold_and_prediction_swapped_swap_precision_and_recall(name, pairs):
    forward, backward = (table_of(name, side).overall() for side in (pairs, [Pair(gold=one.found, found=one.gold) for one in pairs]))
    for figure, value in shares(forward).items():
        swapped = figure.replace("precision", "#").replace("recall", "precision").replace("#", "recall")
        if not figure.endswith("f5"):
            assert backward[swapped] == pytest.approx(value)


@for_each_scheme
@few
@given(pairs=several_pairs())
def test_shares_are_between_0_and_1_and_counts_are_not_negative(name, pairs):
    table = table_of(name, pairs)
    for figures in (table.overall(), *(table.scheme.figures(row) for row in table.by_type.values())):
        assert all(0 <= value <= 1 for value in shares(figures).values())
        assert all(value >= 0 for value in figures.values())


@for_each_scheme
@few
@given(gold=disjoint_places())
def test_a_perfect_prediction_gives_1(name, gold):
    # Mentions of blanks alone have no token.
    words = [place for place in gold if TEXT[place[0] : place[1]].strip()]
    assume(words)
    found = shares(table_of(name, [pair(words, words)]).overall())
    assert found
    assert found == pytest.approx(dict.fromkeys(found, 1.0))


@for_each_scheme
def test_nothing_found_of_nothing_is_0(name):
    empty = document()
    assert set(shares(table_of(name, [Pair(gold=empty, found=empty)]).overall()).values()) == {0.0}


@for_each_scheme
@few
@given(pairs=several_pairs())
def test_figures_of_many_rows_are_those_of_each(name, pairs):
    table = table_of(name, pairs)
    rows = np.stack([table.rows, table.rows + 1])  # two draws of a bootstrap, say
    together = table.scheme.figures(rows)
    for place in np.ndindex(rows.shape[:-1]):
        alone = table.scheme.figures(rows[place])
        assert alone.keys() == together.keys()
        for figure, value in alone.items():
            assert together[figure].shape == rows.shape[:-1]
            assert float(together[figure][place]) == pytest.approx(float(value))
    assert set(table.scheme.headline) <= together.keys()
    assert rows.shape[-1] == len(table.scheme.columns)
