"""The checks of American and British numbers, with examples that their authorities and users publish."""

from __future__ import annotations

from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case

PUBLISHED = [
    ("us_npi", "1234567893"),  # CMS, requirements for the check digit
    ("us_npi", "1245319599"),
    ("us_dea", "AB1234563"),
    ("us_dea", "F91234563"),
    ("gb_uln", "1000000043"),  # worked out by the rule
    ("gb_mpan", "1312345678907"),  # limejump/mpan
    ("gb_mpan", "00 111 222 13 1234 5678 907"),
    ("gb_mpan", "2012345678385"),
    ("gb_pnc_id", "2003/0062845E"),  # Ministry of Justice, tests
    ("gb_pnc_id", "2002/0073319Z"),
    ("gb_pnc_id", "02/73319Z"),
]


@case_by_case(("name", "number"), PUBLISHED)
def test_published_examples_are_accepted(name: str, number: str) -> None:
    assert find_validator(f"piiloom:{name}")(number)


@case_by_case(("name", "number"), PUBLISHED)
def test_another_last_character_is_refused(name: str, number: str) -> None:
    other = "BC" if number[-1].isalpha() else str((int(number[-1]) + 1) % 10)
    assert not find_validator(f"piiloom:{name}")(number[:-1] + other[0])


def test_a_learner_number_whose_remainder_is_zero_does_not_exist() -> None:
    assert not find_validator("piiloom:gb_uln")("0000000000")


def test_a_chi_number_begins_with_a_day() -> None:
    accepts = find_validator("piiloom:gb_chi")
    assert accepts("1111111111")
    assert not accepts("3111111110")
    assert not accepts("9434765919")  # an NHS number


def test_some_prefixes_of_national_insurance_are_never_given() -> None:
    accepts = find_validator("piiloom:gb_nino")
    assert accepts("AB 12 34 56 C")
    assert not accepts("GB 12 34 56 C")
    assert not accepts("TN123456A")


def test_driver_numbers_hold_a_birth_date() -> None:
    accepts = find_validator("piiloom:gb_driver_number")
    assert accepts("MORGA657054SM9IJ")  # DVLA's example: born on 5 July 1964, a woman
    assert accepts("MORGA 657054 SM9IJ 35")
    assert not accepts("MORGA613054SM9IJ")
    assert not accepts("MORGA602304SM9IJ")
    assert not accepts("MORGA657054SM9")


def test_american_numbers_of_zeros_are_refused() -> None:
    assert not find_validator("piiloom:us_dea")("AB0000000")
    assert not find_validator("piiloom:us_npi")("3234567893")
