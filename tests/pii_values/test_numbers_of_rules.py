"""Numbers that rules draw: their validators accept them, a generator draws them whatever the salts, and they agree with their holders."""

from __future__ import annotations

import ipaddress
import random
import re
import uuid
from datetime import date
from importlib import import_module

import pytest
from stdnum import iban as iban_rule
from stdnum import luhn

from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.pii_values.entity_values.people import draw_birth_date_text, draw_person, write_birth_date
from piiloom.pii_values.numbering.accounts import card_in_groups, card_number, iban_of
from piiloom.pii_values.numbering.holders import Holder, Stream, completed, in_groups, rule_of
from piiloom.pii_values.numbering.masks import LETTERS, fill_mask, laid_out, tells_birth
from piiloom.taxonomy.entities.entity_catalogue import load_catalogue
from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case


def numbers_of(rule, count=40):
    holder = Holder(Stream(random.Random(5)), date(1980, 2, 3), True, "ANNA", "NOWAK", date(2026, 1, 1))
    return [rule_of(rule)(holder) for _ in range(count)]


@case_by_case(
    ("rule", "validator"),
    [
        ("wallets:bitcoin", "bitcoin_address"),
        ("wallets:litecoin", "litecoin_address"),
        ("wallets:ripple", "ripple_address"),
        ("wallets:cardano", "cardano_address"),
        ("wallets:stellar", "stellar_account"),
        ("wallets:solana", "solana_address"),
        ("wallets:other", "other_wallet"),
        ("machine_readable_zones:passport", "mrz"),
        ("machine_readable_zones:id_card", "mrz"),
        ("network_ids:ipv4", "ip_address"),
        ("network_ids:ipv6", "ip_address"),
        ("network_ids:mac", "mac_address"),
        ("international_ids:donation", "isbt_donation"),
    ],
)
def test_validators_accept_what_rules_draw(rule, validator):
    values = numbers_of(rule)
    assert all(map(find_validator(f"piiloom:{validator}"), values))
    assert len(set(values)) > 30


def test_cards_and_sim_cards_have_a_luhn_digit():
    numbers = [
        "".join(filter(str.isdigit, one)) for one in numbers_of("international_ids:payment_card") + numbers_of("international_ids:iccid")
    ]
    assert all(map(luhn.is_valid, numbers))
    assert {len(one) for one in numbers} == {14, 15, 16, 19, 20}


def test_vehicles_for_america_have_a_check_digit_and_others_a_shape():
    accepted = [find_validator("piiloom:vin")(one) for one in numbers_of("international_ids:vin")]
    assert 10 < sum(accepted) < 40
    assert all(map(find_validator("piiloom:vin_shape"), numbers_of("international_ids:vin")))


def test_addresses_are_of_networks_that_nobody_owns():
    for address in map(ipaddress.ip_address, numbers_of("network_ids:ipv4") + numbers_of("network_ids:ipv6")):
        assert not address.is_global


def test_ids_are_random_uuids():
    assert {uuid.UUID(one).version for one in numbers_of("network_ids:uuid")} == {4}


def test_zones_and_passes_have_lines_of_the_right_length():
    assert {tuple(map(len, one.split("\n"))) for one in numbers_of("machine_readable_zones:passport")} == {(44, 44)}
    assert {tuple(map(len, one.split("\n"))) for one in numbers_of("machine_readable_zones:id_card")} == {(30, 30, 30)}
    assert {len(one) for one in numbers_of("machine_readable_zones:boarding_pass")} == {60}


def test_birth_dates_are_written_as_the_locale_does():
    day = date(1984, 3, 9)
    assert write_birth_date(day, "%-d. {month} %Y", "fi_FI") == "9. maaliskuuta 1984"
    assert write_birth_date(day, "%d.%m.%Y", "pl_PL") == "09.03.1984"
    assert "年" in "".join(draw_birth_date_text("zh_CN", random.Random(seed)) for seed in range(9))


def drawn_by(rule: str) -> set[str]:
    holder = Holder(Stream(random.Random(5)), date(1980, 2, 3), True, "ANNA", "NOWAK", date(2026, 1, 1))
    return {rule_of(rule)(holder) for _ in range(30)}


def test_belgian_ibans_have_both_pairs_of_check_digits_and_come_in_two_ways_of_writing():
    numbers = drawn_by("belgian_ids:iban")
    assert len(numbers) == 30
    assert all(map(find_validator("stdnum:be.iban"), numbers))
    assert {len(number) for number in numbers} == {16, 19}


def test_numbers_of_polish_e_invoices_carry_a_tax_number_and_a_checksum():
    numbers = drawn_by("polish_ids:einvoice")
    assert len(numbers) == 30
    assert all(map(find_validator("piiloom:polish_einvoice"), numbers))


# Where a number tells the sex, and which digits say that its holder is a woman.
SEX = {
    ("sv_SE", "se_personnummer"): (-2, "02468"),
    ("pl_PL", "pl_pesel"): (9, "02468"),
    ("zh_CN", "cn_resident_id"): (16, "02468"),
    ("vi_VN", "vn_cccd"): (3, "1"),
}


@pytest.mark.parametrize(("locale", "entity"), SEX)
@pytest.mark.parametrize("seed", range(6))
def test_a_number_tells_the_sex_and_the_birth_year_of_its_holder(locale, entity, seed):
    rng = random.Random(seed)
    person = draw_person(locale, rng)
    value = draw_entity_value(load_catalogue(locale).entities[entity], locale, rng, person=person)
    digits = [one for one in value if one.isalnum()]
    at, of_women = SEX[locale, entity]
    assert (digits[at] in of_women) == (person.gender == "female")
    assert person.born.strftime("%y") in value.replace(" ", "")


def test_a_mask_may_hold_the_year_of_birth_alone():
    person = draw_person("vi_VN", random.Random(1))
    assert fill_mask("A{born yy}", random.Random(2), person.born) == f"A{person.born:%y}"
    assert (tells_birth("A{born yy}"), tells_birth("A{yy}")) == (True, False)


@case_by_case("seed", range(8))
def test_names_may_be_written_by_gender(seed):
    woman, man = (draw_person("vi_VN", random.Random(seed), gender) for gender in ("female", "male"))
    assert " Văn " not in woman.full
    assert " Thị " not in man.full
    assert woman.full.endswith(woman.given)


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
        assert re.fullmatch(rf"EMP-\d{{5}} [1-9][{LETTERS}]x", fill_mask("EMP-##### %@x", rng))


def test_layouts_keep_the_letters_and_digits_of_a_number():
    rng = random.Random(3)
    written = {laid_out("mac_address", "02:00:5E:00:53:0A", rng) for _ in range(60)}
    assert written == {"02:00:5E:00:53:0A", "02-00-5E-00-53-0A", "0200.5E00.530A", "02005E00530A"}
    assert laid_out("mac_address", "02:00:5E", rng) == "02:00:5E"


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
