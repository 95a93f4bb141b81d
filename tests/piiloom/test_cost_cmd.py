"""``piiloom cost``: sums that agree with the journal and with the server's own bill."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.store.call_events import save_call_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import create_run, list_runs
from piiloom.execution.money.run_costs import run_costs
from tests.corpus.call_stories import event, failed, reply, sent, verdict
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer, seeded_faults

KEY = "sk-LOOPBACK-0123456789-front-door"
FEW = ("--recipe", "staged", "--pairs", "health+occupation", "--topics-per-pair", 2, "--subtopics-per-topic", 4)


def add_run(store, run_id, provider="openai", model="m-1"):
    create_run(
        store, provider=provider, model=model, seed=1, samples=5, config={}, config_digest=run_id, run_id=run_id, status="interrupted"
    )


def answered(key, **changes):
    where = {name: changes.pop(name) for name in ("stage",) if name in changes}
    return event("reply", key, **where, **{**reply(key).entry, **changes})


@pytest.fixture
def told(store_path):
    """Two paid runs with a bit of everything, and a composed one."""
    with Store.open(store_path) as store:
        add_run(store, "r1")
        save_call_events(
            store,
            "r1",
            [
                sent("k1"),
                failed("k1"),
                sent("k1", 2),
                answered("k1", **{"try": 2}, cost_usd=0.25),
                verdict("k1", "leak: it says so"),
                sent("k2", stage="topics"),
                answered("k2", stage="topics", cost_usd=0.5, batch=True, model="m-1-2026-09-22"),
                sent("k3"),
                failed("k3", code="unknown_outcome", charge_usd=0.75, final=True),
                sent("k4", worst_usd=0.125),
                sent("k5", batch="b1"),
                event("used", "k6", from_run="r0"),
            ],
        )
        add_run(store, "r2", "compatible", "local")
        save_call_events(store, "r2", [sent("k7", worst_usd=None), answered("k7", cost_usd=None, model="local", error="truncated: cut")])
        add_run(store, "r3", "composer", "scenario-bank")
        save_call_events(store, "r3", [answered("k8", cost_usd=0.0, provider="composer", model="scenario-bank")])
    return store_path


def test_every_call_is_accounted_for(told):
    with Store.open(told, create=False) as store:
        total = run_costs(store, "r1").total
    assert (total.calls, total.answered, total.failed, total.open, total.in_batches) == (6, 2, 2, 1, 1)
    assert (total.refused, total.replayed, total.maybe_paid, total.unpriced) == (1, 1, 1, 0)
    assert (total.cost_usd, total.charged_usd, total.open_worst_usd, total.batch_share) == (0.75, 0.75, 0.125, 0.5)
    assert (total.input_tokens, total.cached_tokens, total.output_tokens) == (200, 80, 20)


def test_sums_by_stage_model_and_run_agree_with_the_total(cli, told):
    with Store.open(told, create=False) as store:
        report = run_costs(store, "all")
    assert list(report.by_run) == ["r1", "r2"]
    assert [stage["name"] for stage in json.loads(cli("cost", "--run", "all", "--store", told, "--json").out)["by_stage"]] == [
        "topics",
        "question",
    ]
    assert list(report.by_model) == ["openai m-1", "openai m-1-2026-09-22", "compatible local"]
    for group in (report.by_run, report.by_stage, report.by_model):
        for name in ("calls", "answered", "refused", "failed", "replayed", "open", "in_batches", "unpriced", "cost_usd", "charged_usd"):
            assert sum(getattr(costs, name) for costs in group.values()) == getattr(report.total, name)
    assert report.composed == 1


def test_what_the_sums_leave_out_is_said(cli, told):
    one = cli("cost", "--run", "r1", "--store", told)
    assert one.code == 0, one.err
    assert "run r1 interrupted (openai m-1): 0 of 5 records accepted" in one.out
    assert "may have been billed without an answer: 1 call\n" in one.out
    assert "set aside for calls of unknown cost: $0.7500, which counts against a budget" in one.out
    assert "under way when their process ended: 1 call; up to $0.1250" in one.out
    assert "in batches that have not been collected: 1 call" in one.out
    assert "at no cost: 1 answers" in one.out
    assert " 50%" in one.out
    every = cli("cost", "--run", "all", "--store", told)
    assert "not in these sums: 1 of the answers (100 tokens in, 10 out), whose price is unknown" in every.out
    assert "written by the composer without any call: 1 of the runs" in every.out
    assert [line.split()[-1] for line in every.out.splitlines() if line.startswith("compatible local")] == ["unknown"]
    assert any(line.startswith("total") and line.endswith("$0.7500 + ?") for line in every.out.splitlines())


@pytest.fixture
def tuned(store_path):
    """A tuned detector with a verifier, and a run of something else, at the costs of Table VIII of the PrivacyAI paper."""
    paid = {
        ("tune", "train_openai"): ({"train": "train_openai", "task": "markers"}, 7.22),
        ("tune2", "train_openai"): ({"train": "train_openai", "task": "verifier-2"}, 0.80),
        ("data", "detect_verdict"): ({"verifier-data": "a"}, 1.16),
        ("found", "detect_marking"): ({"detect": "b"}, 4.71),
        ("found", "detect_verdict"): ({"detect": "b"}, 0.08),
        ("made", "situation"): ({}, 2.0),
    }
    with Store.open(store_path) as store:
        for (run, stage), (config, cost) in paid.items():
            if run not in [one.id for one in list_runs(store)]:
                about = {"provider": "openai", "model": "m-1", "seed": 1, "samples": 0, "config_digest": run, "run_id": run}
                create_run(store, **about, config=config, status="finished")
            key = f"{run} {stage}"
            save_call_events(store, run, [sent(key, stage=stage), answered(key, stage=stage, cost_usd=cost, input=900_000, output=100_000)])
    return store_path


def test_the_parts_of_the_cost_of_a_detector(cli, tuned, tmp_path):
    outcome = cli("cost", "--parts", "--store", tuned)
    titles, alone, verified, *rest = [line.split("  ") for line in outcome.out.splitlines() if line]
    assert [cell.strip() for cell in titles if cell][-2:] == ["total", "per 1M tokens"]
    assert " ".join(alone).split() == ["detector", "–", "$7.22", "–", "–", "$4.71", "$11.93", "$11.93"]
    assert " ".join(verified).split() == ["with", "verifier", "$11.93", "–", "$1.16", "$0.8000", "$0.0800", "$13.97", "$13.97"]
    assert ["not in this table: $2.00 of other runs"] in rest
    # By the tokens of the texts; what others have billed is added by hand or by a usage file.
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"id": "a", "context": "abcd" * 1000, "spans": []}))
    usage = tmp_path / "usage.jsonl"
    usage.write_text(json.dumps({"document": "a", "model": "m", "input_tokens": 1_000_000, "output_tokens": 0, "provider": "x"}))
    told = json.loads(cli("cost", "--parts", "--store", tuned, "--texts", texts, "--add", "detection=1.29", "--json").out)
    assert [(one["system"], round(one["total"], 2), one["tokens"]) for one in told["systems"]] == [
        ("detector", 13.22, 1000),
        ("with verifier", 15.26, 1000),
    ]
    assert (round(told["systems"][1]["base_dependency"], 2), told["other"]) == (13.22, 2.0)
    unknown = json.loads(cli("cost", "--parts", "--store", tuned, "--add", f"verification={usage}", "--json").out)["systems"]
    assert [one["total"] for one in unknown] == [pytest.approx(11.93), None]
    usage.write_text(usage.read_text().replace('"m"', '"gpt-6-luna"').replace('"x"', '"openai"'))
    alone = cli("cost", "--parts", "--store", tmp_path / "none.duckdb", "--add", f"detection={usage}").out
    assert alone.splitlines()[1].split()[-2:] == ["$0.1000"] * 2
    assert "1,000,000 tokens used by detection" in alone


def test_parts_that_cannot_be(cli, tuned):
    for words, fault in {
        ("--add", "detection=1"): "no effect without --parts",
        ("--parts", "--add", "training=1"): "no part is named",
        ("--parts", "--add", "detection=-1"): "no amount",
        ("--parts", "--add", "detection=nowhere.jsonl"): "nowhere.jsonl",
    }.items():
        outcome = cli("cost", "--store", tuned, *words)
        assert outcome.code, words
        assert fault in outcome.err, words


def test_a_price_that_nobody_knows_is_no_cost_of_a_record(cli, told):
    result = json.loads(cli("cost", "--run", "r2", "--store", told, "--json").out)
    assert result["total"]["unpriced"] == 1
    assert result["usd_per_record"] is None


def test_a_composed_run_has_cost_nothing(cli, filled):
    outcome = cli("cost", "--store", filled)
    assert outcome.code == 0
    assert "(composer): 12 of 12 records accepted" in outcome.out
    assert "nothing was paid: the composer makes no calls" in outcome.out
    result = json.loads(cli("cost", "--store", filled, "--run", "all", "--json").out)
    assert (result["total"]["calls"], result["total"]["cost_usd"], result["by_stage"]) == (0, 0.0, [])


def test_a_run_that_sent_nothing_has_cost_nothing(cli, store_path):
    with Store.open(store_path) as store:
        add_run(store, "r1")
    assert "nothing was paid: no call has been sent" in cli("cost", "--store", store_path).out


@pytest.mark.parametrize("run", ["last", "all", "r0009"])
def test_a_store_without_such_a_run_says_so(cli, empty_store, run):
    outcome = cli("cost", "--run", run, "--store", empty_store)
    assert outcome.code == 1
    assert "no run" in outcome.error_line()


def test_an_unknown_run_is_answered_with_those_there_are(cli, told):
    line = cli("cost", "--run", "nowhere", "--store", told).error_line()
    assert "there is no run 'nowhere'" in line
    assert "r3, r2, r1" in line


def test_no_store_is_one_line(cli, store_path):
    assert "there is no store here" in cli("cost", "--store", store_path).error_line()


@pytest.mark.long
def test_a_real_runs_costs_are_the_servers_bill(cli, store_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    faults = seeded_faults(5, {"server_error": 0.05, "bad_json_reply": 0.05, "truncation": 0.05})
    with LLMServer(Author(7, {"leak": 0.2}), schedule=faults) as server:
        words = ("--provider", "openai", "--base-url", server.openai_url, "--samples", 4, *FEW, "--concurrency", 2)
        outcome = cli("generate", *words, "--store", store_path, "--quiet")
        assert outcome.code == 0, outcome.err
        billed, sent_off = sum(server.billed.values()), server.requests
    result = json.loads(cli("cost", "--store", store_path, "--json").out)
    total = result["total"]
    assert (total["answered"], total["calls"]) == (billed, sent_off)
    assert total["failed"] == sent_off - billed
    assert total["refused"] > 0
    assert sum(stage["cost_usd"] for stage in result["by_stage"]) == pytest.approx(total["cost_usd"])
    assert [model["name"] for model in result["by_model"]] == ["openai gpt-6-luna"]
    assert result["accepted_records"] == 4
    assert result["usd_per_record"] == pytest.approx((total["cost_usd"] + total["charged_usd"]) / 4)
    assert KEY not in json.dumps(result)
