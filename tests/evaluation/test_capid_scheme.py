"""``capid`` by hand: who takes which gold value, what a similarity is, and what a sample adds to a mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.schemes.capid import RATIOS
from tests.evaluation.scored_samples import of_type, scored, table, values
from tests.longer import case_by_case, few

SPANS = ("span_precision", "span_recall", "span_f1")


def spans(*pair, **options):
    figures = scored("capid", pair, **options)
    return tuple(figures[name] for name in SPANS)


def similarity(gold, found, **options):
    """Of two values; 0 if they don't match."""
    return scored("capid", (values(gold), values(found)), **options)["coverage"]


def test_a_sample_by_hand():
    gold = values(("Ann Lee", "name", "high"), ("night nurse", "occupation", "low"), ("Oslo", "location", "low"), ("40", "age", "high"))
    found = values(
        ("ann lee!", "name", "high"),  # as the first gold value: 1
        ("nurse", "health", "high"),  # {nurse} and {night, nurse}: P 1, R 1/2, F1 2/3; wrong type, wrong relevance
        ("osla", "location", "low"),  # o, s, l of four and four characters: 3/4
        ("Bergen", "location", "low"),  # like none: no word of Ann Lee or the nurse, no character of Oslo or 40
    )
    figures = scored("capid", (gold, found))
    assert figures["span_precision"] == 3 / 4
    assert figures["span_recall"] == 3 / 4
    assert figures["span_f1"] == 3 / 4
    assert figures["coverage"] == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert figures["type_accuracy"] == figures["relevance_accuracy"] == pytest.approx(2 / 3)
    assert figures["low_accuracy"] == 1 / 2  # of the matched low ones, nurse and Oslo, the first was said to be high
    assert figures["high_accuracy"] == 1  # of the high ones only Ann Lee was matched
    assert [figures[name] for name in ("samples", "gold", "predicted", "matched")] == [1, 4, 4, 3]


def test_the_first_of_equally_similar_gold_values_is_taken():
    # {red} is as like {red, car} as {red, bus}: 2/3.
    gold = [("red car", "finance"), ("red bus", "location")]
    assert scored("capid", (values(*gold), values(("red", "finance"))))["type_accuracy"] == 1
    assert scored("capid", (values(*gold), values(("red", "location"))))["type_accuracy"] == 0
    assert scored("capid", (values(*reversed(gold)), values(("red", "location"))))["type_accuracy"] == 1


def test_a_taken_gold_value_leaves_no_second_choice():
    # Both predictions are most like "New York" (1); "York" (2/3) stays free.
    assert spans(values("New York", "York"), values("new york", "NEW YORK")) == (1 / 2, 1 / 2, 1 / 2)
    # The greedy order matters: "york" takes "York" (1), then "new york" takes its own.
    assert spans(values("New York", "York"), values("york", "new york")) == (1, 1, 1)


def test_a_prediction_that_did_not_match_takes_nothing():
    # "tipsy" and "brown" have no character in common, so "brown" is free for the next.
    assert spans(values("brown"), values("tipsy", "brown")) == (1 / 2, 1, 2 / 3)


@case_by_case(
    ("gold", "found", "zero", "skip", "one"),
    [
        (values(), values("Ann"), (0, 0, 0), (0, 0, 0), (0, 1, 0)),  # recall is 0/0
        (values("Ann"), values(), (0, 0, 0), (0, 0, 0), (1, 0, 0)),  # precision is 0/0
        (values(), values(), (0, 0, 0), (0, 0, 0), (1, 1, 1)),
    ],
)
def test_an_empty_side(gold, found, zero, skip, one):
    assert spans(gold, found) == zero
    assert spans(gold, found, undefined="skip") == skip
    assert spans(gold, found, undefined="one") == one
    assert scored("capid", (gold, found), undefined="one")["coverage"] == 1


def test_what_is_undefined_enters_a_mean_as_0_or_not_or_as_1():
    right = values(("Ann", "name", "high")), values(("Ann", "name", "high"))
    pairs = (right, (values(), values()), (values("Bob"), values()))
    expected = {
        # precision 1, 0/0, 0/0; recall 1, 0/0, 0; F1 1, 0/0, 0; coverage and high 1, 0/0, 0/0; low 0/0 in all
        "zero": (1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 0),
        "skip": (1, 1 / 2, 1 / 2, 1, 1, 0),
        "one": (1, 2 / 3, 2 / 3, 1, 1, 1),
    }
    for rule, figures in expected.items():
        found = scored("capid", *pairs, undefined=rule)
        names = (*SPANS, "coverage", "high_accuracy", "low_accuracy")
        assert tuple(found[name] for name in names) == pytest.approx(figures)
        assert found["samples"] == 3


def test_duplicates_match_once():
    assert spans(values("Ann"), values("Ann", "Ann")) == (1 / 2, 1, 2 / 3)
    # Both predictions take the first of the two gold values that are alike.
    assert spans(values("Nurse", "nurse!"), values("nurse", "nurse")) == (1 / 2, 1 / 2, 1 / 2)


def test_punctuation_only_is_like_nothing():
    assert spans(values("..."), values("...")) == (0, 0, 0)
    assert spans(values("...", "Ann"), values("?!", "Ann")) == (1 / 2, 1 / 2, 1 / 2)
    # The blank that is left is no word, so there are no characters to compare.
    assert similarity("( )", "( )") == 0


@case_by_case(
    ("gold", "found", "expected"),
    [
        ("Anna", "ann", 6 / 7),  # a, n, n of four and three characters
        ("aab", "abb", 2 / 3),  # bags: one a and one b of three and three
        ("night nurse", "nurse", 2 / 3),  # words, not characters, since one of them has two
        ("nightnurse", "night nurse", 0),  # no word in common
        ("nurse nurse", "nurse", 1),  # sets of words
        ("blue old car", "old blue bike", 2 / 3),
        ("new\u00a0york\n", "york new", 1),  # any white space parts words
        ("well-known", "wellknown", 1),  # a hyphen is deleted, not made a blank
        ("( ab", "ab", 4 / 5),  # blanks are stripped before "(" is deleted, so " ab" has three characters
        (" (ab) ", "ab", 1),
    ],
)
def test_similarities(gold, found, expected):
    assert similarity(gold, found) == pytest.approx(expected)
    assert similarity(found, gold) == pytest.approx(expected)


@case_by_case(
    ("gold", "found", "expected"),
    [
        ("Straße", "STRASSE", 10 / 13),  # lower-casing leaves ß: s, t, r, a, e of six and seven
        ("Straße", "STRAẞE", 1),  # the capital ẞ is lowered to it
        ("İ", "i", 2 / 3),  # lowered to i and a dot above: one of two and one
        ("ΣΑΣ", "σας", 1),  # lower-casing ends a word in ς
        ("é", "e\u0301", 0),  # composed and combining characters are others
        ("ab\uff01", "ab", 4 / 5),  # a full-width exclamation mark is not ASCII and stays
        ("\u201cab\u201d", "ab", 2 / 3),  # so do typographic quotes
        ("東京", "京都", 1 / 2),
        ("👩\u200d⚕", "👩", 1 / 2),  # three code points and one
    ],
)
def test_similarities_of_other_characters(gold, found, expected):
    assert similarity(gold, found) == pytest.approx(expected)
    assert similarity(found, gold) == pytest.approx(expected)


def test_similarity_must_be_over_the_threshold():
    nine = "a b c d e f g h i"
    assert similarity("a", nine) == 0  # 2 · 1 / (1 + 9) = 0.2
    assert similarity("a", "a b c d e f g h") == pytest.approx(2 / 9)
    # Five and five characters, one in common: in floating point 2 · 0.2 · 0.2 / 0.4 is a little more than 0.2, as in the published script.
    assert similarity("abcde", "avwxy") == pytest.approx(0.2)
    assert similarity("ab", "acdefghi") == 0  # 2 · (1/2) · (1/8) / (5/8) is 0.2 itself


def test_types():
    def accuracy(gold, found, **options):
        return scored("capid", (values(("Ann", gold)), values(("Ann", found))), **options)["type_accuracy"]

    assert accuracy("name", "name") == 1
    assert accuracy("name", "age") == accuracy("name", None) == accuracy(None, "name") == accuracy(None, None) == 0
    assert accuracy("name", "Name") == 0


def test_relevances():
    gold = values(("Ann", "name", "high"), ("40", "age", "low"), ("Oslo", "location", None))
    figures = scored("capid", (gold, values(("Ann", "name", None), ("40", "age", "low"), ("Oslo", "location", None))))
    # All three pairs count. Not said is wrong, even where the gold doesn't say either.
    assert figures["relevance_accuracy"] == pytest.approx(1 / 3)
    assert (figures["low_accuracy"], figures["high_accuracy"]) == (1, 0)


def test_malformed_entries_are_counted_and_nothing_else():
    figures = scored("capid", (values("Ann", malformed=1), values("Ann", malformed=2)), (values(), values(malformed=1)))
    assert (figures["malformed"], figures["gold_malformed"], figures["predicted"]) == (3, 1, 1)
    assert figures["span_precision"] == 1 / 2


def test_a_blank_prediction_counts_and_matches_nothing():
    assert spans(values("Ann"), values("Ann", " ", "")) == (1 / 3, 1, 1 / 2)


def test_figures_by_type_are_of_all_values():
    first = values(("Ann", "name"), ("40", "age")), values(("Ann", "name"), ("40", "name"))
    second = values(("Bob", "name"), ("Eve", "name")), values(("Bob", "name"), ("xyz", "code"), ("Eve", None))
    counted = table("capid", first, second)
    assert list(counted.by_type) == ["(no type)", "age", "code", "name"]
    name, age, code = (of_type(counted, kind) for kind in ("name", "age", "code"))
    # Gold names: Ann, Bob, Eve, all matched. Said to be names: Ann, 40, Bob, all matched.
    assert (name["gold"], name["predicted"], name["matched"], name["span_precision"], name["span_recall"]) == (3, 3, 3, 1, 1)
    assert name["type_accuracy"] == pytest.approx(2 / 3)
    assert (age["span_recall"], age["type_accuracy"], age["predicted"], age["span_f1"]) == (1, 0, 0, 1)
    # "xyz" has no e, v, b or o: it matches nothing.
    assert (code["span_precision"], code["gold"], code["samples"]) == (0, 0, 1)


WORDS = st.sampled_from(["Ann", "nan", "New York", "york", "(a)", "…", "...", " ", "", "ß", "İ", "a b c", "c b a", "é"])
ENTRIES = st.tuples(WORDS | st.text(max_size=6), st.sampled_from(["name", "age", None]), st.sampled_from(["high", "low", None]))
SIDES = st.lists(ENTRIES, max_size=6)


@few
@given(pairs=st.lists(st.tuples(SIDES, SIDES), max_size=4), rule=st.sampled_from(["zero", "skip", "one"]))
def test_figures_are_shares(pairs, rule):
    figures = scored("capid", *((values(*gold), values(*found)) for gold, found in pairs), undefined=rule)
    assert all(0 <= figures[name] <= 1 for name in RATIOS)
    assert figures["matched"] <= min(figures["gold"], figures["predicted"])


LETTERS = st.text("abcßé", min_size=1, max_size=4)
UNLIKE = st.lists(
    st.lists(LETTERS, min_size=1, max_size=2).map(" ".join),
    unique_by=(lambda value: frozenset(value.split()), lambda value: "".join(sorted(value)) if " " not in value else value),
    min_size=1,
    max_size=6,
)


@few
@given(texts=UNLIKE, relevances=st.lists(st.sampled_from(["high", "low"]), min_size=6, max_size=6))
def test_gold_against_itself_is_all_right(texts, relevances):
    gold = values(*((text, "name", said) for text, said in zip(texts, relevances, strict=False)))
    figures = scored("capid", (gold, gold), undefined="one")
    assert {figures[name] for name in RATIOS} == {1}
