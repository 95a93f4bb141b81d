"""Brazilian and Portuguese check digits: published examples pass, and each with another check digit fails."""

from __future__ import annotations

from piiloom.taxonomy.entities.validators import western
from tests.longer import case_by_case

# (function, numbers from documentation: the module's docstrings and the sources named here)
EXAMPLES = [
    ("br_rg_sp", ["312031312", "35540462X"]),  # docs on RG validation of São Paulo
    ("br_cnh", ["02650306461"]),  # widely used test number; brutils' 98765432100 misses the rule on a first remainder of 10
    ("br_cns", ["187507943600018"]),  # gist crystianwendel/d49002f479afb4cc124bdd58da4d1e2b
    ("br_pis", ["12056874107"]),  # validate-docbr
    ("br_voter_id", ["004356870906", "690847092828", "163204010922"]),  # Wikipedia, brutils
    ("br_renavam", ["35298892050"]),  # validate-docbr
    ("br_certificate", ["10453901552013100012021000012321"]),  # validate-docbr
    ("br_legal_process", ["00020802520125150049", "10014293420138260000"]),  # brazilian-utils, django-localflavor
    ("br_fiscal_key", ["43171207364617000135550000000120141000120146", "35080599999090910270550010000000015180051273"]),  # Manual da NF-e
    (
        "br_boleto",
        ["23793381286000782713695000063305975520000370000", "10490055390369870000600091449587555490000028531"],
    ),  # boleto-brasileiro-validator
    (
        "br_collection_slip",
        ["836200000005667800481000180975657313001589636081", "858900004609524601791605607593050865831483000010"],
    ),  # the same
    ("br_ie_sp", ["110042490114"]),  # SINTEGRA, inscription of São Paulo
    ("br_cno", ["115830024985"]),  # Receita Federal, CEI
    ("upu_s10", ["RA473124829US", "RB123456785GB"]),  # UPU S10
    ("pt_niss", ["11115611236", "23456789233", "13456789232"]),
    ("pt_civil_id", ["123456789"]),
    ("pt_nib", ["000201231234567890154"]),  # the account in the IBAN registry's example for Portugal
]


# (function, number, why it fails)
REFUSED = [
    ("br_rg_sp", "11111111X", "one digit only"),
    ("br_cns", "387507943600018", "no number begins with 3"),
    ("br_voter_id", "004356872906", "no state 29"),
    ("br_voter_id", "0043568709060", "only São Paulo and Minas Gerais have thirteen digits"),
    ("br_legal_process", "00020802518125150049", "no year 1812"),
    ("br_fiscal_key", "43171307364617000135550000000120141000120146", "no month 13"),
    ("br_property_registry", "1112114001234510", "no book 4"),
    ("br_collection_slip", "536200000005667800481000180975657313001589636081", "begins with 8"),
    ("br_boleto", "2379338128600078271369500006330597552000037000", "46 digits"),
    ("pt_niss", "33456789233", "begins with 1 or 2"),
    ("pt_nib", "00020123123456789015", "twenty digits"),
    ("upu_s10", "473124829US", "no letters in front"),
]


@case_by_case(("name", "numbers"), EXAMPLES)
def test_published_examples_pass(name: str, numbers: list[str]) -> None:
    assert [number for number in numbers if not getattr(western, name)(number)] == []


@case_by_case(("name", "numbers"), EXAMPLES)
def test_another_check_digit_fails(name: str, numbers: list[str]) -> None:
    """Change the digit at which each rule's check stands; the voter ids of two states may have two right ones."""
    place = {"br_legal_process": 8, "upu_s10": 10, "br_boleto": 32, "br_collection_slip": 3}.get(name, -1)
    check = getattr(western, name)
    for number in numbers:
        at = place % len(number)
        others = [number[:at] + digit + number[at + 1 :] for digit in "0123456789" if digit != number[at]]
        assert [other for other in others if check(other)] == []


@case_by_case(("name", "number", "why"), REFUSED)
def test_refused(name: str, number: str, why: str) -> None:
    assert not getattr(western, name)(number), why


def test_a_cnm_has_two_check_digits() -> None:
    """One in 97 of the endings is right (no published example was at hand)."""
    right = [tail for tail in range(100) if western.br_property_registry(f"11121120012345{tail:02d}")]
    assert len(right) in {1, 2}


def test_both_readings_of_the_voter_id_pass_in_two_states() -> None:
    """Sequence 00000000 leaves a remainder of 0: the resolution says 0, many implementations say 1 in states 01 and 02."""
    passing = [tail for tail in range(100) if western.br_voter_id(f"0000000001{tail:02d}")]
    assert {tail // 10 for tail in passing} == {0, 1}
    assert {tail // 10 for tail in range(100) if western.br_voter_id(f"0000000003{tail:02d}")} == {0}


def test_the_crc_of_a_pix_payload_counts_blanks_and_dots() -> None:
    """The example of the Manual do BR Code."""
    account = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000"
    payload = f"{account}5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
    assert western.br_pix_payload(payload)
    assert western.br_pix_payload(payload[:-4] + "1d3d")
    assert not western.br_pix_payload(payload.replace("Fulano", "Fulana"))


def test_cnh_takes_two_off_after_a_first_remainder_of_ten() -> None:
    body = next(
        f"{n:09d}"
        for n in range(10**6, 10**6 + 200)
        if sum(int(d) * w for d, w in zip(f"{n:09d}", range(9, 0, -1), strict=True)) % 11 == 10
    )
    second = sum(int(d) * w for d, w in zip(body, range(1, 10), strict=True)) % 11
    assert western.br_cnh(f"{body}0{(second - 2) % 11 % 10}")
