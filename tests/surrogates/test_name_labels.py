"""What tells the part of a name before it."""

from __future__ import annotations

import pytest

from piiloom.surrogates.known_names import family_told, labels
from tests.longer import case_by_case


@case_by_case(
    "words",
    [
        "her maiden name is ", "Last name: ", "her lastname was ", "zijn achternaam is ",
        "haar geslachtsnaam is ", "mein Nachname ist ", "Zuname: ",
        "son nom de famille est ",
        "son nom de naissance est ", "su primer apellido es ",
        "il suo cognome è ", "o sobrenome é ", "hans efternamn är ",
    ],
)  # fmt: skip
def test_words_of_a_sentence_tell_a_family_name(words: str) -> None:
    assert family_told(words, len(words))


@case_by_case(
    "words",
    ["her name is ", "Nom : ", "son nom est ", "seu apelido é ", "her surname, which nobody in town knew, is ", "resurname "],
)
def test_what_may_be_the_whole_name_tells_no_family_name(words: str) -> None:
    assert not family_told(words, len(words))


@pytest.mark.parametrize(
    ("label", "part"), [("nom", "family"), ("apelido", "family"), ("second name", "middle"), ("prenom", "given"), ("maiden name", None)]
)
def test_labels_of_fields_tell_more_beside_each_other(label: str, part: str | None) -> None:
    assert labels().get(label) == part
