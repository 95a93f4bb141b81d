"""``piiloom locales list``, ``types list`` and ``types new``: what they list is true, and the file that is written works as it is."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.surrogates.kinds.places import languages
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import load_locales
from piiloom.taxonomy.own_types_file import read_types_file
from tests.longer import usually

NAMES = {
    "badge number": "badge number",
    "Loyalty Card": "loyalty card",
    "Número do crachá": "numero do cracha",
    "Größe": "grosse",
    "工号": "gonghao",
    "CAR": "car",
    "time card": "time card",
    "new employer": "new employer",
    "x": "x",
    "Room 7 Key": "room key",
    "true": "true",
    "Null": "null",
    "a b": "a b",
    "letter message": "letter message",
}


def test_locales_are_listed_with_the_commands_that_take_them(cli):
    told = json.loads(cli("locales", "list", "--json").out)
    taking = {
        name: {one["locale"] for one in told["locales"] if one["commands"][name] is True} for name in ("generate", "detect", "benchmark")
    }
    assert taking == {"generate": set(load_locales()), "detect": set(catalogue_locales()), "benchmark": set(LOCALES)}
    own = {one["locale"].partition("_")[0] for one in told["locales"] if one["commands"]["surrogate"] == "own words"}
    assert own == set(languages())
    assert "import" in told["any_locale"]["commands"]
    table = cli("locales", "list").out
    assert "nl_NL   Dutch       Netherlands" in table
    assert "any other locale" in table


def test_types_are_listed_with_own_ones_among_them(cli, tmp_path):
    told = {one["type"]: one for one in json.loads(cli("types", "list", "--json").out)["types"]}
    assert told.keys() == shipped_taxonomy().types.keys()
    assert told["code"]["generate"] == told["name"]["generate"] == "texts"
    assert told["health"]["generate"] == "pairs and texts"
    assert told["code"]["detect"]["patterns"] > 500 > told["belief"]["detect"]["patterns"]
    types = tmp_path / "types.yaml"
    types.write_text("types:\n  - {name: badge number, pattern: 'B-[0-9]{6}'}\n", encoding="utf-8")
    (own,) = (one for one in json.loads(cli("types", "list", "--types", types, "--json").out)["types"] if one["own"])
    assert (own["type"], own["detect"]["patterns"], own["subtypes"]) == ("badge number", 1, ["value"])
    assert "badge number" in cli("types", "list", "--types", types).out


def test_a_new_type_has_a_plain_name(cli, tmp_path):
    for number, (name, plain) in enumerate(NAMES.items()):
        file = tmp_path / f"{number}.yaml"
        assert json.loads(cli("types", "new", name, "--out", file, "--json").out)["type"] == plain
        assert [one.name for one in read_types_file(file)] == [plain]


@pytest.mark.long
@pytest.mark.parametrize("name", usually(NAMES, {"Número do crachá", "工号", "Null", "new employer", "letter message"}))
def test_a_new_type_works_as_it_is_written(cli, tmp_path, name):
    file, store = tmp_path / "mine.yaml", tmp_path / "mine.duckdb"
    assert cli("types", "new", name, "--out", file, "--json").code == 0
    assert cli("stories", "check", file).out == "no findings\n"
    assert cli("doctor", "--types", file).code == 0
    report = piiloom.generate(samples=12, types=file, pairs=f"occupation+{NAMES[name]}", store=store)
    assert report.accepted == 12
    rows = [json.loads(line) for line in cli("records", "list", "--store", store, "--json").out.splitlines()]
    drawn = [(row["context"], span) for row in rows for span in row["spans"] if span["type"] == NAMES[name]]
    assert {span["relevance"] for _, span in drawn} == {"high", "low"}
    for text, span in drawn:
        assert text[span["start"] : span["end"]] == span["text"]
        found = piiloom.detect(text, locale="en_US", types=[file])
        assert (span["start"], span["end"], NAMES[name]) in {(one.start, one.end, one.entity_type) for one in found}
    assert piiloom.generate(samples=4, types=file, store=tmp_path / "all.duckdb").accepted == 4


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("phone", "'phone' means the type 'code' that ships"),
        ("Health", "'Health' means the type 'health'"),
        ("SSN", "means the type 'code'"),
        ("123", "'123' gives no name of a type"),
        ("", "'' gives no name"),
        ("a" * 41, "gives no name"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(cli, tmp_path, name, says):
    file = tmp_path / "mine.yaml"
    outcome = cli("types", "new", name, "--out", file)
    assert outcome.code == 2
    assert says in outcome.err
    assert not file.exists()


def test_nothing_is_overwritten_without_force(cli, tmp_path):
    file = tmp_path / "badge_number.yaml"
    file.write_text("mine", encoding="utf-8")
    outcome = cli("types", "new", "badge number", "--out", file)
    assert (outcome.code, file.read_text(encoding="utf-8")) == (1, "mine")
    assert "--force" in outcome.err
    assert cli("types", "new", "badge number", "--out", file, "--force").code == 0
    assert [one.name for one in read_types_file(file)] == ["badge number"]


def test_a_file_beside_the_working_folder_is_named_after_the_type(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("types", "new", "Loyalty Card").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["loyalty_card.yaml"]
