from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import data_folder
from piiloom.taxonomy.entity_types import read_taxonomy, shipped_taxonomy
from tests.longer import case_by_case

CANONICAL = (
    "occupation health demographic finance age education location organization relationship "
    "sexual_orientation belief name code datetime appearance"
)
SUBTYPES = {
    "health": set("condition shorthand symptom diagnosis state medication procedure disability allergy".split()),
    "occupation": set("job_title activity status".split()),
    "demographic": set("nationality citizen ethnicity heritage gender gender_identity language immigration_status".split()),
    "finance": set("income salary debt savings amount payment credit_score benefit hardship".split()),
    "age": set("years years_old year_old age_group age_gender life_stage".split()),
    "education": set("degree school student_status field".split()),
    "location": set("city region country city_region area address street".split()),
    "organization": set("company employer hospital charity club".split()),
    "relationship": set("kin named_kin family marital_status parent_status asked_for".split()),
    "sexual orientation": set("orientation person".split()),
    "belief": set("religion faith political philosophy practice".split()),
    "name": set("full_name first_name last_name username".split()),
    "code": set(
        "payment_card bank_account national_id passport driving_licence licence_plate ticket email phone ip_address student_id "
        "employee_id member_id case_number wallet".split()
    ),
    "datetime": set("date month_year year time duration".split()),
    "appearance": set("height weight hair eyes body_mark build feature blood_type look".split()),
}


def copied_types(tmp_path: Path) -> Path:
    folder = tmp_path / "types"
    shutil.copytree(data_folder("taxonomy") / "types", folder)
    return folder


def test_the_fifteen_types_stand_in_canonical_order_with_their_subtypes() -> None:
    types = shipped_taxonomy().types
    assert list(types) == [name.replace("_", " ") for name in CANONICAL.split()]
    assert {name: {s.name for s in t.subtypes} for name, t in types.items()} == SUBTYPES


def test_thirteen_types_form_the_seventy_eight_pairs() -> None:
    taxonomy = shipped_taxonomy()
    assert len(taxonomy.pairs) == len(set(taxonomy.pairs)) == 78
    assert all(a < b for a, b in taxonomy.pairs)
    assert {name for pair in taxonomy.pairs for name in pair} == set(taxonomy.types) - {"name", "code"}
    assert taxonomy.pairs[0] == ("health", "occupation")


@pytest.mark.parametrize("entity_type", shipped_taxonomy().types.values(), ids=lambda t: t.name)
def test_every_type_is_told_in_full(entity_type) -> None:
    assert entity_type.definition.endswith(".")
    assert len(entity_type.counts) >= 2
    assert len(entity_type.does_not_count) >= 2
    assert entity_type.name.split()[0] in entity_type.type_words
    for subtype in entity_type.subtypes:
        assert len(set(subtype.examples)) >= 2
        if subtype.form in {"count_noun", "noun_phrase", "noun", "adjective", "proper"}:
            assert not any(e.lower().startswith(("a ", "an ", "the ", "my ")) for e in subtype.examples)


@case_by_case(
    ("raw", "name"),
    [
        ("sexualorientation", "sexual orientation"),
        ("Sexual_Orientation", "sexual orientation"),
        ("nationality", "demographic"),
        ("DATE_TIME", "datetime"),
        ("ORG", "organization"),
        ("job", "occupation"),
        ("US_SSN", "code"),
        ("PERSON", "name"),
        (" health ", "health"),
        ("colour of socks", None),
        ("", None),
    ],
)
def test_spellings_of_other_data_sets_are_resolved(raw: str, name: str | None) -> None:
    assert shipped_taxonomy().resolve(raw) == name


def test_pairs_are_read_from_what_people_type() -> None:
    taxonomy = shipped_taxonomy()
    assert taxonomy.parse_pairs("all") == taxonomy.pairs
    assert taxonomy.parse_pairs("health+occupation, belief+age,occupation+health") == (("health", "occupation"), ("age", "belief"))
    assert taxonomy.parse_pairs("sexualorientation+job") == (("occupation", "sexual orientation"),)


@case_by_case("text", ["", " , ", "health", "health+health", "health+job+age", "health+name", "code+age", "health+helth", "+"])
def test_what_is_no_pair_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        shipped_taxonomy().parse_pairs(text)
    assert caught.value.exit_code == 2
    assert caught.value.remedy


def test_an_unknown_name_is_answered_with_the_closest_one() -> None:
    taxonomy = shipped_taxonomy()
    with pytest.raises(UsageError, match=r"Did you mean 'occupation'\? Known: occupation, health"):
        taxonomy.get("ocupation")
    with pytest.raises(UsageError, match="Did you mean 'condition'"):
        taxonomy.subtype("health", "conditions")
    assert taxonomy.subtype("health", "condition").form == "noun_phrase"
    assert taxonomy.get("health").name == "health"


def test_a_new_type_is_a_new_file_only(tmp_path: Path) -> None:
    folder = copied_types(tmp_path)
    (folder / "possession.yaml").write_text(
        "name: possession\norder: 75\ndefinition: A thing somebody owns.\ncounts: [a car]\ndoes_not_count: [a rented car]\n"
        "pairable: true\nopen: true\ntype_words: [possession]\naliases: [belongings]\n"
        "subtypes:\n  - {name: vehicle, definition: A vehicle., form: count_noun, open: true, examples: [cargo bike]}\n",
        encoding="utf-8",
    )
    taxonomy = read_taxonomy(folder)
    assert list(taxonomy.types)[6:9] == ["location", "possession", "organization"]
    assert len(taxonomy.pairs) == 91
    assert taxonomy.resolve("Belongings") == "possession"
    assert taxonomy.digest != shipped_taxonomy().digest


def test_the_digest_depends_on_the_files_only(tmp_path: Path) -> None:
    assert read_taxonomy(copied_types(tmp_path)).digest == shipped_taxonomy().digest


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("order: 20", "order: early", "health.yaml:2"),
        ("form: count_noun", "form: verb", "subtypes[3].form"),
        ("name: health\n", "name: health\ncolour: red\n", "colour"),
        ("type_words: [health", "type_words: [Health", "type_words[0]"),
        ("name: procedure", "name: condition", "two subtypes share a name"),
        ("medical history", "nationality", "already means"),
    ],
)
def test_a_malformed_type_file_is_named_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = copied_types(tmp_path) / "health.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"\.yaml") as caught:
        read_taxonomy(path.parent)
    assert told in str(caught.value)
