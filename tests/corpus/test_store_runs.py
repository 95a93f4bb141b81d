"""Runs, plan items, stage results, rejects and paid replies."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.call_events import CallEvent, EventKind, answered_keys, find_replies, save_call_events, short_key
from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import (
    RejectRow,
    RunRow,
    StageResultRow,
    count_by_furthest_stage,
    count_reasons,
    create_run,
    find_run,
    get_run,
    lift_rejects,
    list_runs,
    load_plan_items,
    load_rejects,
    load_shared_results,
    load_stage_results,
    save_plan_items,
    save_rejects,
    save_shared_results,
    save_stage_results,
    set_run_samples,
    set_run_status,
)
from piiloom.foundation.errors import DataError, RunError
from tests.ended_calls import load_completions


def new_run(store: Store, *, run_id: str | None = None, digest: str = "abcdef0123", seed: int = 1) -> RunRow:
    return create_run(
        store, provider="composer", model=None, seed=seed, samples=10, config={"pairs": ["é"]}, config_digest=digest, run_id=run_id
    )


def event(kind: EventKind, key: str = "k1", **entry: object) -> CallEvent:
    return CallEvent(key=key, kind=kind, stage="question", item_id="7", attempt=1, entry=entry)


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


def test_paid_replies_are_all_kept_and_the_last_verdict_counts(store: Store) -> None:
    priced = {"input": 100, "cached": 60, "output": 20, "model": "m", "error": None, "retries": 1}
    save_call_events(
        store,
        "run",
        [
            event("sent", **{"try": 1, "worst_usd": 2.0}),
            event("reply", **{"try": 1, "reply": "{}", "cost_usd": 0.25, **priced}),
            event("verdict", verdict="refused_by_validator", fault="too long"),
            event("failed", "k2", **{"try": 1, "message": "away", "final": False, "charge_usd": 0.0, "maybe_billed": False}),
            event("failed", "k2", **{"try": 2, "message": "cut off", "final": True, "charge_usd": 0.5, "maybe_billed": True}),
        ],
    )
    save_call_events(
        store, "run", [event("reply", **{"try": 1, "reply": "[]", "cost_usd": None, **priced}), event("verdict", verdict="accepted")]
    )
    save_call_events(store, "other", [event("verdict", verdict="error", fault="not of this run")])
    rows = [(row.key, row.reply, row.verdict, row.fault, row.cost_usd) for row in load_completions(store, "run")]
    assert rows == [("k1", "{}", "accepted", None, 0.25), ("k2", None, "error", "cut off", None), ("k1", "[]", "accepted", None, None)]
    spent = spending(store, "run")
    assert (spent.answered, spent.unpriced, spent.failed, spent.retries) == (2, 1, 1, 1)
    assert (spent.cost_usd, spent.charged_usd, spent.maybe_paid) == (0.25, 0.5, 1)
    assert (spent.input_tokens, spent.cached_tokens, spent.output_tokens) == (200, 120, 40)


def test_requests_without_an_outcome_are_open(store: Store) -> None:
    first, second = ({"try": number, "worst_usd": number / 4} for number in (1, 2))
    save_call_events(store, "run", [event("sent", **first), event("failed", **{"try": 1, "final": False}), event("sent", **second)])
    save_call_events(
        store, "run", [event("sent", "k2", **first), event("sent", "k3", batch="b1", **first), event("reply", "k2", **{"try": 1})]
    )
    assert [(send.key, send.number, send.worst_usd) for send in open_sends(store, "run")] == [("k1", 2, 0.5)]
    # Asked again in a later session: the first answer of an earlier one does not close it.
    save_call_events(store, "run", [event("sent", "k2", **first)])
    assert [send.key for send in open_sends(store, "run")] == ["k1", "k2"]


def test_replies_are_found_by_key_in_any_run(store: Store) -> None:
    one, two = "0f" * 32, "a0" * 32
    save_call_events(store, "run", [event("reply", one, reply="old"), event("failed", two, final=True)])
    save_call_events(store, "other", [event("reply", one, reply="new")])
    assert list(answered_keys(store)) == [short_key(one)]
    assert {key: (found.run_id, found.entry["reply"]) for key, found in find_replies(store, [one, two]).items()} == {one: ("other", "new")}


def test_lifted_rejects_are_kept_but_no_longer_stand(store: Store) -> None:
    rows = [RejectRow(plan_index=n, stage="spans", reason_code=code, attempts=1) for n, code in enumerate(["a", "b", "a", "c"])]
    save_rejects(store, "run", rows)
    assert lift_rejects(store, "run", codes=["a"], indexes=[3]) == 3
    assert lift_rejects(store, "run", codes=["a"]) == 0
    assert [row.plan_index for row in load_rejects(store, "run")] == [1]
    save_rejects(store, "run", [rows[0]])
    assert [row.plan_index for row in load_rejects(store, "run")] == [0, 1]
    assert [row.plan_index for row in load_rejects(store, "run", lifted=True)] == [0, 2, 3]


def test_payloads_that_utf8_cannot_hold_are_refused(store: Store) -> None:
    with pytest.raises(DataError, match="stage_results, plan_index 3"):
        save_stage_results(store, "run", [StageResultRow(plan_index=3, stage="s", payload="\ud800")])
    with pytest.raises(DataError, match="call_events, key 'k1'"):
        save_call_events(store, "run", [event("reply", reply="\ud800")])
    assert count_by_furthest_stage(store, "run", ["s"]) == {}
    assert load_completions(store, "run") == []
