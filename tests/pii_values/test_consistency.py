"""What is told of a person narrows what is drawn for them."""

from __future__ import annotations

import random

import pytest

from piiloom.pii_values.consistency import can_be_done_at, iban_in, matching_heritages, reminds_of, stated_age


@pytest.mark.parametrize(
    ("origins", "faiths", "keys"),
    [
        (("Japanese",), (), {"japanese"}),
        (("Irish citizen",), (), {"majority"}),
        (("South African",), (), {"east_african"}),
        (("Filipino", "French"), (), {"filipino"}),
        (("Punjabi", "Canadian"), (), {"south_asian"}),
        ((), ("Orthodox Jewish",), {"majority", "slavic", "western_european"}),
        ((), ("Hindu",), {"south_asian"}),
        (("Indian",), ("Sunni",), {"south_asian"}),
        (("Korean",), ("Sunni",), {"korean"}),
        (("American",), (), None),
        (("Martian",), ("Jedi",), None),
    ],
)
def test_origin_and_faith_tell_the_background(origins: tuple[str, ...], faiths: tuple[str, ...], keys: set[str] | None):
    found = matching_heritages("en_US", origins, faiths)
    assert (None if found is None else {one.key for one in found.items}) == keys


@pytest.mark.parametrize(
    ("told", "age"),
    [
        ("34", 34),
        ("22-year-old", 22),
        ("thirty-one years old", 31),
        ("mid-forties", 45),
        ("late 20s", 28),
        ("early sixties", 62),
        ("an adult", None),
    ],
)
def test_an_age_is_read(told: str, age: int | None):
    assert stated_age(told, "en_US") == age


@pytest.mark.parametrize(
    ("age", "job", "possible"),
    [
        (19, "dentist", False),
        (31, "dentist", True),
        (19, "night shift pharmacist", False),
        (19, "barista", True),
        (40, "retired surveyor", False),
        (66, "retired surveyor", True),
        (19, "dragon tamer", True),
    ],
)
def test_jobs_have_an_age(age: int, job: str, possible: bool):
    assert can_be_done_at(age, job, "en_US") == possible


@pytest.mark.parametrize(
    ("places", "country"), [(["Kenya", "Poland"], "PL"), (["Swiss citizen"], "CH"), (["Emirati"], "AE"), (["Bulgaria"], None), ([], None)]
)
def test_an_account_is_in_the_country_that_is_named(places: list[str], country: str | None):
    number = iban_in(places, random.Random(3))
    assert (number and number[:2]) == country


@pytest.mark.parametrize(
    ("handle", "made"),
    [("j.whitlock", True), ("DanaRuns7", True), ("dana@example.com", True), ("lazypanda", False), ("cosmic@dana.example", False)],
)
def test_a_handle_reminds_of_a_name(handle: str, made: bool):
    assert reminds_of(handle, "Dana", "Whitlock") == made
