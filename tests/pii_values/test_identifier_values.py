"""Numbers are valid under python-stdnum or phonenumbers, or lie in the reserved range that the code documents."""

from __future__ import annotations

import ipaddress
import random
import re

import phonenumbers
from stdnum import iban, luhn
from stdnum.au import tfn
from stdnum.ca import sin
from stdnum.gb import nhs
from stdnum.in_ import aadhaar, pan
from stdnum.us import ssn

from piiloom.pii_values.finance import draw_credit_score, in_units, told_amount, told_rate, written_amount
from piiloom.pii_values.identifiers import (
    draw_bank_account,
    draw_driving_licence,
    draw_ip_address,
    draw_licence_plate,
    draw_national_id,
    draw_number,
    draw_passport,
    draw_payment_card,
    draw_wallet,
)
from piiloom.pii_values.people import draw_phone
from piiloom.pii_values.persona import draw_persona
from piiloom.pii_values.regions import regions
from tests.longer import case_by_case

LOCALES = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG")
N = 200


def compact(text: str) -> str:
    return re.sub(r"[ -]", "", text)


@case_by_case("locale", LOCALES)
def test_cards_pass_luhn_and_carry_an_issuers_prefix(locale):
    rng = random.Random(locale)
    for _ in range(N):
        number = compact(draw_payment_card(locale, rng))
        assert luhn.is_valid(number)
        assert re.fullmatch(r"4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|(6011|65|60|81|82)\d+", number)
        assert len(number) in {15, 16}


def test_bank_accounts():
    rng = random.Random(1)
    shapes = {"en_US": r"(?:\d[ -]?){8,12}", "en_CA": r"\d{5}-\d{3} \d{7}", "en_AU": r"\d{3}-\d{3} \d{8}", "en_IN": r"[1-9]\d{10,14}"}
    shapes["en_SG"] = r"\d{3}-\d{5}-\d|\d{9,10}|\d{3}-\d{6}-\d{3}"
    for _ in range(N):
        assert iban.is_valid(draw_bank_account("en_GB", rng))
        for locale, shape in shapes.items():
            assert re.fullmatch(shape, draw_bank_account(locale, rng))


def test_social_security_numbers_were_never_issued():
    rng = random.Random(2)
    for _ in range(N):
        number = compact(draw_national_id("en_US", "Whitlock", rng))
        area, group, serial = number[:3], number[3:5], number[5:]
        assert 900 <= int(area) <= 999
        assert 1 <= int(group) <= 49
        assert serial != "0000"
        assert not ssn.is_valid(number)


def test_british_ids_are_test_numbers_or_unallocated():
    rng = random.Random(3)
    for _ in range(N):
        number = compact(draw_national_id("en_GB", "Whitlock", rng))
        if number[0].isdigit():
            assert number.startswith("999")
            assert nhs.is_valid(number)
        else:
            assert re.fullmatch(r"(BG|GB|KN|NK|NT|TN|ZZ|QQ)\d{6}[A-D]", number)


def test_canadian_australian_and_indian_ids():
    rng = random.Random(4)
    for _ in range(N):
        insurance = compact(draw_national_id("en_CA", "Whitlock", rng))
        assert insurance[0] == "0"
        assert luhn.is_valid(insurance)
        assert not sin.is_valid(insurance)
        assert tfn.is_valid(draw_national_id("en_AU", "Whitlock", rng))
        number = draw_national_id("en_IN", "Menon", rng)
        if number[0].isalpha():
            assert pan.is_valid(number)
            assert number[4] == "M"
        else:
            assert aadhaar.is_valid(number)


# Ofcom's drama ranges and ACMA's fictional ones, as digits after the country code.
DRAMA = re.compile(
    r"(113|114|115|116|117|121|131|141|151|161)4960\d{3}|1914980\d{3}|2079460\d{3}|2896496\d{3}|2920180\d{3}|1632960\d{3}|7700900\d{3}"
)
# The Bundesnetzagentur's, Arcep's, PTS's and ComReg's.
ABROAD = r"493023125\d{3}|49176040690\d\d|3363998\d{4}|467017406[1-9]\d|353209\d{6,7}"
FICTION = re.compile(r"[2378](5550|7010)\d{4}")


@case_by_case("locale", LOCALES)
def test_phones_are_reserved_for_fiction_or_valid(locale):
    rng = random.Random(locale)
    region = locale[-2:]
    for _ in range(N):
        text = draw_phone(locale, regions(locale).draw(rng), rng)
        number = phonenumbers.parse(text, "GB" if text.startswith("07700") else region)
        national = str(number.national_number)
        assert phonenumbers.is_possible_number(number), text
        match region:
            case "US" | "CA":
                assert re.fullmatch(rf"1\d{{3}}55501\d\d|44(?:{DRAMA.pattern})|{ABROAD}", f"{number.country_code}{national}"), text
            case "GB":
                assert DRAMA.fullmatch(national), text
            case "AU":
                assert FICTION.fullmatch(national), text
                assert phonenumbers.is_valid_number(number), text
            case _:
                assert phonenumbers.is_valid_number(number), text


PASSPORTS = {
    "en_US": r"[A-Z]\d{8}|\d{9}|[A-Z]{2}\d{6,7}|[A-Z]\d{7}|[A-Z]?\d\d\d? \d{3} \d{3}",
    "en_GB": r"\d{9}",
    "en_CA": r"[A-Z]{2}\d{6}",
    "en_AU": r"[A-Z]{1,2}\d{7}",
    "en_IN": r"[A-Z][1-9]\d{6}",
    "en_SG": r"[EK]\d{7}[A-Z]",
}
PLATES = {
    "en_US": r"(?=.*\d)[A-Z\d]{1,4}(?:[ -]?[A-Z\d]{2,5}){1,2}",
    "en_GB": r"[A-Z]{2}\d{2} ?[A-Z]{3}",
    "en_CA": r"[A-Z]{3,4} \d{3,4}",
    "en_AU": r"[A-Z]{3} \d\d[A-Z]|[A-Z]{2} \d\d [A-Z]{2}",
    "en_IN": r"[A-Z]{2} \d\d [A-Z]{2} \d{4}",
    "en_SG": r"S[A-Z]{2} \d{1,4} [A-Z]",
}


@case_by_case("locale", LOCALES)
def test_documents_have_the_shapes_of_the_place(locale):
    rng = random.Random(locale)
    for _ in range(60):
        persona = draw_persona(rng, locale)
        assert re.fullmatch(PASSPORTS[locale], draw_passport(locale, rng))
        plate = draw_licence_plate(locale, persona.place.vehicle, rng)
        assert re.fullmatch(PLATES[locale], plate)
        licence = draw_driving_licence(persona, rng)
        if locale == "en_GB":
            assert licence.startswith("".join(c for c in persona.family_name.upper() if c.isalpha())[:5])
            assert licence.split()[1][5] == str(persona.birth_date.year)[3]
        if locale == "en_IN":
            assert licence[:2] == plate[:2] == persona.place.vehicle
        assert re.search(r"\d", draw_number("ticket", rng))


def test_amounts_are_grouped_as_in_the_locale():
    assert written_amount(52400, "en_US") == "$52,400"
    assert written_amount(850, "en_GB") == "£850"
    assert written_amount(960000, "en_IN") == "₹9,60,000"
    assert written_amount(12345678, "en_IN") == "₹1,23,45,678"
    assert written_amount(900, "en_IN") == "₹900"


def test_credit_scores_stay_inside_the_agencies_range():
    rng = random.Random(5)
    scores = [draw_credit_score("en_US", rng) for _ in range(3000)]
    assert min(scores) >= 300
    assert max(scores) <= 850


def nric_letter(series: str, digits: str) -> str:
    """The check letter of a Singapore identity card number, as its published rule gives it."""
    total = sum(int(d) * w for d, w in zip(digits, (2, 7, 6, 5, 4, 3, 2), strict=True)) + (4 if series == "T" else 0)
    return "JZIHGFEDCBA"[total % 11]


def test_singapore_identity_numbers_belong_to_nobody():
    rng = random.Random(6)
    for _ in range(N):
        number = draw_national_id("en_SG", "Tan", rng)
        assert re.fullmatch(r"[ST]\d{7}[A-Z]", number)
        assert number[-1] != nric_letter(number[0], number[1:8])
        assert number[-1] not in "ABCDEFGHIJZ"


def test_network_addresses_are_private_or_kept_for_documentation():
    rng = random.Random(7)
    kinds = set()
    for _ in range(500):
        address = ipaddress.ip_address(draw_ip_address(rng))
        kinds.add(address.version)
        assert address.is_private
        assert not address.is_loopback
    assert kinds == {4, 6}


def test_wallets_have_the_shapes_of_the_large_chains():
    rng = random.Random(8)
    shape = re.compile(r"0x[0-9a-f]{40}|bc1q[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{38}|1[1-9A-HJ-NP-Za-km-z]{33}")
    assert all(shape.fullmatch(draw_wallet(rng)) for _ in range(300))


def test_numbers_of_schools_employers_insurers_and_courts():
    rng = random.Random(9)
    for _ in range(200):
        for number in (draw_number(kind, rng) for kind in ("student_id", "employee_id", "member_id", "case_number")):
            assert re.fullmatch(r"[A-Za-z0-9/ -]{5,16}", number), number
            assert sum(c.isdigit() for c in number) >= 4, number


def test_amounts_are_told_in_many_ways():
    rng = random.Random(10)
    told = {told_amount(48_500, "en_US", rng, short=0.5) for _ in range(600)}
    assert {"$48,500", "$48500", "$48k", "$48K", "48k", "48,500 dollars", "$48.5k"} <= told
    assert {"₹9,60,000", "₹9.6 lakh", "9.6 lakhs"} <= {told_amount(960_000, "en_IN", rng, short=0.5) for _ in range(600)}
    assert "S$3,200" in {told_amount(3_200, "en_SG", rng) for _ in range(100)}
    assert in_units(960_000, "en_IN") == "9.6"
    assert {told_rate(23.0, "en_US", rng) for _ in range(100)} >= {"$23", "$23.50", "$23.75"}
