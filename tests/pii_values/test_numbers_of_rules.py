"""Numbers with several check digits, which rules draw."""

import random
from datetime import date

from piiloom.pii_values.numbering.holders import Holder, Stream, rule_of
from piiloom.taxonomy.entities.validators.registry import find_validator


def drawn(rule: str) -> set[str]:
    holder = Holder(Stream(random.Random(5)), date(1980, 2, 3), True, "ANNA", "NOWAK", date(2026, 1, 1))
    return {rule_of(rule)(holder) for _ in range(30)}


def test_belgian_ibans_have_both_pairs_of_check_digits_and_come_in_two_ways_of_writing():
    numbers = drawn("belgian_ids:iban")
    assert len(numbers) == 30
    assert all(map(find_validator("stdnum:be.iban"), numbers))
    assert {len(number) for number in numbers} == {16, 19}


def test_numbers_of_polish_e_invoices_carry_a_tax_number_and_a_checksum():
    numbers = drawn("polish_ids:einvoice")
    assert len(numbers) == 30
    assert all(map(find_validator("piiloom:polish_einvoice"), numbers))
