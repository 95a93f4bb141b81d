"""The languages of a corpus rank its vocabularies."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders import Finder, Mapping, TagRule, auto_mapping
from piiloom.surrogates.placeholders.mapping import kind_caution, language_caution, survey_cautions
from piiloom.surrogates.placeholders.scanning import language_told, ranking_of
from tests.longer import case_by_case

_SPANISH = "El señor [NOMBRE] llamó por la mañana y dijo que no podía venir a la reunión con su abogado."
_FRENCH = "Le [NOMBRE] de dossiers que la cour a reçus dans cette affaire est de plus en plus grand."
_ENGLISH = "When I was at the library with @PERSON1 we saw that @CAPS1 was on the shelf, and @CAPS2 had it in her hands."
_DUTCH = "De verdachte heeft op [datum] met [slachtoffer 1] gesproken, maar dat is door de raadsman niet betwist."


@case_by_case(
    ("text", "language"),
    [
        (_SPANISH, "es"),
        (_FRENCH, "fr"),
        (_ENGLISH, "en"),
        (_DUTCH, "nl"),
        ("Die Klägerin hat am Montag mit dem Zeugen gesprochen, und er ist nicht gekommen.", "de"),
        ("O paciente foi internado no hospital com febre e não tem alergias, mas a filha não sabe.", "pt"),
        ("La signora ha detto che il figlio non è venuto con lei e che lo ha visto al mercato.", "it"),
        ("Han sa att det inte var hon som hade varit där, och att de ska komma till mötet.", "sv"),
        ("Pacjent został przyjęty na oddział, a jego żona nie wiedziała o tym, że jest w szpitalu.", "pl"),
        ("Hun sa at hun ikke hadde noe å gjøre med det, og at han ble hentet av politiet.", "no"),
        ("Hun sagde, at hun ikke havde noget med det at gøre, og at han blev hentet af politiet.", "da"),
        ("Hän sanoi, että se ei ollut hänen, mutta todistaja oli myös nähnyt sen.", "fi"),
        ("Pacient byl přijat na oddělení kvůli bolesti na hrudi.", ""),
        ("[NAME] 12", ""),
    ],
)
def test_common_words_tell_the_language(text: str, language: str) -> None:
    assert language_told(text) == language


def test_a_given_language_leads_but_english_which_options_say_by_default_does_not() -> None:
    assert ranking_of([_DUTCH], "es").languages[:3] == ("es", "nl", "en")
    assert ranking_of([_DUTCH], "en").languages[:2] == ("nl", "en")
    assert ranking_of(["x"], "es").home == {"es", "en"}
    assert ranking_of(["x"], "en").home == frozenset()
    assert ranking_of(["x"], "cs").home == {"en"}


@pytest.mark.parametrize(("text", "given", "kind"), [(_SPANISH, "", "person"), (_SPANISH, "es", "person"), ("[NOMBRE]", "es", "person")])
def test_a_spanish_name_is_no_french_number(text: str, given: str, kind: str) -> None:
    mapping = auto_mapping([text] * 5, given)
    assert [(rule.kind, rule.use, rule.runner_up) for rule in mapping.rules] == [(kind, True, "number (fr)")]
    assert {m.kind for m in Finder(mapping).find(text).mentions} == {kind}


def test_a_french_number_is_no_spanish_name() -> None:
    assert [(rule.kind, rule.runner_up) for rule in auto_mapping([_FRENCH]).rules] == [("number", "person (es)")]


def test_a_word_of_a_language_that_nothing_else_is_in_is_not_used() -> None:
    texts = [_ENGLISH + " The CAP said so, in a note on [CODICE FISCALE]."] * 4
    mapping = auto_mapping([text.replace("CAPS1", "CAP1") for text in texts])
    cap = next(rule for rule in mapping.rules if rule.tag == "@CAP{index}")
    assert (cap.kind, cap.language, cap.use) == ("postcode", "it", True)  # "codice fiscale" supports it
    alone = auto_mapping([_ENGLISH.replace("CAPS1", "CAP1")] * 4)
    cap = next(rule for rule in alone.rules if rule.tag == "@CAP{index}")
    assert (cap.kind, cap.language, cap.use) == ("postcode", "it", False)
    assert [caution for caution in alone.cautions if "only Italian knows" in caution and "@CAP{index} = postcode" in caution]
    assert {Finder(alone).find("met @CAP4 there").unknown[0].why} == {"too unsure to be used"}


def test_a_word_in_capitals_is_no_italian_postcode() -> None:
    assert [rule.tag for rule in auto_mapping([_ENGLISH] * 4).rules] == ["@PERSON{index}"]
    assert [noted.tag for noted in auto_mapping([_ENGLISH] * 4).unknown] == ["@CAPS{index}"]


def test_tags_of_several_meanings_support_each_other() -> None:
    text = "When I was at the library with [NOMBRE] we saw that [CIUDAD] was on the map, and she had it in her hands."
    mapping = auto_mapping([text])
    assert [(rule.kind, rule.use) for rule in mapping.rules] == [("city", True), ("person", True)]
    assert mapping.languages == ("en", "es")


def test_a_corpus_without_a_rule_is_told() -> None:
    assert survey_cautions(auto_mapping(["The [FLURB] was here and it was not the [QUUX]."]))[0].startswith(
        "no placeholder of a known meaning was found: nothing is replaced; of an unknown meaning: [FLURB], [QUUX]"
    )


def test_a_kind_that_swallows_the_rest_is_told() -> None:
    rules = (TagRule(tag="[A]", kind="number", count=30, confidence=0.7), TagRule(tag="[CITY]", kind="city", count=10))
    said = survey_cautions(Mapping(rules=rules))
    assert said == ("30 of 40 surrogates are of the kind number (read from [A] 30): if that is not what stood there, correct the mapping",)
    assert not kind_caution({"number": 20, "city": 20})
    assert not kind_caution({"number": 12})
    assert not kind_caution({"person": 100}, [TagRule(tag="[NAME]", kind="person", count=100)])
    assert kind_caution({"person": 100}, [TagRule(tag="@CAPS{index}", kind="person", count=100, confidence=0.7)])


def test_texts_of_another_language_than_the_locale_are_told() -> None:
    assert "read as Spanish" in language_caution("en_US", "es")
    assert not language_caution("es_MX", "es")
    assert not language_caution("pl_PL", "")


_TEXTS = [
    ("no", "Vitnet [navn] sa at [tiltalte] ikke var i [kommune] den [dato], og hun hadde ikke noe å si om det.", "person person city date"),
    (
        "da",
        "Vidnet [navn] sagde, at [tiltalte] ikke var i [kommune] den [dato], og hun havde ikke noget at sige.",
        "person person city date",
    ),
    ("fi", "Todistaja [nimi] kertoi, että [vastaaja] oli ollut siellä [päivämäärä], ja hän asuu: [osoite].", "person person date address"),
    ("pl", "Świadek [imię i nazwisko] zeznał, że [oskarżony] nie był w [miejscowość] dnia [data].", "person person city date"),
    ("sv", "Vittnet [namn] sa att [tilltalade] inte var i [kommun] den [datum], och hon hade inte sett det.", "person person city date"),
]


@pytest.mark.parametrize(("language", "text", "kinds"), _TEXTS, ids=[language for language, _, _ in _TEXTS])
def test_tags_are_read(language: str, text: str, kinds: str) -> None:
    assert language_told(text) == language
    for given in (language, ""):
        found = Finder(auto_mapping([text], given)).find(text)
        assert [one.kind for one in found.mentions] == kinds.split()
        assert not found.unknown
