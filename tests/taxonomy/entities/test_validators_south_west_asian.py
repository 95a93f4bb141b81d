"""Checks of the Emirates and India, with numbers published by others."""

from __future__ import annotations

import pytest

from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case

emirates_id = find_validator("piiloom:emirates_id")
in_gstin = find_validator("piiloom:in_gstin")


# Examples of the idnumbers library (tests of nationalid.are).
@pytest.mark.parametrize(
    "number", ["784-1980-1234567-8", "784198012345678", "784-1979-1234567-1", "784-1952-0464048-6", "784-1968-6570305-0"]
)
def test_published_numbers_pass(number: str) -> None:
    assert emirates_id(number)


@case_by_case(
    "number",
    [
        "784-1981-1234567-9",  # published as wrong: check digit
        "784-1980-1234567-9",
        "785-1980-1234567-8",  # another country
        "784-1980-123456-7",  # a digit short
        "784-1799-1234567-9",  # nobody was born then; the check digit is right
        "000-0000-0000000-0",  # eClaimLink's stand-in for somebody without a card
        "111-1111-1111111-1",
    ],
)
def test_others_do_not(number: str) -> None:
    assert not emirates_id(number)


@case_by_case("at", range(3, 15))
def test_any_other_digit_is_noticed(at: int) -> None:
    number = "784198012345678"
    changed = number[:at] + str((int(number[at]) + 1) % 10) + number[at + 1 :]
    assert not emirates_id(changed)


# Of python-stdnum's documentation.
def test_a_gstin_passes_and_spoilt_ones_do_not() -> None:
    assert in_gstin("27AAPFU0939F1ZV")
    for wrong in ("27AAPFU0939F1ZO", "27AAPFU0939F1AA", "27AAPFU0939F1Z", "369296450896540", "27AAPFU0939F0ZX"):
        assert not in_gstin(wrong)


@pytest.mark.parametrize(("state", "right"), [("38", 1), ("97", 1), ("39", 0), ("00", 0)])
def test_a_gstin_names_a_state_that_there_is(state: str, right: int) -> None:
    assert sum(in_gstin(f"{state}AAPFU0939F1Z{sign}") for sign in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == right
