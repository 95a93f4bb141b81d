"""Names as they are written: known originals, labels and styles of parts, family names that several people share."""

from __future__ import annotations

import re
from datetime import date

import pytest

from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.casting import share_family_names, titled
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.known_names import family_told, labels, name_parts, names_within
from piiloom.surrogates.persona_assignment.groups import FEMALE, MALE, OPEN
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, words


def _filled(locale: str, text: str) -> list[str]:
    """What replaces the words in braces of *text*."""
    return filled_spans(re.sub(r"[{}]", "", text), [(mark, "name") for mark in re.findall(r"\{(.*?)\}", text)], locale)


@case_by_case(
    ("locale", "family", "text"),
    [
        ("en_US", "Bolton", "{Dr. Bolton}: {Mr. and Mrs. Bolton}; {the Boltons}; {Bolton et al.}; {the Bolton family}; {Mrs. Bolton's}"),
        ("en_GB", "Bolton", "{Mr & Mrs Bolton}; {The Boltons}; {Bolton and others}; {Professor Ann Bolton, PhD}"),
        ("es_ES", "Carrillo", "{la señora Carrillo}; {el Sr. Carrillo}; {los Carrillo}; {La señora Carrillo}; {Dª Ann Carrillo}"),
        (
            "de_DE",
            "Kessler",
            "Herrn {Kessler}; {Frau Kessler}; {die Kesslers}; {Familie Kessler}; {Herr und Frau Kessler}; {Frau Dr. Ann Kessler}",
        ),
        (
            "fr_FR",
            "Lenoir",
            "{M. Lenoir}; {M. et Mme Lenoir}; {les époux Lenoir}; {les Lenoir}; {Me Lenoir}; {la veuve Lenoir}; {Mme Ann Lenoir}",
        ),
        ("nl_NL", "De Wit", "{de heer De Wit}; {mevrouw De Wit}; {de familie De Wit}; {Dhr. en mevr. De Wit}; {mr. Ann De Wit}"),
        ("nl_BE", "Maes-de Wit", "{mevrouw Maes-de Wit}; {de familie Maes-de Wit}"),
        ("it_IT", "Bini", "{il signor Bini}; {la signora Bini}; {i coniugi Bini}; {dott.ssa Bini}; {avv. Bini}; {i Bini}"),
        ("pt_BR", "Couto", "{o Sr. Couto}; {a família Couto}; {os Couto}; {Dra. Ann Couto}"),
        ("sv_SE", "Lind", "{herr Lind}; {fru Lind}; {familjen Lind}; {makarna Lind}"),
    ],
)
def test_titles_articles_and_plurals_stay_around_one_family_name(locale: str, family: str, text: str) -> None:
    marks, put_in = re.findall(r"\{(.*?)\}", text), _filled(locale, text)
    before, after = marks[0].split(family)
    new = put_in[0].removeprefix(before).removesuffix(after)
    assert len(set(put_in)) == len(set(marks))
    for mark, found in zip(marks, put_in, strict=True):
        pattern = re.escape(mark).replace("Ann", r"[^\W\d_]\S*(?: \S+)*?").replace(f"{re.escape(family)}s", f"{re.escape(new)}e?s")
        assert re.fullmatch(pattern.replace(re.escape(family), re.escape(new)), found), (mark, found)
    assert not re.search(family, "".join(put_in))


@case_by_case(
    ("locale", "text"),
    [
        ("en_US", "{Mary Bolton née Jessop} met {Tom Jessop}. {Mrs. Bolton}"),
        ("en_US", "{Mary Bolton} (née {Jessop}) met {Tom Jessop}. {Mrs. Bolton}"),
        ("de_DE", "{Frau Lena Vogt geb. Kessler} und {Jan Kessler}; {Frau Vogt}"),
        ("de_DE", "{Lena Vogt}, geborene {Kessler} und {Jan Kessler}; {Frau Vogt}"),
        ("fr_FR", "{Mme Paule Lenoir épouse Morvan} et {Jean Morvan} ; {Mme Lenoir}"),
        ("nl_NL", "{An Bos}, geboren {Smit}, en {Jan Smit}; {mevrouw Bos}"),
        ("it_IT", "{Anna Bini}, nata {Conti}, e {Luca Conti}; {signora Bini}"),
    ],
)
def test_a_birth_name_is_a_family_name_of_its_own(locale: str, text: str) -> None:
    put_in = _filled(locale, text)
    person = " ".join(put_in[:-2])
    born = put_in[-2].split(" ", 1)[1]  # of the relative
    assert re.search(rf"\W{re.escape(born)}$", person), put_in
    family = put_in[-1].split(" ", 1)[1]
    assert family in person
    assert family != born


@pytest.mark.parametrize(
    ("locale", "text"),
    [("en_US", "[NAME] née [NAME] came."), ("de_DE", "Frau [NAME], geb. [NAME], kam."), ("nl_NL", "[NAAM], geboren [NAAM], kwam.")],
)
def test_tags_with_a_birth_name_are_one_person(locale: str, text: str) -> None:
    for done in filled(text, locale, count=6):
        first, born = done.placed
        assert first.value_id == born.value_id
        assert born.subtype == "last_name"
        assert words(done)[1] not in words(done)[0]


def test_several_people_in_a_span_are_several() -> None:
    both, one, other = _filled("en_US", "{John and Mary Bolton} live here. {Mary} is kind. {Mr. Bolton} is not.")
    man, woman = both.rsplit(" ", 1)[0].split(" and ")
    assert man != woman == one
    assert f"Mr. {both.rsplit(' ', 1)[1]}" == other
    two, first = _filled("en_US", "{Mr Bolton and Ms Jessop} came. {Mr Bolton} left.")
    assert re.fullmatch(rf"{first} and Ms (?!{first[3:]})\S+( \S+)*", two)


@case_by_case(
    ("name", "parts"),
    [
        ("Mr. and Mrs. Bolton", ["bolton"]),
        ("the Boltons", ["bolton"]),
        ("the Joneses", ["jones"]),
        ("de Vries", ["de", "vries"]),
        ("die Familie Kessler", ["kessler"]),
        ("Bolton et al.", ["bolton"]),
        ("la Sra. Carrillo", ["carrillo"]),
        ("i Rossi", ["rossi"]),
        ("Mary Bolton née Jessop", ["bolton"]),
        ("A. Bolton", ["bolton"]),
        ("Les Bolton", ["bolton"]),
        ("I. Bolton", ["bolton"]),
        ("Jansen-de Boer", ["jansen-de", "boer"]),
        ("John and Mary Bolton", ["bolton"]),
        ("Carla Gift Bolton", ["gift", "bolton"]),
    ],
)
def test_the_family_name_of_a_written_name(name: str, parts: list[str]) -> None:
    assert name_parts(name)[1] == parts


@pytest.mark.parametrize("name", ["Ortega y Gasset", "Mr. and Mrs. Bolton", "Bolton and others", "Andy Anderson", "M. et Mme Petit"])
def test_one_name_or_family_is_not_several(name: str) -> None:
    assert names_within(name) == [name]


@case_by_case(
    ("language", "name", "code"),
    [
        ("en", "Mrs. Bolton", FEMALE),
        ("en", "Mr. and Mrs. Bolton", OPEN),
        ("es", "la señora Carrillo", FEMALE),
        ("es", "el Sr. Carrillo", MALE),
        ("de", "Frau Kessler", FEMALE),
        ("de", "Herrn Kessler", MALE),
        ("fr", "M. Lenoir", MALE),
        ("fr", "Mme Lenoir", FEMALE),
        ("fr", "les époux Lenoir", OPEN),
        ("nl", "de heer De Wit", MALE),
        ("it", "la signora Bini", FEMALE),
        ("pt", "o Sr. Couto", MALE),
        ("sv", "fru Lind", FEMALE),
    ],
)
def test_a_title_within_a_span_tells_the_gender(language: str, name: str, code: int) -> None:
    plan = Planner(language).plan(f"{name} spoke.", [Mention(0, len(name), "person", original=name)])
    assert plan.codes == bytes([code])


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


@case_by_case(
    "text",
    [
        "Dr. @", "seen by (Mrs. @", "de heer @", "Mademoiselle @", "M. @", "la señora @", "Docteur @", "Frau Doktor @",
        "la doctora @", "il dottor @",
        "la dottoressa @", "Fräulein @",
    ],
)  # fmt: skip
def test_a_title_comes_right_before_a_name(text: str) -> None:
    assert titled(text, text.index("@"))


@pytest.mark.parametrize("text", ["@", "Dr.@", "the doctrine @", "m. @", "Mr. Jo @"])
def test_other_words_are_no_title(text: str) -> None:
    assert not titled(text, text.index("@"))


def _spans(*names: str) -> tuple[str, list[tuple[str, ...]]]:
    return " met ".join(names) + ".", [(name, "name") for name in names]


def test_relatives_keep_one_family_name_and_others_have_their_own() -> None:
    john, mary, doctor, tom, anna = filled_spans(*_spans("John Smith", "Mary Smith", "Smith, Ann", "Tom B. Smith", "Anna Lopez"))
    family = john.split(maxsplit=1)[1]
    assert mary.split(maxsplit=1)[1] == family
    assert doctor.startswith(f"{family}, ")
    assert tom.endswith(family)
    assert family not in anna
    assert len({john.split()[0], mary.split()[0], doctor.split(", ")[1], tom.split()[0]}) == 4


def test_codes_of_de_id_tell_families_too() -> None:
    for done in filled("**NAME[AAA, BBB] came with **NAME[CCC AAA]; **NAME[DDD EEE] did not.", count=10):
        first, rest = done.text.split(" came with ")
        second, third = rest.split("; ")
        family = first.split(", ")[0]
        assert second.endswith(f" {family}")
        assert family not in third


@pytest.mark.parametrize(
    ("origin", "family", "gender", "shared"),
    [("CZ", "Dvořák", "female", False), ("CZ", "Dvořák", "male", True), ("GB", "Baker", "female", True), ("CZ", "Kolářová", "male", False)],
)
def test_a_name_in_the_form_of_the_other_gender_is_not_shared(origin: str, family: str, gender: Gender, shared: bool) -> None:
    text = "Jan Novak met Eva Novak"
    mentions = (Mention(0, 9, "person", original="Jan Novak"), Mention(14, 23, "person", original="Eva Novak"))
    plan = Planner("en").plan(text, mentions)
    first: Gender = "female" if family.endswith("ová") else "male"
    people = [
        (FictitiousPerson(1, first, "Europe", origin, "US", "A", family, date(2024, 5, 1)),),
        (FictitiousPerson(2, gender, "Europe", "FR", "US", "B", "Petit", date(2024, 5, 1)),),
    ]
    share_family_names(plan, people)
    assert people[1][0].family == (family if shared else "Petit")


def test_one_word_names_are_no_family() -> None:
    one, two = filled_spans(*_spans("Kim", "Ada Kim"))
    assert one.split()[-1] == two.split()[-1]  # "Kim" may be Ada Kim, who is the only one of that name
    first, second = filled_spans(*_spans("Rosa", "Rosa Diaz"))
    assert first in second
