"""What a run pays: never more than its budget, never twice, and not for what an edit does not touch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.yaml_files import data_folder
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.prices import parse_prices
from tests.fakes.llm_author import Author
from tests.fakes.llm_faults import DELIVERED, LOST
from tests.fakes.llm_server import LLMServer, seeded_faults
from tests.fakes.llm_tricks import TRICKS
from tests.generation.llm_runs import check_exact, config_for, read_back, resume, set_keys, start
from tests.longer import EXPLORE, mostly_long

# USD for a million tokens: a call of 100 tokens in and 50 out costs 20 cents.
PRICE = "input=1000,output=2000"
FAULTS = {"rate_limit": 0.1, "server_error": 0.03, "cut": 0.02, "bad_json_reply": 0.02, "timeout": 0.01, "bad_json_body": 0.01}
CLUMSY = {trick: 0.03 for tricks in TRICKS.values() for trick in tricks}


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def bill(server: LLMServer) -> float:
    """What the server would charge: for every answer it has made, also those that never arrived."""
    spec = parse_prices(PRICE)
    return sum(spec.cost_usd(usage) or 0.0 for usage in server.billed_usage)


@pytest.mark.parametrize("seed", mostly_long(range(25 if EXPLORE else 6), quick={2}))
def test_the_bill_never_passes_the_budget(seed, tmp_path):
    """Over sessions that end at the budget and go on with more, with replies that are lost on the way."""
    rng = derive_rng("budget", seed)
    name = rng.choice(["openai", "anthropic", "compatible"])
    schedule = seeded_faults(seed, {kind: share * rng.uniform(0.5, 3) for kind, share in FAULTS.items()}, timeout_s=0.4)
    with LLMServer(Author(seed), schedule=schedule) as server, Store.open(tmp_path / "s.duckdb") as store:
        budget = rng.uniform(5, 60)
        config = config_for(name, server, samples=6, concurrency=rng.choice([1, 4, 16]), budget_usd=budget, price=PRICE)
        sessions = 0
        while True:
            sessions += 1
            try:
                progress = start(store, config, timeout_s=0.2) if sessions == 1 else resume(store, timeout_s=0.2, budget_usd=budget)
            except BudgetReached:
                assert bill(server) <= budget
                budget += rng.uniform(10, 80)
            except ProviderUnavailable:  # nobody answers in 0.2 s on a busy machine: what was lost is charged all the same
                assert bill(server) <= budget
                assert sessions < 30
            else:
                break
        run = read_back(store).run.id
        assert progress.status == "finished"
        assert bill(server) <= spending(store, run).cost_usd + spending(store, run).charged_usd + 1e-9 <= budget + 2e-9
        assert open_sends(store, run) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["openai", "anthropic", "compatible"])
def test_every_request_and_every_dollar_is_accounted_for(name, tmp_path):
    """Calls = answered + refused + retried; what the server has billed and delivered is what the journal holds."""
    schedule = seeded_faults(3, FAULTS, timeout_s=12.0)
    with LLMServer(Author(3, CLUMSY), schedule=schedule) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for(name, server, samples=24, concurrency=16, price=PRICE, max_attempts=6), timeout_s=10.0)
        kept = read_back(store)
        count = Counter(kind for (kind,) in store.rows("SELECT kind FROM call_events WHERE run_id = ?", [kept.run.id]))
        codes = Counter(
            code for (code,) in store.rows("SELECT entry->>'$.code' FROM call_events WHERE run_id = ? AND kind = 'failed'", [kept.run.id])
        )
    assert progress.accepted == 24
    check_exact(kept.records)
    assert set(server.outcomes) >= {"ok", *FAULTS}
    assert count["sent"] == server.requests == count["reply"] + count["failed"]
    assert count["reply"] == server.billed.total() == progress.totals.answered
    assert codes["unknown_outcome"] == sum(server.outcomes[kind] for kind in LOST) == progress.totals.maybe_paid
    assert codes["rate_limited"] == server.outcomes["rate_limit"]
    assert codes["unavailable"] == server.outcomes["server_error"]
    assert progress.totals.cost_usd == pytest.approx(sum(parse_prices(PRICE).cost_usd(u) or 0 for u in server.delivered_usage))
    assert {kind for kind in server.outcomes if kind in DELIVERED} == {"ok", "bad_json_reply"}
    assert progress.accepted + progress.rejected == len(
        {*kept.indexes, *(row.plan_index for row in kept.rejects if row.plan_index is not None)}
    )


def edited(folder: Path, name: str, old: str, new: str) -> Path:
    """A folder of one's own templates, with one sentence of the shipped one changed."""
    (newest,) = sorted((data_folder("prompts") / "templates").glob(f"{name}.v*.j2"))[-1:]
    text = newest.read_text("utf-8")
    assert old in text
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.j2").write_text(text.replace(old, new), "utf-8")
    return folder


def asked_since(server: LLMServer, before: int) -> Counter[str]:
    return Counter(entry.schema_name for entry in server.log[before:])


@pytest.mark.long
def test_after_an_edit_only_the_edited_stage_and_those_after_it_are_paid_for(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("openai", server, samples=10)
        start(store, config)
        first, asked = read_back(store), server.requests
        mine = edited(tmp_path / "mine", "paraphrase", "{% block user %}", "{% block user %}\nKeep it plain.")
        progress = start(store, config_for("openai", server, samples=10, prompts=mine))
        second = read_back(store)
        assert first.run.id != second.run.id
        assert set(asked_since(server, asked)) <= {"paraphrase", "span_retrieval"}
        assert progress.totals.replayed > 6 * 10
        assert [record.question for record in second.records] == [record.question for record in first.records]
        assert {row.key for row in second.completions}.isdisjoint({row.key for row in first.completions})


@pytest.mark.long
def test_nothing_stale_is_served_after_the_system_prompt_changed(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("compatible", server, samples=5))
        before, asked = asked_since(server, 0), server.requests
        mine = edited(tmp_path / "mine", "question_draft", "{% block system %}", "{% block system %}\nYou are terse.")
        start(store, config_for("compatible", server, samples=5, prompts=mine))
        again = asked_since(server, asked)
        assert again["question_draft"] == before["question_draft"]
        assert not set(again) & {"topics", "subtopics", "situation", "peripheral"}
        asked = server.requests
        start(store, config_for("compatible", server, samples=5, seed=8))  # another seed is another draw: all is asked anew
        assert asked_since(server, asked)["topics"] == before["topics"]
        assert len(read_back(store).records) == 5


@pytest.mark.long
def test_a_prompt_that_is_always_refused_costs_its_row_and_no_other(tmp_path):
    """Three of the items are refused by the server (400), whatever their attempt."""
    bad: set[str] = set()
    with LLMServer(Author(2), refuse=lambda request: _is_bad(request, bad)) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("anthropic", server, samples=30, concurrency=8))
        kept = read_back(store)
    assert (progress.accepted, len(bad)) == (30, 3)
    assert [row.reason_code for row in kept.rejects] == ["invalid_request"] * 3
    assert all(row.stage == "situation" and row.attempts == 1 for row in kept.rejects)
    assert server.outcomes["rejected"] == 3


def _is_bad(request, bad: set[str]) -> bool:
    if request.schema_name == "situation" and (request.user in bad or len(bad) < 3):
        bad.add(request.user)
    return request.user in bad
