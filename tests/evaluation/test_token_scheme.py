"""Tokens and their types: by hand, and against scikit-learn."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import NO_TYPE
from piiloom.evaluation.schemes.precision_recall import token_cover
from tests.evaluation.scheme_documents import TEXT, TYPES, any_places, disjoint_places, document, figures_by_type, pair, table_of
from tests.longer import examples, few

FIGURES = ("precision", "recall", "f5")


def counts(one):
    table = table_of("token", [one])
    return {"": list(table.rows[0]), **{kind: list(row) for kind, row in table.by_type.items()}}


def test_a_text_by_hand():
    # "Ann Lee, 40, was in Ulm": of two name tokens the first is found, the age is called a name, and of "in Ulm" one token is right.
    gold = [(0, 7, "name"), (9, 11, "age"), (20, 23, "place")]
    found = [(0, 3, "name"), (9, 11, "name"), (17, 23, "place")]
    assert counts(pair(gold, found)) == {"": [2, 2, 2], "name": [1, 1, 1], "age": [0, 0, 1], "place": [1, 1, 0]}


def test_a_token_covered_in_part_is_covered():
    # "nn L" touches both tokens; "n Bo-A" is son, Bo, -, and Ann.
    assert counts(pair([(0, 7, "name")], [(1, 5, "name")]))["name"] == [2, 0, 0]
    assert TEXT[31:37] == "n Bo-A"
    assert counts(pair([(29, 39, "name")], [(31, 37, "name")]))["name"] == [4, 0, 0]


def test_overlapping_mentions_give_a_token_each_of_their_types_once():
    # "Ann Lee" a name, twice, and "Lee" a place besides.
    gold = [(0, 7, "name"), (0, 7, "name"), (4, 7, "place")]
    assert counts(pair(gold, [(4, 7, "name")])) == {"": [1, 0, 2], "name": [1, 0, 1], "place": [0, 0, 1]}


def test_blanks_are_no_tokens_and_signs_are_one_each():
    assert counts(pair([(3, 4, "name")], [(7, 9, "name")]))["name"] == [0, 1, 0]  # " " is nothing, ", " one comma
    assert counts(pair([(0, 8, "name")], [], text="a_1 €5.."))["name"] == [0, 0, 5]  # a_1 € 5 . .


def test_what_has_no_place_counts_with_the_tokens_of_its_value():
    one = Pair(gold=document((0, 3, None)), found=document(values=[("Ann Lee", "name"), (" ", "name")]))
    assert counts(one) == {"": [0, 3, 1], "name": [0, 3, 0], NO_TYPE: [0, 0, 1]}


def test_the_text_of_either_side_will_do():
    one = pair([(0, 7, "name")], [(1, 3, "name")])
    for lacking in ("gold", "found"):
        side = replace(getattr(one, lacking), text=None)
        assert counts(replace(one, **{lacking: side})) == counts(one) == {"": [1, 0, 1], "name": [1, 0, 1]}


def values(*places: tuple[int, int, str]) -> AnnotatedDocument:
    return AnnotatedDocument(
        where="a.csv:1",
        mentions=tuple(AnnotatedMention(text=text, entity_type="name", start=start, end=end) for start, end, text in places),
    )


def test_without_any_text_the_values_are_the_text():
    # "Bo-Ann" is three tokens, of which "nn" is in the last. "Dr." is not what stands at [42, 48), so that is one token.
    gold, found = values((33, 39, "Bo-Ann"), (42, 48, "Dr.")), values((37, 39, "nn"), (45, 46, "E"))
    assert counts(Pair(gold=gold, found=found)) == {"": [2, 0, 2], "name": [2, 0, 2]}
    cover = token_cover(gold, found)
    assert [list(cover(*place)) for place in ((0, 33), (33, 34), (34, 37), (0, 100))] == [[], [33], [33, 35, 36], [33, 35, 36, 42]]


@few
@given(places=any_places())
def test_values_of_whole_words_cover_what_the_text_says(places):
    words = [token.span() for token in re.finditer(r"\w+|[^\w\s]", TEXT)]
    widened = [
        (min(span[0] for span in hit), max(span[1] for span in hit), kind)
        for start, end, kind in places
        if (hit := [span for span in words if span[0] < end and start < span[1]])
    ]
    one = document(*widened)
    bare = replace(one, text=None)
    for start, end, _ in widened:
        assert list(token_cover(bare, bare)(start, end)) == list(token_cover(one, one)(start, end))


def scores(tokens, gold, found):
    """scikit-learn's figures by type and over all, of the types of each token (one column a type)."""
    import numpy as np
    from sklearn.metrics import precision_recall_fscore_support

    def labels(side):
        rows = [[any(kind == name and start < b and a < end for start, end, kind in side) for name in TYPES] for a, b in tokens]
        return np.array(rows, dtype=int).reshape(len(tokens), len(TYPES))

    by_type, micro = (
        precision_recall_fscore_support(labels(gold), labels(found), beta=5, average=average, zero_division=0)[:3]
        for average in (None, "micro")
    )
    return {"": micro, **dict(zip(TYPES, np.transpose(by_type), strict=True))}


TEXTS = st.lists(
    st.sampled_from(["Ann", "été", "x_1", ",", "-", " ", "  ", "東京", "ß", "٣", "e\u0301", "\u200d", "\n"]), min_size=1, max_size=25
)


@st.composite
def annotated(draw):
    text = "".join(draw(TEXTS))
    places = any_places(size=len(text)) if draw(st.booleans()) else disjoint_places(size=len(text))
    sides = [[(start, end, kind or "age") for start, end, kind in draw(places)] for _ in range(2)]
    return text, *sides


def agrees(text, gold, found):
    tokens = [token.span() for token in re.finditer(r"\w+|[^\w\s]", text)]
    if not tokens:
        return
    table = table_of("token", [pair(gold, found, text)])
    mine = {"": table.overall(), **figures_by_type(table)}
    for kind, theirs in scores(tokens, gold, found).items():
        figures = mine.get(kind, dict.fromkeys(FIGURES, 0.0))
        assert [figures[name] for name in FIGURES] == pytest.approx(list(theirs))


@few
@given(drawn=annotated())
def test_agrees_with_scikit_learn(drawn):
    agrees(*drawn)


@pytest.mark.long
@settings(max_examples=examples(2_000), deadline=None)
@given(drawn=annotated())
def test_agrees_with_scikit_learn_many_times(drawn):
    agrees(*drawn)
