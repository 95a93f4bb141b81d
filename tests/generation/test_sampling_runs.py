"""Sampling settings of a run and of its stages: sent where they are said, another reply, the same plan."""

from __future__ import annotations

from collections import defaultdict

import pytest

from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest, run_digest, shaping
from piiloom.generation.settings.sampling import ASKING_STAGES
from piiloom.generation.settings.setting_checks import make_config, read_config
from piiloom.generation.stages.pipeline import all_stage_names
from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import config_for, read_back, set_keys, start
from tests.longer import case_by_case

STAGES = {"topics": "topics", "situation": "situation", "question_draft": "question"}


@pytest.fixture
def server(monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(CaseAuthor(3)) as running:
        yield running


def sent(bodies, name):
    """The values of *name* in the requests of some stages."""
    found = defaultdict(set)
    for body in bodies:
        stage = STAGES.get(body["response_format"]["json_schema"]["name"])
        if stage:
            found[stage].add(body.get(name))
    return dict(found)


def test_the_stages_that_ask_are_those_of_the_pipeline():
    assert set(ASKING_STAGES) == set(all_stage_names()) - {
        "screen",
        "story",
        "verdict",
    }  # the composer alone tells stories; a verdict is that of judge_relevance


def test_each_stage_is_sent_its_own_settings(server, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "provider: compatible\nmodel: m\ntemperature: 0.5\n"
        "sampling:\n  situation: {temperature: 0.9, extra_body: {top_k: 40}}\n  question: {top_p: 0.8}\n"
    )
    plain = config_for("compatible", server, samples=3)
    rest = {name: getattr(plain, name) for name in plain.model_fields_set - {"provider", "model"}}
    with Store.open(tmp_path / "store.duckdb") as store:
        assert start(store, read_config(file, rest)).status == "finished"
        assert make_config(read_back(store).run.config) == read_config(file, rest)
    assert sent(server.bodies, "temperature") == {"topics": {0.5}, "situation": {0.9}, "question": {0.5}}
    assert sent(server.bodies, "top_p") == {"topics": {None}, "situation": {None}, "question": {0.8}}
    assert sent(server.bodies, "top_k") == {"topics": {None}, "situation": {40}, "question": {None}}


@pytest.mark.long
def test_another_temperature_for_one_stage_is_paid_for_from_that_stage_on(server, tmp_path):
    plain = config_for("compatible", server, samples=3)
    warmer = config_for("compatible", server, samples=3, sampling={"situation": {"temperature": 0.9}})
    assert run_digest(plain) != run_digest(warmer)
    assert plan_digest(plain) == plan_digest(warmer)
    with Store.open(tmp_path / "store.duckdb") as store:
        start(store, plain)
        first = len(server.bodies)
        start(store, warmer)
        again = server.bodies[first:]
        assert "situation" in sent(again, "temperature")
        assert "topics" not in sent(again, "temperature")
        # The run without settings finds all it asked, also after that.
        start(store, config_for("compatible", server, samples=3, judges=["leak"]))
        assert not set(sent(server.bodies[first + len(again) :], "temperature"))


@pytest.mark.parametrize("given", [{}, {"temperature": None}, {"sampling": {}}, {"top_p": None, "extra_body": None}])
def test_without_settings_a_run_has_the_digest_it_always_had(given):
    known = RunConfig.model_fields.keys() - {"temperature", "top_p", "extra_body", "sampling"}
    config = make_config({"provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1", **given})
    assert shaping(config).keys() < known
    assert run_digest(config) == run_digest(make_config({"provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}))


@case_by_case(
    ("settings", "said"),
    [
        ({"temperature": 0.5}, "the composer samples no tokens"),
        ({"provider": "anthropic", "sampling": {"topics": {"temperature": 1}}}, "sampling.topics: Anthropic's API takes no temperature"),
        ({"provider": "openai", "model": "gpt-6-sol", "temperature": 1}, "gpt-6-sol takes no temperature while it reasons (effort low)"),
        ({"provider": "openai", "sampling": {"screen": {"temperature": 1}}}, "'screen' is not a stage that calls a model"),
        ({"provider": "openai", "sampling": {"values": {"temperature": 1}}}, "this run calls no model at the stage values"),
        ({"provider": "openai", "sampling": {"judge_leak": {"top_p": 1}}}, "this run calls no model at the stage judge_leak"),
        ({"provider": "openai", "sampling": {"topics": {"heat": 1}}}, "sampling.topics: unknown setting 'heat'"),
        ({"provider": "openai", "temperature": 3}, "temperature: "),
        ({"provider": "openai", "temperature": float("nan")}, "temperature: "),
        ({"provider": "openai", "top_p": 0}, "top_p: "),
        ({"provider": "openai", "extra_body": "[1]"}, "extra_body: needs a JSON object"),
        ({"provider": "openai", "extra_body": "{"}, "extra_body: needs a JSON object"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(settings, said):
    with pytest.raises(UsageError) as caught:
        make_config(settings)
    assert said in str(caught.value)


def test_a_run_file_names_the_line(tmp_path):
    (tmp_path / "run.yaml").write_text("provider: openai\nsampling:\n  topics: {temperature: hot}\n")
    with pytest.raises(ConfigError, match=r"run\.yaml:3"):
        read_config(tmp_path / "run.yaml", {})


def test_a_judge_and_values_of_the_model_can_be_set():
    config = make_config({"provider": "openai", "values": "llm", "judges": ["leak"], "sampling": {"values": {"temperature": 1.2}}})
    assert config.sampling_of("values").temperature == 1.2
    assert make_config({**config.model_dump(), "sampling": {"judge_leak": {"temperature": 0}}}).sampling_of("judge_leak").temperature == 0


def test_from_the_command_line(server, tmp_path, cli_run):
    code = cli_run(
        *("--provider", "compatible", "--model", "m", "--base-url", server.openai_url, "--samples", "1"),
        *("--temperature", "0.4", "--top-p", "0.9", "--extra-body", '{"top_k": 7}', "--store", str(tmp_path / "s.duckdb")),
    )
    assert code == 0
    assert {(body["temperature"], body["top_p"], body["top_k"]) for body in server.bodies} == {(0.4, 0.9, 7)}


@pytest.fixture
def cli_run():
    from piiloom.cli.main import run

    return lambda *words: run(["generate", "--pairs", "health+occupation", "--quiet", *words])
