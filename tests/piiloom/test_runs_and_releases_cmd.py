"""``piiloom runs`` and ``piiloom releases``: lists, details, deletion."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import asking_run, list_runs
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import config_for, set_keys, start
from tests.piiloom.small_runs import SMALL


@pytest.fixture
def two_runs(filled, cli):
    """A store with two runs, of 12 records and of 3."""
    assert cli("generate", "--samples", 3, "--seed", 8, *SMALL, "--quiet", "--store", filled).code == 0
    return filled


def test_runs_are_listed_newest_first(cli, two_runs):
    found = json.loads(cli("runs", "list", "--store", two_runs, "--json").out)
    assert [(run["seed"], run["accepted"], run["status"], run["pairs"]) for run in found["runs"]] == [
        (8, 3, "finished", "health+occupation"),
        (7, 12, "finished", "health+occupation"),
    ]
    assert found["total"] == 2
    lines = cli("runs", "list", "--store", two_runs).out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", *(run["run"] for run in found["runs"])]


def test_lists_come_in_pages(cli, two_runs):
    first = cli("runs", "list", "--limit", 1, "--store", two_runs)
    assert len(first.out.splitlines()) == 2
    assert first.err == "1 of 2; --offset 1 goes on, --limit 0 prints all\n"
    rest = cli("runs", "list", "--offset", 1, "--store", two_runs)
    assert "r0001-" in rest.out
    assert "--limit 0" not in rest.err
    beyond = json.loads(cli("runs", "list", "--offset", 5, "--store", two_runs, "--json").out)
    assert (beyond["runs"], beyond["total"]) == ([], 2)


def test_empty_lists(cli, empty_store):
    for what in ("runs", "releases", "records"):
        outcome = cli(what, "list", "--store", empty_store)
        assert outcome.code == 0
        assert f"no {what} in {empty_store}" in outcome.out
        printed = cli(what, "list", "--store", empty_store, "--json").out
        assert printed == "" if what == "records" else json.loads(printed)[what] == []


def test_a_run_in_full(cli, paid):
    found = json.loads(cli("runs", "show", "--store", paid, "--json").out)
    assert found["accepted"] == 6
    assert found["rows"]["balanced"]
    assert found["config"]["max_attempts"] == 2
    rejected = json.loads(cli("rejects", "--store", paid, "--json").out)
    assert found["rejected"] == rejected["rows"]["rejected"]
    assert {stage["stage"]: stage["reasons"] for stage in found["stages"]}["question"].keys() <= {"question.value", "question.leak"}
    assert found["cost_usd"] == pytest.approx(json.loads(cli("cost", "--store", paid, "--json").out)["total"]["cost_usd"])
    shown = cli("runs", "show", "last", "--store", paid).out
    assert "max_attempts 2" in shown
    assert "timeout_s" not in shown  # it is the default
    assert f"{found['rows']['rows_in']:,} = 6 accepted" in shown


def test_a_release_in_full(cli, released):
    found = json.loads(cli("releases", "show", "v1", "--store", released, "--json").out)
    assert found["records"] == 12
    assert found["splits"]["train"]["records"] == 12
    assert found["splits"]["train"]["pairs"] == {"health+occupation": 12}
    assert sum(found["splits"]["train"]["relevance"].values()) == found["splits"]["train"]["spans"]
    subtypes = found["splits"]["train"]["subtypes"]
    assert {name.partition("/")[0] for name in subtypes} <= found["splits"]["train"]["types"].keys()
    assert sum(subtypes.values()) == found["splits"]["train"]["spans"]  # the composer states one of each
    shown = cli("releases", "show", "v1", "--store", released).out
    assert "health+occupation 12" in shown
    assert f"piiloom report --release v1 --store {released}" in shown
    listed = json.loads(cli("releases", "list", "--store", released, "--json").out)
    assert [(one["release"], one["splits"]) for one in listed["releases"]] == [("v1", {"train": 12})]
    unknown = cli("releases", "show", "v9", "--store", released)
    assert unknown.code == 1
    assert "v1" in unknown.error_line()


def test_judgements_of_a_release_are_counted(cli, released):
    with Store.open(released) as store:
        run = list_runs(store)[0].id
        ids = [name for (name,) in store.rows("SELECT id FROM records ORDER BY plan_index LIMIT 2")]
        store.append(
            "judgements",
            ("record_id", "run_id", "plan_index", "kind", "score", "verdict", "agrees", "reason"),
            [(ids[0], run, 0, "leak", 1.0, "somewhere", False, ""), (ids[1], run, 1, "leak", 0.0, "nowhere", True, "")],
        )
    found = json.loads(cli("releases", "show", "v1", "--store", released, "--json").out)
    assert found["judged"] == [{"kind": "leak", "judged": 2, "disagree": 1, "records": 1}]
    assert "for 1 of them, in 1 record, the question leaks a value" in cli("releases", "show", "v1", "--store", released).out


def test_a_deletion_is_confirmed_or_not_done(cli, released):
    for words in (("releases", "delete", "v1"), ("runs", "delete", "last")):
        if words[0] == "runs":
            assert cli("releases", "delete", "v1", "--yes", "--store", released).code == 0
        outcome = cli(*words, "--store", released)
        assert outcome.code == 2
        assert "--yes" in outcome.err.splitlines()[-1]
        assert "will be deleted" in outcome.err
    assert len(cli("records", "list", "--store", released, "--json").out.splitlines()) == 12


def test_a_released_run_is_deleted_after_its_release(cli, released):
    refused = cli("runs", "delete", "last", "--yes", "--store", released)
    assert refused.code == 1
    assert f"piiloom releases delete v1 --store {released}" in refused.error_line()
    gone = cli("releases", "delete", "v1", "--yes", "--store", released, "--json")
    assert json.loads(gone.out) == {"store": str(released), "release": "v1", "splits": {"train": 12}, "withheld": 0}
    outcome = cli("runs", "delete", "last", "--yes", "--store", released, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["deleted"]["records"] == 12
    assert "12 records" in outcome.err
    assert json.loads(cli("runs", "list", "--store", released, "--json").out)["total"] == 0
    assert cli("generate", "--samples", 3, *SMALL, "--quiet", "--store", released).code == 0


@pytest.mark.long
def test_what_was_paid_for_serves_later_runs_and_the_sums(cli, store_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(Author(7)) as server:
        config = config_for("openai", server, samples=2, pairs="health+occupation", subtopics_per_topic=2)
        with Store.open(store_path) as store:
            assert start(store, config).accepted == 2
            run = list_runs(store)[0].id
        paid = json.loads(cli("cost", "--store", store_path, "--json").out)["total"]
        outcome = cli("runs", "delete", run, "--yes", "--store", store_path)
        assert outcome.code == 0
        assert f"the journal keeps {paid['answered']:,} replies" in outcome.err
        asked = server.requests
        with Store.open(store_path) as store:
            assert start(store, config).accepted == 2
        assert server.requests == asked
    costs = json.loads(cli("cost", "--run", "all", "--store", store_path, "--json").out)
    assert costs["total"]["cost_usd"] == 0
    assert costs["total"]["replayed"] == paid["answered"]
    assert costs["deleted_runs"]["cost_usd"] == pytest.approx(paid["cost_usd"])
    assert "of runs that were deleted since" in cli("cost", "--run", "all", "--store", store_path).out
    traced = json.loads(cli("trace", "last:0", "--store", store_path, "--json").out)
    assert all(call["paid_by"] == run for call in traced["calls"])


def test_the_journal_goes_with_its_run_where_that_is_wanted(cli, paid):
    outcome = cli("runs", "delete", "last", "--with-journal", "--yes", "--store", paid)
    assert outcome.code == 0
    assert "in no sum" in outcome.err
    assert json.loads(cli("journal", "show", "--store", paid, "--json").out)["lines"] == []


def test_a_run_that_only_asks_a_model_is_shown_without_stages(cli, empty_store):
    told = {"detect": "abc", "provider": "compatible", "model": "some-model", "endpoint": "http://127.0.0.1/v1", "seed": 7}
    with Store.open(empty_store) as store:
        run = asking_run(store, "detect", told, "1a2b3c4d")
    shown = cli("runs", "show", run.id, "--store", empty_store)
    assert shown.code == 0, shown.err
    assert shown.out.startswith(f"run {run.id}, running: it asks a model, and makes no records\n")
    assert "model some-model" in shown.out
    assert json.loads(cli("runs", "show", run.id, "--store", empty_store, "--json").out)["stages"] == []
