"""What is a value, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.execution.calls import Fault
from piiloom.surrogates.by_model.value_requests import LONGEST, GapRequest, Sentence, accepted, folded_value
from piiloom.surrogates.fitting import ANY, CONSONANT, VOWEL
from tests.longer import case_by_case


def request(before="I work at ", gap="<COMPANY>", after=" these days.", kind="company", sound=ANY, genitive=False, originals=()):
    return GapRequest(0, "d", (0,), kind, 10, 19, Sentence(before, gap, after), sound, genitive, originals)


def fault(value, *, taken=(), language="en", **told):
    with pytest.raises(Fault) as caught:
        accepted({"value": value}, request(**told), language=language, taken=set(taken))
    if len(value) > 3:
        assert value not in str(caught.value)
    return caught.value.code


def fit(value, *, language="en", **told):
    return accepted({"value": value}, request(**told), language=language, taken=set())


@case_by_case(
    "value",
    [
        "Halvorsen & Pike",
        "Mercer-Lund Inc.",
        "'t Anker",
        "Café Ñandú",
        "三和貿易",
        "O'Dowd Brothers",
        "St. Brannock's Bakery",
        "Kestrel (Holdings)",
        "The Blue Kiln",
    ],
)
def test_plain_values_pass_as_they_are(value):
    assert fit(f"  {value} ") == value


@case_by_case(
    ("value", "code"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("Kestrel\nLarkin", "lines"),
        ("x" * (LONGEST + 1), "too_long"),
        ("a b c d e f g h i j k l m", "too_long"),
        ("[COMPANY]", "signs"),
        ("<COMPANY>", "signs"),
        ("Kestrel_1", "signs"),
        ("**Kestrel**", "signs"),
        ("`Kestrel`", "signs"),
        ('"Kestrel"', "signs"),
        ("“Kestrel”", "signs"),
        ("'Kestrel'", "signs"),
        ("- Kestrel", "signs"),
        ("...", "signs"),
        ("Kestrel\u200bWorks", "invisible"),
        ("\u202eKestrel", "invisible"),
        ("Kestrel.", "closed"),
        ("Kestrel!", "closed"),
        ("Company: Kestrel:", "closed"),
        ("I cannot help with that request", "no_value"),
        ("As an AI language model", "no_value"),
        ("XXXX", "no_value"),
        ("jo@kestrel.example", "contact"),
        ("www.kestrel.com", "contact"),
        ("https://kestrel", "contact"),
        ("Kestrel 24", "digits"),
        ("the company", "tag_word"),
        ("Company", "tag_word"),
        ("organization", "tag_word"),
        ("at Kestrel", "doubled"),
        ("Kestrel these", "doubled"),
    ],
)
def test_what_is_no_plain_value_is_refused_by_name(value, code):
    assert fault(value) == code


def test_a_copy_of_the_sentence_is_refused():
    assert fault("Larkin Ltd", before="Larkin Ltd sold it to ") == "copied"
    assert fault("larkin", after=", not to Larkin.") == "copied"
    assert fault("so we sold the old barn", before="Yesterday we sold the old barn to ") == "copied"


def test_digits_where_the_kind_has_them_and_a_few_at_most():
    assert fit("Algebra 101", kind="course", gap="<COURSE>") == "Algebra 101"
    assert fault("Algebra 101 202", kind="course", gap="<COURSE>") == "digits"


def test_it_fits_the_article_and_the_genitive():
    assert fault("Kestrel", before="an ", sound=VOWEL) == "article"
    assert fault("Osprey", before="a ", sound=CONSONANT) == "article"
    assert fit("Osprey", before="an ", sound=VOWEL) == "Osprey"
    assert fault("the Osprey", before="We joined the ") == "article"
    assert fault("Pikes", after="'s office", genitive=True) == "genitive"


def test_roles_are_fine_occupations():
    assert fit("nurse", kind="occupation", gap="<JOB>", before="She is a ") == "nurse"
    assert fault("occupation", kind="occupation", gap="<JOB>") == "tag_word"


def test_words_for_the_kind_in_the_language_of_the_text():
    assert fault("bedrijf", language="nl", before="Ik werk bij ", after=".") == "tag_word"


def test_values_of_one_document_differ_and_originals_do_not_come_back():
    assert fault("KÉSTREL works", taken=[folded_value("Kestrel Works")]) == "repeated"
    assert fault("Acme", originals=("ACME",)) == "original"


@given(st.text(max_size=120))
def test_whatever_is_accepted_is_one_short_line_without_signs(text):
    try:
        value = fit(text)
    except Fault:
        return
    assert value == value.strip()
    assert 0 < len(value) <= LONGEST
    assert not set(value) & set('\n\r[]{}<>"`*_@')
    assert any(map(str.isalpha, value))
