"""``--spans``: different originals stay different, equal ones equal, and each keeps its form."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.persona_assignment.personas import written_like
from piiloom.surrogates.settings import EngineSettings
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled_spans, pools

PHONES = {
    "nl_NL": "020-1234567, 06-12345678, 0612345677, +31 20 7654321, +31612345676, (070) 123 45 67",
    "fr_FR": "01 42 33 44 55, 06.12.34.56.78, +33142334456, +33 6 12 34 56 77",
    "en_US": "(415) 222-1234, 415.222.9999, +1 415-222-1235, 4152221777, 415-222-1444 ext. 12",
    "en_GB": "020 7946 1111, 07700 123456, 0161 496 1111, +44 20 7946 5555",
}


@pytest.mark.parametrize("locale", PHONES)
def test_phones_of_one_person_stay_as_many_and_as_written(locale):
    numbers = PHONES[locale].split(", ")
    _, *new = filled_spans(f"Ann Poe: {PHONES[locale]}", [("Ann Poe", "name"), *((one, "code", "phone") for one in numbers)], locale)
    assert len(set(new)) == len(numbers)
    assert [re.sub(r"\d", "0", one) for one in new] == [re.sub(r"\d", "0", one) for one in numbers]
    mobile = {"nl_NL": "06", "fr_FR": "06", "en_GB": "07"}.get(locale)
    if mobile:
        assert [one.startswith(mobile) for one in new] == [one.startswith(mobile) for one in numbers]


def test_other_values_of_one_person_stay_as_many_and_equal_ones_equal():
    marks = [
        ("Tom Bos", "name"), ("tom@x.nl", "code", "email"), ("t.b@y.com", "code", "email"), ("tom@x.nl", "code", "email"),
        ("NL91ABNA0417164300", "code", "bank_account"), ("NL20 INGB 0001 2345 67", "code", "bank_account"),
        ("NL91 ABNA 0417 1643 00", "code", "bank_account"), ("Breda", "location", "city"), ("Delft", "location", "city"),
    ]  # fmt: skip
    text = ", ".join(mark[0] for mark in marks)
    _, mail, other_mail, same_mail, iban, other_iban, same_iban, city, other_city = filled_spans(text, marks, "nl_NL")
    assert mail == same_mail != other_mail
    assert iban == same_iban.replace(" ", "") != other_iban.replace(" ", "")
    assert other_iban.count(" ") == 4
    assert city != other_city


def _names(words):
    return [(word, "name") for word in words]


def test_one_person_one_word_each():
    marks = ["Tom Bos", "Tom", "Bos", "TOM BOS", "tom", "Mr. Bos", "T. Bos", "Bos, T.", "Tom J. Bos", "Bos's", "Dr. Bos, MD"]
    names = filled_spans("Tom Bos met Tom, Bos, TOM BOS, tom, Mr. Bos, T. Bos, Bos, T., Tom J. Bos, Bos's and Dr. Bos, MD.", _names(marks))
    given_name, family = names[0].split(" ", 1)
    assert names[1:6] == [given_name, family, names[0].upper(), given_name.lower(), f"Mr. {family}"]
    assert names[6:8] == [f"{given_name[0]}. {family}", f"{family}, {given_name[0]}."]
    assert re.fullmatch(rf"{given_name} [A-Z]\. {family}", names[8])
    assert names[9:] == [f"{family}'s", f"Dr. {family}, MD"]


@pytest.mark.parametrize("types", [("FIRSTNAME", "LASTNAME"), ("first_name", "surname"), ("PERSON", "PERSON")])
def test_the_words_of_a_name_given_one_by_one_are_one_person(types):
    marks = [("Tom", types[0]), ("Bos", types[1]), ("Eva", types[0]), ("Lee", types[1]), ("Tom", types[0])]
    first, last, other, other_last, again = filled_spans("Tom Bos and Eva Lee met Tom.", marks)
    assert first == again != other
    assert len({first, last, other, other_last}) == 4


def test_a_given_name_alone_is_a_given_name():
    (name,) = filled_spans("Tom was here.", [("Tom", "name")])
    assert " " not in name


def test_companies_keep_their_legal_form_whatever_their_type():
    marks = [("Acme Ltd", "ORG"), ("Beta Holding B.V.", "ORG"), ("Janssen N.V.", "PERSON"), ("Acme Ltd", "ORG"), ("Gamma, Inc.", "company")]
    one, two, three, same, five = filled_spans("Acme Ltd, Beta Holding B.V. and Janssen N.V., then Acme Ltd and Gamma, Inc.", marks)
    assert one == same
    assert [one[-4:], two[-5:], three[-5:], five[-6:]] == [" Ltd", " B.V.", " N.V.", ", Inc."]


def test_ages_of_one_person_keep_their_distances():
    marks = [("Anna", "name"), ("54", "age", "years"), ("twenty", "age", "years"), ("45", "age", "years")]
    _, now, smoked, once = filled_spans("Anna, aged 54, smoked at twenty; at 45", marks)
    words = {
        "sixteen": 16,
        "seventeen": 17,
        "eighteen": 18,
        "nineteen": 19,
        "twenty": 20,
        "twenty-one": 21,
        "twenty-two": 22,
        "twenty-three": 23,
    }
    assert int(now) - int(once) == 9
    assert int(now) - words[smoked] == 34


def test_two_birth_dates_stay_two_and_move_alike():
    marks = [("Anna", "name"), ("3 May 1970", "date_of_birth"), ("4 June 1999", "date_of_birth"), ("05/03/1970", "date_of_birth")]
    _, own, sons, again = filled_spans("Anna, born 3 May 1970, and her son 4 June 1999; 05/03/1970", marks)
    assert own[-4:] == again[-4:] != sons[-4:]


SHAPES = {
    "7-/2161": r"\d{1,2}-/\d{4}", "7/": r"\d{1,2}/", "6-/": r"\d{1,2}-/", "'26": r"'\d\d", "July": "[A-Z][a-z]+",
    "Jul.": r"[A-Z][a-z]{2,3}\.", "05/2019": r"\d\d/\d{4}", "May 2019": r"[A-Z][a-z]+ \d{4}",
}  # fmt: skip


@case_by_case("original", SHAPES)
def test_partial_dates_keep_their_form(original):
    assert re.fullmatch(SHAPES[original], filled_spans(f"In {original} it was", [(original, "datetime", "date")])[0])


ORIGINALS = st.text(st.sampled_from("Aé b.,'-JDr MD\u2019"), min_size=1, max_size=14)


@given(ORIGINALS, st.sampled_from(["given", "family", "full", "initials"]))
@settings(max_examples=60)
def test_any_original_can_be_written(original, style):

    persona = FictitiousPerson(7, "female", "Europe", "NL", "NL", "Ana", "de Vries", date(2025, 1, 1))
    assert written_like(original, persona, style)


# Texts with the kinds of their marked words. Only ages beside a birth date, and genders, may stay as they are.
STAYING = [
    ("J.S. came.", {"J.S.": "person"}),
    ("J. came.", {"J.": "person"}),
    ("Mary came to Smith and Kim.", {"Mary": "person", "Smith": "person", "Kim": "person"}),
    ("It was 1984, on a Monday in July.", {"1984": "date", "Monday": "weekday", "July": "month"}),
    ("A Buddhist of 34 from Rome, blood type A+, with 40%.", {"Buddhist": "religion", "34": "age", "Rome": "city", "A+": "blood_type"}),
]


def test_no_surrogate_equals_its_original():
    documents = []
    for number in range(60 * len(STAYING)):
        text, marked = STAYING[number % len(STAYING)]
        places = [(text.index(words), words, kind) for words, kind in marked.items()]
        mentions = tuple(Mention(at, at + len(words), kind, original=words) for at, words, kind in places)
        documents.append(Document(number, str(number), text, "memory", mentions=mentions))
    engine = Engine(EngineSettings(seed=3, balance="cue"), pools())
    for document, done in zip(documents, engine.replace_all(documents), strict=True):
        for place in done.placed:
            assert done.text[place.new_start : place.new_end].casefold() != document.text[place.start : place.end].casefold()
        assert not any(name.startswith("equal") for name in done.tallies)


def test_an_age_that_the_birth_date_tells_is_reported_as_equal():
    text = "Born 12/03/1954, aged 66 on 2 May 2020."
    marked = {"12/03/1954": "birth_date", "66": "age", "2 May 2020": "date"}
    mentions = tuple(Mention(text.index(words), text.index(words) + len(words), kind, original=words) for words, kind in marked.items())
    engine = Engine(EngineSettings(seed=3, same_value="off"), pools())
    (done,) = engine.replace_all([Document(0, "0", text, "memory", mentions=mentions)])
    assert done.tallies == {"equal age": 1}
