"""The checks of Swedish, Finnish and Norwegian numbers, with examples that the named sources publish."""

from __future__ import annotations

from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case

PUBLISHED = [
    ("se_samordningsnummer", "701063-2391"),  # Skatteverket, on coordination numbers: born on the third of October 1970
    ("se_samordningsnummer", "19701063-2391"),
    ("se_hsa_id", "SE2321000131-P000000123457"),  # HL7 Sweden, base profiles
    ("se_hsa_id", "SE2321000016-1003"),
    ("fi_henkilotunnus", "131052-308T"),  # DVV's and python-stdnum's example
    ("fi_henkilotunnus", "131052Y308T"),  # with a sign of decree 690/2022
    ("fi_temporary_henkilotunnus", "311280-999J"),  # fuzzdb, example of a Finnish number
    ("fi_check_character", "100012345N"),  # VTJ-PRT: examples of Lupapiste with corrected check characters
    ("fi_check_character", "1234567892"),
    ("fi_check_character", "903048741J"),
    ("fi_reference", "1234561"),  # Finance Finland, example of the reference number
    ("fi_bank_account", "123456-785"),
    ("fi_bank_account", "159030-776"),
    ("fi_learner_number", "1.2.246.562.24.14229104472"),  # Finnish National Agency for Education, test data
    ("fi_ovt", "003723415284"),  # Lupapiste, tests of the OVT code
    ("fi_ovt", "00372341528412345"),
    ("fi_ovt", "003718523029101CZ"),
    ("no_fh_nummer", "81234567802"),  # worked out by the rule; no source publishes one
    ("no_kid", "602243"),  # Monitor ERP, KID numbers (modulus 10)
    ("no_kid", "2345676"),  # worked out by the rule
    ("no_kid", "12345678903"),
    ("no_peppol_address", "0192:988077917"),  # python-stdnum no.orgnr
    ("se_peppol_address", "0007:1234567897"),  # python-stdnum se.orgnr
    ("nordic_metering_point", "707057500042745649"),  # a Norwegian and
    ("nordic_metering_point", "707057500088553215"),  # GS1 Norway
]


@case_by_case(("name", "number"), PUBLISHED)
def test_published_examples_are_accepted(name: str, number: str) -> None:
    assert find_validator(f"piiloom:{name}")(number)


@case_by_case(("name", "number"), PUBLISHED)
def test_another_last_character_is_refused(name: str, number: str) -> None:
    if name in ("se_hsa_id", "fi_ovt"):  # what follows the organisation number is free
        number = number[:11] + ("1" if number[11] != "1" else "2") + number[12:]
    elif number[-1].isdigit():
        number = number[:-1] + str((int(number[-1]) + 4) % 10)  # +4: neither modulus 10 nor modulus 11 of a KID accepts it here
    else:
        number = number[:-1] + ("A" if number[-1] != "A" else "B")
    assert not find_validator(f"piiloom:{name}")(number)


@case_by_case(
    "account",
    [  # one example a rule, as the tests of brocc-ab/se-bank-account-php give them; Swedbank's with a right fifth digit
        "5000-1001000",
        "9020-0100000",
        "6000-100000010",
        "3300-7505092556",
        "8327-9, 100 000 000-8",
        "9500-1000000008",
        "9180-1000000008",
        "2300-0000001",
        "9660-1000010",
    ],
)
def test_swedish_accounts_follow_the_rule_of_their_bank(account: str) -> None:
    accepts = find_validator("piiloom:se_bank_account")
    assert accepts(account)
    assert not accepts(account[:-1] + str((int(account[-1]) + 3) % 10))


def test_a_clearing_number_of_no_bank_is_refused() -> None:
    accepts = find_validator("piiloom:se_bank_account")
    assert not accepts("0000-0000000")
    assert not accepts("9999-1001000")
    assert not accepts("3410-0100000000000000000")


def test_a_henkilotunnus_needs_its_century_sign_and_a_real_date() -> None:
    accepts = find_validator("piiloom:fi_henkilotunnus")
    assert not accepts("131052308T")
    assert not accepts("131052Z308T")
    assert not accepts("310252-308Y")
    assert not accepts("311280-999J")  # a temporary one


def test_duf_numbers_have_a_year_and_a_remainder_of_eleven() -> None:
    accepts = find_validator("piiloom:no_duf_nummer")
    # 2*4 + 0*6 + 1*3 + 5*2 + 1*4 + 2*6 + 3*3 + 4*2 + 5*7 + 6*5 = 119 = 10 * 11 + 9
    assert accepts("201512345609")
    assert accepts("2015 123456 09")
    assert not accepts("201512345608")
    assert not accepts("189512345609")


def test_synthetic_norwegians_have_eighty_added_to_their_month() -> None:
    accepts = find_validator("piiloom:no_synthetic_fodselsnummer")
    synthetic = [f"0181{year:02d}{serial:05d}" for year in range(60, 90) for serial in range(10000, 10400)]
    accepted = [number for number in synthetic if accepts(number)]
    assert accepted
    assert not any(accepts("0101" + number[4:]) for number in accepted)
    assert not any(accepts("0193" + number[4:]) for number in accepted)


def test_no_validator_takes_rubbish_or_fails_on_it() -> None:
    for name in {name for name, _ in PUBLISHED} | {"se_bank_account", "no_duf_nummer"}:
        for text in ("", "1", "abc", "0000000000000000000000000000000", "٣٤٥٦٧٨٩٠١٢"):
            assert not find_validator(f"piiloom:{name}")(text), (name, text)
