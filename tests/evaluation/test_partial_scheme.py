"""Half a mention for one with other boundaries: by hand, and by trying all pairings."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.schemes.base import NO_TYPE
from piiloom.evaluation.schemes.span_pairs import greatest_weight, overlap_edges, overlap_groups
from tests.evaluation.scheme_documents import any_places, disjoint_places, document, pair, table_of
from tests.evaluation.test_nervaluate_scheme import library
from tests.longer import few


def counts(gold, found):
    table = table_of("partial", [pair(gold, found)])
    return {"": list(table.rows[0]), **{kind: list(row) for kind, row in table.by_type.items()}}


def test_half_for_other_boundaries_and_nothing_for_another_type():
    # "Ann Lee, 40, was in Ulm": Ulm; the first name alone is half; the age as a name is nothing, and so is "was".
    gold = [(0, 7, "name"), (9, 11, "age"), (20, 23, "place")]
    found = [(0, 3, "name"), (9, 11, "name"), (20, 23, "place"), (13, 16, "place")]
    assert counts(gold, found) == {
        "": [1.5, 2.5, 1.5],
        "age": [0, 0, 1],
        "name": [0.5, 1.5, 0.5],  # the age that is called a name is a false positive of it
        "place": [1, 1, 0],
    }
    figures = table_of("partial", [pair(gold, found)], beta=(2,)).overall()
    assert (figures["precision"], figures["recall"]) == (1.5 / 4, 1.5 / 3)
    assert figures["f1"] == 2 * 1.5 / (4 + 3)
    assert figures["f5"] == 26 * 1.5 / (26 * 1.5 + 25 * 1.5 + 2.5)
    assert figures["f2"] == 5 * 1.5 / (5 * 1.5 + 4 * 1.5 + 2.5)


def test_a_mention_in_pieces_is_found_by_one_of_them():
    # "Ann Lee" as "Ann" and "Lee": half of the mention, one and a half predictions too many. And the other way around.
    assert counts([(0, 7, "name")], [(0, 3, "name"), (4, 7, "name")])["name"] == [0.5, 1.5, 0.5]
    assert counts([(0, 3, "name"), (4, 7, "name")], [(0, 7, "name")])["name"] == [0.5, 0.5, 1.5]


def test_the_same_place_goes_first_and_repeats_count_each_time():
    assert counts([(0, 7, "name")], [(0, 3, "name"), (0, 7, "name")])["name"] == [1, 1, 0]
    assert counts([(0, 7, "name"), (12, 19, "name")], [(12, 19, "name")])["name"] == [1, 0, 1]  # "Michael met Michael"
    assert counts([(0, 3, "name")] * 2, [(0, 3, "name")] * 3)["name"] == [2, 1, 0]


def test_touching_is_not_overlapping_and_a_character_is_enough():
    assert counts([(0, 4, "name")], [(4, 8, "name")])["name"] == [0, 1, 1]
    assert counts([(0, 500, "name")], [(499, 600, "name")])["name"] == [0.5, 0.5, 0.5]


def test_what_has_no_place_or_type():
    without = document((0, 3, None), values=[("Ann", "name")])
    table = table_of("partial", [Pair(gold=without, found=without)])
    assert {kind: list(row) for kind, row in table.by_type.items()} == {NO_TYPE: [1, 0, 0], "name": [0, 1, 1]}


@few
@given(gold=disjoint_places(size=40), found=disjoint_places(size=40))
def test_by_type_it_is_the_librarys_partial_mode_if_that_pairs_all_it_can(gold, found):
    mine = counts(gold, found)
    for (mode, kind), (correct, _, partial, missed, spurious, *_) in library([gold], [found]).items():
        if mode == "partial" and kind:
            tp, fp, fn = mine[kind]
            assert (tp + fp, tp + fn) == (correct + partial + spurious, correct + partial + missed)
            assert tp >= correct + partial / 2  # the library's first choice may take what another prediction needs


@few
@given(gold=any_places(size=20, most=4), found=any_places(size=20, most=4))
def test_is_the_best_of_all_pairings_after_the_same_places(gold, found):
    tp, fp, fn = counts(gold, found)[""]
    left_gold, left_found, same = list(gold), list(found), 0
    for one in gold:
        if one in left_found:
            left_found.remove(one)
            left_gold.remove(one)
            same += 1
    few, many = sorted((left_gold, left_found), key=len)
    best = max(
        sum(one[2] == other[2] and one[0] < other[1] and other[0] < one[1] for one, other in zip(few, order, strict=False))
        for order in permutations(many)
    )
    assert (tp, fp, fn) == (same + best / 2, len(left_found) - best / 2, len(left_gold) - best / 2)


WEIGHTS = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.sampled_from([1, 1, 2, 9]), max_size=14)


@few
@given(weights=WEIGHTS)
def test_no_choice_of_pairs_is_worth_more(weights):
    best = max(sum(weights.get((row, column), 0) for row, column in enumerate(order)) for order in permutations(range(5)))
    assert greatest_weight([(row, column, weight) for (row, column), weight in weights.items()]) == best
    assert greatest_weight([(column, row, weight) for (row, column), weight in weights.items()]) == best


def test_many_mentions_under_one_that_covers_them_all():
    # A prediction of the whole text, and 200 mentions each found a character too long: none of this takes more than a moment.
    gold = [("name", 10 * number, 10 * number + 5) for number in range(200)] + [("name", 0, 1_999)]
    found = [("name", start, end + 1) for _, start, end in gold]
    assert [(len(one), len(other)) for one, other in overlap_groups(gold, found)] == [(201, 201)]
    assert greatest_weight(overlap_edges(gold, found)) == 201
