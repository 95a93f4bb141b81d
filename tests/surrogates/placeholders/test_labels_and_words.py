"""Masks that say nothing: the label of a field tells them, runs for the words of one name are one, and initials are filled everywhere."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, words


def _kinds(text: str, language: str) -> list[str]:
    found = Finder(auto_mapping([text], language)).find(text)
    assert [text[one.start : one.end] for one in found.unknown] == []
    return [one.kind for one in found.mentions]


@case_by_case(
    ("language", "text", "kinds"),
    [
        (
            "en",
            "Name:  ___   Unit No:   ___\nDate of Birth:  ___   Sex: F\nAttending: ___.\nSurgeon: ___ ___, MD\nHospital: ___\nCity: ___",
            ["person", "medical_record", "birth_date", "person", "person", "hospital", "city"],
        ),
        ("en", "Signed. Daughter: ____ | Employer: ████ | Age: ***", ["person", "employer", "age"]),
        (
            "de",
            "Hausarzt: ___\nGeburtsdatum: ___\nPatientennummer: ___\nDer Patient kam in die Klinik.",
            ["person", "birth_date", "medical_record"],
        ),
        ("fr", "Médecin traitant : ___\nVille : ___\nLe patient est suivi par le service.", ["person", "city"]),
        ("nl", "Huisarts: ___\nWoonplaats: ___\nPatiëntnummer: ___\nDe patiënt is gezien.", ["person", "city", "medical_record"]),
        ("es", "Médico: ___\nCiudad: ___\nEl paciente acude a la consulta.", ["person", "city"]),
        ("pt", "Médico: ___\nCidade: ___\nO paciente foi visto na consulta.", ["person", "city"]),
        ("it", "Medico: ___\nCittà: ___\nIl paziente è stato visto.", ["person", "city"]),
        ("sv", "Läkare: ___\nStad: ___\nPatienten kom till oss.", ["person", "city"]),
    ],
)
def test_the_label_of_a_field_tells_its_kind(language: str, text: str, kinds: list[str]) -> None:
    assert _kinds(text, language) == kinds


@pytest.mark.parametrize("text", ["Note: ___\nTotal: ___ of ___", "She said: ___ and left."])
def test_other_labels_tell_nothing(text: str) -> None:
    assert Finder(auto_mapping([text], "en")).find(text).mentions == []


def test_runs_for_the_words_of_a_name_are_one() -> None:
    text = "He went to ***** ****** Hospital and saw Dr. **** *****. Mr. ████ ██████ came."
    assert _kinds(text, "en") == ["city", "person", "person"]
    for done in filled(text, count=6):
        hospital, doctor, man = words(done)
        assert f"to {hospital} Hospital and" in done.text
        assert "Hospital" not in hospital
        assert " " in doctor
        assert " " in man


def test_initials_after_a_title_are_filled_wherever_they_stand() -> None:
    text = "Mr. A.B. said that he left. A.B. is 40, and the patient A.B. was seen by A.B. Miller. He thanked A.B. She did not."
    for done in filled(text, count=4):
        assert len(set(words(done))) == 1
        assert len(done.placed) == 4
        assert "by A.B. Miller" in done.text
        assert done.text.endswith(f"{words(done)[0]}. She did not.")


@case_by_case(
    ("locale", "text", "filled_letters"),
    [
        ("de_DE", "Die Firma A. hat gekündigt. Die Firma A. und die [X] GmbH zahlten, wie die Firma B meint.", ["A.", "A.", "[X]", "B"]),
        ("fr_FR", "La société A. a vendu à la société B. Mme [L] [B] le conteste.", ["A.", "B", "[L] [B]"]),
        ("nl_NL", "De firma A. betaalt aan het bedrijf X en aan de vennootschap B.", ["A.", "X", "B"]),
        ("es_ES", "La empresa A. vendió a la sociedad B y a X S.L. el local.", ["A.", "B", "X"]),
        ("it_IT", "La società A. ha venduto alla ditta B e a X S.r.l. il locale.", ["A.", "B", "X"]),
        ("en_US", "Company A merged with Company B, and Firm C paid.", []),
    ],
)
def test_a_company_is_named_by_a_letter_where_letters_are_names(locale: str, text: str, filled_letters: list[str]) -> None:
    found = Finder(auto_mapping([text], locale[:2])).find(text)
    assert [text[one.start : one.end] for one in found.mentions] == filled_letters
    assert {one.kind for one in found.mentions} <= {"company", "person"}
    left = [text[one.start : one.end] for one in found.unknown]
    assert left == ([] if filled_letters else ["A", "B", "C"])
    for done in filled(text, locale, count=2):
        assert len(done.placed) == len(filled_letters)
