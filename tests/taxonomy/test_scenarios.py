from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from piiloom.foundation.errors import ConfigError
from piiloom.taxonomy.bank_checks import BankFile
from piiloom.taxonomy.bank_loading import bank_languages, limited, load_bank, shipped_sources
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.taxonomy.bank_example import MINE, written

ID = "health-relationship.choir-bench"


@pytest.mark.parametrize("language", bank_languages())
def test_the_shipped_bank_is_read_once_and_knows_its_origins(language: str) -> None:
    bank = load_bank(language, extra=None, taxonomy=shipped_taxonomy())
    assert load_bank(language, extra=None, taxonomy=shipped_taxonomy()) is bank
    assert len(bank.digest) == 64
    texts = {source.name: source.read_text(encoding="utf-8").splitlines() for source in shipped_sources(language)}
    for scenario in bank.scenarios.values():
        file, _, line = scenario.origin.partition(":")
        assert scenario.id in texts[file][int(line) - 1]
        assert scenario in bank.for_pair(scenario.pair)


def test_scenarios_are_found_by_pair_topic_and_subtopic(tmp_path: Path) -> None:
    bank = load_bank("en", written(tmp_path), taxonomy=shipped_taxonomy())
    mine = bank.scenarios[ID]
    assert mine.pair == ("health", "relationship")
    assert mine in bank.for_pair(("relationship", "health"))
    assert bank.find(mine.pair, "choir seats", "Bench Rows") == (mine,)
    assert mine in bank.find(mine.pair)
    assert bank.find(mine.pair, "choir seats", "cold halls") == ()
    assert bank.for_pair(("name", "code")) == ()
    assert mine.origin == "mine.yaml:2"
    assert mine.subjects == {"health": "@relationship"}
    assert mine.also["location"].uses == ("city",)


def test_a_bank_of_ones_own_adds_to_the_shipped_one(tmp_path: Path) -> None:
    shipped, bank = (
        load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()),
        load_bank("en", written(tmp_path), taxonomy=shipped_taxonomy()),
    )
    assert len(bank.scenarios) == len(shipped.scenarios) + 1
    frame = bank.frames_by_slot["location", "city"][-1]
    assert frame.text.startswith("These days I <live|stay>")
    assert bank.frames[frame.index] is frame
    pair = bank.frames[-1]
    assert pair.slots == (("relationship", "kin"), ("occupation", "job_title"))
    assert (pair.subject("occupation"), pair.subject("relationship")) == ("@relationship", "self")
    assert pair in bank.frames_by_size[2]
    assert bank.talk.chatter[-1].startswith("I have been sanding")
    assert bank.talk.openers["any"][-1] == "Hello there."
    assert bank.digest != shipped.digest


def test_a_folder_of_banks_is_read_whole(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "more.yml").write_text('talk: {chatter: ["I oil the gate."]}\n', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no bank", encoding="utf-8")
    assert {"I oil the gate.", "I have been sanding a table on the balcony."} <= set(
        load_bank("en", tmp_path, taxonomy=shipped_taxonomy()).talk.chatter
    )


def test_a_bank_can_be_limited() -> None:
    bank = limited(load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()), 1)
    assert all(len(found) == 1 for found in bank.pairs.values())
    assert len(bank.scenarios) == len(bank.pairs)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("topic: Choir Seats", "topik: Choir Seats", 2, "scenarios[0].topic"),
        ("pair: [relationship, health]", "pair: [health]", 3, "scenarios[0].pair"),
        ("pair: [relationship, health]", "pair: [health, health]", 3, "two different types"),
        ("pair: [relationship, health]", "pair: [helth, health]", 3, "unknown type 'helth'"),
        ("pair: [relationship, health]", "pair: [name, health]", 3, "cannot be part of a pair"),
        ("[condition, allergy]", "[mood]", 4, "no subtype 'mood'"),
        ('subjects: {health: "@relationship"}', 'subjects: {age: "@relationship"}', 5, "'age' is never used"),
        ("{uses: [city]", "{uses: [moon]", 7, "no subtype 'moon'"),
        ("rationale: {health", "rationale: {age", 10, "'health' is missing"),
        ("My {relationship} has {health}", "My <{relationship} has {health}", 13, "never closed"),
        ("My {relationship} has {health}", "My <{relationship}|> has {health}", 13, "exactly once"),
        ("My {relationship} has {health}", "My friend has {health}", 13, "{relationship} must stand exactly once"),
        ("<our|the>", "<our|our>", 13, "occurs twice"),
        ("somebody with {health}", "somebody with {age}", 17, "scenarios[0].tells.health[0]"),
        ("      relationship:\n", "      age:\n", 11, "'relationship' is missing"),
        ("on the wall.", "on the wall {health}.", 24, "not for use here"),
        ("<Where|When> can <I|we>", "Where|When can <I|we>", 29, "questions.neutral[0]"),
        ("{location.city}", "{location.moon}", 33, "no subtype 'moon'"),
        ("{location.city}", "{location}", 33, "not {type.subtype}"),
        ("a table on", "a {location.city} on", 36, "not for use here"),
        ("openers: {any:", "openers: {anywhere:", 37, "no register 'anywhere'"),
        ("[relationship, health]", "[relationship, health", 4, "not valid YAML"),
    ],
)
def test_a_malformed_bank_is_refused_with_file_line_and_key(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    assert MINE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        load_bank("en", written(tmp_path, MINE.replace(old, new)), taxonomy=shipped_taxonomy())
    assert caught.value.where == f"mine.yaml:{line}"
    assert told in str(caught.value)


def test_an_id_can_be_taken_once_only(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "twice.yaml").write_text(MINE, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"twice.yaml:2: scenario id .* is taken by mine.yaml:2"):
        load_bank("en", tmp_path, taxonomy=shipped_taxonomy())


def test_a_missing_bank_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yaml: cannot be read"):
        load_bank("en", tmp_path / "none.yaml", taxonomy=shipped_taxonomy())
    with pytest.raises(ConfigError, match=r"no \.yaml file"):
        load_bank("en", tmp_path, taxonomy=shipped_taxonomy())
    with pytest.raises(ConfigError, match="no scenario bank ships for language 'xx'"):
        load_bank("xx", extra=None, taxonomy=shipped_taxonomy())


def test_a_megabyte_of_scenarios_is_read_in_good_time(tmp_path: Path) -> None:
    entry = yaml.safe_load(MINE)["scenarios"][0]
    entry["stakes"] = [f"{text} {'and so on ' * 20}{n}" for n in range(8) for text in entry["stakes"]]
    entries = [{**entry, "id": f"health-relationship.n{n}"} for n in range(200)]
    path = written(tmp_path, yaml.safe_dump({"scenarios": entries}, width=10_000))
    shipped_taxonomy()
    began = time.process_time()
    found = load_bank("en", path, taxonomy=shipped_taxonomy())
    assert time.process_time() - began < 10  # about 1 s on the machine it was written on; a slow one is no failure
    assert len(found.scenarios) >= 200


def test_the_shape_of_a_bank_file_is_strict() -> None:
    with pytest.raises(ValueError, match="colour"):
        BankFile.model_validate({"colour": "red"})
    assert BankFile.model_validate({}).talk.chatter == []
