"""``piiloom surrogate survey``: the mapping that it writes, and runs with one that was edited."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.piiloom.surrogate_runs import _own_names, fill, notes, refused

__all__ = ["_own_names", "fill", "notes", "refused"]


def test_survey_to_standard_output_is_a_mapping(cli, notes):
    outcome = cli("surrogate", "survey", notes)
    assert (outcome.code, outcome.err) == (0, "")
    mapping = yaml.safe_load(outcome.out)
    assert {rule["tag"]: rule["kind"] for rule in mapping["rules"]}["[NAME {index}]"] == "person"
    assert [one["tag"] for one in mapping["unknown"]] == ["<ZORBLAX>"]
    assert [one["tag"] for one in mapping["left_alone"]] == ["[sic]"]


def test_survey_to_a_file_prints_a_table_and_replaces_nothing_unasked(cli, notes, tmp_path):
    file = tmp_path / "mapping.yaml"
    outcome = cli("surrogate", "survey", notes, "--out", file)
    assert outcome.code == 0
    assert "[NAME {index}]" in outcome.out
    assert f"8 rules, 1 unknown tag, 1 kinds of brackets left alone: {file}" in outcome.out
    before = file.read_bytes()
    file.write_text("mine")
    refused = cli("surrogate", "survey", notes, "--out", file)
    assert (refused.code, file.read_text()) == (1, "mine")
    assert "--force" in refused.error_line()
    assert cli("surrogate", "survey", notes, "--out", file, "--force").code == 0
    assert file.read_bytes() == before


def test_survey_as_json(cli, notes, tmp_path):
    told = json.loads(cli("surrogate", "survey", notes, "--json").out)
    assert (told["documents"], told["file"]) == (2, None)
    assert {rule["pattern"]: rule["count"] for rule in told["rules"]}["<STUDENT>"] == 2
    assert all(rule["use"] and rule["confidence"] > 0.9 for rule in told["rules"])
    assert told["unknown"] == [{"tag": "<ZORBLAX>", "count": 1}]
    assert told["left_alone"] == [{"tag": "[sic]", "count": 1}]
    file = tmp_path / "m.yaml"
    assert json.loads(cli("surrogate", "survey", notes, "--json", "--out", file).out)["file"] == str(file)
    assert file.exists()


def test_the_locale_ranks_the_readings_and_the_other_one_is_shown(cli, tmp_path):
    (tmp_path / "in.txt").write_text("[NOMBRE] 12 [NOMBRE]\n")
    file = tmp_path / "m.yaml"
    outcome = cli("surrogate", "survey", tmp_path / "in.txt", "--out", file, "--locale", "es_ES")
    assert outcome.code == 0
    assert [(rule["kind"], rule["runner_up"]) for rule in yaml.safe_load(file.read_text())["rules"]] == [("person", "number (fr)")]
    assert "number (fr)" in outcome.out
    told = json.loads(cli("surrogate", "survey", tmp_path / "in.txt", "--json", "--locale", "fr_FR").out)
    assert [(rule["kind"], rule["runner_up"]) for rule in told["rules"]] == [("number", "person (es)")]
    assert told["languages"] == ["fr", "en"]
    refused = cli("surrogate", "survey", tmp_path / "in.txt", "--locale", "spanish")
    assert (refused.code, "Did you mean 'es_ES'" in refused.error_line()) == (2, True)


def test_a_survey_warns_of_what_is_strange(cli, tmp_path):
    (tmp_path / "none.txt").write_text("The [FLURB] was not here.\n")
    assert "no placeholder of a known meaning was found" in cli("surrogate", "survey", tmp_path / "none.txt").err
    (tmp_path / "all.txt").write_text("It is the [NUMBER] of the day. " * 30)
    outcome = cli("surrogate", "survey", tmp_path / "all.txt", "--json")
    assert json.loads(outcome.out)["warnings"] == [
        "30 of 30 surrogates are of the kind number (read from [NUMBER] 30): if that is not what stood there, correct the mapping"
    ]


def test_a_run_warns_of_what_is_strange(cli, fill, tmp_path):
    (tmp_path / "none.txt").write_text("The [FLURB] was not here.\n")
    (tmp_path / "all.txt").write_text("El [NÚMERO] del día no es lo que se dijo en la reunión. " * 30)
    assert fill(tmp_path / "none.txt", out="none")["warnings"][-1].startswith("no placeholder of a known meaning was found")
    warnings = fill(tmp_path / "all.txt", out="all")["warnings"]
    assert warnings[0].startswith("30 of 30 surrogates are of the kind number")
    assert "the texts read as Spanish, the locale is en_US" in warnings[1]


@pytest.fixture
def mapping(cli, notes, tmp_path):
    """A surveyed mapping to edit: ``mapping(change)`` writes it again after *change* has worked on its data."""
    file = tmp_path / "mapping.yaml"
    assert cli("surrogate", "survey", notes, "--out", file).code == 0

    def edit(change):
        data = yaml.safe_load(file.read_text())
        change(data)
        file.write_text(yaml.safe_dump(data, sort_keys=False))
        return file

    return edit


def test_an_unchanged_mapping_does_what_auto_does(fill, mapping, notes, tmp_path):
    fill(notes, "--seed", 3, out="auto")
    report = fill(notes, "--seed", 3, "--placeholders", mapping(lambda data: None), out="told")
    assert report["about"]["placeholders"] == "mapping.yaml"
    for name in ("records.jsonl", "map.jsonl", "mirror/a.txt"):
        assert (tmp_path / "auto" / name).read_bytes() == (tmp_path / "told" / name).read_bytes()


def test_a_changed_kind_and_a_new_regex_are_obeyed(fill, mapping, notes, tmp_path):
    (notes / "c.txt").write_text("Badge ##17## of [COMPANY], and <ZORBLAX>, [CITY].\n")

    def change(data):
        by_tag = {rule["tag"]: rule for rule in data["rules"]}
        by_tag["[COMPANY]"]["kind"] = "university"
        by_tag["[CITY]"]["use"] = False
        data["rules"].append({"regex": r"##(?P<index>\d+)##", "kind": "employee_id"})
        data["rules"].append({"tag": "<ZORBLAX>", "kind": "club"})
        data["unknown"] = []

    report = fill(notes, "--placeholders", mapping(change))
    assert report["replaced"]["by_kind"]["employee_id"] == 1
    assert report["replaced"]["by_kind"]["university"] == report["replaced"]["by_kind"]["club"] == 2
    assert not {"company", "city"} & set(report["replaced"]["by_kind"])
    assert report["unknown"]["tags"] == {"[CITY]": 2}
    assert "##" not in (tmp_path / "out" / "mirror" / "c.txt").read_text()
