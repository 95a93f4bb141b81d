"""Label maps: the shipped ones name types of ours, and faults in one's own are told with file, line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.label_maps import label_map, shipped_label_maps
from tests.longer import case_by_case

NAMES = ["ai4privacy", "conll", "crapii", "i2b2", "nemotron-pii", "presidio", "tab"]


def test_these_maps_are_shipped() -> None:
    assert shipped_label_maps() == NAMES
    assert {name: len(label_map(name, taxonomy=shipped_taxonomy())) for name in NAMES} == {
        "ai4privacy": 93,
        "conll": 4,
        "crapii": 8,
        "i2b2": 34,
        "nemotron-pii": 55,
        "presidio": 105,
        "tab": 8,
    }


@case_by_case("name", NAMES)
def test_every_target_is_a_type_or_subtype_as_the_taxonomy_spells_it(name: str) -> None:
    taxonomy = shipped_taxonomy()
    for target in label_map(name, taxonomy=shipped_taxonomy()).values():
        if target is not None:
            kind, slash, subtype = target.partition("/")
            assert kind in taxonomy.types
            assert not slash or taxonomy.subtype(kind, subtype).name == subtype


def test_a_map_of_ones_own_is_read_by_path_and_spelled_as_in_the_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("# mine\nPER: name\n'NO': Sexual_Orientation\nTEL: code/phone\nX: null\nY y: ~\n", encoding="utf-8")
    expected = {"PER": "name", "NO": "sexual orientation", "TEL": "code/phone", "X": None, "Y y": None}
    assert label_map(path, taxonomy=shipped_taxonomy()) == expected
    assert label_map(str(path), taxonomy=shipped_taxonomy()) == expected


def test_a_file_does_not_hide_a_shipped_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conll").write_text("PER: code\n", encoding="utf-8")
    assert label_map("conll", taxonomy=shipped_taxonomy())["PER"] == "name"
    assert label_map("./conll", taxonomy=shipped_taxonomy())["PER"] == "code"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("PER: name\nLOC: locaton\n", r"mine\.yaml:2: LOC: unknown type 'locaton'\. Did you mean 'location'\?"),
        ("TEL: code/phon\n", r"mine\.yaml:1: TEL: type 'code' has no subtype 'phon'\. Did you mean 'phone'\?"),
        ("TEL: code/\n", r"mine\.yaml:1: TEL: type 'code' has no subtype ''"),
        ("PER: name\nNO: location\n", r"mine\.yaml:2: the label 'NO' is read as False\. Put the label in quotes"),
        ("a: name\n1: location\n", r"mine\.yaml:2: the label '1' is read as 1\. Put"),
        ("PER: [name]\n", r"mine\.yaml:1: PER: must be text or null\. Write a type"),
        ("PER: 5\n", r"mine\.yaml:1: PER: must be text or null"),
        ("PER: name\nPER: code\n", r"mine\.yaml:2: not valid YAML: key 'PER' is given twice"),
        ("- PER\n", r"mine\.yaml:1: is no label map\. Write a line a label"),
        ("", r"mine\.yaml:1: is no label map"),
        ("{", r"mine\.yaml:2: not valid YAML: did not find"),
    ],
)
def test_a_fault_is_told_with_line_and_remedy(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"^{message}"):
        label_map(path, taxonomy=shipped_taxonomy())


def test_an_unknown_map_is_told_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no label map 'presido'\. Did you mean 'presidio'\? Name a YAML file, or one of: ai4privacy, "):
        label_map("presido", taxonomy=shipped_taxonomy())
