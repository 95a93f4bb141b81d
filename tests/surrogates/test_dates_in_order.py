"""Dates that are put in keep the order that the text states, and agree with the ages in it."""

from __future__ import annotations

import re
from datetime import date

from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled

MANY = 40
ANCHOR = date(2026, 1, 1)


def days(text, locale, **settings):
    """The dates that were put into each of many documents, and these documents."""
    for done in filled(text, locale, count=MANY, **settings):
        found = []
        for place in done.placed:
            if place.entity_type == "datetime":
                layout = read_date(done.text[place.new_start : place.new_end], locale[:2], date_order(locale[:2], locale[3:]), ANCHOR)
                assert layout is not None
                found.append(layout.when)
        yield found, done


@case_by_case(
    ("text", "locale"),
    [
        ("Admission Date: <DATE>  Discharge Date: <DATE>\nDied on <DATE>.", "en_US"),
        ("<ADMISSION_DATE> <DISCHARGE_DATE> <DEATH_DATE>", "en_US"),
        ("Fecha de ingreso: [FECHA]. Fecha de alta: [FECHA]. Falleció el [FECHA].", "es_ES"),
        ("Hospitalisé le [DATE], sorti le [DATE], décédé le [DATE]", "fr_FR"),
        ("Opgenomen op [datum], ontslagen op [datum], overleden op [datum]", "nl_NL"),
        ("Aufnahme: [DATUM], Entlassung: [DATUM], verstorben am [DATUM]", "de_DE"),
        ("Data di ricovero: [DATA], data di dimissione: [DATA], deceduto il [DATA]", "it_IT"),
        ("Internado em [DATA], alta hospitalar [DATA], faleceu em [DATA]", "pt_BR"),
        ("Inskriven [DATUM], utskriven [DATUM], avled [DATUM]", "sv_SE"),
        ("born <DOB>, seen <DATE>, died <DATE>", "en_US"),
        ("from [DATE] to [DATE]", "en_US"),
    ],
)
def test_the_order_that_the_text_states_holds(text, locale):
    for found, done in days(text, locale):
        assert found == sorted(found), done.text


def test_the_order_of_words_is_not_the_order_of_the_text():
    for (died, seen, left, came), done in days("Died on <DATE>. Seen <DATE>. Discharge Date: <DATE> Admission Date: <DATE>", "en_US"):
        assert came <= left <= died, done.text
        assert seen <= died, done.text


STATED = [
    ("Fecha de nacimiento: [FECHA]. Edad: [EDAD] años. Ingreso: [FECHA]", "es_ES"),
    ("Nacida el [FECHA], de [EDAD] años, ingresada el [FECHA]", "es_ES"),
    ("né le [DATE], âgé de [AGE] ans, hospitalisé le [DATE]", "fr_FR"),
    ("Date de naissance : [DATE]\nÂge : [AGE] ans\nDate d'entrée : [DATE]", "fr_FR"),
    ("geboren op [datum], [leeftijd] jaar oud, opgenomen op [datum]", "nl_NL"),
    ("Geburtsdatum: [DATUM], [ALTER] Jahre alt, Aufnahme: [DATUM]", "de_DE"),
    ("nata il [DATA], [ETA] anni, ricoverata il [DATA]", "it_IT"),
    ("nascida em [DATA], [IDADE] anos, internada em [DATA]", "pt_BR"),
    ("född [DATUM], [ÅLDER] år gammal, inskriven [DATUM]", "sv_SE"),
    ("DOB: [DATE] Age: [AGE] Admission Date: [DATE]", "en_US"),
    ("[NAME], born [DATE], is [AGE] years old. Admission Date: [DATE]", "en_US"),
    # Ages that were not redacted.
    ("Varón de 54 años, nacido el [FECHA], ingresado el [FECHA]", "es_ES"),
    ("Femme de 54 ans, née le [DATE], hospitalisée le [DATE]", "fr_FR"),
    ("A 54-year-old man. DOB: [DATE] Admission Date: [DATE]", "en_US"),
    ("een 54-jarige man, geboren op [datum], opgenomen op [datum]", "nl_NL"),
    # Dates that were not redacted.
    ("[naam], geboren op 3 mei 1960, was [leeftijd] jaar oud. Opgenomen op 4 juni 2011", "nl_NL"),
    ("Admission Date: 6/4/2011. [NAME], DOB: [DATE], is [AGE] years old.", "en_US"),
]


@case_by_case(("text", "locale"), STATED)
def test_birth_date_and_age_agree_on_the_day_of_the_admission(text, locale):
    literal = [date(1960, 5, 3)] * ("1960" in text) + [date(2011, 6, 4)] * ("2011" in text)
    for found, done in days(text, locale):
        born, came = sorted([*found, *literal])
        ages = [done.text[place.new_start : place.new_end] for place in done.placed if place.kind == "age"]
        assert int(ages[0] if ages else 54) == came.year - born.year - ((came.month, came.day) < (born.month, born.day)), done.text


def test_years_after_an_apostrophe_have_two_digits():
    (done,) = filled("In '[YEAR] and in [YEAR].")
    assert re.fullmatch(r"In '\d\d and in \d{4}\.", done.text)
