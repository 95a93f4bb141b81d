"""``piiloom trace`` and ``piiloom rejects``: all that happened to a row, and no row missing."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.store.call_events import CallEvent
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import RejectRow, get_run, load_rejects, save_plan_items, save_rejects
from tests.corpus.call_stories import failed, new_run, reply, sent, tell, verdict


@pytest.fixture
def told(empty_store):
    """A run whose item 7 went through everything that can happen to a call."""
    with Store.open(empty_store) as store:
        new_run(store)
        plan = {"pair": ["age", "health"], "topic": "work", "subtopic": "shifts", "locale": "en_US"}
        save_plan_items(store, "r1", [(7, json.dumps(plan))])
        tell(store, sent("t", stage="topics", item="age+health"), reply("t", stage="topics", item="age+health"))
        tell(store, sent("s", stage="subtopics", item="age+health/work"), reply("s", stage="subtopics", item="age+health/work"))
        tell(store, sent("x", stage="subtopics", item="age+health/other"), sent("y", item="8"))
        tell(store, sent("k1"), failed("k1"), sent("k1", 2), reply("k1", 2), verdict("k1", "leak: it says \x1b[31mred"))
        tell(store, sent("k2", attempt=1), failed("k2", code="unknown_outcome", charge_usd=0.5, final=True, attempt=1))
        tell(store, sent("k3", attempt=2))
        row = RejectRow(plan_index=7, stage="question", reason_code="provider_unavailable", detail="no answer", attempts=3)
        save_rejects(store, "r1", [row])
    return empty_store


def test_everything_that_happened_to_an_item_in_order(cli, told):
    outcome = cli("trace", "r1:7", "--store", told)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert [line for line in lines if line.startswith("  [")] == [
        "  [1] topics · age+health · attempt 1",
        "  [2] subtopics · age+health/work · attempt 1",
        "  [3] question · 7 · attempt 1",
        "  [4] question · 7 · attempt 2",
        "  [5] question · 7 · attempt 3",
    ]
    text = outcome.out
    assert text.count("Be exact. SYSTEM-TEXT") == 1
    assert "system prompt: as in [1]" in text
    assert "USER-TEXT of k1" in text
    assert "rate_limited: MESSAGE-TEXT; not the last try" in text
    assert "REPLY-TEXT of k1" in text
    assert "verdict: refused_by_validator: leak: it says ␛[31mred" in text
    assert "unknown_outcome: MESSAGE-TEXT; it may have been billed, $0.5000 set aside" in text
    assert "no outcome on record: it may have been paid for" in text
    assert "rejected  question: provider_unavailable: no answer" in text
    assert "calls     5, 3 replies, $0.7500" in text
    assert "plan      pair age+health, topic work, subtopic shifts, locale en_US" in text


def test_a_wish_that_was_let_be_is_shown(cli, told):
    with Store.open(told) as store:
        entry = {"verdict": "accepted", "fault": None, "unmet": "wrong_lead: x must be the first"}
        tell(store, CallEvent(key="k1", kind="verdict", stage="question", item_id="7", attempt=0, entry=entry))
    assert "verdict: accepted, though a wish is unmet: wrong_lead: x must be the first" in cli("trace", "r1:7", "--store", told).out


def test_a_trace_as_json_has_the_same(cli, told):
    trace = json.loads(cli("trace", "last:7", "--json", "--store", told).out)
    third = trace["calls"][2]
    assert [one["outcome"] for one in third["tries"]] == ["failed", "reply"]
    assert (third["tries"][1]["cost_usd"], third["tries"][1]["latency_s"]) == (0.25, 1.25)
    assert (third["user"], third["system"]) == ("USER-TEXT of k1", "Be exact. SYSTEM-TEXT")
    assert third["verdicts"] == [{"verdict": "refused_by_validator", "fault": "leak: it says \x1b[31mred"}]
    assert (trace["cost_usd"], trace["rejects"][0]["code"], trace["records"]) == (0.75, "provider_unavailable", [])


def test_a_pair_and_a_topic_can_be_traced(cli, told):
    assert [call["key"] for call in json.loads(cli("trace", "r1:age+health", "--json", "--store", told).out)["calls"]] == ["t"]
    assert [call["key"] for call in json.loads(cli("trace", "r1:age+health/work", "--json", "--store", told).out)["calls"]] == ["s"]
    assert "no calls for 'age+name'" in cli("trace", "r1:age+name", "--store", told).error_line()


def test_a_reply_that_another_run_paid_for_is_shown_with_its_prompt(cli, told):
    with Store.open(told) as store:
        new_run(store, "r2")
        used = CallEvent(key="k1", kind="used", stage="question", item_id="7", attempt=0, entry={"from_run": "r1"})
        tell(store, used, verdict("k1"), run_id="r2")
    out = cli("trace", "r2:7", "--store", told).out
    assert "[1] question · 7 · attempt 1 · paid by r1" in out
    assert "USER-TEXT of k1" in out
    assert "REPLY-TEXT of k1" in out
    assert "verdict: accepted" in out


def test_a_record_of_a_real_run_by_the_beginning_of_its_id(cli, paid):
    with Store.open(paid) as store:
        run = get_run(store, "last").id
        record = next(iter_records(store, run_id=run))
        (index,) = store.integers("SELECT plan_index FROM records WHERE id = ?", [record.id])
        sent_keys = {
            key for (key,) in store.rows("SELECT DISTINCT key FROM call_events WHERE split_part(item_id, '/', 1) = ?", [str(index)])
        }
    trace = json.loads(cli("trace", record.id[:6], "--json", "--store", paid).out)
    assert (trace["run"], trace["item"]) == (run, str(index))
    assert trace["records"] == [[record.id, 0, "generated"]]
    assert {call["key"] for call in trace["calls"]} >= sent_keys
    assert [call["stage"] for call in trace["calls"]][:3] == ["topics", "subtopics", "situation"]
    assert trace["cost_usd"] == pytest.approx(sum(one.get("cost_usd", 0) for call in trace["calls"] for one in call["tries"]))
    text = cli("trace", record.id, "--run", run, "--store", paid).out
    assert record.context in text.replace("\n      ", "\n")
    assert record.question in text
    assert "accepted  all gates passed" in text


def test_ids_that_fit_nothing_or_too_much(cli, paid, filled_bytes, tmp_path):
    assert "too short" in cli("trace", "abc", "--store", paid).error_line()
    assert "no record's id begins with" in cli("trace", "zzzzzz", "--store", paid).error_line()
    assert "has no plan item 999" in cli("trace", "last:999", "--store", paid).error_line()
    assert "there is no run 'nine'" in cli("trace", "nine:1", "--store", paid).error_line()
    with Store.open(paid) as store:
        store.change("UPDATE records SET id = 'aaaaaa' || id")
    message = cli("trace", "aaaaaa", "--store", paid).error_line()
    assert "fits several records" in message
    assert message.count("(aaaaaa") == 5


def test_an_imported_record_has_no_calls(cli, released, tmp_path):
    out = tmp_path / "out"
    assert cli("export", "--release", "v1", "--format", "native", "--out", out, "--store", released).code == 0
    other = tmp_path / "other.duckdb"
    assert cli("import", out / "train.jsonl", "--input-format", "native", "--store", other).code == 0
    with Store.open(other) as store:
        record = next(iter_records(store))
    assert "was imported" in cli("trace", record.id, "--store", other).error_line()


def test_a_composer_record_is_traced_without_calls(cli, filled):
    with Store.open(filled) as store:
        record = next(iter_records(store))
    out = cli("trace", record.id, "--store", filled).out
    assert f"record    {record.id}" in out
    assert "calls     0, 0 replies, $0.00" in out


def test_the_rows_of_a_real_run_balance(cli, paid):
    report = json.loads(cli("rejects", "--json", "--store", paid).out)
    rows = report["rows"]
    with Store.open(paid) as store:
        run = get_run(store, "last")
        rejects = [row for row in load_rejects(store, run.id) if row.plan_index is not None]
        sums = store.rows(
            "SELECT split_part(item_id, '/', 1), count(*) FILTER (kind = 'sent'), sum((entry->>'$.cost_usd')::DOUBLE) "
            "FROM call_events GROUP BY 1"
        )
    taken = {item: (calls, cost) for item, calls, cost in sums}
    assert rows == {
        "rows_in": rows["accepted"] + len(rejects),
        "accepted": 6,
        "rejected": len(rejects),
        "open": 0,
        "twice": 0,
        "balanced": True,
    }
    assert len(rejects) > 0
    for row, line in zip(rejects, report["rejects"], strict=False):
        assert (line["item"], line["stage"], line["code"]) == (f"{run.id}:{row.plan_index}", row.stage, row.reason_code)
        assert line["calls"] == taken[str(row.plan_index)][0]
        assert line["cost_usd"] == pytest.approx(taken[str(row.plan_index)][1])
        assert line["replay"] == f"piiloom generate --resume {run.id} --retry {row.plan_index} --store {paid}"


def test_rejects_as_text_with_filters(cli, paid):
    whole = cli("rejects", "--store", paid).out.splitlines()
    assert "rows in = 6 accepted + " in whole[0]
    assert whole[0].endswith(" rejected + 0 open")
    report = json.loads(cli("rejects", "--json", "--store", paid).out)["rejects"]
    stage, code = report[0]["stage"], report[0]["code"]
    assert f"{stage}: {code}" in "\n".join(whole[1:])
    assert report[0]["replay"] in "\n".join(whole)
    chosen = json.loads(cli("rejects", "--stage", stage, "--code", code, "--json", "--store", paid).out)["rejects"]
    assert chosen == [line for line in report if (line["stage"], line["code"]) == (stage, code)]
    assert "no reject matches" in cli("rejects", "--code", "nothing", "--store", paid).out
    assert f"and {len(report) - 1} more; --limit 0 prints all" in cli("rejects", "--limit", 1, "--store", paid).out


def test_rejects_of_pairs_are_no_rows_and_only_transient_ones_are_asked_again(cli, told):
    with Store.open(told) as store:
        rows = [
            RejectRow(plan_index=None, key="age+health", stage="topics", reason_code="rate_limited", attempts=1),
            RejectRow(plan_index=None, key="age+health#2", stage="topics", reason_code="duplicate", attempts=1),
        ]
        save_rejects(store, "r1", rows)
    report = json.loads(cli("rejects", "--json", "--store", told).out)
    assert report["rows"] == {"rows_in": 2, "accepted": 0, "rejected": 1, "open": 1, "twice": 0, "balanced": True}
    item, pair, dropped = report["rejects"]
    assert (item["calls"], item["cost_usd"], item["is_row"]) == (4, 0.75, True)
    assert (pair["calls"], pair["cost_usd"], pair["replay"]) == (1, 0.25, f"piiloom generate --resume r1 --store {told}")
    assert (dropped["calls"], dropped["replay"]) == (0, None)
    assert "of pairs and topics: no rows" in cli("rejects", "--store", told).out


def test_a_ledger_that_does_not_balance_is_an_error(cli, filled):
    with Store.open(filled) as store:
        run = get_run(store, "last").id
        (index,) = store.integers("SELECT min(plan_index) FROM records")
        save_rejects(store, run, [RejectRow(plan_index=index, stage="screen", reason_code="leak", attempts=0)])
    outcome = cli("rejects", "--store", filled)
    assert outcome.code == 1
    assert "does not balance: 1 rows are both accepted and rejected" in outcome.err
    assert "≠" in outcome.out
