"""A command that is refused leaves the store as it was, and does its work when it is asked again properly."""

from __future__ import annotations

import json
import sys

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs, load_rejects
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.longer import mostly_long
from tests.piiloom.small_runs import SMALL

FEW = ("--recipe", "staged", "--samples", 2, *SMALL, "--topics-per-pair", 2, "--subtopics-per-topic", 4)


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-LOOPBACK-0123456789")
    monkeypatch.delenv("OTEL_TRACES_EXPORTER", raising=False)
    with LLMServer(Author(7)) as made:
        yield made


def standing(path):
    """All runs with their settings and status, and the rejects that stand."""
    if not path.exists():
        return None
    with Store.open(path, create=False) as store:
        runs = list_runs(store)
        return [(run.id, run.status, run.samples, run.config) for run in runs], [load_rejects(store, run.id) for run in runs]


def compatible(server):
    return ("--provider", "compatible", "--model", "m", "--base-url", server.openai_url)


REFUSED = [
    (("--otel",), "--otel"),
    (("--ray", "--workers", 2), "--ray"),
    (("--ray", "--workers", 2, "--ray-address", "127.0.0.1:1"), "no Ray cluster answers there"),
    (("--batch",), "--batch"),
    (("--budget-usd", 5), "--budget-usd"),
    (("--budget-usd", "inf"), "budget"),
    (("--price", "input=cheap"), "price"),
    (("--prompts", "/nowhere/at/all"), "/nowhere/at/all"),
    (("--judge", "taste"), "judges"),
    (("--retry", "3"), "--retry"),
]


@pytest.mark.parametrize(("words", "told"), mostly_long(REFUSED, quick=REFUSED[::3]), ids=lambda value: str(value)[:40])
def test_a_refused_new_run_is_none(words, told, cli, store_path, server, monkeypatch):
    if "--ray-address" in words:
        pytest.importorskip("ray")
    else:
        monkeypatch.setitem(sys.modules, "ray", None)
    outcome = cli("generate", *compatible(server), *FEW, *words, "--store", store_path)
    assert outcome.code != 0
    assert told in outcome.error_line()
    assert standing(store_path) is None
    assert server.requests == 0
    done = cli("generate", *compatible(server), *FEW, "--quiet", "--store", store_path)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_without_a_key_or_a_price_there_is_no_run(provider, cli, store_path, server, monkeypatch):
    url = server.anthropic_url if provider == "anthropic" else server.openai_url
    words = ("generate", "--provider", provider, "--base-url", url, "--quiet", "--store", store_path, *FEW)
    assert "model-x" in cli(*words, "--model", "model-x").error_line()
    monkeypatch.delenv(f"{provider.upper()}_API_KEY")
    assert "_API_KEY" in cli(*words).error_line()
    assert standing(store_path) is None
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-LOOPBACK-0123456789")
    assert cli(*words).code == 0


CHANGES = [
    ("--otel",),
    ("--ray", "--workers", 2),
    ("--batch",),
    ("--budget-usd", 5),
    ("--price", "input=cheap"),
    ("--retry", "no_such_code"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    "words", mostly_long([(words,) for words in CHANGES], quick=[(words,) for words in CHANGES[:2]]), ids=lambda words: words[0]
)
def test_a_refused_resume_changes_nothing(words, cli, store_path, server, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert cli("generate", *compatible(server), *FEW, "--quiet", "--store", store_path).code == 0
    before = standing(store_path)
    outcome = cli("generate", "--resume", "last", "--samples", 3, *words, "--store", store_path)
    assert outcome.code != 0
    assert outcome.error_line()
    assert standing(store_path) == before
    grown = cli("generate", "--resume", "last", "--samples", 3, "--json", "--store", store_path)
    assert json.loads(grown.out)["accepted"] == 3


def test_ray_that_cannot_be_started_leaves_no_run(cli, store_path, server, monkeypatch):
    ray = pytest.importorskip("ray")

    def broken(*_words, **_options):
        raise RuntimeError("no room for it")

    monkeypatch.setattr(ray, "init", broken)
    outcome = cli("generate", *FEW, "--ray", "--workers", 2, "--quiet", "--store", store_path)
    assert "Ray cannot be started" in outcome.error_line()
    assert standing(store_path) is None
    assert cli("generate", *FEW, "--quiet", "--store", store_path).code == 0


@pytest.mark.long
def test_a_stage_out_of_turn_leaves_the_run_as_it_stood(cli, store_path):
    assert cli("stages", "run", "topics", *FEW, "--store", store_path).code == 0
    before = standing(store_path)
    assert cli("stages", "run", "screen", "--store", store_path).code == 1
    assert cli("stages", "run", "judge_leak", "--store", store_path).code == 1
    assert standing(store_path) == before
    assert cli("generate", "--resume", "last", "--quiet", "--store", store_path).code == 0
    finished = standing(store_path)
    assert cli("stages", "run", "judge_leak", "--store", store_path).code == 1
    assert cli("stages", "run", "values", "--batch", "--store", store_path).code == 2
    assert standing(store_path) == finished
