"""The data behind the built-in index: regions, spellings, scripts, and that the shipped file is made of them."""

from __future__ import annotations

import gzip
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.names.builtin import build_index, romanised
from piiloom.pii_values.names.index import BUILTIN
from piiloom.pii_values.names.pools import is_native, tidy
from piiloom.pii_values.names.regions import REGIONS, borne_by, countries_of, country_name, region_of
from tests.longer import case_by_case

ROOT = Path(__file__).parents[3]


@pytest.mark.long
def test_the_shipped_index_is_what_its_sources_make():
    pinned = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("Faker=="))
    if pinned != f"Faker=={version('faker')}":
        pytest.skip(f"made with {pinned}, here is {version('faker')}")
    shipped = (files("piiloom.pii_values") / "data" / "names_index" / BUILTIN).read_bytes()
    assert len(shipped) <= 720_000
    # In case of failure: python -m piiloom.pii_values.names.builtin
    assert gzip.decompress(shipped) == build_index()


def test_every_country_is_in_one_region():
    codes = [code for region in REGIONS for code in countries_of(region)]
    assert len(codes) == len(set(codes)) == 248  # ISO 3166-1 but for Antarctica, which is in no region
    assert {region: len(countries_of(region)) for region in REGIONS} == {
        "Africa": 60,
        "Americas": 57,
        "Asia": 51,
        "Europe": 51,
        "Oceania": 29,
    }


def test_countries_are_those_of_iso_3166():
    pycountry = pytest.importorskip("pycountry", reason="pycountry is not installed (it comes with names-dataset)")
    assert {country.alpha_2 for country in pycountry.countries} - {"AQ"} == {c for region in REGIONS for c in countries_of(region)}


def test_regions_by_country():
    assert [region_of(code) for code in ("NG", "BR", "VN", "NO", "FJ", "TR", "CY", "RU")] == [
        "Africa",
        "Americas",
        "Asia",
        "Europe",
        "Oceania",
        "Asia",
        "Asia",
        "Europe",
    ]
    assert country_name("NO") == "Norway"
    with pytest.raises(UsageError, match="unknown country"):
        region_of("XX")


@case_by_case(
    ("raw", "written"),
    [
        ("Mcbride", "McBride"),
        ("McBride", "McBride"),
        (" Fuad ", "Fuad"),
        ("O'Brien", "O'Brien"),
        ("De la Cruz", "De la Cruz"),
        ("Chia-ling", "Chia-ling"),
        ("Nguyễn", "Nguyễn"),
        ("CHIA-HAO", None),
        ("JENSEN", None),
        ("'s Gravensande", None),
        ("van der Loo", "van der Loo"),
        ("Dr. Lee", None),
        ("Edna (2)", None),
        ("A", None),
        ("The", None),
        ("Md", None),
        ("SimphiweyiNkosi 2", None),
        ("", None),
        ("Иванов", None),
        ("abc", None),
    ],
)
def test_what_is_a_name(raw, written):
    assert tidy(raw) == written


def test_native_names():
    assert is_native("Иванов")
    assert is_native("王")
    assert is_native("กนกเนตร")
    assert not is_native("Ivanov")
    assert not is_native("Ива3")
    assert not is_native("श्री")


@case_by_case(
    ("name", "table", "latin"),
    [
        ("Дмитрий", "russian", "Dmitry"),
        ("Евгения", "russian", "Yevgeniya"),
        ("Щербаков", "russian", "Shcherbakov"),
        ("Юлія", "ukrainian", "Yuliia"),
        ("Ѓорѓи", "macedonian", "Gjorgji"),
        ("Παπαδόπουλος", "greek", "Papadopoulos"),
        ("Ευάγγελος", "greek", "Evangelos"),
        ("გიორგი", "georgian", "Giorgi"),
        ("Հովհաննես", "armenian", "Hovhannes"),
        ("서준", "korean", "Seojun"),
        ("Анна-Мария", "russian", "Anna-Mariya"),
    ],
)
def test_names_are_romanised(name, table, latin):
    assert romanised(name, table) == latin


def test_what_cannot_be_romanised_is_an_error():
    for name, table in (("Anna", "russian"), ("Anna", "korean"), ("Анна", "klingon")):
        with pytest.raises(UsageError):
            romanised(name, table)


def test_family_names_that_tell_a_gender():
    assert [borne_by(name, country) for name, country in (("Nováková", "CZ"), ("Novák", "CZ"), ("Jelínkovi", "NL"), ("Krejčí", "CZ"))] == [
        "female",
        "male",
        None,
        None,
    ]
    assert borne_by("Kowalska", "PL") == "female"
    assert borne_by("Nowak", "PL") is None
    assert borne_by("Petrauskaitė", "LT") == "female"
