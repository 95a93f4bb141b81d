"""The rules that stand in for a model: what they find in each language, and what they let be."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector, RuleReader
from piiloom.detection.hybrid.offline.listed_values import LabelReader
from piiloom.detection.hybrid.offline.names import Handles, known_names, language_cues
from piiloom.detection.hybrid.phases import AskedTypes
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, load_catalogue
from tests.detection.small_catalogue import LOCALE, engine, found, settings
from tests.longer import case_by_case, few, mostly_long

TEXTS = {
    "sv_SE": (
        "Hej Anna,\nLars Svensson bor på Storgatan 12 B, 111 22 Stockholm.",
        {("Anna", "person_name"), ("Lars Svensson", "person_name"), ("Storgatan 12 B, 111 22 Stockholm", "address")},
    ),
    "no_NO": (
        "Kari Nordmann bor i Kirkegata 5, 0153 Oslo. Hun har diabetes.",
        {("Kari Nordmann", "person_name"), ("Kirkegata 5, 0153 Oslo", "address"), ("diabetes", "condition")},
    ),
    "fi_FI": (
        "Matti Virtanen, Mannerheimintie 12 A 3, 00100 Helsinki",
        {("Matti Virtanen", "person_name"), ("Mannerheimintie 12 A 3, 00100 Helsinki", "address")},
    ),
    "nl_NL": (
        "Jan van der Berg van Garage Zuid woont Kerkstraat 12-II in Den Haag.",
        {("Jan van der Berg", "person_name"), ("Kerkstraat 12-II in Den Haag", "address")},
    ),
    "nl_BE": (
        "Mevrouw Janssens belde. Adres: Grote Steenweg 7 bus 3, 2600 Antwerpen",
        {("Grote Steenweg 7 bus 3, 2600 Antwerpen", "address")},
    ),
    "pl_PL": (
        "Jan Kowalski, ul. Długa 5 m. 3, 31-101 Kraków. Diagnoza: astma",
        {("Jan Kowalski", "person_name"), ("ul. Długa 5 m. 3, 31-101 Kraków", "address"), ("astma", "condition")},
    ),
    "pt_BR": (
        "Maria Aparecida da Silva mora na Rua das Flores, 123, apto 45, Campinas - SP, 13010-100.",
        {("Maria Aparecida da Silva", "person_name"), ("Rua das Flores, 123, apto 45, Campinas - SP, 13010-100", "address")},
    ),
    "pt_PT": (
        "João Ferreira, Rua do Carmo, 12, 1200-093 Lisboa",
        {("João Ferreira", "person_name"), ("Rua do Carmo, 12, 1200-093 Lisboa", "address")},
    ),
    "vi_VN": (
        "Chị Nguyễn Thị Lan ở số 12 đường Lê Lợi, phường Bến Nghé, quận 1 bị tiểu đường.",
        {("Nguyễn Thị Lan", "person_name"), ("tiểu đường", "condition")},
    ),
    "zh_CN": (
        "患者李娜女士住在北京市海淀区中关村大街27号3单元501室,诊断:高血压。",
        {("李娜", "person_name"), ("北京市海淀区中关村大街27号3单元501室", "address"), ("高血压", "condition")},
    ),
    "zh_SG": ("联系人:陈伟强,住裕廊西街42号", {("陈伟强", "person_name"), ("裕廊西街42号", "address")}),
    "hi_IN": (
        "श्री राजेश कुमार शर्मा, मकान नं. 45, गली 3, लखनऊ 226001",
        {("राजेश कुमार शर्मा", "person_name"), ("मकान नं. 45, गली 3, लखनऊ 226001", "address")},
    ),
    "ar_AE": (
        "السيد محمد أحمد المنصوري يسكن في شارع الشيخ زايد، دبي",
        {("محمد أحمد المنصوري", "person_name"), ("شارع الشيخ زايد، دبي", "address")},
    ),
}


@lru_cache(maxsize=4)
def reader(locale):
    return RuleReader(AskedTypes(load_catalogue(locale)))


def read(locale, text):
    return {(text[one.start : one.end], one.entity_id) for one in reader(locale).read(text)}


@pytest.mark.parametrize("locale", mostly_long(LOCALES, {"pl_PL", "zh_CN", "hi_IN"}))
def test_names_addresses_and_words_of_each_locale(locale):
    text, wanted = TEXTS[locale]
    assert wanted <= read(locale, text)


@case_by_case("language", "sv no fi nl pl pt vi zh hi ar en".split())
def test_every_language_has_cues_that_are_words(language):
    cues = language_cues(language)
    words = [word for name in type(cues).model_fields for word in getattr(cues, name) if isinstance(getattr(cues, name), tuple)]
    assert len(words) > 40
    assert all(word == word.strip() and word for word in words)
    small = (
        "titles",
        "name_cues",
        "not_names",
        "before_places",
        "street_before",
        "street_behind",
        "units",
        "areas",
        "links",
        "school_words",
    )
    assert all(word == word.lower() for name in small for word in getattr(cues, name))
    assert all(len(set(getattr(cues, name))) == len(getattr(cues, name)) for name in small)


def test_a_language_without_cues_has_none():
    assert language_cues("xx").titles == ()


@pytest.fixture(scope="module")
def labels():
    return LabelReader(AskedTypes(engine().catalogue))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Pacjent: Jan Kowalski, lat 40", ["Jan Kowalski"]),
        ("Imię pacjenta - Zofia\n", ["Zofia"]),
        ("diagnoza: nadciśnienie tętnicze. Dalej", ["nadciśnienie tętnicze"]),
        ("hasło=Tajne#123 x=1", ["Tajne#123"]),
        ('pacjent="Jan Nowak" id=3', ["Jan Nowak"]),
        ("Adres: Długa 5, 31-101 Kraków; tel", ["Długa 5, 31-101 Kraków"]),
        ("Zawód: spawacz (od 2010)", ["spawacz"]),
        ("PIN: 4821, ok", ["4821"]),
        ("PIN: brak", []),  # not of the shape
        ("Pacjent: 123", []),
        ("Spin: 4821", []),  # a short context word stands for a whole word
        ("Pesel: Jan", []),  # patterns find those
        ("zawód 12:30", []),
        ("https://pacjent://x", []),
    ],
)
def test_values_behind_labels(labels, text, wanted):
    assert [text[one.start : one.end] for one in labels.read(text)] == wanted


def test_user_names_are_made_of_names():
    handles = Handles(known_names("NL", "nl"))
    text = "jan.visser schreef, bdejong5 ook; versie 2.0, visser@x.nl, www.visser.nl, kaart12, file.txt, bvisser24 las."
    assert [text[one.start : one.end] for one in handles.read(text)] == ["jan.visser", "bvisser24"]


@pytest.mark.long
def test_places_are_no_names():
    text = "São José dos Campos e o Hospital Maria Silva ficam longe. Ligou José Pereira."
    assert {value for value, kind in read("pt_BR", text) if kind == "person_name"} == {"José Pereira"}


def test_three_phases_without_a_model():
    text = "Pacjent: Jan Kowalski. Wiek: 34 lat. Pokój 34. Numer 44051401359 to konto."
    by_phases = [found(text, OfflineDetector(settings=settings(phases)).examine(text, LOCALE)) for phases in range(4)]
    assert ("Jan Kowalski", "person_name") not in by_phases[0]
    assert ("Jan Kowalski", "person_name") in by_phases[1]
    assert ("44051401359", "account") in by_phases[2]
    assert ("34 lat", "age") in by_phases[3]


@few
@given(st.text(st.sampled_from('Jan Kowalski ul.12,:\nśà漢王市路号श्रीमुحم-@="'), max_size=80), st.sampled_from(["pl_PL", "zh_CN", "hi_IN"]))
def test_whatever_is_found_is_in_the_text(text, locale):
    for one in reader(locale).read(text):
        assert 0 <= one.start < one.end <= len(text)
        assert 0 < one.score <= 1
