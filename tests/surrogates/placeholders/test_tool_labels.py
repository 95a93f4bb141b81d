"""Names that public tools give to types: each gets the right kind, or is listed as unknown; none gets another kind."""

from __future__ import annotations

import re

import pytest

from piiloom.surrogates.placeholders.reading import Reader, kind_of_span
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, ids, words

# kind, or kind:form, and the labels that are it; "" are those that no kind fits.
LABELS = {
    "password:cvv": "CREDIT_DEBIT_CVV CVV_NUMBER CREDITCARDCVV CARD_SECURITY_CODE",
    "password:pin": "PIN CARD_PIN ATM_PIN",
    "date:expiry": "CREDIT_DEBIT_EXPIRY CREDIT_CARD_EXPIRATION CREDIT_CARD_EXPIRATION_DATE CARD_EXPIRY",
    "location:coordinates": "LOCATION_COORDINATES LOCATION_COORDINATE EUGPSCoordinates NEARBYGPSCOORDINATE GEOCOORD local_latlng GPS",
    "location:latitude": "latitude",
    "location": "GeoPolitical GPE LOCATION",
    "money:code": "CURRENCYCODE",
    "money:symbol": "CURRENCYSYMBOL",
    "money:name": "CURRENCYNAME CURRENCY",
    "number:direction": "ORDINALDIRECTION",
    "bank": "CREDITCARDISSUER CARDISSUER BANK_NAME",
    "person:family": "NAME_FAMILY LAST_NAME SURNAME",
    "person:given": "NAME_GIVEN GIVENNAME FIRST_NAME",
    "ethnicity": "NORP_GROUP NRP ETHNIC_GROUP",
    "id_number": "ORGANIZATION_ID COMPANY_ID PRODUCT_ID CERTIFICATE_LICENSE_NUMBER GENERIC_ID",
    "postcode": "LOCATION_ZIP US_ZIP_CODE ZIPCODE",
    "month:month_year": "MONTH_YEAR",
    "date:day": "DAY DAY_OF_MONTH",
    "date": "DATE_OF_LESSON LESSON_DATE INVOICE_DATE EXPIRY_DATE",
    "time": "TIME_OF_APPOINTMENT",
    "address": "ADDRESS_OF_SCHOOL HOSPITAL_ADDRESS",
    "address:house": "BUILDINGNUM HOUSE_NUMBER",
    "product": "TITLE_OF_BOOK",
    "person": "NAME_OF_STUDENT MOTHER_OF_PATIENT",
    "": "CARD_NAME CASE_NAME DEVICE_NAME CITY_STATE CITY_STATE_ZIP TIME_ZONE COUNTRY_CODE DOSE MEDICATION_DOSE EMAIL_SUBJECT CARD_TYPE",
}


def test_labels_of_public_tools_get_their_kind():
    reader = Reader(vocabulary(("en",)))
    read = {}
    for wanted, labels in LABELS.items():
        for label in labels.split():
            meaning = reader.read(label)
            got = "" if meaning is None else f"{meaning.kind}:{meaning.form}" if meaning.form else meaning.kind
            if got != wanted:
                read[label] = got, wanted
    assert read == {}


def test_what_no_kind_fits_is_listed():
    for label in LABELS[""].split():
        done = filled(f"It is [{label}] there.")[0]
        assert done.placed == [], label
        assert [done.text[start:end] for start, end in done.unknown] in ([f"[{label}]"], []), label


FORMS = [
    ("The CVV is [CREDIT_DEBIT_CVV], the PIN [PIN].", r"The CVV is \d{3}, the PIN \d{4}\."),
    ("at [LOCATION_COORDINATES] exactly", r"at -?\d\d?\.\d{5}, -?\d\d?\.\d{5} exactly"),
    ("paid in [CURRENCYCODE] ([CURRENCYSYMBOL])", r"paid in USD \(\$\)"),
    ("refund {{Currency Symbol}}{{Amount}} now", r"refund \$[\d,.]+ now"),
    ("<DATE OF LESSON> in <YEAR>", r".*\d.* in \d{4}"),
    ("card [CARDISSUER]", r"card .*[A-Za-z].*"),
]


@case_by_case(("text", "shape"), FORMS)
def test_values_have_the_form_of_their_label(text, shape):
    for done in filled(text, count=20):
        assert re.fullmatch(shape, done.text), done.text


def test_a_hash_tells_who_it_is():
    text = "[[PERSON_1:3fa9c2]] met [[PERSON_2:b71e00]]; then [[PERSON_1:3fa9c2]] left [[CITY_1:9a0b1c]] on [[DATE_1:99aa01]]"
    done = filled(text)[0]
    first, second, again, city, day = words(done)
    assert first == again != second
    assert re.fullmatch(r"[^\W\d_][\w .'’-]+", first)
    assert not re.search(r"\d", first + second + city)
    assert re.search(r"\d{4}|\d/\d", day)
    one, two, three, _ = ids(filled("<PERSON_3fa9c2e1> and <PERSON_77aa01b2>; <PERSON_3fa9c2e1> in <LOCATION_0a1b2c3d>")[0])
    assert one == three != two
    assert words(filled("[NAME: Ada] has [ID: 3fa9c2]")[0])[1] not in {"3fa9c2", ""}


COURTS = [
    ("El acusado reside en DIRECCION000 y conduce el coche con MATRICULA000 de su hermano.", "es_ES", ["address", "licence_plate"]),
    ("con DNI NUM000 y teléfono TELEFONO000 en LOCALIDAD000", "es_ES", ["national_id", "phone", "city"]),
]


@pytest.mark.parametrize(("text", "locale", "kinds"), COURTS)
def test_words_with_digits_of_spanish_courts(text, locale, kinds):
    assert [place.kind for place in filled(text, locale)[0].placed] == kinds


HOUSES = [
    ("wohnt [STRASSE] [HAUSNUMMER], [PLZ] [ORT].", "de_DE"),
    ("woont [STRAAT] [HUISNUMMER], [POSTCODE] [PLAATS].", "nl_NL"),
    ("bor på [GATA] [HUSNUMMER], [ORT].", "sv_SE"),
    ("vive in [VIA] [NUMERO CIVICO], [CITTÀ].", "it_IT"),
    ("vive en [CALLE] [NÚMERO], [CIUDAD].", "es_ES"),
    ("mora na [RUA], [NÚMERO], [CIDADE].", "pt_BR"),
    ("habite [NUMERO] [RUE], [VILLE].", "fr_FR"),
    ("lives at [HOUSE_NUMBER] [STREET], [CITY].", "en_US"),
]


@case_by_case(("text", "locale"), HOUSES)
def test_parts_of_an_address_are_a_street_and_a_number(text, locale):
    for done in filled(text, locale, count=20):
        parts = {place.kind: done.text[place.new_start : place.new_end] for place in done.placed}
        assert re.fullmatch(r"\d{1,5}[ -]?[A-Za-z]{0,3}", parts["address"]), done.text
        assert not re.search(r"\d", parts["street"]), done.text


@pytest.mark.parametrize(
    ("text", "locale", "shape"),
    [
        ("Processo nº XXXXXXX-XX.2020.8.26.XXXX julgado", "pt_BR", r"Processo nº \d{7}-\d\d\.2020\.8\.26\.\d{4} julgado"),
        ("Case No. XXXX-2019-XXX is closed", "en_US", r"Case No\. \d{4}-2019-\d{3} is closed"),
        ("MRN: XXXX4567 today", "en_US", r"MRN: \d{4}4567 today"),
        ("Policy number XX-XXX-12 lapsed", "en_US", r"Policy number \d\d-\d{3}-12 lapsed"),
    ],
)
def test_masks_with_digits_keep_them(text, locale, shape):
    assert re.fullmatch(shape, filled(text, locale)[0].text)


def test_known_masks_keep_their_digits():
    for mask, type_, shape in [
        ("XXXXXXX-XX.2020.8.26.XXXX", "case number", r"\d{7}-\d\d\.2020\.8\.26\.\d{4}"),
        ("***-**-1234", "SSN", r"\d{3}-\d\d-1234"),
        ("XXXX4567", "MRN", r"\d{4}4567"),
    ]:
        assert re.fullmatch(shape, filled_spans(f"It is {mask} here", [(mask, type_)])[0]), mask
    assert kind_of_span("ORGANIZATION_ID", None) == "id_number"
