"""Small words before a value: the surrogate fits their sound and gender, and does not repeat the noun before it."""

from __future__ import annotations

import re

import pytest

from piiloom.surrogates.fitting import small_words, sounds
from piiloom.surrogates.persona_assignment.groups import FEMALE, MALE
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans

_VOWEL = "[AEIOUYÀÁÂÉÈÊËÍÎÏÓÔÚÛÜŒaeioué]"


@case_by_case(
    ("locale", "text", "right"),
    [
        ("fr_FR", "l'ami d'[PRÉNOM]", rf"d'{_VOWEL}"),
        ("fr_FR", "Il dit qu’[PRÉNOM] viendra", rf"qu’{_VOWEL}"),
        ("fr_FR", "la voiture de [PRÉNOM]", rf"de (?!{_VOWEL}|[HY])"),
        ("fr_FR", "le maire d'[VILLE]", rf"d'{_VOWEL}"),
        ("fr_FR", "le maire de [VILLE]", rf"de (?!{_VOWEL}|H|Les? )"),
        ("fr_FR", "Elle travaille à l'[HÔPITAL]", "l'(Hôpital|Hôtel-Dieu|EHPAD|Institut|Hospice)"),
        ("fr_FR", "Elle travaille au [LYCÉE]", "au (Lycée|Collège|Groupe|Cours)"),
        ("fr_FR", "les élèves de la [ÉCOLE]", "de la (Crèche|Maternelle)"),
        ("fr_FR", "soigné à la [CLINIQUE]", "à la (Clinique|Polyclinique|Maternité|Maison|Résidence|Pharmacie)"),
        ("fr_FR", "Il vit en [PAYS]", f"en (?:{_VOWEL}|.+e( |$))"),
        ("fr_FR", "Il vit au [PAYS]", f"au (?!{_VOWEL})"),
        ("fr_FR", "Il vit aux [PAYS]", "aux (Pays-Bas|Philippines)"),
        ("fr_FR", "soigné à l'hôpital [HÔPITAL]", "l'hôpital (?!.*([Hh]ôpital|Clinique|Maternité|Centre))"),
        ("fr_FR", "la banque [BANQUE]", "la banque (?!.*(Banque|Caisse|Crédit|Comptoir))"),
        ("it_IT", "Lavora all'[OSPEDALE]", "all'(Ospedale|Istituto|Hospice)"),
        ("it_IT", "Lavora alla [CLINICA]", "alla (Clinica|Casa|Residenza|Villa|Farmacia)"),
        ("it_IT", "un socio dello [AZIENDA]", "dello ([SZ]|Gn|Ps)"),
        ("it_IT", "va ad [CITTÀ]", f"ad {_VOWEL}"),
        ("it_IT", "la casa d'[NOME]", f"d'{_VOWEL}"),
        ("pt_BR", "Nasceu no [PAÍS]", "no (?!.*(?<!Quêni)a$)"),
        ("pt_BR", "Vive na [PAÍS]", "na (.*a$|.*a )"),
        (
            "pt_BR",
            "Vive em [PAÍS]",
            "em (Angola|Cabo|Costa|Cuba|El|Gana|Honduras|Israel|Malta|Marrocos|Moçambique|Portugal|São|Singapura|Timor|Luxemburgo)",
        ),
        ("pt_BR", "Trabalha na [ESCOLA]", "na (Escola|Casa)"),
        ("pt_BR", "Trabalha no [HOSPITAL]", "no (Hospital|Centro|Laboratório|Pronto-Socorro)"),
        ("es_ES", "Trabaja en la [CLÍNICA]", "en la (Clínica|Residencia|Maternidad|Policlínica|Farmacia)"),
        ("es_ES", "Ayer vinieron a la casa de la madre Ana y [NOMBRE]", "Ana y (?!I|Hi|[0-9])"),
        ("es_ES", "Ayer vinieron a la casa de la madre Ana e [APELLIDO]", "Ana e H?[IÍ]"),
    ],
)
def test_the_surrogate_fits_the_word_before_it(locale: str, text: str, right: str) -> None:
    for done in filled(text, locale, count=12):
        assert re.search(right, done.text), done.text
        assert done.text.startswith(text[: text.index("[")])


def test_values_of_contradicting_articles_are_two_and_of_others_one() -> None:
    for done in filled("Il va à l'[HÔPITAL], puis au [HÔPITAL]. Elle voit le [LYCÉE] et la cour du [LYCÉE].", "fr_FR", count=12):
        one, other, school, again = (done.text[place.new_start : place.new_end] for place in done.placed)
        assert one[0] in "HEÉI"
        assert other[0] not in "HEÉI"
        assert school == again


@pytest.mark.parametrize(("article", "female"), [("da", True), ("na", True), ("do", False), ("o", False)])
def test_an_article_tells_the_gender_of_a_person(article: str, female: bool) -> None:
    text = f"Falei com a mãe, que mora em Santos, e com os primos {article} [NOME] ontem."
    plan = Planner("pt", "BR").plan(text, Finder(auto_mapping([text], "pt")).find(text).mentions)
    assert plan.codes == bytes([FEMALE if female else MALE])


def test_known_originals_fit_as_well() -> None:
    for name in ("Orange", "Airbus"):
        (company,) = filled_spans(f"le directeur d'{name} parle", [(name, "company")], "fr_FR")
        assert re.match(_VOWEL, company)
    (person,) = filled_spans("le frère d'Antoine", [("Antoine", "name")], "fr_FR")
    assert re.match(_VOWEL, person)


@case_by_case(
    ("locale", "word", "value", "kind", "fits"),
    [
        ("fr_FR", "de", "Hubert", "", False),
        ("fr_FR", "'", "Hubert", "", False),
        ("fr_FR", "à", "Le Mans", "city", False),
        ("fr_FR", "à", "La Rochelle", "city", True),
        ("fr_FR", "en", "Mexique", "country", False),
        ("fr_FR", "au", "Mexique", "country", True),
        ("fr_FR", "en", "Iran", "country", True),
        ("it_IT", "il", "Studio Bo", "company", False),
        ("it_IT", "lo", "Studio Bo", "company", True),
        ("it_IT", "n'", "Officina", "company", True),
        ("it_IT", "n'", "Ospedale", "hospital", False),
        ("pt_BR", "no", "Rio de Janeiro", "city", True),
        ("pt_BR", "em", "Rio de Janeiro", "city", False),
        ("pt_BR", "em", "Campinas", "city", True),
        ("es_ES", "y", "Hilario", "", False),
        ("es_ES", "o", "Olga", "", False),
    ],
)
def test_sounds_and_genders(locale: str, word: str, value: str, kind: str, fits: bool) -> None:
    assert sounds(value, small_words(locale[:2])[word], locale, kind) is fits
