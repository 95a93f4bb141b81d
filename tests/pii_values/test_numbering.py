"""The engine of numbers draws the same from a generator whatever the salts, fills masks, and says when no check digits fit."""

from __future__ import annotations

import random
import re
from datetime import date
from importlib import import_module

import pytest
from stdnum import iban_of as iban_rule
from stdnum import luhn

from piiloom.pii_values.numbering.accounts import card_in_groups, card_number, iban_of
from piiloom.pii_values.numbering.holders import Holder, Stream, completed, in_groups, rule_of
from piiloom.pii_values.numbering.masks import LETTERS, drawn, one_drawn
from tests.longer import case_by_case

# Rules that no locale of pii_values uses yet: they draw from a generator as well as from the seed of a surrogate.
RULES = {
    "nordic_ids:hetu": "fi.hetu",
    "western_european_ids:bsn": "nl.bsn",
    "western_european_ids:rijksregister": "be.nn",
    "eastern_european_ids:pesel": "pl.pesel",
    "american_ids:cpf": "br.cpf",
    "asian_ids:rrn": "kr.rrn",
    "pacific_ids:ird": "nz.ird",
}


def _holder(rng: random.Random, *, female: bool = True) -> Holder:
    return Holder(Stream(rng), date(1984, 3, 9), female, "ANNA", "SMIT", date(2026, 1, 1))


@case_by_case("place", RULES)
def test_rules_draw_valid_ids_from_a_generator(place):
    rng, module = random.Random(place), import_module(f"stdnum.{RULES[place]}")
    options = {"allow_temporary": True} if place.endswith("hetu") else {}
    found = {rule_of(place)(_holder(rng)) for _ in range(200)}
    assert len(found) >= 50  # as many as there are test numbers for women of one birthday in Finland
    assert all(module.is_valid(value, **options) for value in found)


def test_a_generator_gives_the_next_choice_whatever_the_salt():
    one, two = Stream(random.Random(4)), Stream(random.Random(4))
    assert [one.digits(1, 6), one.serial(1, 8), one.one_of(1, "abc"), one.number(1, 1, 99)] == [
        two.digits(9, 6),
        two.serial(8, 8),
        two.one_of(7, "abc"),
        two.number(6, 1, 99),
    ]
    assert all(one.serial(0, 3)[0] != "0" for _ in range(200))


@pytest.mark.parametrize(("head", "length", "groups"), [("4111", 16, r"(\d{4}-){3}\d{4}"), ("37", 15, r"\d{4}-\d{6}-\d{5}")])
def test_cards_have_their_length_and_groups(head, length, groups):
    number = card_number(head, length, Stream(random.Random(1)))
    assert (len(number), number.startswith(head), luhn.is_valid(number)) == (length, True, True)
    assert re.fullmatch(groups, card_in_groups(number, "-"))


@pytest.mark.parametrize(
    ("country", "body"), [("BE", "000123456700"), ("ES", "21000418450200051332"), ("NO", "86011117947"), ("NL", "ABNA0417164300")]
)
def test_ibans_have_national_check_digits_too(country, body):
    for seed in range(50):
        assert iban_rule.is_valid(iban_of(country, body, Stream(random.Random(seed))))


def test_a_body_without_check_digits_is_not_completed():
    assert completed("1234567", "ean", 1) == "12345670"
    assert completed("x", "ean", 1) is None


def test_masks_are_filled_place_by_place():
    rng = random.Random(2)
    for _ in range(100):
        assert re.fullmatch(rf"EMP-\d{{5}} [1-9][{LETTERS}]x", drawn("EMP-##### %@x", rng))
    assert {one_drawn(("A#", "B#"), rng)[0] for _ in range(50)} == {"A", "B"}


def test_every_choice_of_mask_takes_the_same_number_of_draws():
    after = set()
    for seed in range(20):
        rng, same = random.Random(seed), random.Random(seed)
        one_drawn(("@@@", "#"), rng)
        for _ in range(5):  # three letters, a run of digits, the choice
            same.random()
        after.add(rng.random() == same.random())
    assert after == {True}


@pytest.mark.parametrize(
    ("number", "pairs", "text"),
    [
        (999, True, "999"),
        (99_999, True, "99,999"),
        (100_000, True, "1,00,000"),
        (12_345_678, True, "1,23,45,678"),
        (12_345_678, False, "12,345,678"),
    ],
)
def test_digits_are_grouped(number, pairs, text):
    assert in_groups(number, ",", pairs=pairs) == text
