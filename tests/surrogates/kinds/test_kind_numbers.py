"""Ids, phones, cards and accounts: valid by the libraries that know them or of a kept range, and in agreement with their owner."""

from __future__ import annotations

import re
from datetime import date
from importlib import import_module
from random import Random

import phonenumbers
import pytest
from kind_draws import ANCHOR, COUNTRIES, draw, owned, persona
from stdnum import iban, luhn

from piiloom.pii_values.countries import facts_of
from piiloom.pii_values.numbering.holders import IDS
from piiloom.pii_values.rewriting.values import reshaped
from piiloom.surrogates.kinds.contacts import phone_plan
from piiloom.surrogates.kinds.identifiers import payment_card
from piiloom.surrogates.kinds.kind import KINDS
from tests.longer import EXPLORE, case_by_case, sampled

MANY = pytest.mark.parametrize("count", sampled(100, 2000 if EXPLORE else 300))
# By country the modules of stdnum that check the number; what is not here has no module (shapes are tested below).
NATIONAL = {
    "IE": "ie.pps", "NL": "nl.bsn", "BE": "be.nn", "DE": "de.idnr", "AT": "at.vnr", "CH": "ch.ssn", "FR": "fr.nir", "ES": "es.dni",
    "PT": "pt.cc",
    "IT": "it.codicefiscale", "PL": "pl.pesel", "SE": "se.personnummer", "DK": "dk.cpr", "CZ": "cz.rc", "RO": "ro.cnp", "GR": "gr.amka",
    "TR": "tr.tckimlik", "BR": "br.cpf", "MX": "mx.curp", "AR": "ar.dni", "CL": "cl.rut", "PE": "pe.cui", "ZA": "za.idnr",
    "IN": "in_.aadhaar",
    "JP": "jp.in_", "KR": "kr.rrn", "CN": "cn.ric", "TH": "th.pin", "ID": "id.nik", "MY": "my.nric", "IL": "il.idnr", "AU": "au.tfn",
    "NZ": "nz.ird",
    "BG": "bg.egn", "EE": "ee.ik", "LT": "lt.asmens", "LV": "lv.pvn", "HR": "hr.oib", "SI": "si.emso", "SK": "sk.rc",
    "UA": "ua.rntrc", "RU": "ru.inn",
}  # fmt: skip
TAX = {
    "GB": "gb.utr", "IE": "ie.pps", "NL": "nl.bsn", "BE": "be.nn", "DE": "de.idnr", "AT": "at.tin", "CH": "ch.ssn", "FR": "fr.nif",
    "ES": "es.nif",
    "PT": "pt.nif", "IT": "it.codicefiscale", "PL": "pl.nip", "GR": "gr.vat", "TR": "tr.tckimlik", "BR": "br.cpf", "MX": "mx.rfc",
    "AR": "ar.cuit",
    "CO": "co.nit", "CL": "cl.rut", "PE": "pe.ruc", "ZA": "za.tin", "KE": "ke.pin", "EG": "eg.tn", "MA": "ma.ice", "IN": "in_.pan",
    "KR": "kr.brn",
    "VN": "vn.mst", "TH": "th.pin", "ID": "id.npwp", "IL": "il.idnr", "AU": "au.tfn", "NZ": "nz.ird",
}  # fmt: skip
# Numbers that no module of stdnum knows or accepts: the shape of the range that is kept, or of the country.
SHAPES = {
    "US": r"987-65-432\d|9\d\d-(0[1-9]|[1-4]\d)-\d{4}", "GB": r"(BG|GB|NK|KN|NT|TN|ZZ|QQ) \d\d \d\d \d\d [A-D]",
    "SG": r"[ST]\d{7}[KLMNPQRTUWX]",
    "CO": r"[\d.]{8,13}", "NG": r"[1-9]\d{10}", "KE": r"[1-3]\d{7}", "EG": r"[23]\d{13}", "MA": r"[A-Z]{1,2}\d{6}", "VN": r"0\d{11}",
    "PH": r"(\d{4}-){3}\d{4}", "AE": r"784-\d{4}-\d{7}-\d", "SA": r"[12]\d{9}", "FJ": r"1\d-\d{5}-\d-\d", "TW": r"[A-Z][12]\d{8}",
    "CA": r"0\d\d \d{3} \d{3}",
    "FI": r"\d{6}[-A]9\d\d[0-9A-Y]", "NO": r"\d\d(8[1-9]|9[0-2])\d\d \d{5}",
}  # fmt: skip


@MANY
@pytest.mark.parametrize("country", [*COUNTRIES, "BG", "EE", "LT", "LV", "HR", "SI", "SK", "UA", "RU"])
def test_national_ids_are_valid_or_of_a_kept_range(country, count):
    assert country in NATIONAL or country in SHAPES
    for seed in range(count):
        value = KINDS["national_id"].draw(owned(seed, country) if seed % 3 else draw(seed, country))
        if country in SHAPES:
            assert re.fullmatch(SHAPES[country], value), value
        if country in NATIONAL:
            assert import_module(f"stdnum.{NATIONAL[country]}").is_valid(value), value


@MANY
@pytest.mark.parametrize("country", COUNTRIES)
def test_tax_ids_are_valid_where_their_rule_is_known(country, count):
    module = import_module(f"stdnum.{TAX[country]}") if country in TAX else None
    for seed in range(count if module else 50):
        value = KINDS["tax_id"].draw(owned(seed, country))
        assert module is None or module.is_valid(value), value
        if country == "MX":
            assert module.is_valid(value, validate_check_digits=True), value


def test_kept_ranges_are_told_with_their_source():
    assert all(len(text) == 2 and all(text) for text in IDS.values())


@MANY
def test_numbers_of_the_kept_ranges_have_right_check_digits(count):
    nhs, hetu, norway = import_module("stdnum.gb.nhs"), import_module("stdnum.fi.hetu"), import_module("stdnum.no.fodselsnummer")
    for seed in range(count):
        number = KINDS["national_id"].draw(owned(seed, "GB", form="nhs"))
        assert nhs.is_valid(number)
        assert number.startswith("999 ")
        assert luhn.is_valid(KINDS["national_id"].draw(owned(seed, "CA")).replace(" ", ""))
        assert hetu.is_valid(KINDS["national_id"].draw(owned(seed, "FI")), allow_temporary=True)
        digits = KINDS["national_id"].draw(owned(seed, "NO")).replace(" ", "")
        assert digits[-2:] == norway.calc_check_digit1(digits[:9]) + norway.calc_check_digit2(digits[:10])
        assert luhn.is_valid(KINDS["national_id"].draw(owned(seed, "AE")).replace("-", ""))
        assert luhn.is_valid(KINDS["national_id"].draw(owned(seed, "SA")))


GENDERS = ("pl.pesel", "se.personnummer", "be.nn", "it.codicefiscale", "mx.curp", "za.idnr", "ee.ik", "gr.amka", "si.emso")
BIRTHS = {
    "PL": "pl.pesel", "SE": "se.personnummer", "BE": "be.nn", "IT": "it.codicefiscale", "MX": "mx.curp", "ZA": "za.idnr",
    "EE": "ee.ik", "GR": "gr.amka",
    "SI": "si.emso", "RO": "ro.cnp", "DK": "dk.cpr", "CZ": "cz.rc", "SK": "cz.rc", "BG": "bg.egn", "LV": "lv.pvn", "CN": "cn.ric",
    "KR": "kr.rrn",
    "MY": "my.nric", "ID": "id.nik", "LT": "lt.asmens",
}  # fmt: skip
CENTURY_UNKNOWN = {"MY", "ID", "GR"}  # two digits of the year, which stdnum takes for the last century's


@pytest.mark.parametrize("country", BIRTHS)
def test_birth_date_and_sex_in_ids_are_the_owners(country):
    module = import_module(f"stdnum.{BIRTHS[country]}")
    rng = Random(country)
    for seed in range(600):
        owner = persona(seed, country, born=date.fromordinal(rng.randint(date(1932, 1, 1).toordinal(), date(2015, 12, 31).toordinal())))
        value = KINDS["national_id"].draw(draw(seed, country, owner=owner))
        assert module.is_valid(value)
        read = module.get_birth_date(value)
        if country in CENTURY_UNKNOWN:
            assert (read.year % 100, read.month, read.day) == (owner.born.year % 100, owner.born.month, owner.born.day)
        else:
            assert read == owner.born
        if hasattr(module, "get_gender"):
            assert module.get_gender(value) == ("F" if owner.gender == "female" else "M")


@case_by_case(
    ("country", "place", "odd_for"),
    [
        ("RO", 0, "male"),
        ("DK", -1, "male"),
        ("CN", -2, "male"),
        ("KR", 7, "male"),
        ("MY", -1, "male"),
        ("BG", -2, "female"),
        ("FI", -2, "male"),
        ("NO", -3, "male"),
        ("EG", -2, "male"),
        ("FR", 0, "male"),
        ("TW", 1, "male"),
        ("LT", 0, "male"),
    ],
)
def test_the_digit_of_the_sex_is_the_owners(country, place, odd_for):
    for seed in range(300):
        drawn = owned(seed, country)
        digit = KINDS["national_id"].draw(drawn)[place]
        assert (int(digit) % 2 == 1) == (drawn.owner.gender == odd_for), (country, digit)


def test_birth_dates_that_stdnum_does_not_read_are_the_owners_too():
    for seed in range(300):
        for country, shape in (("FI", "%d%m%y"), ("AT", "%d%m%y"), ("EG", "%y%m%d"), ("FR", "%y%m")):
            drawn = owned(seed, country)
            assert drawn.owner.born.strftime(shape) in re.sub(r"[ -]", "", KINDS["national_id"].draw(drawn))
        drawn = owned(seed, "NO")
        number = KINDS["national_id"].draw(drawn)
        assert (int(number[:2]), int(number[2:4]) - 80, int(number[4:6])) == (
            drawn.owner.born.day,
            drawn.owner.born.month,
            drawn.owner.born.year % 100,
        )
        drawn = owned(seed, "AE")
        assert KINDS["national_id"].draw(drawn).split("-")[1] == str(drawn.owner.born.year)


def test_names_in_italian_ids_are_the_owners():
    owner = persona(4, "IT", born=date(1980, 1, 1))
    owner.given, owner.family, owner.gender = "Mario", "Rossi", "male"
    assert KINDS["national_id"].draw(draw(4, "IT", owner=owner)).startswith("RSSMRA80A01")
    owner.given, owner.family, owner.gender = "Gianfranco", "Fo", "female"
    assert KINDS["national_id"].draw(draw(4, "IT", owner=owner)).startswith("FOXGFR80A41")


def test_one_person_has_one_number_whatever_the_mention():
    for country in COUNTRIES:
        for name in ("national_id", "tax_id", "phone", "email", "username", "passport", "bank_account", "postcode", "city"):
            kind = KINDS[name]
            assert kind.draw(draw(1, country, owner=persona(8, country))) == kind.draw(
                draw(2, country, owner=persona(8, country), shift=31)
            ), (country, name)


def test_phones_of_one_person_differ_by_index():
    kind = KINDS["phone"]
    assert kind.draw(owned(8, "NL", index="1")) != kind.draw(owned(8, "NL", index="2"))


@MANY
@pytest.mark.parametrize("country", [*COUNTRIES, "GH", "PK", "UA", "HK", "EC", "WS", "TO"])
def test_phones_are_valid_or_of_a_kept_block(country, count):
    plan = phone_plan(country)
    kept = {re.sub("[^0-9]", "", mask.replace("#", "0").replace("%", "1")): mask for mask in (*plan.national, *plan.international)}
    patterns = [re.compile("".join({"#": r"\d", "%": "[1-9]"}.get(c, c) for c in re.sub("[^0-9#%]", "", mask))) for mask in kept.values()]
    assert not plan.reserved or plan.source
    for seed in range(count):
        for name in ("phone", "fax"):
            text = KINDS[name].draw(owned(seed, country, shift=seed) if seed % 2 else draw(seed, country, shift=seed))
            if plan.reserved:
                assert any(pattern.fullmatch(re.sub("[^0-9]", "", text)) for pattern in patterns), text
            else:
                assert phonenumbers.is_valid_number_for_region(phonenumbers.parse(text, country), country), text


@case_by_case(
    ("original", "shape"),
    [
        ("555-123-4567", r"\d{3}-\d{3}-\d{4}"),
        ("(555) 123-4567", r"\(\d{3}\) \d{3}-\d{4}"),
        ("5551234567", r"\d{10}"),
        ("555.123.4567", r"\d{3}\.\d{3}\.\d{4}"),
        ("+15551234567", r"\+1\d{10}"),
        ("555-123-4567 x123", r"\d{3}-\d{3}-\d{4} x\d{3}"),
    ],
)
def test_phones_keep_the_way_of_the_original(original, shape):
    for seed in range(80):
        assert re.fullmatch(shape, KINDS["phone"].draw(draw(seed, original=original)))


@MANY
@pytest.mark.parametrize("country", [c for c in COUNTRIES if facts_of(c).iban])
def test_ibans_are_valid(country, count):
    for seed in range(count):
        value = KINDS["bank_account"].draw(owned(seed, country))
        assert value.startswith(country)
        assert iban.is_valid(value), value


@MANY
def test_accounts_with_check_digits_of_their_own_are_valid(count):
    cbu = import_module("stdnum.ar.cbu")
    for seed in range(count):
        assert cbu.is_valid(KINDS["bank_account"].draw(owned(seed, "AR")))
        assert int(KINDS["bank_account"].draw(owned(seed, "MA"))) % 97 == 0
        clabe = KINDS["bank_account"].draw(owned(seed, "MX"))
        assert sum(int(d) * (3, 7, 1)[at % 3] % 10 for at, d in enumerate(clabe[:17])) % 10 == -int(clabe[17]) % 10


@MANY
def test_cards_pass_luhn_and_bear_test_prefixes(count):
    heads = ("411111", "401288", "424242", "400005", "555555", "510510", "222300", "378282", "371449", "601111")
    for seed in range(count):
        number = re.sub("[ -]", "", payment_card(draw(seed)))
        assert luhn.is_valid(number)
        assert number.startswith(heads)
    assert re.fullmatch(r"\d{4}-\d{4}-\d{4}-\d{4}|\d{4}-\d{6}-\d{5}", payment_card(draw(1, original="4111-1111-1111-1111")))


def test_vehicle_ids_have_the_check_digit_of_north_america():
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    for seed in range(500):
        vin = KINDS["vehicle_id"].draw(draw(seed))
        assert re.fullmatch(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{3}\d{5}", vin)
        total = sum(w * (values.get(c) or int(c)) for w, c in zip(weights, vin[:8] + "0" + vin[9:], strict=True))
        assert vin[8] == ("X" if total % 11 == 10 else str(total % 11))


@case_by_case("original", ["12345678", "AB-123/x9", "MRN 0042", "Q7", "a", "000", "№ 12", "ÅÄÖ-1"])
def test_codes_keep_the_shape_of_the_original_and_are_others(original):
    for name in ("id_number", "medical_record", "student_id", "case_number", "device_id", "number", "letter", "parcel"):
        for seed in range(60):
            value = KINDS[name].draw(draw(seed, original=original))
            if not any(map(str.isdigit, original)) and name == "number":
                continue  # a letter is no number
            assert len(value) == len(original)
            assert [c.isdigit() for c in value] == [c.isdigit() for c in original]
            assert [c if not c.isalnum() else "" for c in value] == [c if not c.isalnum() else "" for c in original]
            assert value != original


def test_reshaping_leaves_signs_alone():
    assert reshaped("--/--", 3) == "--/--"
    assert reshaped("7", 1) != "7"


@case_by_case(
    ("original", "shape"),
    [
        ("$52,400", r"\$[456]\d,\d00"),
        ("€ 1.250,00", r"€ [12]\.\d{2}\d,00"),
        ("2 500 kr", r"[123] \d00 kr"),
        ("£9.99", r"£\d\.\d\d"),
        ("₹9,60,000", r"₹\d,\d0,000"),
        ("100", r"[1-9]00"),
    ],
)
def test_money_keeps_sign_grouping_and_size(original, shape):
    values = {KINDS["money"].draw(draw(seed, original=original)) for seed in range(60)}
    assert all(re.fullmatch(shape, value) for value in values), values
    assert len(values) > 3


def test_anchor_is_what_ages_are_told_by():
    assert owned(1, "US").owner.anchor == ANCHOR


def test_the_largest_number_in_words_changes_too():
    for seed in range(60):
        for name, original in (("money", "one hundred and twenty dollars"), ("duration", "one hundred and twenty days")):
            value = KINDS[name].draw(draw(seed, original=original))
            assert value != original
            assert value.split()[-1] == original.split()[-1]
    assert len({KINDS["money"].draw(draw(seed, original="one hundred and twenty")) for seed in range(60)}) > 20


def test_swedish_forties_are_known_in_words():
    for seed in range(60):
        value = KINDS["age"].draw(draw(seed, "SE", "sv", original="fyrtiotvå år"))
        assert re.fullmatch(r"(fyrtio\w*|tre\w+) år", value), value


@case_by_case(
    ("original", "shape"),
    [
        ("100", r"[1-9][0-9]"),
        ("100%", r"[1-9][0-9]%"),
        ("10.0", r"[1-9]\.[0-9]"),
        ("1.00", r"0\.[89][0-9]"),
        ("1,000", r"[1-9][0-9]{2}"),
        ("12,345.6", r"(9|1[0-2]),[0-9]{3}\.[0-9]"),
        ("07", r"0[1-9]"),
        ("0.5", r"0\.[1-9]"),
        ("8,5/10", r"[1-9],[0-9]/10"),
    ],
)
def test_a_grade_in_numbers_has_no_zeros_before_it(original, shape):
    for seed in range(120):
        value = KINDS["grade"].draw(draw(seed, original=original))
        assert re.fullmatch(shape, value), value
        assert value != original


def test_grades_of_one_person_differ():
    assert len({KINDS["grade"].draw(draw(seed, owner=persona(3, "US"))) for seed in range(40)}) > 5
