"""What an estimate looks like, and that nothing is needed for one."""

from __future__ import annotations

import json
import re

import pytest

from piiloom.cli.generate import say_estimate, say_estimate_of_rest
from piiloom.cli.main import run
from piiloom.corpus.store.database import Store
from piiloom.generation.estimate.estimating import spec_of
from piiloom.generation.settings.setting_checks import make_config
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer

KEY = "sk-LOOPBACK-0123456789-front-door"
FEW = ("--recipe", "staged", "--pairs", "health+occupation", "--topics-per-pair", 2, "--subtopics-per-topic", 4)


@pytest.fixture
def shown(capfd, store_path):
    """Print the estimate of a new run: ``shown(provider="openai", samples=3)``."""

    def show(*, as_json: bool = False, resume: str | None = None, **settings) -> str:
        if resume is None:
            recipe = "staged" if "provider" in settings else "story"
            say_estimate(make_config({"recipe": recipe, **settings}), as_json=as_json)
        else:
            say_estimate_of_rest(store_path, resume, settings, as_json=as_json)
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return show


def test_a_table_with_ranges_and_what_they_rest_on(shown, store_path):
    out = shown(provider="openai", samples=40)
    assert "estimate: 40 records from openai gpt-6-luna" in out
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if line.startswith("│")}
    assert {"topics", "subtopics", "situation", "peripheral", "question", "paraphrase", "spans", "total"} <= set(rows)
    assert "120–" in rows["question"]
    assert "$" in rows["total"]
    assert "Nothing was sent" in out
    assert "Prices as of 2026-" in out
    assert "thinks" not in out
    assert max(map(len, out.splitlines())) <= 130
    assert not store_path.exists()


def test_json_holds_the_same_in_numbers(shown):
    result = json.loads(shown(provider="anthropic", samples=40, as_json=True))
    assert (result["provider"], result["model"], result["records"], result["batch"]) == ("anthropic", "claude-haiku-5-5", 40, False)
    for name in ("calls", "input_tokens", "output_tokens", "cost_usd"):
        low, high = result[name]
        assert 0 < low <= high
        assert sum(stage[name][0] for stage in result["stages"]) == pytest.approx(low, rel=0.02)
    assert [stage["stage"] for stage in result["stages"]][:3] == ["topics", "subtopics", "situation"]
    assert result["cost_usd"][1] <= 3 * result["cost_usd"][0]


def test_a_thinking_model_and_batch_mode_are_said(shown):
    out = shown(provider="anthropic", model="claude-opus-5-5", samples=5, batch=True)
    assert "by batch" in out
    assert "The model thinks before it answers" in out


@pytest.mark.long
def test_a_budget_that_will_not_do_is_told_beforehand(shown):
    assert "The budget of $0.0100 is not enough" in shown(provider="openai", samples=500, budget_usd=0.01)
    assert "The budget of $0.2000 may not be enough" in shown(provider="openai", samples=500, budget_usd=0.2)
    assert "budget" not in shown(provider="openai", samples=500, budget_usd=50)


def test_a_model_without_a_price_is_told_how_to_get_one(shown):
    out = shown(provider="openai", model="gpt-9", samples=5)
    assert "unknown" in out
    assert '--price "input=…,output=…"' in out
    priced = shown(provider="openai", model="gpt-9", samples=5, price="input=1,output=2")
    assert "Prices as given by --price" in priced
    assert "price is unknown" not in priced


def test_the_composer_costs_nothing(shown):
    draws, told = shown(samples=5).splitlines()
    assert re.fullmatch(
        r"draws on 3 texts from \d+ stories with .* wordings, and \d+ stories without .*, at most 2 records of a story", draws
    )
    assert told == "the composer costs nothing: it sends no calls"
    told = json.loads(shown(samples=5, as_json=True))
    assert (told["calls"], told["draws_on"]["texts"]) == ([0, 0], 3)


def test_cached_tokens_are_shown_where_some_are_expected(shown):
    assert "cached" not in shown(provider="openai", samples=5)
    assert "cached" in shown(provider="openai", samples=5, judges=("leak",))


def test_prices_of_the_users_own_file_count(monkeypatch, tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("dated: 2027-01-01\nmodels: {openai: {my-model: {input: 3.0, output: 4.0}}}\n", encoding="utf-8")
    monkeypatch.setenv("PIILOOM_MODELS", str(path))
    spec = spec_of(make_config({"provider": "openai", "model": "my-model"}))
    assert (spec.input, spec.output, spec.batch_discount) == (3.0, 4.0, 0.5)


@pytest.mark.long
def test_the_rest_of_a_run(shown, store_path, monkeypatch, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LLMServer(Author(7)) as server:
        words = [
            "generate",
            "--provider",
            "openai",
            "--base-url",
            server.openai_url,
            "--samples",
            3,
            *FEW,
            "--store",
            store_path,
            "--quiet",
        ]
        assert run([str(word) for word in words]) == 0
        asked = server.requests
    capfd.readouterr()
    assert "nothing would be sent" in shown(resume="last")
    rest = json.loads(shown(resume="last", samples=10, budget_usd=1.0, as_json=True))
    assert rest["records"] == 7
    assert 0 < rest["calls"][0] < 3.5 * asked
    assert not any(stage["stage"] == "topics" for stage in rest["stages"])
    with Store.open(store_path) as store:
        assert store.rows("SELECT samples, status FROM runs") == [(3, "finished")]


@pytest.mark.long
def test_the_command_needs_no_key_and_leaves_no_store(cli, store_path):
    outcome = cli("generate", "--provider", "openai", "--samples", 3, *FEW, "--estimate", "--store", store_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert "estimate: 3 records from openai gpt-6-luna" in outcome.out
    assert not store_path.exists()
