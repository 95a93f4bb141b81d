"""``--bank``: scenarios and sentences of one's own, from ``doctor`` to the records."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.taxonomy.bank_example import MINE, written

pytestmark = pytest.mark.long

ID = "health-relationship.choir-bench"
PAIRS = ("--recipe", "staged", "--pairs", "health+relationship")


@pytest.fixture
def bank(tmp_path):
    """A folder with a scenario, and so many asides that a small run meets some of them."""
    folder = tmp_path / "bank"
    folder.mkdir()
    written(folder)
    asides = [f'  - "I noted {{location.city}} and {{code.wallet}} on card {word}."' for word in map(_spelled, range(1500))]
    (folder / "asides.yaml").write_text("\n".join(["frames:", *asides]), encoding="utf-8")
    return folder


def _spelled(number):
    """*number* in letters, so that no card has a number."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _records(path):
    with Store.open(path, create=False) as store:
        return list(iter_records(store))


def test_records_come_from_ones_own_bank(cli, bank, store_path):
    outcome = cli("generate", "--samples", 40, *PAIRS, "--bank", bank, "--json", "--store", store_path)
    assert (outcome.code, outcome.err) == (0, "")
    records = _records(store_path)
    mine = [record for record in records if record.plan.scenario == ID]
    assert mine
    assert all(record.plan.topic == "Choir Seats" for record in mine)
    assert any("noted" in record.context.casefold() for record in records)
    # What ships is there too.
    assert {record.plan.scenario for record in records} > {ID}


def test_a_run_file_may_name_the_bank(cli, tmp_path, store_path):
    file = tmp_path / "run.yaml"
    file.write_text(f"samples: 30\nrecipe: staged\npairs: health+relationship\nbank: {written(tmp_path)}\n", encoding="utf-8")
    assert cli("generate", "--config", file, "--quiet", "--store", store_path).code == 0
    assert ID in {record.plan.scenario for record in _records(store_path)}


def test_stages_alone_take_the_bank_too(cli, tmp_path, store_path):
    words = ("stages", "run", "topics", "subtopics", "--samples", 12, *PAIRS, "--bank", written(tmp_path), "--store", store_path)
    assert cli(*words).code == 0
    with Store.open(store_path, create=False) as store:
        (listed,) = store.rows("SELECT payload FROM shared_results WHERE stage = 'topics'")
    assert "Choir Seats" in listed[0]


def test_a_bank_that_cannot_be_used_stops_the_run_before_it_starts(cli, tmp_path, store_path):
    broken = written(tmp_path, MINE.replace("[condition, allergy]", "[mood]"))
    outcome = cli("generate", "--samples", 3, *PAIRS, "--bank", broken, "--store", store_path)
    assert outcome.code == 2
    assert "mine.yaml:4" in outcome.error_line()
    assert "mood" in outcome.error_line()
    missing = cli("generate", "--samples", 3, "--bank", tmp_path / "none.yaml", "--store", store_path)
    assert missing.code == 2
    assert "none.yaml" in missing.error_line()


@pytest.mark.long
def test_doctor_passes_a_good_bank(cli, tmp_path):
    path = written(tmp_path)
    outcome = cli("doctor", "--bank", path)
    assert (outcome.code, outcome.err) == (0, "")
    assert "the composer can use this bank" in outcome.out
    assert json.loads(cli("doctor", "--bank", path, "--json").out) == {"usable": True, "findings": []}
    # A folder is checked file by file.
    assert json.loads(cli("doctor", "--bank", tmp_path, "--json").out) == {"usable": True, "findings": []}


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("topic: Choir Seats", "topik: Choir Seats", 2, "topic"),
        ("[condition, allergy]", "[mood]", 4, "no subtype 'mood'"),
        ("My {relationship} has {health}", "My <{relationship} has {health}", 13, "never closed"),
        ("<our|the>", "<our|our>", 13, "occurs twice"),
        ("{location.city}", "{location.moon}", 33, "no subtype 'moon'"),
    ],
)
def test_doctor_names_file_and_line_of_what_cannot_be_used(cli, tmp_path, old, new, line, told):
    path = written(tmp_path, MINE.replace(old, new))
    outcome = cli("doctor", "--bank", path, "--json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert report["usable"] is False
    assert any((found["file"], found["line"]) == ("mine.yaml", line) and told in found["message"] for found in report["findings"])
    table = cli("doctor", "--bank", tmp_path)
    assert table.code == 1
    assert f"mine.yaml:{line}" in "".join(table.out.split())


def test_doctor_tells_matters_of_style_without_refusing_the_bank(cli, tmp_path):
    path = written(tmp_path, MINE.replace("concert soon", "concert on Monday"))
    outcome = cli("doctor", "--bank", path, "--json")
    report = json.loads(outcome.out)
    assert (outcome.code, report["usable"]) == (0, True)
    assert [(found["line"], found["rule"]) for found in report["findings"]] == [(26, "disclosure")]


def test_doctor_refuses_a_bank_that_takes_an_id_of_the_shipped_one(cli, tmp_path):
    taken = next(
        found.id
        for found in load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).scenarios.values()
        if found.pair == ("health", "relationship")
    )
    outcome = cli("doctor", "--bank", written(tmp_path, MINE.replace(ID, taken)))
    assert outcome.code == 2
    assert "is taken by" in outcome.error_line()


def test_doctor_wants_a_bank_there(cli, tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        outcome = cli("doctor", "--bank", path)
        assert outcome.code == 2
        assert path.name in outcome.error_line()
