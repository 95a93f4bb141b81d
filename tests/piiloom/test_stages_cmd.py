"""``piiloom stages``: the report, and stages run alone."""

from __future__ import annotations

import json

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.generation.pipeline import STAGE_NAMES
from tests.piiloom.small_runs import SMALL


def test_list_counts_every_stage_in_order(cli, filled):
    report = json.loads(cli("stages", "list", "--store", filled, "--json").out)
    assert [line["stage"] for line in report["stages"]] == list(STAGE_NAMES)
    assert report["status"] == "finished"
    done = {line["stage"]: line["done"] for line in report["stages"]}
    assert done["topics"] == 1
    assert done["screen"] == 12
    assert done["values"] >= done["spans"] >= 12


def test_list_is_a_table_by_default(cli, filled):
    outcome = cli("stages", "list", "--store", filled)
    assert outcome.code == 0
    assert all(name in outcome.out for name in STAGE_NAMES)


def test_all_stages_alone_give_what_generate_gives(cli, filled, tmp_path):
    path = tmp_path / "alone.duckdb"
    first = cli("stages", "run", "topics", "subtopics", "--samples", 12, *SMALL, "--store", path)
    assert first.code == 0, first.err
    outcome = cli("stages", "run", *STAGE_NAMES[2:], "--json", "--store", path)
    assert outcome.code == 0, outcome.err
    steps = json.loads(outcome.out)
    assert [step["stage"] for step in steps] == list(STAGE_NAMES[2:])
    assert steps[-1]["accepted"] == 12
    with Store.open(path) as alone, Store.open(filled) as whole:
        assert list(iter_records(alone)) == list(iter_records(whole))


def test_a_stage_before_its_turn_says_which_comes_first(cli, store_path):
    assert cli("stages", "run", "topics", "--samples", 3, *SMALL, "--store", store_path).code == 0
    outcome = cli("stages", "run", "values", "--store", store_path)
    assert outcome.code == 1
    assert "subtopics" in outcome.error_line()


def test_an_unknown_stage_among_known_ones_runs_nothing(cli, store_path):
    outcome = cli("stages", "run", "topics", "subtopic", "--samples", 3, "--store", store_path)
    assert outcome.code == 2
    assert not store_path.exists()
