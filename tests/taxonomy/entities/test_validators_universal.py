"""The checks of international numbers, with examples that their standards, makers and users publish."""

from __future__ import annotations

import pytest

from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case

TD3 = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"  # ICAO Doc 9303 part 4
TD1 = "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<"  # part 5
TD2 = "I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<\nD231458907UTO7408122F1204159<<<<<<<6"  # part 6

PUBLISHED = [
    ("bitcoin_address", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),  # the first block
    ("bitcoin_address", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),  # Bitcoin wiki
    ("bitcoin_address", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),  # BIP 173
    ("bitcoin_address", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"),
    ("bitcoin_address", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"),  # BIP 350
    ("litecoin_address", "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9"),
    ("litecoin_address", "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"),
    ("ripple_address", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"),  # the genesis account
    ("ripple_address", "rrrrrrrrrrrrrrrrrrrrrhoLvTp"),
    ("cardano_address", "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8"),  # CIP-19
    ("stellar_account", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"),  # SEP-23
    ("other_wallet", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"),  # TRON
    ("other_wallet", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L"),  # Dogecoin
    ("other_wallet", "XdAUmwtig27HBG6WfYyHAzP8n6XC9jESEw"),  # Dash
    ("other_wallet", "cosmos1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd02"),  # Cosmos
    ("mrz", TD3),
    ("mrz", TD3.partition("\n")[2]),
    ("mrz", TD2),
    ("vin", "1M8GDM9AXKP042788"),
    ("vin", "5GZCZ43D13S812715"),
    ("ups_tracking", "1Z5R89390357567127"),
    ("ups_tracking", "1Z 999 AA1 01 2345 6784"),
    ("dhl_waybill", "3318810025"),
    ("dhl_waybill", "8487135506"),
    ("isbt_donation", "G1234 89 654321 Y"),  # python-stdnum, ISO 7064 mod 37-2
    ("isbt_donation", "=G12348965432100Y"),
    ("orcid", "0000-0002-1825-0097"),  # ORCID, Josiah Carberry
    ("orcid", "https://orcid.org/0000-0001-5109-3700"),
    ("isni", "0000 0001 2103 2683"),
    ("isni", "https://isni.org/isni/000000012146438X"),
    ("ipi_name_number", "00014107338"),
    ("ipi_name_number", "199"),
    ("imei", "490154203237518"),  # 3GPP
    ("esim_eid", "89049032123451234512345678901235"),  # GSMA SGP.29
    ("esim_eid", "89044045116727494800000004479366"),
]


@case_by_case(("name", "number"), PUBLISHED)
def test_published_examples_are_accepted(name: str, number: str) -> None:
    assert find_validator(f"piiloom:{name}")(number)


@case_by_case(("name", "number"), PUBLISHED)
def test_another_last_character_is_refused(name: str, number: str) -> None:
    other = next(c for c in "3K7" if c != number[-1].upper())
    if name == "vin":  # its check digit stands within
        number, other = number[:8] + "7" + number[9:], number[-1]
    assert not find_validator(f"piiloom:{name}")(number[:-1] + other)


def test_a_card_of_three_lines_has_its_check_digit_in_the_second() -> None:
    accepts = find_validator("piiloom:mrz")
    assert accepts(TD1)
    assert not accepts(TD1.replace("<6\n", "<7\n"))
    assert not accepts(TD1.replace("740812", "740813"))
    assert not accepts(TD1.partition("\n")[2])


@pytest.mark.parametrize("number", ["RA473124829US", "RB123456785GB", "CP 473 124 829 SE"])
def test_postal_items_have_their_check_digit_before_the_country(number: str) -> None:
    accepts = find_validator("piiloom:postal_item")
    assert accepts(number)
    assert not accepts(number.replace("9US", "8US").replace("5GB", "6GB").replace("829 SE", "820 SE"))


def test_mac_addresses_are_of_one_device() -> None:
    accepts = find_validator("piiloom:mac_address")
    assert accepts("00:1B:44:11:3A:B7")
    assert accepts("001b.4411.3ab7")
    assert not accepts("FF:FF:FF:FF:FF:FF")
    assert not accepts("01:00:5E:00:00:FB")  # of a group
    assert not accepts("00-00-00-00-00-00")
    assert not accepts("00:1B:44:11:3A")


def test_ip_addresses_parse_and_have_a_digit() -> None:
    accepts = find_validator("piiloom:ip_address")
    assert accepts("192.0.2.1")
    assert accepts("2001:db8::8a2e:370:7334")
    assert not accepts("add::bed")
    assert not accepts("10:20:30")
    assert not accepts("256.1.1.1")


def test_imei_numbers_have_fifteen_digits() -> None:
    accepts = find_validator("piiloom:imei")
    assert not accepts("35686800004141")  # python-stdnum takes 14 and 16, which have no check digit
    assert not accepts("000000000000000")


def test_solana_addresses_are_of_32_bytes() -> None:
    accepts = find_validator("piiloom:solana_address")
    assert accepts("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
    assert not accepts("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss6")
    assert not accepts("0okenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")


def test_vehicle_numbers_without_a_check_digit_have_letters_and_digits() -> None:
    accepts = find_validator("piiloom:vin_shape")
    assert accepts("WVWZZZ1KZ8W123456")
    assert not accepts("12345678901234567")
    assert not accepts("WVWZZZ1KZ8W12345")


def test_an_isni_outside_the_blocks_of_orcid_is_no_orcid() -> None:
    assert find_validator("piiloom:isni")("0000000121032683")
    assert not find_validator("piiloom:orcid")("0000-0001-2103-2683")
