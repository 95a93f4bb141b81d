"""``capid-strict``: the best one-to-one pairing of places, whatever the order, and the figures that come from it."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import permutations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.schemes.capid import STRICT_RATIOS as RATIOS
from piiloom.evaluation.schemes.span_pairs import best_assignment, place_pairs
from tests.evaluation.scored_samples import REAL, REAL_FILES, of_type, places, scored, table, values
from tests.longer import case_by_case, few
from tests.shared_files import of_whole


def paired(gold, found):
    """Where the pairs of two documents are, and how alike they are."""
    pairs = place_pairs(gold.mentions, found.mentions)
    return sorted((one.place, other.place, pytest.approx(alike)) for one, other, alike in pairs)


def test_a_sample_by_hand():
    gold = places((0, 10, "name", "high"), (20, 30, "age", "low"), (40, 50, "code", "high"), (60, 70, "code", "low"))
    found = places((0, 10, "name", "low"), (25, 35, "age", "low"), (43, 48, "name", "high"), (80, 90, "name", "high"))
    figures = scored("capid-strict", (gold, found))
    assert figures["span_precision"] == figures["span_recall"] == figures["span_f1"] == 1 / 4
    assert figures["overlap_precision"] == figures["overlap_recall"] == figures["overlap_f1"] == 3 / 4
    # Equal; 5 of 15 characters; 5 of 10.
    assert figures["coverage"] == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert (figures["type_accuracy"], figures["type_accuracy_of_gold"]) == (2 / 3, 2 / 4)
    assert (figures["relevance_accuracy"], figures["relevance_accuracy_of_gold"]) == (2 / 3, 2 / 4)
    assert (figures["high_accuracy"], figures["high_accuracy_of_gold"]) == (1 / 2, 1 / 2)
    assert (figures["low_accuracy"], figures["low_accuracy_of_gold"]) == (1, 1 / 2)
    assert all(figures[f"macro_{name}"] == pytest.approx(figures[name]) for name in RATIOS)
    assert [figures[name] for name in ("samples", "gold", "predicted", "exact", "matched")] == [1, 4, 4, 1, 3]


def test_the_example_of_the_docs():
    text = "Ann Lee, 42, came from Stockholm to Oslo to work as a night nurse. Her son is 24."

    def document(*entries):
        mentions = [
            AnnotatedMention(text=value, entity_type=kind, relevance=said, start=text.index(value), end=text.index(value) + len(value))
            for value, kind, said in entries
        ]
        return AnnotatedDocument(where="x:1", text=text, mentions=tuple(mentions))

    name, age, son = ("Ann Lee", "name", "high"), ("42", "age", "high"), ("24", "age", "low")
    gold = document(name, age, ("Oslo", "location", "high"), ("night nurse", "occupation", "low"), son)
    found = document(name, son, ("nurse", "occupation", "low"), ("Stockholm", "location", "high"))
    lenient, strict = scored("capid", (gold, found)), scored("capid-strict", (gold, found))
    names = ("span_precision", "span_recall", "span_f1", "coverage", "type_accuracy", "relevance_accuracy", "low_accuracy", "high_accuracy")
    assert [lenient[name] for name in names] == pytest.approx([1, 4 / 5, 8 / 9, (2 + 2 / 3 + 8 / 13) / 4, 1, 3 / 4, 1, 2 / 3])
    assert [strict[name] for name in names] == pytest.approx([2 / 4, 2 / 5, 4 / 9, (2 + 5 / 11) / 3, 1, 1, 1, 1])
    assert [strict[f"overlap_{name}"] for name in ("precision", "recall", "f1")] == pytest.approx([3 / 4, 3 / 5, 2 / 3])
    assert [strict[f"{name}_of_gold"] for name in names[4:]] == pytest.approx([3 / 5, 3 / 5, 1, 1 / 3])


def test_all_mentions_and_means_over_samples():
    small = places((0, 1)), places((0, 1))
    large = places((0, 1), (2, 3), (4, 5), (6, 7)), places((0, 1), (2, 3))
    figures = scored("capid-strict", small, large)
    assert (figures["span_recall"], figures["macro_span_recall"]) == (3 / 5, (1 + 1 / 2) / 2)
    assert (figures["span_f1"], figures["macro_span_f1"]) == (pytest.approx(2 * 3 / 8), pytest.approx((1 + 2 * 2 / 6) / 2))


@case_by_case(
    ("gold", "found", "expected"),
    [
        # Characters in common / characters of both together.
        (places((0, 10)), places((2, 12)), [((0, 10), (2, 12), 8 / 12)]),
        # One prediction answers one gold mention, the one it is more like.
        (places((0, 8), (8, 10)), places((0, 10)), [((0, 8), (0, 10), 8 / 10)]),
        # In file order the first prediction would take the first gold mention and leave the second one nothing.
        (places((0, 6), (6, 10)), places((4, 10), (0, 6)), [((0, 6), (0, 6), 1), ((6, 10), (4, 10), 4 / 6)]),
        # 9/10 + 1/10 is as much as 1 + 0: the equal place is kept.
        (places((0, 10), (0, 9)), places((0, 10), (9, 10)), [((0, 10), (0, 10), 1)]),
        # One pair of 10/11 is more than two of 3/10 and 1/12.
        (places((0, 10), (10, 12)), places((0, 11), (0, 3)), [((0, 10), (0, 11), 10 / 11)]),
        # 3/6 alone is as much as 2/6 and 1/6: two pairs are better than one.
        (places((0, 3), (3, 4)), places((0, 6, "code"), (0, 1, "code")), [((0, 3), (0, 1), 1 / 3), ((3, 4), (0, 6), 1 / 6)]),
        # Touching is not overlapping, so there is one pair only.
        (places((0, 6), (6, 8)), places((0, 3), (1, 6)), [((0, 6), (1, 6), 5 / 6)]),
        # An empty place overlaps nothing but is equal to itself.
        (places((0, 5)), places((5, 9)), []),
        (places((3, 3)), places((0, 5), (3, 3)), [((3, 3), (3, 3), 1)]),
        (places((3, 3)), places((0, 5)), []),
        (places((3, 3), (3, 3)), places((4, 4)), []),
    ],
)
def test_the_best_pairing(gold, found, expected):
    assert paired(gold, found) == expected
    turned = [(one, other, alike) for other, one, alike in paired(found, gold)]
    assert sorted(turned) == expected


def test_among_equal_places_types_then_relevances_decide():
    gold = places((0, 3, "name", "high"), (0, 3, "age", "low"))
    found = places((0, 3, "age", "high"))
    figures = scored("capid-strict", (gold, found))
    # The age is paired with the age, though the name has its relevance.
    assert (figures["type_accuracy"], figures["relevance_accuracy"]) == (1, 0)
    same = scored("capid-strict", (places((0, 3, "age", "low"), (0, 3, "age", "high")), found))
    assert same["relevance_accuracy"] == 1
    assert scored("capid-strict", (gold, places((0, 3, "name", "low"))))["type_accuracy"] == 1
    assert scored("capid-strict", (places((0, 3, "age", "high"), (0, 3, "age", "low")), places((0, 3, "age", "low"))))["low_accuracy"] == 1


@case_by_case("places_of", [(0, 3), (1, 5)])
def test_where_nothing_decides_the_order_of_types_does(places_of):
    golds = [(0, 3, "name"), (0, 3, "age")]
    for order in (golds, golds[::-1]):
        counted = table("capid-strict", (places(*order), places((*places_of, "code"))))
        assert (of_type(counted, "age")["matched"], of_type(counted, "name")["matched"]) == (1, 0)


def test_among_equally_similar_ones_too():
    # Both overlap by 2 of 6 characters.
    gold = places((0, 4, "name", "high"), (4, 8, "age", "low"))
    assert scored("capid-strict", (gold, places((2, 6, "age", "high"))))["type_accuracy"] == 1
    assert scored("capid-strict", (gold, places((2, 6, "code", "low"))))["relevance_accuracy"] == 1
    # Nothing tells them apart: the first in the text.
    assert paired(gold, places((2, 6, "code"))) == [((0, 4), (2, 6), 2 / 6)]


def test_no_place_no_match():
    figures = scored("capid-strict", (values(("Ann", "name", "low")), values(("Ann", "name", "low"))))
    assert (figures["gold"], figures["predicted"], figures["matched"]) == (1, 1, 0)
    assert all(figures[name] == 0 for name in RATIOS)


def test_relevance_is_judged_where_the_gold_states_it():
    gold = places((0, 3, "name", None), (5, 8, None, "high"))
    figures = scored("capid-strict", (gold, places((0, 3, "name", "high"), (5, 8, None, "high"))))
    assert (figures["relevance_accuracy"], figures["relevance_accuracy_of_gold"], figures["low_accuracy"]) == (1, 1, 0)
    assert figures["type_accuracy"] == 1 / 2  # a type that is not stated is never right


def test_means_where_a_figure_is_undefined():
    pairs = (places((0, 3)), places((0, 3))), (places(), places())
    expected = {"zero": 1 / 2, "skip": 1, "one": 1}
    for rule, value in expected.items():
        figures = scored("capid-strict", *pairs, undefined=rule)
        assert (figures["macro_span_f1"], figures["span_f1"]) == (value, 1)
    assert scored("capid-strict", *pairs, undefined="one")["macro_low_accuracy"] == 1


def test_by_type():
    gold, found = places((0, 10, "name"), (20, 30, "age")), places((0, 10, "age"), (21, 30, "age"), (40, 44, "code"))
    counted = table("capid-strict", (gold, found))
    name, age, code = (of_type(counted, kind) for kind in ("name", "age", "code"))
    assert (name["span_recall"], name["type_accuracy"], name["predicted"]) == (1, 0, 0)
    assert (age["span_precision"], age["overlap_precision"], age["span_recall"], age["coverage"]) == (1 / 2, 1, 0, 9 / 10)
    assert (code["overlap_precision"], code["gold"]) == (0, 0)


TYPES, RELEVANCES = st.sampled_from(["name", "age", None]), st.sampled_from(["high", "low", None])


@st.composite
def sides(draw, most=4, width=9):
    starts = draw(st.lists(st.tuples(st.integers(0, width), st.integers(0, 5)), max_size=most))
    return [(start, start + length, draw(TYPES), draw(RELEVANCES)) for start, length in starts]


def alike(one, other):
    if one[:2] == other[:2]:
        return Fraction(1)
    common = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return Fraction(common, one[1] - one[0] + other[1] - other[0] - common) if common else Fraction(0)


def best_total(gold, found):
    """The greatest (total similarity, pairs) by trying all pairings."""
    if len(gold) > len(found):
        gold, found = found, gold
    tried = ([alike(*pair) for pair in zip(gold, chosen, strict=True)] for chosen in permutations(found, len(gold)))
    return max((sum(values), sum(value > 0 for value in values)) for values in tried)


@few
@given(gold=sides(), found=sides())
def test_no_pairing_is_better(gold, found):
    pairs = place_pairs(places(*gold).mentions, places(*found).mentions)
    total, count = best_total(gold, found)
    assert sum(value for *_, value in pairs) == pytest.approx(float(total))
    assert len(pairs) == count
    for side in (0, 1):
        assert len({id(pair[side]) for pair in pairs}) == len(pairs)
    assert {id(pair[0]) for pair in pairs}.isdisjoint(id(pair[1]) for pair in pairs)


@few
@given(data=st.data(), gold=sides(most=6), found=sides(most=6))
def test_the_order_of_mentions_does_not_matter(data, gold, found):
    mixed = places(*data.draw(st.permutations(gold))), places(*data.draw(st.permutations(found)))
    ours, theirs = table("capid-strict", (places(*gold), places(*found))), table("capid-strict", mixed)
    assert ours.rows.tolist() == theirs.rows.tolist()
    assert {name: row.tolist() for name, row in ours.by_type.items()} == {name: row.tolist() for name, row in theirs.by_type.items()}


@few
@given(gold=sides(most=5), found=sides(most=5))
def test_figures_are_shares_and_sides_can_be_exchanged(gold, found):
    there, back = scored("capid-strict", (places(*gold), places(*found))), scored("capid-strict", (places(*found), places(*gold)))
    assert all(0 <= there[name] <= 1 for name in RATIOS)
    for kind in ("span", "overlap"):
        assert there[f"{kind}_precision"] == back[f"{kind}_recall"]
        assert there[f"{kind}_f1"] == back[f"{kind}_f1"]
    assert there["coverage"] == pytest.approx(back["coverage"])


@few
@given(gold=sides(), found=sides())
def test_a_wrong_mention_more_is_not_better(gold, found):
    before = scored("capid-strict", (places(*gold), places(*found)))
    after = scored("capid-strict", (places(*gold), places(*found, (90, 95, "name", "high"))))
    assert after["span_precision"] <= before["span_precision"]
    assert after["overlap_precision"] <= before["overlap_precision"]
    assert (after["span_recall"], after["coverage"]) == (before["span_recall"], before["coverage"])


def test_no_assignment_weighs_more():
    rng = random.Random(4)
    for _ in range(400):
        columns = rng.randint(1, 5)
        weights = [[rng.choice([0, rng.randint(1, 9), rng.randint(1, 99)]) for _ in range(columns)] for _ in range(rng.randint(1, 5))]
        pairs = best_assignment(weights)
        rows = weights if len(weights) <= columns else list(zip(*weights, strict=True))
        tried = permutations(range(len(rows[0])), len(rows))
        assert sum(weights[row][column] for row, column in pairs) == max(
            sum(row[at] for row, at in zip(rows, chosen, strict=True)) for chosen in tried
        )
        assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
        assert all(weights[row][column] for row, column in pairs)


def test_a_whole_text_in_one_group_is_paired_soon():
    # 60 and 60 mentions that all overlap: too many to try, not too many to solve.
    gold = places(*((at, at + 100) for at in range(60)))
    found = places(*((at, at + 101) for at in range(60)))
    pairs = place_pairs(gold.mentions, found.mentions)
    assert len(pairs) == 60
    assert sum(value for *_, value in pairs) == pytest.approx(60 * 100 / 101)


def real_places(name):
    """The first place of each value of a CAPID file that overlaps no earlier one, by sample: those with three values or more."""
    for line in (REAL / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        mentions, end = [], 0
        for start, text in sorted((row["context"].find(text), text) for text in row["piis"]):
            if start >= end and len(text) > 1:
                end = start + len(text)
                mentions.append((start, end, row["piis"][text]["type"], "high" if row["piis"][text]["relevance"] in "high1" else "low"))
        if len(mentions) >= 3:
            yield mentions


@case_by_case("name", REAL_FILES)
def test_real_samples_with_known_changes(name):
    """The first mention loses its last character, the second one gets another type and the other relevance, the last one is lost."""
    samples = list(real_places(name))
    assert len(samples) > of_whole(150, 5)
    pairs = []
    for mentions in samples:
        (start, end, *rest), (*place, _, said), *inner = mentions
        second = (*place, "other", "low" if said == "high" else "high")
        pairs.append((places(*mentions), places((start, end - 1, *rest), second, *inner[:-1])))
    figures = scored("capid-strict", *pairs)
    total, count = sum(map(len, samples)), len(samples)
    assert figures["span_precision"] == pytest.approx((total - 2 * count) / (total - count))
    assert figures["span_recall"] == pytest.approx((total - 2 * count) / total)
    assert (figures["overlap_precision"], figures["overlap_recall"]) == (1, pytest.approx((total - count) / total))
    assert figures["type_accuracy"] == figures["relevance_accuracy"] == pytest.approx((total - 2 * count) / (total - count))
    assert figures["type_accuracy_of_gold"] == figures["relevance_accuracy_of_gold"] == pytest.approx((total - 2 * count) / total)
    for said in ("low", "high"):
        there = sum(one[3] == said for mentions in samples for one in mentions)
        wrong = sum(mentions[at][3] == said for mentions in samples for at in (1, -1))
        assert figures[f"{said}_accuracy_of_gold"] == pytest.approx((there - wrong) / there)
    cut = [mentions[0][1] - mentions[0][0] for mentions in samples]
    assert figures["coverage"] == pytest.approx((sum((n - 1) / n for n in cut) + total - 2 * count) / (total - count))
    assert figures["macro_span_recall"] == pytest.approx(fmean((len(mentions) - 2) / len(mentions) for mentions in samples))


def test_malformed_entries_are_counted():
    gold = AnnotatedDocument(where="a:1", malformed=1, mentions=(AnnotatedMention(text="x", entity_type="name", start=0, end=1),))
    figures = scored("capid-strict", (gold, AnnotatedDocument(where="b:1", malformed=2)))
    assert (figures["gold_malformed"], figures["malformed"], figures["predicted"]) == (1, 2, 0)
