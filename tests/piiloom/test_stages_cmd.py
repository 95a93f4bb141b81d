"""``piiloom stages``: the report, and stages run alone."""

from __future__ import annotations

import inspect
import json

import pytest

from piiloom.cli.generate import GenerateOptions, generate
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.settings import flags_of
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages.pipeline import stage_names
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.piiloom.small_runs import SMALL

STAGE_NAMES = stage_names("story", ())


def test_list_counts_every_stage_in_order(cli, filled):
    report = json.loads(cli("stages", "list", "--store", filled, "--json").out)
    assert [line["stage"] for line in report["stages"]] == list(STAGE_NAMES)
    assert report["status"] == "finished"
    done = {line["stage"]: line["done"] for line in report["stages"]}
    assert done["topics"] == 1
    assert done["screen"] == 12
    assert done["story"] >= 12


def test_list_is_a_table_by_default(cli, filled):
    outcome = cli("stages", "list", "--store", filled)
    assert outcome.code == 0
    assert all(name in outcome.out for name in STAGE_NAMES)


@pytest.mark.long
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


def test_a_stage_of_another_recipe_runs_nothing(cli, store_path, filled):
    outcome = cli("stages", "run", "topics", "situation", "--samples", 3, *SMALL, "--store", store_path.with_name("new.duckdb"))
    assert outcome.code == 1
    assert "no stage situation. It has topics, subtopics, story, screen" in " ".join(outcome.error_line().split())
    assert not store_path.with_name("new.duckdb").exists()
    known = cli("stages", "run", "story", "situation", "--store", filled)
    assert "no stage situation" in known.error_line()


def test_a_stage_before_its_turn_says_which_comes_first(cli, store_path):
    assert cli("stages", "run", "topics", "--samples", 3, *SMALL, "--store", store_path).code == 0
    outcome = cli("stages", "run", "values", "--store", store_path)
    assert outcome.code == 1
    assert "subtopics" in outcome.error_line()


def test_an_unknown_stage_among_known_ones_runs_nothing(cli, store_path):
    outcome = cli("stages", "run", "topics", "subtopic", "--samples", 3, "--store", store_path)
    assert outcome.code == 2
    assert not store_path.exists()


def wording(options, command):
    """The help of *command*, without line breaks."""
    return " ".join(options(*command, "--help-all").out.split())


def test_stages_take_the_options_that_generate_takes(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    own = set(GenerateOptions.model_fields)
    settings = {name for name, field in RunConfig.model_fields.items() if flags_of(name, field)}
    assert set(inspect.signature(generate).parameters) == own | settings | {"help_all"}
    assert not own & settings
    text = wording(cli, ("stages", "run"))
    options = ("--budget-usd", "--rpm", "--tpm", "--judge", "--prompts", "--timeout", "--price", "--unpriced", "--batch", "--stop-after")
    assert all(option in text for option in (*options, "--values", "--topics-per-pair", "--max-attempts"))


@pytest.fixture
def tiny(monkeypatch):
    """Options of a small run on the loopback server, which is given, too."""
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", "sk-LOOPBACK-0123456789")
    with LLMServer(Author(7)) as server:
        words = ("--provider", "compatible", "--model", "m", "--base-url", server.openai_url, "--recipe", "staged", *SMALL)
        yield server, (*words, "--topics-per-pair", 2, "--subtopics-per-topic", 4)


@pytest.mark.long
def test_stages_work_on_as_many_items_as_are_wanted(cli, store_path, tiny):
    server, words = tiny
    settings = ("--judge", "relevance", "--price", "input=1,output=1", "--budget-usd", 5, "--rpm", 100_000)
    assert cli("stages", "run", "topics", "subtopics", "--samples", 3, *words, *settings, "--store", store_path).code == 0
    rest = [name for name in stage_names("staged", ("relevance",)) if name not in ("topics", "subtopics")]
    outcome = cli("stages", "run", *rest, "--json", "--budget-usd", 6, "--store", store_path)
    assert outcome.code == 0, outcome.err
    steps = json.loads(outcome.out)
    assert [(step["accepted"], step["wanted"]) for step in steps] == [(3, 3)] * len(rest)
    alone = server.requests
    with Store.open(store_path) as store:
        run = get_run(store, "last")
        assert (run.status, run.config["budget_usd"], run.config["rpm"], run.config["judges"]) == ("finished", 6, 100_000, ["relevance"])
        records = list(iter_records(store))
    whole = store_path.with_name("whole.duckdb")
    assert cli("generate", "--samples", 3, *words, *settings, "--quiet", "--store", whole).code == 0
    assert server.requests == 2 * alone  # the very calls of a whole run
    with Store.open(whole) as store:
        assert list(iter_records(store)) == records


def test_a_later_stage_takes_settings_of_calls_only(cli, store_path, tiny):
    _, words = tiny
    assert cli("stages", "run", "topics", "--samples", 2, *words, "--store", store_path).code == 0
    outcome = cli("stages", "run", "subtopics", "--judge", "leak", "--store", store_path)
    assert outcome.code == 2
    assert "start of a run" in outcome.error_line()
    assert cli("stages", "run", "subtopics", "--rpm", 9999, "--timeout", 7, "--store", store_path).code == 0
    with Store.open(store_path) as store:
        assert [get_run(store, "last").config[name] for name in ("rpm", "timeout_s")] == [9999, 7]


def test_stages_stop_at_the_budget(cli, store_path, tiny):
    _, words = tiny
    small = ("--price", "input=1000,output=1000", "--budget-usd", 0.01)
    outcome = cli("stages", "run", "topics", "--samples", 2, *words, *small, "--json", "--store", store_path)
    assert outcome.code == 1
    assert "piiloom stages run topics" in outcome.error_line()


@pytest.mark.long
def test_a_run_that_gets_nowhere_is_stopped_and_says_how_to_go_on(cli, store_path, tiny):
    server, words = tiny
    server.answer = lambda request: {"text": "[[v1|"} if request.schema_name == "situation" else Author(7)(request)
    settings = (*words, "--samples", 40, "--max-attempts", 1)
    outcome = cli("generate", *settings, "--json", "--store", store_path)
    result = json.loads(outcome.out)
    assert (outcome.code, result["status"], result["rejected"] >= 30) == (1, "interrupted", True)
    assert {name: result["stopped"][name] for name in ("stage", "code", "count")} == {
        "stage": "situation",
        "code": "broken_mark",
        "count": 30,
    }
    said = outcome.err.splitlines()[-1]
    for part in (
        "30 items were rejected at situation for broken_mark",
        f"trace {result['stopped']['example']}",
        "--stop-after 0",
        "--retry broken_mark",
    ):
        assert part in said
    assert cli("trace", result["stopped"]["example"], "--store", store_path).code == 0
    on = cli("generate", "--resume", "last", "--stop-after", 0, "--quiet", "--store", store_path)
    assert (on.code, "nothing left to try" in on.err) == (1, True)
