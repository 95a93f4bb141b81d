from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from foundation.errors import ConfigError
from taxonomy.bank_files import BankFile
from taxonomy.entity_types import load_taxonomy
from taxonomy.scenarios import load_bank, shipped_sources

MINE = """\
scenarios:
  - id: health-sexual_orientation.choir-bench
    pair: [sexual orientation, health]
    uses: {health: [condition, allergy], sexual orientation: [orientation]}
    subjects: {health: sister}
    topic: Choir Seats
    subtopics: [bench rows, warm halls]
    rationale: {health: "who sits where", sexual orientation: "who sits with whom"}
    situation:
      - "My sister has {health} and I am {sexual_orientation}."
    question:
      draft: ["Can I sit with {health}?"]
      personal: ["Where can I sit?"]
      abstracted:
        - "<Where|When> can I sit?"
clauses:
  sexual_orientation.orientation: ["my <old|new> friend calls himself {v} at every picnic"]
  appearance.body_mark: ["I drew {a:v} on a napkin"]
fillers: ["I have been sanding a table"]
"""


def written(tmp_path: Path, text: str = MINE) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_bank_is_read_once_and_knows_its_origins() -> None:
    bank = load_bank()
    assert load_bank() is bank
    assert len(bank.digest) == 64
    for scenario in bank.scenarios.values():
        file, _, line = scenario.origin.partition(":")
        source = next(source for source in shipped_sources() if source.name == file)
        assert scenario.id in source.read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert scenario in bank.for_pair(scenario.pair)


def test_scenarios_are_found_by_pair_topic_and_subtopic(tmp_path: Path) -> None:
    bank = load_bank(written(tmp_path))
    mine = bank.scenarios["health-sexual_orientation.choir-bench"]
    assert mine.pair == ("health", "sexual orientation")
    assert mine in bank.for_pair(("sexual orientation", "health"))
    assert bank.find(mine.pair, "choir seats", "Bench Rows") == (mine,)
    assert mine in bank.find(mine.pair)
    assert bank.find(mine.pair, "choir seats", "cold halls") == ()
    assert bank.for_pair(("name", "code")) == ()
    assert mine.origin == "mine.yaml:2"
    assert mine.subjects == {"health": "sister"}
    assert mine.abstracted == ("<Where|When> can I sit?",)


def test_a_bank_of_ones_own_adds_to_the_shipped_one(tmp_path: Path) -> None:
    shipped, bank = load_bank(), load_bank(written(tmp_path))
    assert len(bank.scenarios) == len(shipped.scenarios) + 1
    assert bank.clauses_for("sexual orientation", "orientation")[-1].startswith("my <old|new>")
    assert bank.clauses["appearance.body_mark"] == (*shipped.clauses_for("appearance", "body_mark"), "I drew {a:v} on a napkin")
    assert bank.fillers == (*shipped.fillers, "I have been sanding a table")
    assert bank.digest != shipped.digest
    assert bank.clauses_for("code", "no_such") == ()


def test_a_folder_of_banks_is_read_whole(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "more.yml").write_text("fillers: [I oil the gate]\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no bank", encoding="utf-8")
    assert load_bank(tmp_path).fillers[-2:] == ("I have been sanding a table", "I oil the gate")


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("topic: Choir Seats", "topik: Choir Seats", 2, "scenarios[0].topic"),
        ("pair: [sexual orientation, health]", "pair: [health]", 3, "scenarios[0].pair"),
        ("pair: [sexual orientation, health]", "pair: [health, health]", 2, "two different types"),
        ("pair: [sexual orientation, health]", "pair: [helth, health]", 2, "unknown type 'helth'"),
        ("pair: [sexual orientation, health]", "pair: [name, health]", 2, "cannot be part of a pair"),
        ("[condition, allergy]", "[mood]", 2, "no subtype 'mood'"),
        ("subjects: {health", "subjects: {age", 2, "'age', which is not in the pair"),
        ("{health} and I am", "<{health} and I am", 10, "never closed"),
        ("has {health} and", "has <{health}|> and", 10, "exactly once"),
        ("Can I sit with {health}?", "Can I sit with {age}?", 12, "question.draft[0]"),
        ("<Where|When> can I", "Where|When can I", 15, "question.abstracted[0]"),
        ("Where can I sit?", "Where can I sit with {health}?", 13, "not for use here"),
        ("picnic", "picnic {v}", 17, "exactly once"),
        ("appearance.body_mark", "appearance.hat", 18, "no subtype 'hat'"),
        ("I have been sanding", "I have {a:v} been sanding", 19, "fillers[0]"),
        ("[sexual orientation, health]", "[sexual orientation, health", 4, "not valid YAML"),
    ],
)
def test_a_malformed_bank_is_named_with_file_line_and_key(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    assert MINE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        load_bank(written(tmp_path, MINE.replace(old, new)))
    assert caught.value.where == f"mine.yaml:{line}"
    assert told in str(caught.value)


def test_an_id_can_be_taken_once_only(tmp_path: Path) -> None:
    twice = MINE.replace("clauses:", MINE.partition("\n")[2].partition("clauses:")[0] + "clauses:")
    with pytest.raises(ConfigError, match=r"mine.yaml:16: scenario id .* is taken by mine.yaml:2"):
        load_bank(written(tmp_path, twice))


def test_a_missing_bank_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yaml: cannot be read"):
        load_bank(tmp_path / "none.yaml")


def test_a_megabyte_of_scenarios_is_read_in_good_time(tmp_path: Path) -> None:
    entry = yaml.safe_load(MINE)["scenarios"][0]
    entry["situation"] = [f"{text} {'and so on ' * 20}{n}" for n in range(8) for text in entry["situation"]]
    entries = [{**entry, "id": f"health-sexual_orientation.n{n}"} for n in range(200)]
    path = written(tmp_path, yaml.safe_dump({"scenarios": entries}, width=10_000))
    load_taxonomy()
    began = time.process_time()
    found = load_bank(path)
    assert time.process_time() - began < 3  # about 0.3 s on the machine it was written on; a slow one is no failure
    assert len(found.scenarios) >= 200


def test_the_shape_of_a_bank_file_is_strict() -> None:
    with pytest.raises(ValueError, match="colour"):
        BankFile.model_validate({"colour": "red"})
    assert BankFile.model_validate({}).fillers == []
