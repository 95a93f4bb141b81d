"""Our check digits of the Netherlands, Belgium and Poland, against published examples."""

from piiloom.taxonomy.entities.validators.northern import crc_8
from piiloom.taxonomy.entities.validators.registry import find_validator
from piiloom.taxonomy.entities.validators.western import dutch_big_number, dutch_payment_reference
from tests.longer import case_by_case

# Validator, a published number, and a wrong one. The sources are named with the validators.
PUBLISHED = [
    ("dutch_payment_reference", "5000 0567 8901 2345", "6000 0567 8901 2345"),
    ("dutch_payment_reference", "12 2345 3462 2567", "11 2345 3462 2567"),
    ("dutch_bank_account", "12.34.56.789", "12.34.56.788"),
    ("dutch_payroll_tax_number", "111222333L01", "111222333L00"),  # the BSN of stdnum's documentation
    ("dutch_tax_assessment", "1112.22.333.H.21.01", "1112.22.334.H.21.01"),
    ("dutch_eori", "NL111222333", "NL111222332"),
    ("sepa_creditor_id", "DE98ZZZ09999999999", "DE98ZZZ09999999998"),
    ("energy_connection", "376104250021234569", "376104250021234568"),
    ("belgian_bank_account", "123-4567890-02", "123-4567890-03"),  # in stdnum be.iban
    ("belgian_establishment", "2.000.000.339", "2.000.000.338"),
    ("belgian_establishment", "2.000.000.339", "0.403.019.261"),  # an enterprise
    ("belgian_riziv", "1-83347-80-004", "1-83347-81-004"),
    ("belgian_structured_reference", "+++010/8068/17183+++", "+++010/8068/17180+++"),  # in stdnum be.ogm_vcs
    ("belgian_structured_reference", "***010/8068/17183***", "***010/8068/17180***"),
    ("polish_identity_card", "ABA 300000", "ABA 400000"),
    ("polish_identity_card", "ABS 123456", "ABS 523456"),
    ("polish_passport", "CC7999486", "CC8999486"),
    ("polish_bank_account", "61 1090 1014 0000 0712 1981 2874", "61 1090 1014 0000 0712 1981 2875"),  # the IBAN of Wikipedia
    ("polish_doctor", "5425740", "6425740"),
    ("polish_land_register", "KA1S/00012345/6", "KA1S/00012345/7"),
    ("polish_einvoice", "5265877635-20250826-0100001AF629-AF", "5265877635-20250826-0100001AF629-AE"),
]


@case_by_case(("name", "right", "wrong"), PUBLISHED)
def test_a_published_number_is_accepted_and_a_slip_in_it_is_not(name, right, wrong):
    check = find_validator(f"piiloom:{name}")
    assert check(right)
    assert not check(wrong)


def test_other_texts_are_refused_without_an_error():
    for name in {name for name, _, _ in PUBLISHED}:
        for text in ("", "7", "AB", "ABCDEFGHIJK", "00000000000000000000000000000", "²²²²²²²²²", "²²²²²²²²²²²²"):
            assert not find_validator(f"piiloom:{name}")(text), (name, text)


def test_a_payment_reference_with_a_wrong_length_code_is_refused():
    assert not any(dutch_payment_reference(f"{check}3234534622567") for check in range(10))


def test_of_each_body_exactly_one_check_digit_is_right():
    for body in ("9012345601", "9912345601", "9000000000", "9999999999"):
        assert sum(dutch_big_number(f"{check}{body}") for check in range(10)) == 1
    assert not any(dutch_big_number(f"{check}8012345601") for check in range(10))


def test_both_moduli_of_riziv_numbers_are_known():
    check = find_validator("piiloom:belgian_riziv")
    assert check("1-00001-06")  # 97 - 100001 % 97
    assert check("1-00001-35-003")  # 89 - 100001 % 89
    assert not check("1-00001-07")


def test_accounts_of_the_tax_office_and_of_social_insurance_are_told_apart():
    tax = next(
        number for key in range(100) if find_validator("piiloom:polish_bank_account")(number := f"{key:02d}101000712221440514013590")
    )
    assert find_validator("piiloom:polish_tax_account")(tax)
    assert not find_validator("piiloom:polish_social_insurance_account")(tax)


def test_crc_8_of_the_standard_check_text():
    assert crc_8("123456789") == 0xF4  # the check value of CRC-8 in Ross Williams' catalogue of parametrised CRCs
