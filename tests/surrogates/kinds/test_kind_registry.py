from __future__ import annotations

import subprocess
import sys

import pytest
from kind_draws import COUNTRIES, draw, owned

from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.kinds.places import languages
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import mostly_long, sampled

NAMES = (
    "person username email phone fax url ip_address national_id tax_id passport driving_licence licence_plate payment_card "
    "bank_account medical_record student_id employee_id policy_number case_number device_id vehicle_id id_number postcode "
    "password parcel number letter date birth_date year birth_year month weekday time duration holiday datetime age city "
    "region country street address location room landmark resort organisation company employer school language_school university "
    "hospital department bank charity club band authority course degree field grade occupation money nationality ethnicity language "
    "gender religion percent political orientation kin marital_status condition medication product title generic "
    "height weight hair eyes body_mark build feature blood_type look appearance "
).split()
# Kinds of which there are not two dozen to choose from.
FEW = set("letter year month weekday gender orientation title nationality region birth_year city ip_address person marital_status".split())


def test_every_kind_of_the_contract_is_there_and_no_other():
    assert sorted(KINDS) == sorted(NAMES)


def test_types_and_subtypes_exist_in_the_taxonomy():
    known = {entity.name: {subtype.name for subtype in entity.subtypes} for entity in shipped_taxonomy().types.values()}
    for kind in KINDS.values():
        assert kind.entity_type in known, kind.name
        assert kind.subtype is None or kind.subtype in known[kind.entity_type], kind.name


def test_importing_the_registry_loads_no_library_of_values():
    heavy = ("stdnum", "phonenumbers", "faker")
    code = f"import sys, piiloom.surrogates.kinds.kind; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(("seeds", "different"), sampled((30, 12), (100, 24)))
@pytest.mark.parametrize("country", mostly_long([*COUNTRIES, "GH", "AQ", "XK"], quick={*list(COUNTRIES)[::4], "XK"}))
def test_every_kind_gives_clean_and_varied_text_in_every_country(country, seeds, different):
    for name, kind in KINDS.items():
        values = set()
        for seed in range(seeds):
            value = kind.draw(owned(seed, country) if kind.owner == "person" and seed % 4 else draw(seed, country))
            assert value, name
            assert value == value.strip(), (name, value)
            assert not set("<>[]{}\n") & set(value), (name, value)
            values.add(value)
        assert len(values) >= different or name in FEW, (name, len(values))


@pytest.mark.parametrize("language", [*languages(), "da", "no", "pl", "ja", ""])
def test_every_kind_gives_text_in_every_language(language):
    for name, kind in KINDS.items():
        for seed in range(30):
            value = kind.draw(owned(seed, "NL", language=language) if kind.owner == "person" else draw(seed, "NL", language))
            assert value == value.strip() != "", name
            assert not set("<>[]{}%") & set(value) or "%" in value, (name, value)


@pytest.mark.long
def test_equal_draws_give_equal_values_in_another_process():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from kind_draws import draw, owned;"
        "from piiloom.surrogates.kinds.kind import KINDS;"
        "kinds = [(k.draw, owned if k.owner == 'person' else draw) for k in KINDS.values()];"
        "print(repr([[kind(made(s, c)) for kind, made in kinds] for s in range(5) for c in ('US', 'NL', 'JP')]))"
    )
    here = str(__file__).rpartition("/")[0]
    seen = {subprocess.run([sys.executable, "-c", code, here], capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(seen) == 1
    assert seen != {""}


@pytest.mark.long
def test_originals_of_any_sort_never_raise():
    odd = (
        "",
        " ",
        "²",
        "٣",
        "\x00",
        "a" * 500,
        "1" * 400,
        "--",
        "31/31/31",
        "ß",
        "İ",
        "N/A",
        "0",
        "[x]",
        "é̀",
        "%s",
        "{city}",
        "２０１２",
        "1" * 5000,
    )
    for name, kind in KINDS.items():
        for original in odd:
            assert isinstance(kind.draw(draw(3, "US", original=original)), str), name
            assert isinstance(kind.draw(owned(3, "NL", original=original)), str), name


def test_originals_in_capitals_give_values_in_capitals():
    for name in ("city", "hospital", "company", "street", "country", "occupation", "month", "weekday", "school"):
        value = KINDS[name].draw(draw(9, original="BOSTON GENERAL"))
        assert value == value.upper(), name


def test_other_words_than_the_original_come_out():
    for name in ("country", "religion", "language", "condition", "field", "kin", "hair", "eyes", "build", "look", "blood_type"):
        for seed in range(300):
            first = KINDS[name].draw(draw(seed))
            assert KINDS[name].draw(draw(seed, original=first)).casefold() != first.casefold()
