"""Pairs that no topics came for: the reason is told, and trying their items again asks for them again."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RejectRow, get_run, save_rejects
from piiloom.foundation.errors import UsageError
from piiloom.generation.plan import planning
from piiloom.generation.plan.planning import pair_order
from piiloom.generation.running.opening import lift_named
from piiloom.generation.running.tracing import report_stages
from piiloom.providers.errors import NotServed
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import MODELS, config_for, read_back, resume, set_keys, start
from tests.longer import mostly_long

TWO = {"pairs": "health+occupation,age+belief", "samples": 4, "max_attempts": 2, "max_low": 1}
GOOD = Author(3)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def deaf_to_belief(stage):
    def answer(request):
        return {} if request.schema_name == stage and "belief" in request.user else GOOD(request)

    return answer


@pytest.mark.long
@pytest.mark.parametrize("stage", ["topics", "subtopics"])
def test_items_of_a_pair_without_topics_say_why_and_are_asked_for_again(stage, tmp_path):
    with LLMServer(deaf_to_belief(stage)) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("compatible", server, **TWO))
        assert progress.reasons == {f"{stage}: invalid_reply": progress.rejected}
        run, rejects = get_run(store, "last"), read_back(store).rejects
        items = [row for row in rejects if row.plan_index is not None]
        assert all(row.detail.startswith(f"no {stage} for age+belief") and "'" + stage in row.detail for row in items)
        line = next(line for line in report_stages(store, run) if line.stage == stage)
        assert line.reasons["invalid_reply"] == len(rejects)
        asked, index = server.requests, items[0].plan_index
        assert lift_named(store, run, str(index)) >= 2
        resume(store)  # with other draws: what the journal has is not served again
        assert server.requests > asked
        assert index in [row.plan_index for row in read_back(store).rejects]
        server.answer = GOOD
        lift_named(store, run, "invalid_reply")
        assert resume(store).status == "finished"
        kept = read_back(store)
        assert kept.rejects == []
        assert {row.plan_index for row in items} <= set(kept.indexes)


@pytest.mark.parametrize("number", [0, 1])
def test_each_question_of_a_text_asks_for_the_pair_of_its_text_again(number, tmp_path):
    with LLMServer(deaf_to_belief("topics")) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("compatible", server, **TWO, recipe="case", on_disagreement="relabel"))
        planless = [row for row in read_back(store).rejects if row.stage == "topics" and row.plan_index is not None]
        index = min(row.plan_index for row in planless if row.plan_index % 2 == number)
        assert lift_named(store, get_run(store, "last"), str(index)) == 2  # the item, and the topics of its pair


def test_a_run_that_can_plan_nothing_rejects_nothing_and_says_why(tmp_path):
    server = LLMServer(lambda request: {} if request.schema_name == "topics" else GOOD(request))
    with server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("openai", server, **TWO))
        assert (progress.status, progress.rejected) == ("interrupted", 0)
        assert progress.stopped is not None
        assert "any of 2 pairs" in progress.stopped.message
        assert "topics: invalid_reply" in progress.stopped.message
        asked = server.requests
        assert resume(store).stopped is not None  # for nothing: both pairs are given up
        assert server.requests == asked
        server.answer = GOOD
        assert lift_named(store, get_run(store, "last"), progress.stopped.code) == 2
        assert resume(store).status == "finished"


@pytest.mark.long
def test_an_item_of_a_later_round_can_be_tried_again_when_all_records_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "_SPARE", 0)  # so the first round has one item, the second three more
    situations = []

    def bad_at_first(request):
        if request.schema_name == "situation":
            situations.append(request)
        return {} if request.schema_name == "situation" and len(situations) <= 2 else GOOD(request)

    with LLMServer(bad_at_first) as server, Store.open(tmp_path / "s.duckdb") as store:
        assert start(store, config_for("openai", server, samples=1, pairs="all", max_attempts=1, concurrency=1)).status == "finished"
        assert read_back(store).indexes == [2]
        store.change("UPDATE rejects SET stage = 'screen' WHERE plan_index = 1")  # whose items are planned again
        assert lift_named(store, get_run(store, "last"), "1") == 1
        assert resume(store).status == "finished"
        again, pairs = read_back(store), pair_order(config_for("openai", server, pairs="all"))
    assert again.indexes == [1, 2]
    assert [record.plan.pair for record in again.records] == pairs[1:3]


@pytest.mark.long
def test_what_an_older_piiloom_left_can_be_tried_again(tmp_path):
    with LLMServer(deaf_to_belief("topics")) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("compatible", server, **TWO))
        run = get_run(store, "last")
        items = [row.plan_index for row in read_back(store).rejects if row.plan_index is not None]
        store.change("DELETE FROM rejects")
        old = [RejectRow(plan_index=index, stage="subtopics", reason_code="no_triplet", attempts=0) for index in items]
        save_rejects(store, run.id, old)
        with pytest.raises(UsageError, match="no_triplet"):
            lift_named(store, run, "invalid_reply")
        server.answer = GOOD
        assert lift_named(store, run, "no_triplet") == len(items) + 1
        # The journal has no reject to say that the same must not be asked again.
        store.change("DELETE FROM call_events WHERE item_id = 'age+belief'")
        assert resume(store).status == "finished"
        assert set(items) <= set(read_back(store).indexes)


@pytest.mark.parametrize("name", mostly_long(["openai", "anthropic", "compatible"], quick={"anthropic"}))
def test_a_model_that_is_not_there_ends_the_run_at_once(name, tmp_path):
    with LLMServer(GOOD) as server, Store.open(tmp_path / "s.duckdb") as store:
        server.missing = {MODELS[name]}
        with pytest.raises(NotServed, match="there is no model"):
            start(store, config_for(name, server, **{**TWO, "pairs": "health+occupation"}))
        kept = read_back(store)
        assert (kept.run.status, kept.rejects, kept.records, server.requests) == ("interrupted", [], [], 1)
        server.missing = set()
        assert resume(store).status == "finished"


@pytest.mark.long
def test_an_item_that_failed_at_an_aside_is_drawn_anew(tmp_path):
    def mute(request):
        return {"text": "No."} if request.schema_name == "peripheral" else GOOD(request)

    with LLMServer(mute) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(
            store,
            config_for("compatible", server, **{**TWO, "samples": 3, "stop_after": 0, "max_attempts": 1, "pairs": "health+occupation"}),
        )
        rejected = [row for row in read_back(store).rejects if row.stage == "peripheral"]
        assert rejected
        server.answer = GOOD
        lift_named(store, get_run(store, "last"), str(rejected[0].plan_index))
        asked = server.requests
        resume(store)
        assert server.requests > asked
        assert rejected[0].plan_index in read_back(store).indexes


@pytest.mark.long
def test_only_what_is_there_can_be_named(tmp_path):
    with LLMServer(deaf_to_belief("topics")) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("compatible", server, **TWO))
        run, before = get_run(store, "last"), json.dumps(store.rows("SELECT key, payload FROM shared_results ORDER BY ALL"))
        with pytest.raises(UsageError, match="Its reason codes: invalid_reply"):
            lift_named(store, run, "no_such_code,9999")
        assert json.dumps(store.rows("SELECT key, payload FROM shared_results ORDER BY ALL")) == before
