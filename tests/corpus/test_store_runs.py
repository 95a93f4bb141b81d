"""Runs, plan items, stage results, rejects and paid replies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.store.completions import CompletionRow, load_replies, save_completions, set_verdicts
from corpus.store.database import Store
from corpus.store.outcomes import count_by_furthest_stage, count_reasons
from corpus.store.progress import (
    RejectRow,
    StageResultRow,
    load_plan_items,
    load_rejects,
    load_shared_results,
    load_stage_results,
    save_plan_items,
    save_rejects,
    save_shared_results,
    save_stage_results,
)
from corpus.store.runs import RunRow, create_run, find_run, get_run, list_runs, set_run_samples, set_run_status
from foundation.errors import DataError, RunError


def new_run(store: Store, *, run_id: str | None = None, digest: str = "abcdef0123", seed: int = 1) -> RunRow:
    return create_run(
        store, provider="composer", model=None, seed=seed, samples=10, config={"pairs": ["é"]}, config_digest=digest, run_id=run_id
    )


def paid(key: str, **changes: object) -> CompletionRow:
    row = CompletionRow(
        key=key,
        run_id="run",
        stage="question",
        item_id="7",
        attempt=1,
        provider="openai",
        endpoint=None,
        model="m",
        template="question.v1",
        rendered_sha256="0" * 64,
        reply="{}",
        verdict=None,
        fault=None,
        input_tokens=100,
        cached_tokens=0,
        output_tokens=20,
        cost_usd=None,
        retries=0,
    )
    return replace(row, **changes)  # type: ignore[arg-type] # the keywords are those of the row


def test_runs_are_named_found_and_changed(store: Store) -> None:
    first = new_run(store, seed=2**63)
    second = new_run(store, run_id="mine")
    assert first.id == "r0001-abcdef01"
    assert first.config == {"pairs": ["é"]}
    assert [run.created_order for run in list_runs(store)] == [1, 2]
    assert get_run(store, first.id) == first
    assert get_run(store, "last") == second
    assert find_run(store, "abcdef0123", 2**63) == first
    assert find_run(store, "abcdef0123", 3) is None
    set_run_status(store, "last", "interrupted")
    set_run_samples(store, first.id, 25)
    assert get_run(store, "mine").status == "interrupted"
    assert get_run(store, first.id).samples == 25
    assert get_run(store, first.id).status == "running"


def test_unknown_and_taken_runs(store: Store) -> None:
    with pytest.raises(RunError, match="no runs yet"):
        get_run(store, "last")
    new_run(store, run_id="mine")
    with pytest.raises(RunError, match="Known runs, newest first: mine"):
        set_run_status(store, "yours", "failed")
    with pytest.raises(RunError, match="already"):
        new_run(store, run_id="mine")
    assert len(list_runs(store)) == 1


def test_plan_items_are_replaced_not_doubled(store: Store) -> None:
    save_plan_items(store, "run", [(index, f'"{index}"') for index in range(6)])
    save_plan_items(store, "run", [(1, '"new"'), (4, '"older"'), (4, '"newer"'), (9, '"9"')])
    save_plan_items(store, "other", [(1, '"theirs"')])
    save_plan_items(store, "run", [])
    assert load_plan_items(store, "run") == [(0, '"0"'), (1, '"new"'), (2, '"2"'), (3, '"3"'), (4, '"newer"'), (5, '"5"'), (9, '"9"')]


def test_stage_results_are_upserted_by_stage_and_index(store: Store) -> None:
    def result(index: int, stage: str, payload: str) -> StageResultRow:
        return StageResultRow(plan_index=index, stage=stage, payload=payload)

    save_stage_results(store, "run", [result(2, "situation", "a"), result(1, "situation", "b"), result(1, "question", "c")])
    save_stage_results(store, "run", [result(1, "situation", "B"), result(2, "question", "d")])
    save_stage_results(store, "other", [result(1, "situation", "x")])
    save_stage_results(store, "run", [])
    assert list(load_stage_results(store, "run", "situation").items()) == [(1, "B"), (2, "a")]
    assert load_stage_results(store, "run", "question") == {1: "c", 2: "d"}
    assert load_stage_results(store, "run", "spans") == {}


def test_shared_results(store: Store) -> None:
    save_shared_results(store, "run", [("topics", "health+occupation", "[1]")])
    save_shared_results(store, "run", [("topics", "age+belief", "[2]")])
    save_shared_results(store, "run", [("topics", "health+occupation", "[9]"), ("topics", "health+occupation", "[3]")])
    save_shared_results(store, "other", [("topics", "health+occupation", "[4]")])
    save_shared_results(store, "run", [])
    assert list(load_shared_results(store, "run", "topics").items()) == [("age+belief", "[2]"), ("health+occupation", "[3]")]
    assert load_shared_results(store, "run", "subtopics") == {}


def test_rejects_and_counts(store: Store) -> None:
    def reject(index: int | None, stage: str, code: str, **changes: object) -> RejectRow:
        return RejectRow(plan_index=index, stage=stage, reason_code=code, attempts=3, **changes)  # type: ignore[arg-type] # fields of the row

    shared = reject(None, "topics", "duplicate", key="age+belief", detail="seen before", last_reply='{"t": 1}')
    save_rejects(store, "run", [reject(4, "question", "leak"), reject(2, "question", "length"), shared])
    save_rejects(store, "run", [reject(4, "question", "length"), shared, reject(4, "screen", "language")])
    save_rejects(store, "other", [reject(4, "question", "leak")])
    save_rejects(store, "run", [])
    save_stage_results(store, "run", [StageResultRow(plan_index=index, stage="question", payload="{}") for index in (0, 1, 3)])
    save_shared_results(store, "run", [("subtopics", "k", "[]")])
    assert load_rejects(store, "run") == [
        reject(2, "question", "length"),
        reject(4, "question", "length"),
        reject(4, "screen", "language"),
        shared,
    ]
    assert count_reasons(store, "run") == {"question": {"length": 2}, "screen": {"language": 1}, "topics": {"duplicate": 1}}
    assert count_by_furthest_stage(store, "run", ["values", "question", "spans"]) == {"question": 3}
    assert list(load_shared_results(store, "run", "subtopics")) == ["k"]
    assert load_shared_results(store, "run", "topics") == {}
    assert count_reasons(store, "nothing") == {}
    assert count_by_furthest_stage(store, "nothing", ["question"]) == {}


def test_paid_replies_are_all_kept_and_the_last_counts(store: Store) -> None:
    save_completions(store, [paid("k1"), paid("k2", cost_usd=0.25, reply=None, verdict="error", fault="cut off")])
    save_completions(store, [paid("k2", cost_usd=0.5), paid("k3", run_id="other")])
    set_verdicts(store, "run", [("k1", "refused_by_validator", "too long"), ("k1", "accepted", None)])
    set_verdicts(store, "other", [("k2", "error", "not of this run")])
    assert load_replies(store, "run") == {"k1": paid("k1", verdict="accepted"), "k2": paid("k2", cost_usd=0.5)}
    assert store.rows("SELECT sum(cost_usd) FROM completions WHERE run_id = 'run'") == [(0.75,)]


def test_payloads_that_utf8_cannot_hold_are_refused(store: Store) -> None:
    with pytest.raises(DataError, match="stage_results, plan_index 3"):
        save_stage_results(store, "run", [StageResultRow(plan_index=3, stage="s", payload="\ud800")])
    with pytest.raises(DataError, match="completions, key 'k'"):
        save_completions(store, [paid("k", reply="\ud800")])
    assert count_by_furthest_stage(store, "run", ["s"]) == {}
    assert load_replies(store, "run") == {}
