"""``piiloom locales list``, ``types list``, ``types new``, ``prices check``: they list what is true, and the new file works as it is."""

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


def litellm_entry(**more):
    return {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-07, "output_cost_per_token": 5e-07, **more}


@pytest.mark.parametrize(
    ("entries", "code", "differences", "only_theirs"),
    [
        ({"gpt-6-luna": litellm_entry(cache_read_input_token_cost=1e-08, max_output_tokens=128000)}, 0, [], 0),
        ({"gpt-6-luna-2026-09-22": litellm_entry(cache_creation_input_token_cost=3e-07)}, 1, [("cache_write", 0.125, 0.3)], 0),
        ({"gpt-6-luna": litellm_entry(max_output_tokens=9)}, 1, [("max_output_tokens", 128000, 9)], 0),
        ({"gpt-5.1": {**litellm_entry(), "input_cost_per_token": 1.25e-06, "output_cost_per_token": None}}, 0, [], 0),
        ({"gpt-7": litellm_entry(), "gpt-4": litellm_entry(deprecation_date="2026-10-23")}, 0, [], 1),
    ],
)  # fmt: skip
def test_prices_are_held_against_litellms_map(cli, tmp_path, entries, code, differences, only_theirs):
    file = tmp_path / "litellm.json"
    other = {"sample_spec": {"mode": "one of"}, "embedding": litellm_entry(mode="embedding"), "groq/x": {"litellm_provider": "groq"}}
    file.write_text(json.dumps({**other, **entries}), encoding="utf-8")
    outcome = cli("prices", "check", file, "--json")
    told = json.loads(outcome.out)
    assert outcome.code == code, outcome.err
    assert [(one["field"], one["ours"], one["theirs"]) for one in told["differences"]] == differences
    assert told["only_theirs"] == {"openai": only_theirs, "anthropic": 0}
    assert all(f"{theirs:,}" in cli("prices", "check", file).out for _, _, theirs in differences)


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"a": {"litellm_provider": "groq", "mode": "chat"}}', None])
def test_another_file_is_refused_as_no_price_map(cli, tmp_path, content):
    file = tmp_path / "other.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    outcome = cli("prices", "check", file)
    assert (outcome.code, outcome.out) == (1, "")
    assert "other.json" in outcome.err


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
