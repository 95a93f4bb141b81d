"""Numbers that tell the sex and the birth of a person agree with their holder."""

from __future__ import annotations

import random

import pytest

from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.pii_values.entity_values.people import draw_person
from piiloom.pii_values.numbering.masks import fill_mask, tells_birth
from piiloom.taxonomy.entities.entity_catalogue import load_catalogue
from tests.longer import case_by_case

# Where a number tells the sex, and which digits say that its holder is a woman.
SEX = {
    ("sv_SE", "se_personnummer"): (-2, "02468"),
    ("pl_PL", "pl_pesel"): (9, "02468"),
    ("zh_CN", "cn_resident_id"): (16, "02468"),
    ("vi_VN", "vn_cccd"): (3, "1"),
}


@pytest.mark.parametrize(("locale", "entity"), SEX)
@pytest.mark.parametrize("seed", range(6))
def test_a_number_tells_the_sex_and_the_birth_year_of_its_holder(locale, entity, seed):
    rng = random.Random(seed)
    person = draw_person(locale, rng)
    value = draw_entity_value(load_catalogue(locale).entities[entity], locale, rng, person=person)
    digits = [one for one in value if one.isalnum()]
    at, of_women = SEX[locale, entity]
    assert (digits[at] in of_women) == (person.gender == "female")
    assert person.born.strftime("%y") in value.replace(" ", "")


def test_a_mask_may_hold_the_year_of_birth_alone():
    person = draw_person("vi_VN", random.Random(1))
    assert fill_mask("A{born yy}", random.Random(2), person.born) == f"A{person.born:%y}"
    assert (tells_birth("A{born yy}"), tells_birth("A{yy}")) == (True, False)


@case_by_case("seed", range(8))
def test_names_may_be_written_by_gender(seed):
    woman, man = (draw_person("vi_VN", random.Random(seed), gender) for gender in ("female", "male"))
    assert " Văn " not in woman.full
    assert " Thị " not in man.full
    assert woman.full.endswith(woman.given)
