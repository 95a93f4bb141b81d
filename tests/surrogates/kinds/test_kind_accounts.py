"""What a tag calls an account by: an IBAN where the country has none, a bank's code, a wallet; each is valid as what it is."""

from __future__ import annotations

import re

import pytest
from stdnum import bic, iban
from stdnum.us import rtn

from piiloom.surrogates.kinds.kind import KINDS
from piiloom.taxonomy.entities.validators.wallets import bitcoin_address, litecoin_address
from tests.longer import case_by_case
from tests.surrogates.kinds.kind_draws import draw, owned
from tests.surrogates.persons_filled import filled, words

_VALID = {
    "iban": iban.is_valid,
    "bic": bic.is_valid,
    "routing": rtn.is_valid,
    "sort_code": re.compile(r"\d\d-\d\d-\d\d").fullmatch,
    "bitcoin": bitcoin_address,
    "litecoin": litecoin_address,
    "ethereum": re.compile(r"0x[0-9a-f]{40}").fullmatch,
}


@case_by_case("form", _VALID)
@case_by_case("country", ["US", "DE", "BR"])
def test_each_form_is_valid(form: str, country: str) -> None:
    drawn = {KINDS["bank_account"].draw(owned(seed, country)._replace(form=form)) for seed in range(60)}
    drawn |= {KINDS["bank_account"].draw(draw(seed, country)._replace(form=form)) for seed in range(60)}
    assert [value for value in drawn if not _VALID[form](value)] == []
    assert len(drawn) > 60


def test_tags_tell_the_form_and_one_account_stays_one() -> None:
    text = "IBAN [IBAN_CODE], bank [SWIFT_CODE], [ABA_ROUTING_NUMBER], [SORT_CODE], pay to [BITCOINADDRESS]; again [IBAN_CODE]"
    first, *others, again = words(filled(text)[0])
    assert again == first
    assert [bool(check(value)) for check, value in zip(list(_VALID.values())[1:5], others, strict=True)] == [True] * 4
    assert iban.is_valid(first)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("My [CARD_NUMBER] is lost, the card ending in [CARD_NUMBER].", "en"),
        ("Account [ACCOUNT_NUMBER]; the account ending with [ACCOUNT_NUMBER] is closed.", "en"),
        ("Rekeningnummer [rekeningnummer], de rekening eindigend op [rekeningnummer].", "nl"),
        ("Konto [KONTONUMMER], und das Konto endet auf [KONTONUMMER].", "de"),
    ],
)
def test_the_last_four_digits_are_those_of_the_whole_number(text: str, language: str) -> None:
    locale = {"en": "en_US", "nl": "nl_NL", "de": "de_DE"}[language]
    for done in filled(text, locale, count=5):
        whole, last = words(done)
        assert re.fullmatch(r"\d{4}", last)
        assert re.sub(r"\D", "", whole).endswith(last)


@pytest.mark.parametrize(
    "text", ["the last four digits of my SSN are XXXX, it said", "my phone ending in XXXX rang", "the last 4 of my card number: XXXX"]
)
def test_four_places_are_four_digits(text: str) -> None:
    assert re.fullmatch(r"\d{4}", words(filled(text)[0])[0])
