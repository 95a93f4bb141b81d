"""Sums of what replies cost."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.call_events import CallEvent, save_call_events
from piiloom.corpus.store.costs import ReplyCosts, Unanswered, records_by_run, reply_costs, unanswered_calls
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.corpus.call_stories import event, failed, new_run, reply, sent, tell, verdict
from tests.longer import EXPLORE


def answered(key, stage="question", **changes) -> CallEvent:
    return event("reply", key, stage=stage, **{**reply(key).entry, **changes})


def test_replies_are_summed_by_run_stage_and_model(store):
    for run_id in ("r1", "r2"):
        new_run(store, run_id)
    tell(
        store,
        sent("k1"),
        answered("k1", cached=40, cache_write=5, cost_usd=0.1),
        verdict("k1"),
        failed("k2", charge_usd=0.5),
        answered("k2", cost_usd=0.2, error="truncated: cut", batch=True),
        answered("k3", stage="topics", cost_usd=0.4),
        answered("k4", cost_usd=None, model="m-2"),
    )
    tell(store, answered("k9", cost_usd=0.8), run_id="r2")
    common = {"run_id": "r1", "provider": "openai", "cached_tokens": 40, "cache_write_tokens": 0, "replies": 1, "unusable": 0}
    single = {**common, "batch_replies": 0, "unpriced": 0, "input_tokens": 100, "output_tokens": 10}
    priced = {"unpriced_input_tokens": 0, "unpriced_output_tokens": 0}
    assert reply_costs(store, "r1") == [
        ReplyCosts(
            run_id="r1",
            stage="question",
            provider="openai",
            model="m-1",
            replies=2,
            batch_replies=1,
            unusable=1,
            unpriced=0,
            input_tokens=200,
            cached_tokens=80,
            cache_write_tokens=5,
            output_tokens=20,
            cost_usd=pytest.approx(0.3),
            **priced,
        ),
        ReplyCosts(stage="topics", model="m-1", cost_usd=0.4, **single, **priced),
        ReplyCosts(
            stage="question", model="m-2", cost_usd=0.0, **{**single, "unpriced": 1}, unpriced_input_tokens=100, unpriced_output_tokens=10
        ),
    ]
    assert [(sums.run_id, sums.stage) for sums in reply_costs(store)] == [
        ("r1", "question"),
        ("r1", "topics"),
        ("r1", "question"),
        ("r2", "question"),
    ]


def test_calls_without_an_answer_are_counted_by_what_became_of_them(store):
    for run_id in ("r1", "r2"):
        new_run(store, run_id)
    tell(
        store,
        sent("k1"),
        failed("k1"),
        sent("k1", 2),
        answered("k1", **{"try": 2}),
        verdict("k1", "leak: it says so"),
        verdict("k1", "leak: it says so"),  # judged again when the run went on
        sent("k2"),
        failed("k2", code="unknown_outcome", charge_usd=0.75, final=True),
        sent("k3"),
        failed("k3", code="not_sent"),
        sent("k4", worst_usd=0.125),
        sent("k5", batch="b1"),
        sent("k6", worst_usd=None, stage="topics"),
        sent("k7", 1),
        failed("k7", code="interrupted", charge_usd=0.5),
        sent("k7", 2, worst_usd=0.25),
        event("used", "k8", from_run="r0"),
    )
    tell(store, sent("k4"), answered("k4"), run_id="r2")
    assert unanswered_calls(store, "r1") == [
        Unanswered(
            run_id="r1",
            stage="question",
            failed=3,
            maybe_paid=2,
            charged_usd=1.25,
            refused=1,
            replayed=1,
            open=2,
            open_worst_usd=0.375,
            in_batches=1,
        ),
        Unanswered(run_id="r1", stage="topics", open=1),
    ]
    assert unanswered_calls(store)[-1] == Unanswered(run_id="r2", stage="question")


def test_calls_that_are_not_there_are_not_counted(store):
    new_run(store)
    tell(store, failed("k1", code="invalid_request", final=True), answered("k2"))  # refused before it was sent; from an old store
    assert unanswered_calls(store, "r1") == [Unanswered(run_id="r1", stage="question", failed=1)]


@pytest.mark.long
def test_hundreds_of_thousands_of_calls_fit_into_the_memory_of_a_store(tmp_path):
    with Store.open(tmp_path / "big.duckdb") as store:
        new_run(store)
        keys = [f"{number:064x}" for number in range(10_000)]
        with store.transaction():
            save_call_events(store, "r1", [made for key in keys for made in (sent(key), answered(key), verdict(key))])
        for number in range(1, 20 if EXPLORE else 10):  # others of the same form, by the database, which is quicker
            again = "INSERT INTO call_events SELECT * REPLACE (? || key[5:] AS key) FROM call_events WHERE key LIKE '0000%'"
            store.change(again, [f"{number:04}"])
        tell(store, sent("left"))
        assert sum(sums.replies for sums in reply_costs(store)) == (200_000 if EXPLORE else 100_000)
        assert sum(counts.open for counts in unanswered_calls(store)) == 1


def test_an_empty_store_has_no_costs(store):
    assert reply_costs(store) == []
    assert unanswered_calls(store) == []
    assert records_by_run(store) == {}


def test_records_count_once_however_often_they_were_edited(store, make_record):
    new_run(store)
    add_records(store, "r1", [(0, make_record(1)), (1, make_record(2))])
    add_records(store, "r1", [(0, make_record(1, revision=2))])
    add_records(store, None, [(None, make_record(3))])
    assert records_by_run(store) == {"r1": 2}
