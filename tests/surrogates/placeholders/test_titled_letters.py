"""Letters after a title that are all that is left of a name, in several languages."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders.scanning import Scanner
from tests.longer import case_by_case

SCANNER = Scanner()


def letters(text: str) -> list[str]:
    return [text[one.start : one.end] for one in SCANNER.scan(text) if one.grammar.name == "titled"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dr. X and Y left.", ["X", "Y"]),
        ("Mevrouw X of Y kwam.", ["X", "Y"]),
        ("Vino la Sra. X y Y también.", ["X", "Y"]),
        ("Sig. X o Y venne.", ["X", "Y"]),
        ("Herr X och Y kom.", ["X", "Y"]),
    ],
)
def test_further_letters_are_joined(text: str, found: list[str]) -> None:
    assert letters(text) == found


@case_by_case(
    "text",
    [
        "Heute war Frau B. Sie sagt nichts.", "J’ai vu Mme B. Elle est partie.", "Habló la Sra. B. Ella no vino.",
        "Vidi la Sig.ra B. Lei era qui.", "Där var Herr B. Han gick.", "Det sade Herr B. Fru C. svarade.",
        "Llegó el Sr. B. Señora C. también.",
    ],
)  # fmt: skip
def test_a_letter_before_a_new_sentence_is_the_whole_name(text: str) -> None:
    assert letters(text)[0].rstrip(".") == "B"


@pytest.mark.parametrize("text", ["Mr. B. van Dam came.", "Frau B. Müller sagt.", "Mme B. de la Tour", "Dr. B. Smith"])
def test_an_initial_before_a_family_name_is_none(text: str) -> None:
    assert letters(text) == []
