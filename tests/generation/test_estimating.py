"""Estimates before anything is sent, held against what real runs then take."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from dataclasses import dataclass
from itertools import product

import pytest

from piiloom.corpus.store.database import Store
from piiloom.generation.estimate.estimate_author import StandIn
from piiloom.generation.estimate.estimating import Range, RunEstimate, estimate_run
from piiloom.generation.plan.planning import planned_for
from piiloom.generation.running.opening import resumed_config
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import make_config
from piiloom.providers.prices import ModelSpec, load_models, parse_prices, shipped_models
from piiloom.providers.protocol import PromptCall, TokenUsage
from piiloom.providers.replies import conform
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer, seeded_faults
from tests.fakes.llm_tricks import TRICKS
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import config_for, read_back, resume, set_keys, start
from tests.longer import EXPLORE, mostly_long, usually

CLUMSY = {trick: 0.01 for tricks in TRICKS.values() for trick in tricks}
FAULTS = {"rate_limit": 0.05, "server_error": 0.03, "bad_json_reply": 0.02, "truncation": 0.02, "refusal": 0.01, "cut": 0.01}
NAMES = ("openai", "anthropic", "compatible")
OWN = parse_prices("input=0.1,cached=0.01,output=0.5")


def spec_for(config: RunConfig) -> ModelSpec:
    """What is listed of the model; a local one at prices of our own."""
    return load_models().resolve(config.provider, str(config.model), OWN if config.provider == "compatible" else None)


def estimated(provider: str = "openai", model: str = "gpt-6-luna", **settings) -> RunEstimate:
    config = make_config({"provider": provider, "model": model, "recipe": "staged", **settings})
    return estimate_run(config, load_models().resolve(provider, model, OWN if provider == "compatible" else None))


@dataclass
class Taken:
    """What a run really took."""

    calls: Counter[str]
    first_calls: Counter[str]
    input_tokens: Counter[str]
    output_tokens: Counter[str]
    cost_usd: float


def taken_by(store: Store, spec: ModelSpec) -> Taken:
    taken = Taken(Counter(), Counter(), Counter(), Counter(), 0.0)
    for row in read_back(store).completions:
        taken.calls[row.stage] += 1
        taken.first_calls[row.stage] += row.attempt == 0
        taken.input_tokens[row.stage] += row.input_tokens
        taken.output_tokens[row.stage] += row.output_tokens
        usage = TokenUsage(input=row.input_tokens, cached=row.cached_tokens, output=row.output_tokens)
        taken.cost_usd += spec.cost_usd(usage) or 0.0
    return taken


def holds(held: Range, value: float) -> bool:
    return held.low <= value <= held.high


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(NAMES, quick={"openai"}))
def test_a_run_without_a_hitch_takes_the_calls_that_were_foretold(name, tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(Author(2)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for(name, server, samples=12, max_low=8)
        estimate = estimate_run(config, spec_for(config))
        start(store, config)
        taken = taken_by(store, spec_for(config))
    for stage in estimate.stages:
        assert round(stage.calls.low) == taken.first_calls[stage.stage]
        assert holds(stage.calls, taken.calls[stage.stage])
        assert holds(stage.input_tokens, taken.input_tokens[stage.stage])
    assert set(taken.calls) <= {stage.stage for stage in estimate.stages}
    assert holds(estimate.total.output_tokens, taken.output_tokens.total())
    assert holds(estimate.total.cost_usd, taken.cost_usd)


@pytest.mark.long
def test_a_run_by_the_recipe_case_takes_what_was_foretold(tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(CaseAuthor(2)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("openai", server, samples=12, recipe="case", max_low=8)
        judge = load_models().resolve("anthropic", "claude-haiku-5-5")
        estimate = estimate_run(config, spec_for(config))
        dearer = estimate_run(config.model_copy(update={"judge_provider": "anthropic"}), spec_for(config), judge_spec=judge)
        start(store, config)
        taken = taken_by(store, spec_for(config))
    for stage in estimate.stages:
        # This judge contradicts nothing, and every other one at least one question in twenty.
        assert stage.calls.low / 1.06 <= taken.first_calls[stage.stage] <= stage.calls.high
    assert set(taken.calls) <= {stage.stage for stage in estimate.stages}
    assert holds(estimate.total.input_tokens, taken.input_tokens.total())
    assert holds(estimate.total.cost_usd, taken.cost_usd)
    costs = [{stage.stage: stage.cost_usd.high for stage in one.stages} for one in (estimate, dearer)]
    assert {name for name in costs[0] if costs[0][name] != costs[1][name]} == {"judge_relevance"}


@pytest.mark.long
@pytest.mark.parametrize("recipe", ["staged", "case"])
def test_a_small_run_asks_for_the_topics_that_were_foretold(recipe, tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(CaseAuthor(2)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("openai", server, samples=3, recipe=recipe, pairs="all")
        foretold = {stage.stage: round(stage.calls.low) for stage in estimate_run(config, spec_for(config)).stages}
        assert start(store, config).status == "finished"
        asked = taken_by(store, spec_for(config)).first_calls
    items = planned_for(3, 0.0)
    assert asked["topics"] == foretold["topics"] == (items if recipe == "staged" else -(-items // 2))
    assert asked["subtopics"] == foretold["subtopics"]


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(NAMES, quick={"anthropic"}))
def test_the_range_holds_what_a_troubled_run_costs(name, tmp_path, monkeypatch):
    set_keys(monkeypatch)
    schedule = seeded_faults(3, FAULTS)
    with LLMServer(Author(3, CLUMSY), schedule) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for(name, server, samples=12, max_low=8)
        estimate = estimate_run(config, spec_for(config))
        start(store, config)
        taken = taken_by(store, spec_for(config))
        billed = sum(server.billed.values())
    assert holds(estimate.total.calls, billed)
    assert holds(estimate.total.cost_usd, taken.cost_usd)


@pytest.mark.long
@pytest.mark.parametrize(
    ("samples", "values"),
    usually(product([1, 3, 60 if EXPLORE else 18], ["code", "llm"]), {(1, "llm"), (3, "code"), (18, "llm")}),
)
def test_the_range_holds_for_small_and_larger_runs_over_all_pairs(samples, values, tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(Author(samples, CLUMSY), seeded_faults(samples, FAULTS)) as server, Store.open(tmp_path / "s.duckdb") as store:
        chosen = {"pairs": "all", "topics_per_pair": 10, "subtopics_per_topic": 20, "max_low": 8, "margin": 0.1}
        config = config_for("openai", server, samples=samples, values=values, **chosen)
        estimate = estimate_run(config, spec_for(config))
        start(store, config)
        taken = taken_by(store, spec_for(config))
    assert holds(estimate.total.cost_usd, taken.cost_usd)


MODELS = (
    *(("openai", model) for model in ("gpt-6-luna", "gpt-6-astra", "gpt-5.4-mini", "gpt-4o")),
    *(("anthropic", model) for model in ("claude-haiku-5-5", "claude-opus-5-5", "claude-sonnet-4-6")),
    ("compatible", "local"),
)
SAMPLES = (1, 4, 40, 2307)


# Quick: every model, and every number of samples, but not each with each.
@pytest.mark.parametrize(
    ("provider", "model", "samples"),
    mostly_long(
        [(*model, samples) for model in MODELS for samples in SAMPLES],
        quick={(*model, SAMPLES[number % 4]) for number, model in enumerate(MODELS)},
    ),
)
def test_the_ends_are_at_most_three_times_apart(provider, model, samples):
    cost = estimated(provider, model, samples=samples).total.cost_usd
    assert 0 < cost.low < cost.high <= 3 * cost.low


@pytest.mark.parametrize(
    "settings",
    [
        {"values": "llm"},
        {"locale": "pt_BR"},
        {"locale": "sv_SE", "max_low": 0},
        {"situation_words": (3, 200), "question_words": (30, 60)},
        {"topics_per_pair": 100, "subtopics_per_topic": 1},
        {"pairs": "health+occupation", "registers": ("long story",)},
        {"judges": ("relevance", "leak")},
    ],
)
def test_every_setting_can_be_estimated(settings):
    estimate = estimated(samples=30, **settings)
    names = [stage.stage for stage in estimate.stages]
    assert ("values" in names) == (settings.get("values") == "llm")
    assert {"judge_relevance", "judge_leak"} <= set(names) or not settings.get("judges")
    assert estimate.total.cost_usd.high <= 3 * estimate.total.cost_usd.low
    # A stand-in whose replies were refused would have been asked again.
    calls = {stage.stage: stage.calls.low for stage in estimate.stages}
    assert (calls["situation"], calls["question"], calls["paraphrase"]) == (pytest.approx(30), pytest.approx(90), pytest.approx(30))
    assert all(calls[name] == pytest.approx(30, abs=2) for name in names if name.startswith("judge_"))


def test_no_key_and_no_network_is_needed(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def refuse(*_: object) -> None:
        raise AssertionError("an estimate must not open a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    estimate = estimate_run(
        make_config({"provider": "anthropic", "samples": 5, "recipe": "staged"}), shipped_models().resolve("anthropic", "claude-haiku-5-5")
    )
    assert estimate.model == "claude-haiku-5-5"  # the default, which also shapes the plan
    assert estimate.total.cost_usd is not None


@pytest.mark.long
def test_a_large_run_takes_no_more_work_to_estimate_than_a_small_one(monkeypatch):
    rehearsed, complete = Counter(), StandIn.complete

    async def counted(author, call):
        rehearsed[samples] += 1
        return await complete(author, call)

    monkeypatch.setattr(StandIn, "complete", counted)
    for samples in (1_000, 100_000):
        estimate = estimated(samples=samples)
        assert estimate.total.calls.low > 6 * samples
    assert 0 < rehearsed[100_000] <= 1.1 * rehearsed[1_000]


def test_it_works_where_an_event_loop_is_running():
    async def main() -> RunEstimate:
        return estimated(samples=2)

    assert asyncio.run(main()).total.calls.low > 2


@pytest.mark.long
def test_twice_the_records_take_about_twice_as_much():
    one, two = (estimated(samples=number).stages for number in (400, 800))
    for small, large in zip(one[2:6], two[2:6], strict=True):
        assert large.calls.low == pytest.approx(2 * small.calls.low, rel=0.15)
        assert large.cost_usd.low == pytest.approx(2 * small.cost_usd.low, rel=0.15)


def test_batch_mode_costs_half_and_takes_the_same():
    config = make_config({"provider": "openai", "model": "gpt-6-luna", "samples": 10, "recipe": "staged"})
    spec = spec_for(config)
    live, batch = (estimate_run(config, spec, batch=by_batch) for by_batch in (False, True))
    assert batch.total.cost_usd.high == pytest.approx(live.total.cost_usd.high / 2)
    assert batch.total.calls == live.total.calls
    assert batch.batch


def test_a_model_without_a_price_has_tokens_but_no_cost():
    estimate = estimate_run(
        make_config({"provider": "openai", "model": "gpt-9", "samples": 5, "recipe": "staged"}), shipped_models().resolve("openai", "gpt-9")
    )
    assert estimate.total.cost_usd is None
    assert estimate.thinks
    assert 0 < estimate.total.output_tokens.low < estimate.total.output_tokens.high


def test_a_model_that_thinks_gives_out_more():
    spec = spec_for(make_config({"provider": "openai", "model": "gpt-6-sol"}))
    config = make_config({"provider": "openai", "model": "gpt-6-sol", "samples": 5, "recipe": "staged"})
    silent = estimate_run(config, spec.model_copy(update={"thinking_tokens": 0}))
    assert estimate_run(config, spec).total.output_tokens.low > silent.total.output_tokens.low + 90 * silent.total.calls.low - 1


def test_the_composer_needs_no_calls():
    estimate = estimate_run(make_config({"samples": 5}), ModelSpec())
    assert (estimate.free, estimate.stages, estimate.total.calls) == (True, (), Range())


def test_a_long_shared_prefix_may_come_from_the_cache(tmp_path):
    rules = "Write as people write, with care for every detail of the matter at hand. " * 120
    text = (
        "{% block system %}" + rules + "{% endblock %}{% block user %}{{ situation }} {{ types }} {{ fault }} {{ language }}{% endblock %}"
    )
    (tmp_path / "question_draft.j2").write_text(text, encoding="utf-8")
    plain, long = estimated(samples=10), estimated(samples=10, prompts=tmp_path)
    assert plain.total.cached_tokens.high == 0
    cached = {stage.stage: stage.cached_tokens for stage in long.stages}
    assert cached["question"].high > 10 * 1024 * 0.45
    assert cached["question"].low == cached["situation"].high == 0


@pytest.mark.long
def test_what_is_left_of_a_run(tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(Author(2)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("openai", server, samples=4)
        start(store, config)
        known = {stage: taken_by(store, spec_for(config)).calls[stage] for stage in ("topics", "subtopics")}
        run = read_back(store).run
        grown = resumed_config(store, run, samples=30)
        rest = estimate_run(grown, spec_for(grown), accepted=4, topics_known=known["topics"], subtopics_known=known["subtopics"])
        before = server.requests
        resume(store, samples=30)
        sent = server.requests - before
    assert rest.records == 26
    assert planned_for(30, 0.0) > planned_for(4, 0.0)
    assert holds(rest.total.calls, sent)
    assert round(rest.total.calls.low) == sent
    assert run.samples == 4


def test_nothing_is_left_of_a_finished_run():
    config = make_config({"provider": "openai", "model": "gpt-6-luna", "samples": 5, "recipe": "staged"})
    assert estimate_run(config, spec_for(config), accepted=5).stages == ()


def test_a_stage_that_nobody_knows_yet_is_answered_from_its_schema():
    part = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer", "enum": [3, 4]}}, "required": ["id", "n"]}
    schema = {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "share": {"type": "number"},
            "sure": {"type": "boolean"},
            "nothing": {"type": ["null", "string"]},
            "free": {"type": "array"},
        },
        "required": ["parts", "note"],
        "$defs": {"part": part},
    }
    call = PromptCall(stage="new", template="new.v1", variables={}, render=tuple, schema_name="new_stage", schema=schema, item_id="1")
    data = asyncio.run(StandIn(make_config({"provider": "openai", "model": "m"})).complete(call)).data
    assert conform(data, schema) == data
    assert len(data["parts"]) == 1
