from __future__ import annotations

from piiloom.taxonomy.bank_style import disclosures, sentence_slips, slips
from tests.longer import case_by_case


@case_by_case(
    "text",
    [
        "I saw a owl",
        "I saw an dog",
        "A old cat is mine",
        "I ran the the mile",
        "an unit",
        "a unhappy man",
        "a in-depth talk",
        "vitamins for a old cat",
    ],
)
def test_slips_are_seen(text: str) -> None:
    assert len(list(slips([text]))) == 1


@case_by_case(
    "text",
    [
        "I had a one-way ticket",
        "an MRI",
        "an hour",
        "a uniform",
        "an X-ray",
        "a European",
        "{a:health} act",
        "I know that that is so",
        "a {v} an",
        "too much vitamin a is no good",
        "she eats vitamin a every day",
        "a vaccine against hepatitis A eight weeks ago",
        "the answer is a or b",
    ],
)
def test_what_only_looks_like_a_slip_is_none(text: str) -> None:
    assert list(slips([text])) == []


def test_every_expansion_of_a_sentence_needs_a_capital() -> None:
    assert list(sentence_slips(["My cat left.", "{A:health} is ours."])) == []
    assert len(list(sentence_slips(["my cat left.", "The cat left."]))) == 1


def test_facts_outside_slots_are_told_word_by_word() -> None:
    assert list(disclosures("My {relationship} and my friend met in the <old|new> hall, which may close.")) == []
    found = list(disclosures("My <mother|sister> paid $40 on Monday, {age.years} and all."))
    assert [told.split("'")[1] for told in found] == ["mother", "sister", "$", "4", "0", "monday"]
