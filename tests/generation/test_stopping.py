"""A run of paid calls that gets nowhere stops by itself, says why, and gives the same when it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import lift_named, start_run
from piiloom.generation.running.progress import RejectStreak, StoppedEarly, streak_of
from piiloom.generation.running.session import call_policy
from piiloom.generation.stage import ItemRejected
from piiloom.generation.stage_command import run_stage_command
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.execution.batch_sessions import impatient
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import config_for, read_back, resume, set_keys, start
from tests.generation.partition_executors import LocalExecutor, run_by
from tests.generation.scripted_provider import bench
from tests.longer import mostly_long

FEW = {"pairs": "health+occupation,age+belief", "samples": 10, "max_attempts": 1, "max_low": 1, "stop_after": 4}
GOOD = Author(3)
TEN = ["+".join(pair) for pair in shipped_taxonomy().pairs[:10]]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def without(stage):
    """An author whose replies at *stage* are never of use."""
    bad = {"judge_relevance": {"judgements": []}, "topics": {}}.get(stage, {"text": "[[v1|"})
    return lambda request: bad if request.schema_name == stage else GOOD(request)


@pytest.mark.long
@pytest.mark.parametrize("concurrency", mostly_long([1, 6], quick={6}))
def test_a_run_that_gets_nowhere_stops_and_goes_on_to_the_same_end(concurrency, tmp_path):
    with LLMServer(without("situation")) as server:
        config = config_for("compatible", server, concurrency=concurrency, **FEW)
        with Store.open(tmp_path / "whole.duckdb") as store:
            whole = start(store, config.model_copy(update={"stop_after": 0}))
            expected = read_back(store)
        asked = server.requests
        with Store.open(tmp_path / "stopped.duckdb") as store:
            progress = start(store, config)
            met = read_back(store)
            assert progress.status == met.run.status == "interrupted"
            assert progress.stopped is not None
            assert (progress.stopped.stage, progress.stopped.code, progress.stopped.count) == ("situation", "broken_mark", 4)
            assert progress.stopped.example == f"{met.run.id}:3"
            # What was done by then is kept: a beginning of the plan, whatever the concurrency.
            assert met.rejects == expected.rejects[: len(met.rejects)]
            assert 4 <= len(met.rejects) <= 4 + 2 * concurrency
            assert server.requests - asked < asked / 3
            asked = server.requests
            ended = resume(store, stop_after=0)
            assert (read_back(store).rejects, ended.status) == (expected.rejects, whole.status) == (expected.rejects, "failed")


@pytest.mark.long
def test_what_was_rejected_before_the_cause_was_found_is_tried_again(tmp_path):
    with LLMServer(without("situation")) as server, Store.open(tmp_path / "s.duckdb") as store:
        assert start(store, config_for("openai", server, **FEW)).stopped is not None
        server.answer = GOOD
        lifted = [row.plan_index for row in read_back(store).rejects]
        assert lift_named(store, get_run(store, "last"), "broken_mark") == len(lifted) >= 4
        progress = resume(store)
        assert (progress.status, progress.stopped) == ("finished", None)
        # Replies that were on their way when it stopped are known by now; that they are of no use does not stop it again.
        kept = read_back(store)
        assert {row.plan_index for row in kept.rejects}.isdisjoint(lifted)
        assert set(lifted) <= set(kept.indexes)


@pytest.mark.long
def test_nothing_stops_while_something_gets_through(tmp_path):
    def half(request):
        return (without("situation") if "belief" in request.user else GOOD)(request)

    with LLMServer(half) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("compatible", server, **{**FEW, "samples": 6, "stop_after": 3, "no_pii_share": 0}))
    assert (progress.status, progress.stopped) == ("finished", None)
    assert progress.rejected >= 3


@pytest.mark.long
def test_a_judge_whose_replies_are_never_of_use_stops_the_run(tmp_path):
    with LLMServer(without("judge_relevance")) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("anthropic", server, judges=("relevance",), **FEW))
        assert progress.stopped is not None
        assert (progress.stopped.stage, progress.stopped.code) == ("judge_relevance", "judged_incompletely")


@pytest.mark.long
def test_pairs_without_topics_stop_the_run_before_all_are_asked(tmp_path):
    with LLMServer(without("topics")) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("compatible", server, **{**FEW, "pairs": ",".join(TEN), "samples": 10, "concurrency": 2}))
        assert progress.stopped is not None
        assert str(progress.stopped).count("4 pairs were rejected at topics for invalid_reply") == 1
        assert server.requests <= 6
        server.answer = GOOD
        lift_named(store, get_run(store, "last"), "invalid_reply")
        assert resume(store, samples=10).status == "finished"


def test_by_batch_too(tmp_path):
    with LLMServer(without("situation")) as server, Store.open(tmp_path / "s.duckdb") as store:
        opened = start_run(store, config_for("openai", server, batch=True, **FEW))
        progress = run_to_end(opened, policy=replace(call_policy(opened.config), batch_policy=impatient(sends=9)))
        assert progress.status == "interrupted"
        assert progress.stopped is not None
        assert [row.plan_index for row in read_back(store).rejects] == list(range(10))
        # Topics, subtopics, and one wave of situations: no second round was sent.
        assert len(store.rows("SELECT id FROM batches")) == 3


@pytest.mark.long
def test_in_partitions_too(tmp_path):
    with LLMServer(without("situation")) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = run_by(LocalExecutor(2), store, config_for("openai", server, **{**FEW, "samples": 40}))
        kept = read_back(store)
        assert progress.status == kept.run.status == "interrupted"
        assert progress.stopped is not None
        assert (progress.stopped.code, progress.rejected) == ("broken_mark", len(kept.rejects))
        assert 4 <= progress.rejected < 40
        server.answer = GOOD
        lift_named(store, kept.run, "broken_mark")
        assert resume(store).status == "finished"


@pytest.mark.long
def test_a_stage_alone_too(tmp_path):
    path = tmp_path / "s.duckdb"
    with LLMServer(without("situation")) as server:
        overrides = FEW | {"recipe": "staged", "provider": "compatible", "model": "m", "base_url": server.openai_url}
        for stage in ("topics", "subtopics", "values"):
            assert run_stage_command(stage, path, overrides=overrides).status == "finished"
            overrides = {}
        progress = run_stage_command("situation", path)
        assert progress.status == "interrupted"
        assert progress.stopped is not None
        assert 4 <= progress.rejected <= 10
        assert run_stage_command("situation", path, overrides={"stop_after": 0}).rejected > 10


def test_what_costs_nothing_is_tried_to_the_end():
    with bench(lambda call: {}, paid=False, stop_after=2) as made:
        streak = streak_of(made.ctx, "r1")
        for index in range(100):
            streak.note(("question", "leak"), index)
        assert streak.stopped is None
    with bench(lambda call: {}, paid=True, stop_after=2) as made:
        streak = streak_of(made.ctx, "r1")
        streak.note(("question", "leak"), 0)
        assert streak.stopped is None
        streak.note(("question", "leak"), 1)
        assert isinstance(streak.stopped, StoppedEarly)


def test_each_reason_counts_by_itself_and_an_absent_provider_not_at_all():
    said = []
    streak = RejectStreak("r1", 3, stop=lambda: said.append("stop"))
    for index in range(9):
        streak.note(("question", "provider_unavailable"), index)
    for reason in ("leak", "length", "leak", "length"):
        streak.note(("question", reason), 10)
    streak.note(None, 11)
    streak.note(("question", "leak"), 12)
    streak.note(("question", "length"), 13)
    streak.note(("question", "leak"), 14)
    known = ItemRejected("leak", "", stage="question", known=True)
    for index in range(9):
        streak.tell(known, index)
    assert (streak.stopped, said) == (None, [])
    streak.tell(ItemRejected("leak", "", stage="question"), 15)
    assert said == ["stop"]
    message = str(streak.stopped)
    assert all(part in message for part in ("--stop-after 0", "--retry leak", "piiloom trace r1:15", "3 items were rejected at question"))
