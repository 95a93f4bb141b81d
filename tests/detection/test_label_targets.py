"""What labels of other detectors mean: the shipped maps, a user's own over them, the names of types, and faults in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.detection.adapters.label_targets import (
    LabelledRange,
    LabelTarget,
    detection_maps,
    label_targets,
    likeliest_map,
    mapped_findings,
    shipped_targets,
)
from piiloom.detection.adapters.transformers_detectors import MAPS, asked_labels, model_targets
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case


@case_by_case("name", ["presidio", "ontonotes", "obi", "gliner", "conll", "i2b2", "ai4privacy"])
def test_each_subtype_of_a_shipped_map_is_an_entity_of_its_type(name):
    targets = shipped_targets(name)
    assert targets
    assert name in detection_maps()
    for label, target in targets.items():
        if target is None:
            continue
        assert target.entity_type in shipped_taxonomy().types, label
        if target.subtype is not None:
            entity = find_shipped(target.subtype)
            assert entity is not None, label
            assert entity.entity_type == target.entity_type, label


def test_presidio_is_told_by_entity_of_the_catalogue_where_that_is_just_one():
    targets = label_targets(["presidio"], own=None, taxonomy=shipped_taxonomy())
    assert targets.of("US_SSN") == LabelTarget("code", "us_ssn")
    assert targets.of("IN_PAN") == LabelTarget("finance", "in_pan")
    assert targets.of("EMAIL_ADDRESS") == LabelTarget("code", "email")
    assert targets.of("PERSON") == LabelTarget("name", None)
    assert targets.of("IP_ADDRESS") == LabelTarget("code", None)
    assert targets.of("TITLE") is None
    assert targets.knows("TITLE")
    assert targets.of("ZYX") is None
    assert not targets.knows("ZYX")


def test_gliner_is_asked_for_every_type():
    targets = label_targets(["gliner"], own=None, taxonomy=shipped_taxonomy())
    asked = asked_labels(targets)
    assert {targets.of(label).entity_type for label in asked} == set(shipped_taxonomy().types)


def test_an_own_map_goes_before_the_shipped_ones_and_names_of_types_after_all(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("US_SSN: finance\nSTAFF_NO: code/employee_number\nEYES: appearance/eyes\nDATE_TIME: null\n")
    targets = label_targets(["presidio"], own, taxonomy=shipped_taxonomy())
    assert targets.of("US_SSN") == LabelTarget("finance", None)
    assert targets.of("STAFF_NO") == LabelTarget("code", "employee_number")
    assert targets.of("EYES") == LabelTarget("appearance", None)  # a subtype of the taxonomy only
    assert targets.of("DATE_TIME") is None
    assert targets.knows("DATE_TIME")
    assert targets.of("US_PASSPORT") == LabelTarget("code", "us_passport")
    assert targets.of("staff-no") == LabelTarget("code", "employee_number")
    assert targets.of("Sexual_Orientation") == LabelTarget("sexual orientation", None)


def test_a_shipped_map_can_be_named():
    assert label_targets([], Path("obi"), taxonomy=shipped_taxonomy()).of("PATORG") == LabelTarget("organization", None)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("PER: name\nORG: organisatoin\n", "own.yaml:2", "unknown type 'organisatoin'"),
        ("PER: name/nonsense\n", "own.yaml:1", "has no subtype 'nonsense'"),
        ("PER: code/age\n", "own.yaml:1", "has no subtype 'age'"),
        ("PER: 3\n", "own.yaml:1", "must be text or null"),
        ("NO: name\n", "own.yaml:1", "is read as False"),
        ("- PER\n", "own.yaml:1", "is no label map"),
        ("PER: [\n", "own.yaml:", "not valid YAML"),
    ],
)
def test_a_fault_in_a_map_is_told_with_file_and_line(tmp_path, text, place, said):
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(ConfigError) as caught:
        label_targets(["presidio"], own, taxonomy=shipped_taxonomy())
    assert str(caught.value).startswith(place)
    assert said in str(caught.value)


def test_a_map_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match="--label-map: there is no label map") as caught:
        label_targets([], tmp_path / "none.yaml", taxonomy=shipped_taxonomy())
    assert "presidio" in str(caught.value)


@case_by_case(
    ("labels", "name"),
    [
        (["PER", "LOC", "ORG", "MISC"], "conll"),
        (["PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "DATE"], "ontonotes"),
        (["PATIENT", "STAFF", "HOSP", "PATORG", "OTHERPHI", "AGE"], "obi"),
        (["PATIENT", "DOCTOR", "MEDICALRECORD", "HOSPITAL"], "i2b2"),
        (["FIRSTNAME", "LASTNAME", "ACCOUNTNUMBER", "EMAIL"], "ai4privacy"),
        (["first_name", "last_name", "account_number", "medical_record_number"], "nemotron-pii"),
        (["zyx"], None),
    ],
)
def test_the_map_of_a_model_is_found_by_its_labels(labels, name):
    assert likeliest_map(labels, MAPS) == name


KNOWN = ["name", "organization", "location"]


@pytest.mark.parametrize(
    ("labels", "label_map", "others"),
    [
        ("PER ORG LOC", None, []),
        ("PER ORG LOC MISC", None, [None]),
        ("PERSON ORGANIZATION LOCATION MISCELLANEOUS", None, [None]),
        ("PRS ORG LOC TME EVN", Path("spacy"), ["datetime", None]),
    ],
)
def test_the_published_baselines_know_persons_organizations_and_locations(labels, label_map, others):
    targets = model_targets(labels.split(), label_map, shipped_taxonomy())
    assert [target and target.entity_type for target in map(targets.of, labels.split())] == [*KNOWN, *others]


def test_a_model_trained_on_our_types_needs_no_map():
    targets = model_targets(["occupation", "sexual orientation", "SEXUAL_ORIENTATION"], None, shipped_taxonomy())
    assert [targets.of(label).entity_type for label in ("occupation", "sexual orientation", "SEXUAL_ORIENTATION")] == [
        "occupation",
        "sexual orientation",
        "sexual orientation",
    ]


def test_what_gives_no_span_is_set_aside_with_its_label_and_reason():
    text = "Ann of ACME, 078-05-1120"
    found = [
        LabelledRange(0, 3, "PERSON", 0.85),
        LabelledRange(7, 11, "SHOP", 0.9),
        LabelledRange(13, 24, "US_SSN", 0.85),
        LabelledRange(13, 24, "PHONE_NUMBER", 0.4),
        LabelledRange(4, 6, "TITLE", 1.0),
    ]
    findings = mapped_findings(text, found, label_targets(["presidio"], own=None, taxonomy=shipped_taxonomy()), "presidio")
    assert [(one.start, one.end, one.entity_type, one.subtype, one.score) for one in findings.spans] == [
        (0, 3, "name", None, 0.85),
        (13, 24, "code", "us_ssn", 0.85),
    ]
    assert {(one.phase, one.reason, one.value, one.subtype) for one in findings.set_aside} == {
        (0, "not_personal: TITLE", "of", None),
        (0, "unmapped_label: SHOP", "ACME", None),
        (0, "overlapped: PHONE_NUMBER", "078-05-1120", "phone"),
    }


def test_of_about_equally_sure_overlapping_ones_the_longer_is_kept():
    found = [LabelledRange(0, 3, "PERSON", 0.86), LabelledRange(0, 10, "LOCATION", 0.85)]
    findings = mapped_findings("Ann Street 1", found, label_targets(["presidio"], own=None, taxonomy=shipped_taxonomy()), "presidio")
    assert [one.entity_type for one in findings.spans] == ["location"]
    assert [one.reason for one in findings.set_aside] == ["overlapped: PERSON"]


def test_white_space_at_the_edges_is_no_part_of_a_span():
    findings = mapped_findings(
        "x  AB 1 \n",
        [LabelledRange(1, 9, "UK_NINO", 0.5), LabelledRange(1, 3, "UK_NHS", 0.9)],
        label_targets(["presidio"], own=None, taxonomy=shipped_taxonomy()),
        "presidio",
    )
    assert [(one.start, one.end, one.subtype) for one in findings.spans] == [(3, 7, "gb_nino")]
    assert [one.reason for one in findings.set_aside] == ["empty: UK_NHS"]
