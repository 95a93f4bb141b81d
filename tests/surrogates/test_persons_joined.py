"""Placeholders that are one person, or several named before, get the names of these and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.persona_assignment.groups import CODES
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, ids, words


@case_by_case(
    ("text", "locale", "people"),
    [
        ("Dear [FIRST_NAME] [LAST_NAME],", "en_US", 1),
        ("[LAST_NAME], [FIRST_NAME]", "en_US", 1),
        ("[FIRST_NAME] [MIDDLE_NAME] [LAST_NAME]", "en_US", 1),
        ("[FIRST_NAME] [LAST_NAME], [FIRST_NAME] [LAST_NAME]", "en_US", 2),
        ("[FIRST_NAME], [FIRST_NAME] and [FIRST_NAME]", "en_US", 3),
        ("First name: <FIRST_NAME>\nLast name: <LAST_NAME>", "en_US", 1),
        ("Prénom : [PRENOM]\nNom : [NOM]", "fr_FR", 1),
        ("Vorname: [VORNAME] Nachname: [NACHNAME]", "de_DE", 1),
        ("Primer apellido: [APELLIDO] Segundo apellido: [APELLIDO] Nombre: [NOMBRE DE PILA]", "es_ES", 1),
        ("[**First Name (STitle) 12**] [**Last Name (STitle) 34**]; Dr. [**Last Name (STitle) 34**]", "en_US", 1),
        ("[**First Name 1**] [**Last Name 2**], not [**First Name 2**] or [**Last Name 1**]", "en_US", 3),
        ("[**Known lastname 123**],[**Known firstname 44**]: Mr. [**Known lastname 199**] ... [**Known firstname 5**]", "en_US", 1),
        ("[PATIENT_FIRST_NAME] [LAST_NAME] came. [PATIENT_FIRST_NAME] left.", "en_US", 1),
    ],
)
def test_parts_of_a_name_are_one_person(text, locale, people):
    (done,) = filled(text, locale)
    assert len(set(ids(done))) == people, words(done)


def test_the_parts_are_what_they_say():
    (done,) = filled("[LAST_NAME], [FIRST_NAME] [INITIAL]. ... [FIRST_NAME] [MIDDLE_NAME] [LAST_NAME]")
    family, given, initial, *_ = words(done)
    assert family != given
    assert len(initial) == 1
    (done,) = filled("[FIRST_NAME] [MIDDLE_NAME] [LAST_NAME] came")
    assert len(set(words(done))) == 3


def test_numbers_that_count_names_are_told_from_numbers_that_count_people():
    (done,) = filled("[FIRST_NAME_1] [LAST_NAME_1] saw [FIRST_NAME_2] [LAST_NAME_2]. [FIRST_NAME_1] and [LAST_NAME_2]")
    one, same_one, two, same_two, again_one, again_two = ids(done)
    assert one == same_one == again_one != two == same_two == again_two


@pytest.mark.parametrize(
    "text",
    [
        "[appellant sub 6A] en [appellant sub 6B] (hierna tezamen en in enkelvoud: [appellant sub 6])",
        "[gedaagde 1] en [gedaagde 2], hierna gezamenlijk te noemen: [gedaagden]",
        "[eiser 1] en [eiser 2], wonende te [woonplaats]. [eisers]",
        "[vader] en [moeder], gezamenlijk: [partijen]",
    ],
)
def test_several_together_are_those_named_before(text):
    (done,) = filled(text, "nl_NL")
    first, second, *_, together = (word for word, place in zip(words(done), done.placed, strict=True) if place.kind == "person")
    last = {name.rsplit(" ", 1)[-1] for name in (first, second)}
    assert {name.rsplit(" ", 1)[-1] for name in together.split(" en ")} == last


def test_the_other_side_is_not_among_them():
    (done,) = filled("[verzoeker] tegen [gedaagde 1] en [gedaagde 2] (gezamenlijk: [gedaagden])", "nl_NL")
    names = words(done)
    assert names[3] == f"{names[1]} en {names[2]}"


@case_by_case(
    ("text", "locale", "gender"),
    [
        ("Mme [PERSONNE_1] est là", "fr_FR", "female"),
        ("Monsieur [PERSONNE_1] est là", "fr_FR", "male"),
        ("(Mme [PRENOM] [NOM])", "fr_FR", "female"),
        ("doña [PERSONA_1]", "es_ES", "female"),
        ("Frau [PERSON_1]", "de_DE", "female"),
        ("Signor [PERSONA_1]", "it_IT", "male"),
        ("fru [PERSON_1]", "sv_SE", "female"),
    ],
)
def test_a_title_tells_the_gender(text, locale, gender):
    plan = Planner(locale[:2]).plan(text, Finder(auto_mapping([text])).find(text).mentions)
    assert {cluster.code for cluster in plan.clusters} == {CODES[gender]}


def test_tags_can_be_linked():
    text = "[de man] kwam. [appellant] zei niets. [getuige 1] en [getuige 2]."
    assert len(set(ids(filled(text, "nl_NL")[0]))) == 4
    linked = ids(filled(text, "nl_NL", links=("[de man]=[appellant]", "[getuige 2]=[appellant]"))[0])
    assert linked[0] == linked[1] == linked[3] != linked[2]


@pytest.mark.parametrize("link", ["[de man]", "[de man]=[nobody]", "=[appellant]", "[de man]=[woonplaats]"])
def test_a_link_that_is_none_is_refused(link):
    with pytest.raises(UsageError, match=r"--link|tag"):
        filled("[de man], [appellant], [woonplaats]", "nl_NL", links=(link,))


def test_letters_are_filled_together():
    (done,) = filled("[X] is directeur van [Y] B.V. [Y] is gevestigd te [plaats].", "nl_NL")
    assert "[" not in done.text
    assert [place.kind for place in done.placed] == ["person", "company", "company", "city"]


@pytest.mark.parametrize("text", ["[naam 1] B.V. en [naam 1]", "[NAME_1], Inc. and [NAME_1]", "[naam 1], gevestigd te Breda. [naam 1]"])
def test_companies_get_company_names(text):
    (done,) = filled(text, "nl_NL")
    assert {place.kind for place in done.placed} == {"company"}
    assert len(set(ids(done))) == 1


def test_a_full_stop_is_not_doubled():
    for done in filled("Aan [naam 1] B.V. en [bedrijf 1].", "nl_NL", count=12):
        assert ".." not in done.text


def test_tags_can_be_linked_in_the_mapping():
    text = "[de man] kwam. [appellant] zei niets."
    mapping = auto_mapping([text])
    rules = [replace(rule, role="appellant", index="", use=True) for rule in mapping.rules]
    plan = Planner("nl").plan(text, Finder(replace(mapping, rules=tuple(rules))).find(text).mentions)
    assert plan.owners == [0, 0]
    assert plan.codes == bytes([CODES["male"]])


def test_a_legal_form_is_not_doubled():
    for done in filled("[naam 1] B.V. en [NAAM_2] N.V.", "nl_NL", count=12):
        assert done.text.count("B.V.") + done.text.count("V.O.F.") == 1


def test_the_number_of_a_party_of_a_company_and_one_person_is_that_person():
    text = (
        "4. [appellante sub 4A], gevestigd te Bladel, en [appellant sub 4B], wonend te Bladel (hierna tezamen en in enkelvoud: "
        "[appellant sub 4]). Het beroep van [appellant sub 4] en [appellant sub 5]."
    )
    (done,) = filled(text, "nl_NL")
    assert [place.kind for place in done.placed] == ["company", *["person"] * 4]
    _, one, together, again, other = ids(done)
    assert one == together == again != other


def test_what_stands_before_a_name_makes_it_a_companys():
    text = (
        "1. de besloten vennootschap met beperkte aansprakelijkheid\n[gedaagde1],\ngevestigd te [vestigingsplaats], 2. [gedaagde2]. "
        "Dat [gedaagde1] zegt."
    )
    (done,) = filled(text, "nl_NL")
    assert [place.kind for place in done.placed] == ["company", "city", "person", "company"]
    assert [place.kind for place in filled("La société [NOM] et Mme [NOM]", "fr_FR")[0].placed] == ["company", "person"]


def test_not_everybody_lives_where_they_were_born():
    towns = [words(done)[1:] for done in filled("[verdachte], geboren te [geboorteplaats], wonende te [woonplaats].", "nl_NL", count=5)]
    assert any(born != home for born, home in towns)
