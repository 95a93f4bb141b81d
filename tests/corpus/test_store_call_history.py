"""Reading the journal: sums that add up, events in order, and the ledger of rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.store import call_events
from piiloom.corpus.store.call_events import (
    count_events,
    events_of_item,
    events_of_key,
    iter_events,
    load_prompts,
    paid_events,
    prompt_names,
)
from piiloom.corpus.store.costs import ItemCalls, calls_by_item, calls_by_key, journal_lines, open_sends, spending
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import find_stored
from piiloom.corpus.store.runs import (
    RejectRow,
    StageResultRow,
    count_rows,
    fate_of,
    lift_rejects,
    list_runs,
    rejects_of_key,
    save_plan_items,
    save_rejects,
    save_stage_results,
)
from tests.corpus.call_stories import SYSTEM, event, failed, new_run, reply, sent, tell, verdict


def test_the_sums_of_a_stage(store):
    new_run(store)
    tell(
        store,
        sent("k1"),
        failed("k1"),
        sent("k1", 2),
        reply("k1", 2),
        verdict("k1", "leak: it says asthma"),
        verdict("k1", "leak: it says asthma"),  # judged again by a resumed run
        sent("k2"),
        failed("k2", code="unknown_outcome", charge_usd=0.5, final=True),
        sent("k3"),
        reply("k3", cost_usd=None, error="refused: no"),
        sent("k4"),
        failed("k4", code="not_sent"),
        sent("k5", worst_usd=0.75),
        sent("k6", batch="b1"),
    )
    (line,) = journal_lines(store)
    assert (line.run_id, line.stage, line.calls, line.tries) == ("r1", "question", 6, 6)
    assert (line.replies, line.unusable, line.refused, line.failed, line.retried) == (2, 1, 1, 1, 1)
    assert (line.input_tokens, line.cached_tokens, line.output_tokens) == (200, 80, 20)
    assert (line.cost_usd, line.charged_usd, line.unpriced, line.maybe_paid) == (0.25, 0.5, 1, 1)
    assert (line.open, line.open_worst_usd, line.in_batches, line.purged, line.reused) == (1, 0.75, 1, 0, 0)


def test_runs_and_stages_are_told_apart_and_can_be_chosen(store):
    for run in ("r2", "r1"):
        new_run(store, run)
        tell(store, sent("t", stage="topics", item="age+health"), reply("t", stage="topics"), sent(), reply(), run_id=run)
    assert [(line.run_id, line.stage) for line in journal_lines(store)] == [
        ("r2", "topics"),
        ("r2", "question"),
        ("r1", "topics"),
        ("r1", "question"),
    ]
    assert [line.run_id for line in journal_lines(store, "r1")] == ["r1", "r1"]
    assert [line.stage for line in journal_lines(store, None, "topics")] == ["topics", "topics"]
    assert journal_lines(store, "r3") == []


outcomes = st.lists(
    st.sampled_from(["reply", "unpriced", "retried", "failed", "charged", "interrupted", "open", "used"]), min_size=1, max_size=30
)


@pytest.fixture(scope="module")
def shared_store():
    with Store.open(MEMORY) as store:
        yield store


@pytest.mark.long
@settings(deadline=None, max_examples=20)
@given(told=outcomes)
def test_the_sums_agree_with_what_the_budget_counts(shared_store, told):
    store, run = shared_store, f"r{len(list_runs(shared_store))}"
    new_run(store, run)
    for number, what in enumerate(told):
        key, where = f"{number:04d}", {"item": str(number % 5), "stage": "topics" if number % 2 else "question"}
        endings = {
            "reply": [reply(key, **where)],
            "unpriced": [reply(key, cost_usd=None, **where)],
            "retried": [failed(key, **where), sent(key, 2, **where), reply(key, 2, **where)],
            "failed": [failed(key, code="invalid_request", final=True, **where)],
            "charged": [failed(key, code="unknown_outcome", charge_usd=0.5, final=True, **where)],
            "interrupted": [failed(key, code="interrupted", charge_usd=0.5, **where)],
            "open": [],
            "used": [],
        }[what]
        begin = call_event("used", key, from_run="r0", **where) if what == "used" else sent(key, **where)
        tell(store, begin, *endings, run_id=run)
    lines, spent = journal_lines(store, run), spending(store, run)
    assert sum(line.cost_usd for line in lines) == pytest.approx(spent.cost_usd)
    assert sum(line.charged_usd for line in lines) == pytest.approx(spent.charged_usd)
    assert sum(line.replies for line in lines) == spent.answered == sum(told.count(what) for what in ("reply", "unpriced", "retried"))
    assert sum(line.maybe_paid for line in lines) == spent.maybe_paid
    assert sum(line.open for line in lines) == len(open_sends(store, run)) == told.count("open")
    assert sum(line.reused for line in lines) == told.count("used")
    by_item = calls_by_item(store, run).values()
    assert sum(item.cost_usd for item in by_item) == pytest.approx(spent.cost_usd + spent.charged_usd)
    assert sum(item.tries for item in by_item) == sum(line.tries for line in lines)


def call_event(kind, key, **entry):
    where = {name: entry.pop(name) for name in ("item", "stage")}
    return event(kind, key, **where, **entry)


def test_what_an_item_took_counts_its_parts_and_not_its_neighbours(store):
    new_run(store)
    tell(
        store,
        sent("a", item="7"),
        reply("a", item="7"),
        sent("b", item="7/0"),
        failed("b", item="7/0", code="unknown_outcome", charge_usd=0.5),
        sent("b", 2, item="7/0"),
        reply("b", 2, item="7/0", cost_usd=None),
        sent("c", item="71"),
        sent("d", item="age+health/7", stage="subtopics"),
        reply("d", item="age+health/7", stage="subtopics"),
    )
    assert calls_by_item(store, "r1") == {7: ItemCalls(tries=3, replies=2, cost_usd=0.75, unpriced=1), 71: ItemCalls(tries=1)}
    assert calls_by_key(store, "r1", "subtopics", "age+health/7") == ItemCalls(tries=1, replies=1, cost_usd=0.25)
    assert calls_by_key(store, "r1", "subtopics", "age+health/8") == ItemCalls()
    assert [e.key for e in events_of_item(store, "r1", 7)] == ["a", "a", "b", "b", "b", "b"]
    assert [e.kind for e in events_of_key(store, "r1", "subtopics", "age+health/7")] == ["sent", "reply"]
    assert [e.kind for e in paid_events(store, "r1", ["b", "d"])] == ["sent", "failed", "sent", "reply", "sent", "reply"]


def test_all_events_come_in_order_in_pieces(store, monkeypatch):
    monkeypatch.setattr(call_events, "_CHUNK", 3)
    for run in ("r1", "r2"):
        new_run(store, run)
    for number in range(10):
        tell(store, sent(f"k{number}"), run_id="r1" if number % 2 else "r2")
    assert [found.key for found in iter_events(store)] == [f"k{number}" for number in range(10)]
    assert [found.key for found in iter_events(store, "r1")] == ["k1", "k3", "k5", "k7", "k9"]
    assert count_events(store, "r2") == {"sent": 5}
    assert prompt_names(store, "r1") == [SYSTEM[0]]
    assert load_prompts(store, [SYSTEM[0], "unknown"]) == dict([SYSTEM])


def reject(index, stage="question", code="leak", key=None):
    return RejectRow(plan_index=index, key=key, stage=stage, reason_code=code, detail="why", attempts=3, last_reply="REPLY-TEXT")


def test_rows_in_are_accepted_rejected_or_open(store, make_record):
    new_run(store)
    save_plan_items(store, "r1", [(index, "{}") for index in range(4)])
    add_records(store, "r1", [(0, make_record(0)), (1, make_record(1))])
    save_rejects(store, "r1", [reject(2), reject(5), reject(None, stage="topics", key="age+health")])
    tell(store, sent(item="6/1"))
    rows = count_rows(store, "r1")
    assert (rows.rows_in, rows.accepted, rejected_open(rows), rows.balanced) == (6, 2, (2, 2), True)
    lift_rejects(store, "r1", indexes=[5])
    assert rejected_open(count_rows(store, "r1")) == (1, 3)
    save_rejects(store, "r1", [reject(0)])
    broken = count_rows(store, "r1")
    assert (broken.twice, broken.balanced) == (1, False)


def rejected_open(rows):
    return rows.rejected, rows.open


def test_the_fate_of_an_item(store, make_record):
    new_run(store)
    assert not fate_of(store, "r1", 0).is_known
    save_plan_items(store, "r1", [(0, '{"topic": "work"}')])
    save_stage_results(store, "r1", [StageResultRow(plan_index=0, stage="values", payload="{}")])
    save_rejects(store, "r1", [reject(0)])
    lift_rejects(store, "r1", indexes=[0])
    add_records(store, "r1", [(0, make_record(0))])
    fate = fate_of(store, "r1", 0)
    assert (fate.plan, fate.stages, fate.records) == ('{"topic": "work"}', (("values", "{}"),), (("record-00000", 0, "generated"),))
    assert [(row.reason_code, lifted) for row, lifted in fate.rejects] == [("leak", True)]


def test_records_are_found_by_the_beginning_of_their_id(store, make_record):
    for run in ("r1", "r2"):
        new_run(store, run)
        add_records(store, run, [(3, make_record(3)), (4, make_record(4))])
    add_records(store, None, [(None, make_record(9))])
    assert [(item.run_id, item.plan_index) for item in find_stored(store, prefix="record-00003")] == [("r2", 3), ("r1", 3)]
    assert [item.plan_index for item in find_stored(store, prefix="record", run_id="r1")] == [4, 3]
    assert find_stored(store, prefix="record-00009")[0].run_id is None
    assert find_stored(store, prefix="100%_") == []


def test_rejects_of_a_pair_are_its_own_and_those_of_its_dropped_entries(store):
    new_run(store)
    keys = ("age+health", "age+health#2", "age+health/night shifts")
    save_rejects(store, "r1", [reject(None, stage="topics", code="duplicate", key=key) for key in keys])
    assert [row.key for row, _ in rejects_of_key(store, "r1", "age+health")] == ["age+health", "age+health#2"]
