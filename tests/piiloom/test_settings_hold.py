"""Every setting that a caller gives holds, or is refused with its reason; a field that is added to the run must be told of here."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import piiloom
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run, list_runs
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import PiiloomError, RunError, UsageError
from piiloom.generation.running.opening import new_or_known_run, resumed_run
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import CHANGEABLE_SETTINGS, PLACES
from piiloom.generation.settings.setting_checks import make_config
from piiloom.taxonomy.own_types_file import read_types_file
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.longer import mostly_long
from tests.tagging.trained import save_small_model
from tests.taxonomy.bank_example import written

PAID = {
    "provider": "compatible",
    "model": "tiny",
    "recipe": "staged",
    "samples": 2,
    "pairs": "health+occupation",
    "topics_per_pair": 2,
    "subtopics_per_topic": 4,
}
COMPOSED = {"samples": 2, "recipe": "staged", "pairs": "health+relationship"}
# A value other than the base's for every field of a run; fields of the composer's are tried on a run of the composer.
OTHER: dict[str, Any] = {
    "samples": 3,
    "provider": "openai",
    "model": "other",
    "base_url": "elsewhere",  # stands for the URL of a second server
    "pairs": "age+belief",
    "locale": "en_GB",
    "seed": 8,
    "concurrency": 3,
    "topics_per_pair": 3,
    "subtopics_per_topic": 5,
    "values": "llm",
    "relevance_shares": "published",
    "paper": "capid",
    "recipe": "story",
    "questions_per_text": 3,
    "only_types": ("health", "occupation", "relationship"),
    "with_kinds": ("email",),
    "repeat_stories": True,
    "no_pii_share": 0.2,
    "max_attempts": 2,
    "max_low": 1,
    "situation_words": (10, 20),
    "peripheral_words": (5, 20),
    "question_words": (5, 30),
    "registers": ("forum post",),
    "bank": "moved",  # stands for a folder that has moved, here and below
    "composer": {"personas": False},
    "margin": 0.5,
    "rpm": 5.0,
    "tpm": 900.0,
    "timeout_s": 3.0,
    "max_output_tokens": 900,
    "budget_usd": 1.0,
    "price": "input=3,output=4",
    "unpriced": True,
    "batch": True,
    "response_format": "json_object",
    "stop_after": 5,
    "judges": ("leak",),
    "judge_provider": "openai",
    "judge_model": "referee",
    "judge_base_url": "http://127.0.0.1:9/v1",
    "judge_price": "input=5,output=6",
    "on_disagreement": "reject",
    "screen_model": "moved",
    "screen_threshold": 0.3,
    "on_unlisted": "reject",
    "prompts": "moved",
    "types": "moved",
    "temperature": 0.7,
    "top_p": 0.5,
    "extra_body": {"top_k": 40},
    "sampling": {"situation": {"temperature": 0.2}},
}
ONLY_COMPOSED = {"bank", "composer", "recipe", "questions_per_text"}
SCREENED = {"screen_threshold", "on_unlisted"}
JUDGED = {"judge_provider", "judge_model", "judge_base_url", "judge_price", "on_disagreement"}
OWN_TYPES = Path(__file__).parents[2] / "docs" / "samples" / "own_types" / "by_model.yaml"
# What a run has that was given everything; a caller's word must hold against it.
GIVEN = {"concurrency": 9, "rpm": 50.0, "tpm": 9000.0, "timeout_s": 30.0, "budget_usd": 7.0, "price": "input=1,output=2", "margin": 0.2}


@pytest.fixture
def server():
    with LLMServer(Author(7)) as running:
        yield running


@pytest.fixture
def elsewhere():
    with LLMServer(Author(7)) as running:
        yield running


@pytest.fixture
def place(tmp_path):
    """A folder with a bank and a prompt of the user's own."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def base(request, server, monkeypatch, place, tmp_path):
    """Settings of the run that is there already."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    field = request.node.callspec.params["field"]
    if field == "bank":
        written(place)
    if field == "prompts":
        template = Path(__file__).parents[2] / "prompts" / "templates" / "situation.v1.j2"
        (place / "situation.v2.j2").write_text(template.read_text(encoding="utf-8").replace("\n", "\n\n", 1), encoding="utf-8")
    if field == "batch":
        return {**PAID, **GIVEN, "provider": "openai", "model": "gpt-6-luna", "base_url": server.openai_url}
    if field in JUDGED:
        judge = {
            "judge_provider": "compatible",
            "judge_model": "judge",
            "judge_base_url": server.openai_url,
            "judge_price": "input=1,output=1",
        }
        return {**PAID, **GIVEN, "base_url": server.openai_url, "recipe": "case", **judge}
    chosen = COMPOSED if field in ONLY_COMPOSED else {**PAID, **GIVEN, "base_url": server.openai_url}
    if field == "screen_model":
        save_small_model(place)
    if field in SCREENED:
        save_small_model(tmp_path / "detector")
        return {**chosen, "screen_model": tmp_path / "detector"}
    if field == "questions_per_text":
        return {**chosen, "recipe": "story"}
    if field == "types":
        shutil.copy(OWN_TYPES, place)
        return {**chosen, field: place / OWN_TYPES.name}
    return {**chosen, field: place} if field in PLACES else chosen


@pytest.fixture
def other(request, elsewhere, base, place, tmp_path):
    """The value that the caller gives."""
    field = request.node.callspec.params["field"]
    if field in PLACES:
        moved = shutil.copytree(place, tmp_path / "moved")
        return moved / OWN_TYPES.name if field == "types" else moved
    return elsewhere.openai_url if field == "base_url" else OTHER[field]


def open_and_close(path: Path, settings: dict[str, Any]) -> tuple[str, RunConfig, Any]:
    with new_or_known_run(path, make_config(settings)) as opened:
        asyncio.run(opened.provider.aclose())
        return opened.run.id, opened.config, opened.provider


def stored(path: Path, run_id: str) -> RunConfig:
    with Store.open(path, create=False) as store:
        return make_config(get_run(store, run_id).config)


def test_no_field_of_a_run_is_forgotten_here():
    assert OTHER.keys() == RunConfig.model_fields.keys()
    assert OTHER.keys() > CHANGEABLE_SETTINGS | PLACES


@pytest.mark.parametrize("field", mostly_long(sorted(OTHER), quick={"budget_usd", "seed"}))
def test_what_python_asks_for_holds_on_a_known_run(field, base, other, place, store_path):
    first, _, _ = open_and_close(store_path, base)
    shutil.rmtree(place)
    again, config, provider = open_and_close(store_path, {**base, field: other})
    expected = getattr(make_config({**base, field: other}), field)
    assert getattr(config, field) == getattr(stored(store_path, again), field) == expected
    # What makes other records is another run.
    assert (again == first) == (field in CHANGEABLE_SETTINGS | PLACES)
    assert provider.model == config.model
    if config.provider == "compatible":
        assert provider._timeout_s == config.timeout_s
        assert provider.endpoint == config.base_url
        assert provider.spec.input == (3.0 if field == "price" else 1.0)


def test_what_python_does_not_mention_stays(server, store_path):
    _, before, _ = open_and_close(store_path, {**PAID, **GIVEN, "base_url": server.openai_url, "unpriced": True, "samples": 3})
    _, after, _ = open_and_close(store_path, PAID)
    assert after == before


@pytest.mark.parametrize("field", ["rpm", "tpm", "budget_usd"])
def test_none_takes_a_limit_away(field, base, store_path):
    first, config, _ = open_and_close(store_path, base)
    assert getattr(config, field) is not None
    again, config, _ = open_and_close(store_path, {**base, field: None})
    assert (again, getattr(config, field)) == (first, None)


@pytest.mark.parametrize("field", mostly_long(sorted(CHANGEABLE_SETTINGS | PLACES), quick={"samples"}))
def test_what_a_resumed_run_is_given_holds(field, base, other, place, store_path):
    first, _, _ = open_and_close(store_path, base)
    shutil.rmtree(place)
    with resumed_run(store_path, first, **{field: other}) as opened:
        asyncio.run(opened.provider.aclose())
    expected = read_types_file(other) if field == "types" else other
    assert getattr(opened.config, field) == getattr(stored(store_path, first), field) == expected


@pytest.mark.long
def test_what_a_resumed_run_keeps_is_refused(filled):
    before = stored(filled, "last")
    for field in sorted(OTHER.keys() - CHANGEABLE_SETTINGS - PLACES):
        with pytest.raises(UsageError, match=f"keeps its {field}"), resumed_run(filled, "last", **{field: OTHER[field]}):
            pass
    assert stored(filled, "last") == before


def options_of(cli) -> dict[str, str]:
    told = cli("generate", "--help").out
    named = {name: "--judge" if name == "judges" else f"--{name.replace('_', '-').removesuffix('-s')}" for name in OTHER}
    return {name: option for name, option in named.items() if f"{option} " in told}


def as_word(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [json.dumps(value)]
    return [] if value is True else [value[0] if isinstance(value, tuple) else str(value)]


@pytest.mark.parametrize("estimate", [[], ["--estimate"]])
def test_the_command_line_refuses_what_a_run_keeps(cli, filled, estimate):
    options = options_of(cli)
    assert len(options) > 15
    for name in sorted(options.keys() - CHANGEABLE_SETTINGS - PLACES):
        refused = cli("generate", "--resume", "last", options[name], *as_word(OTHER[name]), *estimate, "--store", filled)
        assert refused.code == 2
        assert f"{options[name]} cannot go with --resume: a run keeps its settings" in refused.error_line()


@pytest.mark.long
def test_a_run_goes_on_at_a_server_that_has_moved(cli, store_path, elsewhere):
    with LLMServer(Author(7)) as gone:
        settings = [word for name in ("provider", "model", "recipe", "samples", "pairs") for word in (f"--{name}", PAID[name])]
        assert cli("generate", *settings, "--base-url", gone.openai_url, "--store", store_path).code == 0
    away = cli("generate", "--resume", "last", "--samples", 3, "--store", store_path)
    assert "cannot be reached" in away.error_line()
    moved = cli("generate", "--resume", "last", "--samples", 3, "--base-url", elsewhere.openai_url, "--json", "--store", store_path)
    assert (moved.code, json.loads(moved.out)["accepted"]) == (0, 3)
    assert elsewhere.requests > 0
    with Store.open(store_path, create=False) as store:
        assert len(list_runs(store)) == 1


def test_a_bank_of_other_content_is_no_other_place_of_it(filled, place):
    written(place)
    with pytest.raises(RunError, match="started with other"), resumed_run(filled, "last", bank=place):
        pass


@pytest.mark.long
def test_a_lower_budget_stops_a_known_run(server, store_path):
    settings = {**PAID, "base_url": server.openai_url, "price": "input=1,output=2", "store": store_path}
    assert piiloom.generate(**settings, budget_usd=5.0).accepted == 2
    sent = server.requests
    with pytest.raises(BudgetReached):
        piiloom.generate(**{**settings, "samples": 20}, budget_usd=0.00001)
    assert server.requests == sent
    assert piiloom.generate(**{**settings, "samples": 4}, budget_usd=None).accepted >= 4


def test_a_wrong_model_for_the_composer_is_refused_on_a_known_run_too(store_path):
    piiloom.generate(store=store_path, **COMPOSED)
    with pytest.raises(PiiloomError, match="takes neither --model nor --base-url"):
        piiloom.generate(store=store_path, model="gpt-6-luna", **COMPOSED)
