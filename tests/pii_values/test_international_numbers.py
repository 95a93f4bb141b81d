"""Numbers that rules draw for the universal entities: their validators accept them."""

import ipaddress
import random
import uuid
from datetime import date

from stdnum import luhn

from piiloom.pii_values.entity_values.people import draw_birth_date_text, write_birth_date
from piiloom.pii_values.numbering.holders import Holder, Stream, rule_of
from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case


def drawn(rule, count=40):
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
    values = drawn(rule)
    assert all(map(find_validator(f"piiloom:{validator}"), values))
    assert len(set(values)) > 30


def test_cards_and_sim_cards_have_a_luhn_digit():
    numbers = ["".join(filter(str.isdigit, one)) for one in drawn("international_ids:payment_card") + drawn("international_ids:iccid")]
    assert all(map(luhn.is_valid, numbers))
    assert {len(one) for one in numbers} == {14, 15, 16, 19, 20}


def test_vehicles_for_america_have_a_check_digit_and_others_a_shape():
    accepted = [find_validator("piiloom:vin")(one) for one in drawn("international_ids:vin")]
    assert 10 < sum(accepted) < 40
    assert all(map(find_validator("piiloom:vin_shape"), drawn("international_ids:vin")))


def test_addresses_are_of_networks_that_nobody_owns():
    for address in map(ipaddress.ip_address, drawn("network_ids:ipv4") + drawn("network_ids:ipv6")):
        assert not address.is_global


def test_ids_are_random_uuids():
    assert {uuid.UUID(one).version for one in drawn("network_ids:uuid")} == {4}


def test_zones_and_passes_have_lines_of_the_right_length():
    assert {tuple(map(len, one.split("\n"))) for one in drawn("machine_readable_zones:passport")} == {(44, 44)}
    assert {tuple(map(len, one.split("\n"))) for one in drawn("machine_readable_zones:id_card")} == {(30, 30, 30)}
    assert {len(one) for one in drawn("machine_readable_zones:boarding_pass")} == {60}


def test_birth_dates_are_written_as_the_locale_does():
    day = date(1984, 3, 9)
    assert write_birth_date(day, "%-d. {month} %Y", "fi_FI") == "9. maaliskuuta 1984"
    assert write_birth_date(day, "%d.%m.%Y", "pl_PL") == "09.03.1984"
    assert "年" in "".join(draw_birth_date_text("zh_CN", random.Random(seed)) for seed in range(9))
