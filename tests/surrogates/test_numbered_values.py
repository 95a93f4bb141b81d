"""Numbered tags of redactors by models: a number joins values to a person or a place only where the text does."""

from __future__ import annotations

from datetime import date

import pytest

from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.surrogates.kinds.places import country_places
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled

MANY = 25
DATED = [
    ("[NAME_1] (DOB [DATE_OF_BIRTH_1]), [AGE_1], lives in [CITY_1], [STATE_1] [ZIPCODE_1].", "en_US"),
    ("[NAME_1], [AGE_1], DOB [DATE_OF_BIRTH_1], met [NAME_2] ([AGE_2], born [DATE_OF_BIRTH_2]).", "en_US"),
    ("Patient: [PERSON_1]\nDOB: [DATE_OF_BIRTH_1]\nAge: [AGE_1]\nPhone: [PHONE_1]", "en_US"),
    ("[NAME_1]'s date of birth is [DOB_1]. Years went by. Later [NAME_1], [AGE_1], left.", "en_US"),
    ("[NAME_1] is [AGE_1] years old and was born on [DATE_OF_BIRTH_1].", "en_US"),
    ("A [AGE_1]-year-old man, [NAME_1] (born [DATE_OF_BIRTH_1]), came in.", "en_US"),
    ("<PERSON_1> (<AGE_1>), born <DATE_OF_BIRTH_1>", "en_US"),
    ("DOB [DATE_OF_BIRTH_1], [AGE_1]", "en_US"),
    ("[NAAM_1] (geboren [GEBOORTEDATUM_1], [LEEFTIJD_1] jaar)", "nl_NL"),
    ("[NAME_1], geboren am [GEBURTSDATUM_1], [ALTER_1] Jahre alt", "de_DE"),
    ("[NOM_1], née le [DATE_DE_NAISSANCE_1], âgée de [AGE_1] ans", "fr_FR"),
    ("[PERSONA_1] (nacida el [FECHA_DE_NACIMIENTO_1], [EDAD_1] años)", "es_ES"),
]


def told(done):
    """By kind: what was put in first."""
    found: dict[str, str] = {}
    for place in done.placed:
        found.setdefault(place.kind, done.text[place.new_start : place.new_end])
    return found


@case_by_case(("text", "locale"), DATED)
def test_ages_and_birth_dates_that_the_text_joins_agree(text, locale):
    for done in filled(text, locale, count=MANY):
        by_owner: dict[str, dict[str, str]] = {}
        for place in done.placed:
            by_owner.setdefault(place.value_id, {})[place.kind] = done.text[place.new_start : place.new_end]
        dated = [values for values in by_owner.values() if {"age", "birth_date"} <= values.keys()]
        assert len(dated) == 1 + text.count("[AGE_2]"), done.text
        for values in dated:
            born = read_date(values["birth_date"], locale[:2], date_order(locale[:2], locale[3:]), date(2026, 1, 1)).when
            assert abs((date(2024, 6, 1) - born).days / 365.25 - int(values["age"])) < 4, done.text


PLACES = [
    "[NAME_1] lives in [CITY_1], [STATE_1] [ZIPCODE_1].",
    "He lives in [CITY_1], [STATE_1] [ZIP_1]. The snow in [CITY_1] melts.",
    "[ADDRESS_1], [CITY_1], [STATE_1] [ZIP_1]",
    "Nothing is far from [CITY_1], [STATE_1]; and [ZIP_1] is a code. So [CITY_1], [STATE_1] [ZIP_1] it is.",
]


def test_parts_of_an_address_with_one_number_are_one_place():
    places = country_places("US")
    for text in PLACES:
        for done in filled(text, count=MANY):
            values = told(done)
            regions = {city.region.name for city in places.cities if city.name == values["city"]}
            assert values["region"] in regions, done.text
            assert done.text.count(values["city"]) == text.count("[CITY_1]"), done.text


def test_what_the_text_keeps_apart_is_only_the_first_of_its_kind():
    text = "[NAME_1] works far away. It was in [CITY_1] that it rained. Nobody was there. The oldest was [AGE_1]. Write to [EMAIL_1]."
    for done in filled(text, count=MANY):
        ids = [place.value_id for place in done.placed]
        assert len(set(ids)) == len(ids), done.text
    for done in filled("[NAME_1] and her mother, [AGE_1], left. [NAME_1] was born on [DOB_1].", count=5):
        person, age, again, born = (place.value_id for place in done.placed)
        assert person == again == born != age
    for done in filled("[NAME_1] and her son [NAME_2] ([AGE_1]) came.", count=5):
        _, son, age = (place.value_id for place in done.placed)
        assert age == son
    for done in filled("[NAME_1] and [NAME_2], aged [AGE_1] and [AGE_2], left.", count=5):
        one, two, first, second = (place.value_id for place in done.placed)
        assert (first, second) == (one, two)


@pytest.mark.parametrize(
    "text", ["[NAME_1] (tel. [PHONE_1], [EMAIL_1])", "[NAME_1]'s email is [EMAIL_1].", "[EMAIL_1] belongs to [NAME_1]."]
)
def test_an_email_belongs_to_the_name_beside_it(text):
    assert all(len({place.value_id for place in done.placed}) == 1 for done in filled(text, count=5))


def test_equal_numbers_are_one_value_wherever_they_stand():
    text = "[NAME_1], [AGE_1], came. [NAME_2], [AGE_2], left. Both knew that [AGE_1] is less than [AGE_2]."
    for done in filled(text, count=MANY):
        ages = [done.text[place.new_start : place.new_end] for place in done.placed if place.kind == "age"]
        assert ages[:2] == ages[2:], done.text
