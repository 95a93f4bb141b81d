"""Introduction and signature of a writer are one person; relatives have ages of their own; children are children."""

from __future__ import annotations

import re

import pytest

from piiloom.surrogates.persona_assignment.groups import CODES
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, ids, words

LETTERS = [
    ("Hello, my name is [NAME]. Dr [NAME] sent me.\nSincerely, [NAME] [LOCATION] [CONTACT]\nWhat now?", "en_US"),
    ("Hi, I am [NAME] and I ask for [NAME].\nThanks in advance!\n[NAME]", "en_US"),
    ("My name is [NAME]. I met [NAME] there. It helps.\n[NAME]\n\nDoes it help?", "en_US"),
    ("Mijn naam is [naam]. Mijn buurman heet [naam].\nMet vriendelijke groet,\n[naam]", "nl_NL"),
    ("Je m'appelle [NOM]. Ma voisine est [NOM].\nCordialement,\n[NOM]", "fr_FR"),
    ("Me llamo [PERSONA]. Vi a [PERSONA] ayer.\nSaludos,\n[PERSONA]", "es_ES"),
    ("Ich heiße [NAME]. Ich kenne [NAME] gut.\nMit freundlichen Grüßen\n[NAME]", "de_DE"),
]


@case_by_case(("text", "locale"), LETTERS)
def test_who_introduces_and_signs_is_one_person(text, locale):
    for done in filled(text, locale, count=4):
        people = [(place.value_id, word) for place, word in zip(done.placed, words(done), strict=True) if place.kind == "person"]
        (first, introduced), (other, _), (last, signed) = people
        assert first == last != other
        assert introduced.startswith(signed)
        assert introduced != signed


@pytest.mark.parametrize(
    "text",
    [
        "[NAME]: I am [NAME]\n[NAME]: I am [NAME]\nThanks, [NAME]",
        "I'm [NAME]'s mother. Thanks, [NAME]",
        "Doctor: my name is [NAME]\nPatient: hello\nDoctor: what is it?\nPatient: nothing\nThanks, [NAME]",
        "We met [NAME]. Thanks, [NAME]",
    ],
)
def test_a_conversation_or_a_third_person_is_nobody_else(text):
    (done,) = filled(text)
    assert len(set(ids(done))) == len(ids(done))


@case_by_case(
    ("text", "locale", "people"),
    [
        ("Mr. [NAME] is a man. Mr. [NAME] was seen. Mrs. [NAME], his wife, spoke. Later Mrs. [NAME] left.", "en_US", "aabb"),
        ("Mr. [NAME] told Mr. [NAME] so. Then Mr. [NAME] left.", "en_US", "abc"),
        ("Mevrouw [naam] woont hier. Dat zegt mevrouw [naam]. De heer [naam] en de heer [naam] niet.", "nl_NL", "aabc"),
        ("Mme [NOM] est là. Mme [NOM] part. [NOM] reste.", "fr_FR", "aab"),
        ("Dr. [NAME] came. Dr. [NAME] left.", "en_US", "ab"),
        ("Vino la Dra. [NOMBRE]. Luego se fue la Dra. [NOMBRE].", "es_ES", "ab"),
    ],
)
def test_one_title_is_one_person_where_no_two_meet(text, locale, people):
    (done,) = filled(text, locale)
    assert [ids(done).index(one) for one in ids(done)] == [people.index(one) for one in people]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("my [AGE] father", r"\d\d-year-old"), ("his [AGE] son", r"\d{1,2}-year-old"), ("a [AGE] and a [AGE] boy", r"\d{1,2}-year-old"),
        ("my [AGE]-year-old father", r"\d{1,2}"), ("[AGE] y.o. male", r"\d{1,2}"),
    ],
)  # fmt: skip
def test_an_age_before_a_noun_is_written_out(text, form):
    for done in filled(text, count=3):
        assert all(re.fullmatch(form, word) for word in words(done)), done.text


def test_the_age_of_a_relative_is_not_the_writers():
    for done in filled("I am [NAME], [AGE], and ask for my [AGE] father.", count=6):
        _, own, fathers = words(done)
        assert 48 <= int(fathers.partition("-")[0]) < 86
        assert ids(done)[1] != ids(done)[2]
        assert own.isdecimal()


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("[PATIENT], [AGE] y.o. male (DOB [DATE])", "male"), ("<<PATIENT>>, <<AGE>> y.o. female (DOB <<DATE>>)", "female"),
        ("Saw [PATIENT] here, as planned by the clinic. There were no complaints. None. It is a [AGE]-year-old woman", "female"),
    ],
)  # fmt: skip
def test_the_noun_after_an_age_tells_the_gender(text, gender):
    plan = Planner("en").plan(text, Finder(auto_mapping([text])).find(text).mentions)
    assert [cluster.code for cluster in plan.clusters] == [CODES[gender]]


def test_children_are_children_and_months_are_months():
    for done in filled("[PATIENT] is a [AGE] year old boy, born [DATE OF BIRTH], seen on [DATE].", count=4):
        assert 3 <= int(words(done)[1]) <= 14
    for done in filled("[PATIENT] is an [AGE] months old girl (DOB: [DATE OF BIRTH]). Visit: [DATE]", count=4):
        assert words(done)[1] in {"8", "11", "18"}
    for done in filled("[PATIENT] is a 14 months old girl (DOB: [DATE OF BIRTH]). Visit: 3/3/2020", count=2):
        assert words(done)[1].endswith(("2019", "19")) or words(done)[1].startswith("2019") or "2018" in words(done)[1]


COARSE = [
    ("belief", "Libertarian", r"[A-Z][A-Za-z ]+"),
    ("appearance", "177cm", r".*(?:\d ?(?:cm|m|feet|ft|inch|')|'\d).*"),
    ("appearance", "45kg", r".*\d.*"),
    ("appearance", "A+", r"(?:A|B|AB|O)[ -]?.*"),
    ("education", "Bachelor's degree", r".* in .*|.*(?:BA|MA|degree).*"),
    ("datetime", "48d", r"\d+d"),
    ("datetime", "15:05:48 CET", r"\d\d:\d\d:\d\d CET"),
    ("relationship", "engaged", "married|divorced|widowed|single|separated|in a relationship"),
    ("code", "bh@outlook.com", r".*@.*\.(?:example|test|invalid|com|org|net)"), ("location", "Austin, Texas", r"[\w. ]+, [\w ]+"),
    ("location", "Hyderabad, WI 62297", r"[\w. ]+, [A-Z]{2} \d{5}"), ("location", "98 Anton Street", r"\d+ [\w ]+"),
    ("ADDRESS", "813 Oak Ave. San Jose CA 32455", r"\d+ [\w ]+ [A-Z]{2} \d{5}"), ("HOSPITAL", "BWH", "[A-Z]{2,5}"),
    ("DATE", "5th of this month", r"\d{1,2}(?:st|nd|rd|th) of this month"),
    ("TIME", "half past 3 in the afternoon", r"half past \d in the afternoon"),
    ("demographic", "Saudi Arabia", r"(?!.*(?:ian|ese|ish)$)[A-Z].*"),
    ("location", "Vancouver, BC", r"[\w. ]+, [A-Z]{2}"),
    ("location", "39 79 Argyll Road\nNoorderwijk\n, VAN\n Portugal 76970", r"\d+ [\w ]+\n[\w. ]+\n, [A-Z]{2}\n United States \d{5}"),
    ("relationship", "two children", r"two [a-z]+"), ("organization", "Acme Ltd", r".* Ltd"),
]  # fmt: skip


@case_by_case(("coarse", "original", "form"), COARSE)
def test_the_words_of_a_span_tell_its_kind_and_form(coarse, original, form):
    (value,) = filled_spans(f"This is {original} here.", [(original, coarse)])
    assert re.fullmatch(form, value), value
    assert value != original


def test_a_date_of_birth_agrees_with_the_age_whatever_its_type_is_called():
    marks = [("5/6/1982", "DATE"), ("Jo Smith", "PATIENT"), ("54", "AGE"), ("1/21/1928", "DATE")]
    _, _, age, birth = filled_spans("Admit date: 5/6/1982. Jo Smith, 54 y.o. (DOB = 1/21/1928)", marks)
    assert age == "54"
    assert birth != "1/21/1928"
