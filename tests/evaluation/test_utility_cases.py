"""Records as cases: what each variant shows, what is protected, who is left out; and what a text tells without any model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.record import Record
from piiloom.evaluation.utility.evaluating import ReadCases, judge_utility, prepared
from piiloom.evaluation.utility.options import (
    NO_QUESTION,
    NO_RELEVANCE,
    VARIANTS,
    CaseFact,
    UtilitySettings,
    checked_variants,
    utility_cases,
)
from piiloom.evaluation.utility.tasks import LABEL, kept_share, stand_in_pair, tells, told_share, word_overlap
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.utility_panel import ASTHMA, record
from tests.longer import case_by_case


def case(*values, context=ASTHMA[0], question=ASTHMA[1]):
    (made,), left_out = utility_cases([record("r", context, question, values or ASTHMA[2])], taxonomy=shipped_taxonomy())
    assert not left_out
    return made


def test_each_variant_shows_what_it_says():
    made = case(context="I am 34, I have asthma and live in Ghent.", question="May I, at 34 and with asthma, work?")
    assert list(made.shown) == list(VARIANTS)
    shown = {name: (one.context, one.question) for name, one in made.shown.items()}
    assert shown["original"] == ("I am 34, I have asthma and live in Ghent.", "May I, at 34 and with asthma, work?")
    assert shown["relevance_aware"] == (
        "I am [AGE_1], I have asthma and live in [LOCATION_1].",
        "May I, at [AGE_1] and with asthma, work?",
    )
    assert shown["all_masked"] == (
        "I am [AGE_1], I have [HEALTH_1] and live in [LOCATION_1].",
        "May I, at [AGE_1] and with [HEALTH_1], work?",
    )
    assert not any(value in "".join(shown["surrogates"]) for value in ("34", "asthma", "Ghent", "["))
    assert made.needed == (CaseFact(value="asthma", entity_type="health"),)
    assert [fact.value for fact in made.protected] == ["34", "Ghent"]


def test_a_value_with_a_relevant_mention_is_not_protected_and_one_without_relevance_is():
    made = case(("34", "age", "high"), ("asthma", "health", None), ("Ghent", "location", "low"))
    assert [fact.value for fact in made.protected] == ["asthma", "Ghent"]
    (first,) = record("r", "Anna met Anna.", "Who?", [("Anna", "name", "low")]).spans
    again = replace(first, id="t", start=9, end=13, relevance="high")
    (made,), _ = utility_cases(
        [Record(id="r", context="Anna met Anna.", question="Who?", spans=(first, again))], taxonomy=shipped_taxonomy()
    )
    assert (made.needed, made.protected) == ((CaseFact(value="Anna", entity_type="name"),), ())


def test_variants_that_show_the_same_are_asked_about_once():
    made = case(("asthma", "health", "high"))
    assert made.distinct == ("original", "all_masked", "surrogates")
    assert made.first_alike("relevance_aware") == "original"


def test_what_cannot_be_compared_is_left_out_and_counted():
    records = [
        record("a", *ASTHMA),
        record("b", ASTHMA[0], " ", ASTHMA[2]),
        record("c", ASTHMA[0], None, ASTHMA[2]),
        record("d", ASTHMA[0], "Q?", [("34", "age", None)]),
        record("e", "Nothing personal here.", "Q?", []),
    ]
    cases, left_out = utility_cases(records, taxonomy=shipped_taxonomy())
    assert [one.id for one in cases] == ["a"]
    assert left_out == {NO_QUESTION: 2, NO_RELEVANCE: 2}
    with pytest.raises(DataError, match=r"nothing can be compared \(2 × no question, 2 × no span with a relevance\)"):
        prepared(records[1:], shipped_taxonomy(), VARIANTS)
    with pytest.raises(DataError, match="there are no records"):
        prepared([], shipped_taxonomy(), VARIANTS)
    with pytest.raises(DataError, match="a: two records have this id"):
        utility_cases([records[0], records[0]], taxonomy=shipped_taxonomy())


def test_records_of_one_text_are_one_document():
    cases, _ = utility_cases([record(name, *ASTHMA, group="text:1") for name in "ab"] + [record("c", *ASTHMA)], taxonomy=shipped_taxonomy())
    assert [one.cluster for one in cases] == ["text:1", "text:1", "c"]


def test_variants_are_checked_and_stand_in_one_order():
    assert checked_variants(["surrogates", "relevance_aware"]) == ("original", "relevance_aware", "surrogates")
    with pytest.raises(UsageError, match="there is no variant 'masked'"):
        checked_variants(["masked"])
    with pytest.raises(UsageError, match="nothing to compare"):
        checked_variants(["original"])


@case_by_case(
    ("text", "value", "there"),
    [
        ("I am 34.", "34", True),
        ("I am 34.5 kg off", "34", False),
        ("ASTHMA is it", "asthma", True),
        ("asthmatic", "asthma", False),
        ("an asthmatic with asthma", "asthma", True),
        ("in Málaga", "málaga", True),
        ("a+b", "a+b", True),
        ("anything", " ", False),
    ],
)
def test_a_value_is_told_as_a_whole_word_in_any_case(text, value, there):
    assert tells(text, value) is there


def test_shares_by_hand():
    assert told_share("I am 34 and well", ["34", "Ghent"]) == 0.5
    assert told_share("I am 34 and well", []) is None
    assert word_overlap("asthma nights", "my asthma in Ghent") == 0.5  # of "asthma" and "ghent", the first
    assert word_overlap("anything", "I am") is None


def test_the_stand_in_compares_what_is_kept_and_says_what_it_is():
    made = case()
    assert [kept_share(made, name) for name in VARIANTS] == [1.0, 1.0, 0.0, 0.0]
    assert stand_in_pair(made, "original", "relevance_aware") == "agreed"
    assert stand_in_pair(made, "relevance_aware", "all_masked") == "win"
    assert stand_in_pair(made, "all_masked", "relevance_aware") == "loss"
    alike = case(("asthma", "health", "high"))
    assert stand_in_pair(alike, "original", "relevance_aware") == "identical"
    result = judge_utility(ReadCases(cases=[made], left_out={}, title="a test"), UtilitySettings())
    assert "no judge" in result.method
    told = result.to_json()
    assert (told["method"], told["stand_in"], told["judge"], told["author"], told["prompts"]) == (LABEL, True, None, None, {})
    # original and relevance_aware: a tie and two wins each, 2.5 of 3.
    assert told["variants"]["relevance_aware"]["win_rate"]["value"] == pytest.approx(2.5 / 3)
    assert told["variants"]["relevance_aware"]["completeness"]["value"] is None
    assert told["position_bias"]["followed"]["value"] is None
    assert result.cost_json() is None


def test_without_relevant_values_the_stand_in_decides_nothing():
    made = case(("34", "age", "low"))
    assert kept_share(made, "original") is None
    result = judge_utility(ReadCases(cases=[made], left_out={}, title="a test"), UtilitySettings())
    assert {pair.missing for pair in result.figures.pairs} == {1}
    assert result.figures.variants["original"]["win_rate"].value is None
