"""Numbers of ten thousand people: valid or of a range kept for tests and fiction, with the sex, birth date and name of their owner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from functools import cache
from importlib import import_module

import phonenumbers
import pytest
from stdnum import iban, luhn

from piiloom.pii_values.numbering.holders import IDS
from piiloom.surrogates.kinds.contacts import phone_plan
from piiloom.surrogates.kinds.identifiers import ascii_letters
from tests.surrogates.ten_thousand import PEOPLE, People, ten_thousand

pytestmark = pytest.mark.long

# python-stdnum's module for the numbers of each country, and the numbers that authorities keep free, which it may reject.
MODULES = {
    ("NL", "national_id"): "nl.bsn", ("NL", "tax_id"): "nl.bsn", ("BR", "national_id"): "br.cpf", ("BR", "tax_id"): "br.cpf",
    ("SE", "national_id"): "se.personnummer", ("SE", "tax_id"): "se.personnummer", ("DE", "national_id"): "de.idnr",
    ("DE", "tax_id"): "de.idnr", ("FR", "national_id"): "fr.nir", ("FR", "tax_id"): "fr.nif", ("ES", "national_id"): "es.dni",
    ("ES", "tax_id"): "es.dni", ("IT", "national_id"): "it.codicefiscale", ("IT", "tax_id"): "it.codicefiscale",
    ("PL", "national_id"): "pl.pesel", ("PL", "tax_id"): "pl.nip", ("GB", "tax_id"): "gb.utr",
}  # fmt: skip
KEPT = {
    ("US", "national_id"): r"987-65-432\d|9\d\d-(?:0[1-9]|[1-4]\d)-(?!0000)\d{4}",
    ("US", "tax_id"): r"987-65-432\d|9\d\d-(?:0[1-9]|[1-4]\d)-(?!0000)\d{4}",
    ("GB", "national_id"): r"(?:BG|GB|KN|NK|NT|TN|ZZ|QQ) \d\d \d\d \d\d [A-D]",
    ("SE", "national_id"): r"\d{6}[-+]98\d\d",
    ("SE", "tax_id"): r"\d{6}[-+]98\d\d",
    ("FI", "national_id"): r"\d{6}[-A]9\d\d[0-9A-Y]",
    ("FI", "tax_id"): r"\d{6}[-A]9\d\d[0-9A-Y]",
}


@pytest.fixture(scope="module")
def people() -> People:
    """Everybody."""
    return ten_thousand()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["national_id", "tax_id"])
def test_every_number_of_the_state_is_valid_or_kept(people: People, kind: str) -> None:
    checked: Counter[str] = Counter()
    for one in people.told:
        number, place = one.values[kind], (one.country, kind)
        if place in KEPT:
            assert one.country in IDS
            assert re.fullmatch(KEPT[place], number), number
            checked["kept"] += 1
        if place in MODULES:
            assert import_module(f"stdnum.{MODULES[place]}").is_valid(number), (place, number)
            checked["valid"] += 1
        assert place in KEPT or place in MODULES
    assert checked.total() >= PEOPLE


def test_the_check_character_of_finnish_numbers_is_right(people: People) -> None:
    from stdnum.fi import hetu

    finns = [one for one in people.told if one.country == "FI"]
    assert finns
    assert all(hetu.is_valid(one.values["national_id"], allow_temporary=True) for one in finns)


def decoders() -> dict[str, Callable[[str], tuple[str | None, date | None]]]:
    """What national ids tell of sex ("F" or "M") and birth date, read by python-stdnum."""
    from stdnum.fi import hetu
    from stdnum.it import codicefiscale
    from stdnum.pl import pesel
    from stdnum.se import personnummer

    def italian(number: str) -> tuple[str, date]:
        # Two digits of a year may be of either century.
        return codicefiscale.get_gender(number), codicefiscale.get_birth_date(number, minyear=1940)

    def finnish(number: str) -> tuple[str, date]:
        assert hetu.is_valid(number, allow_temporary=True)
        century = {"-": 1900, "A": 2000}[number[6]]
        return "M" if int(number[7:10]) % 2 else "F", date(century + int(number[4:6]), int(number[2:4]), int(number[:2]))

    return {
        "IT": italian,
        "FI": finnish,
        "PL": lambda number: (pesel.get_gender(number), pesel.get_birth_date(number)),
        "SE": lambda number: (personnummer.get_gender(number), personnummer.get_birth_date(number)),
    }


def test_sex_and_birth_date_in_national_ids_are_the_owners(people: People) -> None:
    known = decoders()
    read: Counter[str] = Counter()
    for one in people.told:
        if one.country in known:
            sex, born = known[one.country](one.values["national_id"])
            assert sex == one.gender[0].upper(), one
            assert born == one.born, one
            read[one.country] += 1
        elif one.country == "FR":
            number = one.values["national_id"].replace(" ", "")
            assert (number[0], number[1:5]) == ({"female": "2", "male": "1"}[one.gender], f"{one.born:%y%m}"), one
            read["FR"] += 1
    assert min(read[country] for country in ("IT", "FI", "PL", "SE", "FR")) >= 900


def test_letters_of_the_name_in_an_italian_tax_code_are_the_owners(people: People) -> None:
    for one in people.told:
        if one.country == "IT":
            family, given = (ascii_letters(one.values[name]).upper() for name in ("family", "given"))
            assert one.values["tax_id"][:6] == _three(family) + _three(given, skip=True), one


def _three(name: str, *, skip: bool = False) -> str:
    consonants = re.sub("[AEIOU]", "", name)
    if skip and len(consonants) > 3:
        consonants = consonants[0] + consonants[2:]
    return f"{consonants}{re.sub('[^AEIOU]', '', name)}XXX"[:3]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["phone", "fax"])
def test_every_phone_number_is_valid_or_of_a_block_kept_for_fiction(people: People, kind: str) -> None:
    kept: Counter[str] = Counter()
    for one in people.told:
        text = one.values[kind]
        number = phonenumbers.parse(text, one.country)
        assert number.country_code == phonenumbers.country_code_for_region(one.country), (one.locale, text)
        if _is_kept(one.country, text):
            kept[one.country] += 1
        else:
            assert phonenumbers.is_valid_number_for_region(number, one.country), (one.locale, text)
    sizes = Counter(one.country for one in people.told)
    assert kept == {country: sizes[country] for country in kept}  # where a block is kept, all numbers are of it
    assert {"US", "GB", "SE", "FR", "DE"} <= kept.keys()


@cache
def _blocks(country: str) -> list[re.Pattern[str]]:
    plan = phone_plan(country)
    if not plan.reserved:
        return []
    assert plan.source
    masks = (re.sub(r"[^0-9#%]", "", mask) for mask in (*plan.national, *plan.international))
    return [re.compile(mask.replace("#", "[0-9]").replace("%", "[1-9]")) for mask in masks]


def _is_kept(country: str, text: str) -> bool:
    digits = re.sub(r"[^0-9]", "", text)
    return any(block.fullmatch(digits) for block in _blocks(country))


TEST_CARDS = re.compile(r"(?:411111|401288|424242|400005|555555|510510|222300|601111)\d{10}|(?:378282|371449)\d{9}")


def test_payment_cards_are_test_cards_with_a_right_last_digit(people: People) -> None:
    for one in people.told:
        number = re.sub(r"[ -]", "", one.values["payment_card"])
        assert TEST_CARDS.fullmatch(number), number
        assert luhn.is_valid(number)


def test_bank_accounts_are_valid(people: People) -> None:
    for one in people.told:
        number = one.values["bank_account"]
        if one.country in {"US", "BR"}:  # no IBAN is in use there, or hardly
            assert sum(map(str.isdigit, number)) >= 5, number
        else:
            assert number.startswith(one.country)
            assert iban.is_valid(number), number
