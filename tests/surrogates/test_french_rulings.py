"""French rulings since 2021: a letter in brackets is one name, "[U] [W]" a given and a family name, and a number a company."""

from __future__ import annotations

import re

import pytest

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled

_PEOPLE = """La cour a entendu M. [U] [W], né à [Localité 4], et sa sœur Mme [V] [W]. M. [W] demande réparation.
[U] a signé. [V] refuse.
Les époux [H] ont vendu. M. et Mme [H] ont déménagé. Les consorts [W] sont d'accord.
Mme [L] [K] épouse [H] a témoigné. Mme [B] née [Z] aussi.
"""


def _put_in(done: Replaced, text: str) -> list[tuple[str, str]]:
    """What stood there, with what stands there now."""
    return [(text[place.start : place.end], done.text[place.new_start : place.new_end]) for place in done.placed]


@pytest.mark.parametrize("number", range(4))
def test_each_letter_is_one_name(number: int) -> None:
    done = filled(_PEOPLE, "fr_FR", count=4)[number]
    names = _put_in(done, _PEOPLE)
    words = {old: new for old, new in reversed(names) if old != "[Localité 4]"}
    given, family = words["[U] [W]"].split(" ", 1)
    sister, her_family = words["[V] [W]"].split(" ", 1)
    assert (words["[U]"], words["[V]"], words["[W]"]) == (given, sister, family)
    assert her_family == family != words["[H]"]
    assert [new for old, new in names if old == "[H]"] == [words["[H]"]] * 3
    assert f"Les époux {words['[H]']} ont" in done.text
    assert f"Les consorts {family} sont" in done.text
    born = re.search(r"Mme (.+) née (.+) aussi", done.text)
    assert born is not None
    assert born[2].isalpha() or " " in born[2] or "-" in born[2]
    assert born[2] not in born[1]


def test_letters_are_the_people_that_they_name() -> None:
    mentions = Finder(auto_mapping([_PEOPLE], "fr")).find(_PEOPLE).mentions
    assert [(_PEOPLE[one.start : one.end], one.index, one.form) for one in mentions if one.kind == "person"] == [
        ("[U] [W]", "u w", "full"),
        ("[V] [W]", "v w", "full"),
        ("[W]", "u w", "family"),
        ("[U]", "u w", "given"),
        ("[V]", "v w", "given"),
        ("[H]", "h", "family"),
        ("[H]", "h", "family"),
        ("[W]", "v w", "family"),
        ("[L] [K]", "l k", "full"),
        ("[H]", "l k", "birth"),
        ("[B]", "b", "family"),
        ("[Z]", "b", "birth"),
    ]
    assert [one.gender for one in mentions if one.form == "full"] == ["male", "female", "female"]


def test_a_title_before_letters_stays() -> None:
    text = "Son frère M. [I] [W] a déclaré qu'[I] était absent, et l'ami d'[I] aussi. M. [W] et Mme [V] [W] habitent à [Localité 2]."
    for done in filled(text, "fr_FR", count=6):
        whole, given, again, family, sister, _ = (done.text[place.new_start : place.new_end] for place in done.placed)
        assert done.text.startswith(f"Son frère M. {whole} a déclaré qu'{given} était")
        assert given == again
        assert whole == f"{given} {family}"
        assert sister.endswith(f" {family}")
        assert given[0] in "AEIOUÀÁÂÉÈÊÍÎÓÔÖØÚÜÄÅ"


def test_a_family_name_of_two_letters() -> None:
    text = "Mme [T] [P]-[S] a saisi la cour. Mme [P]-[S] demande réparation à M. [L] [B]."
    mentions = Finder(auto_mapping([text], "fr")).find(text).mentions
    assert [(one.index, one.form) for one in mentions] == [("t p s", "full"), ("t p s", "family"), ("l b", "full")]


def test_a_number_in_brackets_is_a_company_where_letters_are_names() -> None:
    text = "La SAS [7] et la société [8] ont assigné M. [U] [W]."
    text += " L'association [9], la clinique [10] et l'[11] aussi. Voir la note [2]. La SAS [7] paie."
    found = Finder(auto_mapping([text], "fr")).find(text)
    assert [text[one.start : one.end] for one in found.mentions if one.kind != "person"] == ["[7]", "[8]", "[9]", "[10]", "[11]", "[7]"]
    assert [text[start:end] for start, end in found.left] == ["[2]"]
    done = filled(text, "fr_FR")[0]
    names = dict(_put_in(done, text))
    assert done.text.count(names["[7]"]) == 2
    assert not re.search(r"SAS.*SAS.* ont|société Société|clinique Clinique", done.text)
    assert "Voir la note [2]." in done.text


@pytest.mark.parametrize(
    "text",
    [
        "Selon la société [2], les ventes montent; voir aussi [3] et la revue [12].",
        "The company [2] grew, as Smith [3] and the bank [4] say. The bank [4] agrees.",
        "BNP SA [2] et Orange SAS [3] sont citées.",
    ],
)
def test_a_reference_is_no_company(text: str) -> None:
    assert Finder(auto_mapping([text] * 3)).find(text).mentions == []


@case_by_case(
    ("locale", "before"),
    [
        ("fr_FR", "Les époux "),
        ("fr_FR", "la famille "),
        ("fr_FR", "Monsieur et Madame "),
        ("de_DE", "Die Eheleute "),
        ("de_DE", "Familie "),
        ("nl_NL", "Het echtpaar "),
        ("nl_NL", "De heer en mevrouw "),
        ("en_US", "Mr. and Mrs. "),
        ("es_ES", "los hermanos "),
        ("it_IT", "I coniugi "),
        ("pt_BR", "o casal "),
        ("sv_SE", "Makarna "),
        ("fr_FR", "Mme Paule Lenoir née "),
        ("de_DE", "Frau Lange, geb. "),
        ("nl_NL", "mevrouw De Wit, geboren "),
        ("es_ES", "Ana Ríos, apellido de soltera "),
        ("pt_BR", "Rita Couto, nome de solteira "),
        ("it_IT", "Anna Bini, nata "),
        ("sv_SE", "Karin Lind, född "),
    ],
)
def test_a_couple_and_a_birth_name_are_family_names(locale: str, before: str) -> None:
    for done in filled(f"{before}[NAME] spoke.", locale, count=6):
        place = done.placed[0]
        assert place.subtype == "last_name", done.text
