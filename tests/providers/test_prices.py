"""Prices, limits and the user's own models file."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.providers.prices import ModelSpec, load_models, parse_prices, shipped_models
from piiloom.providers.protocol import TokenUsage
from tests.longer import case_by_case

OWN = """
dated: 2027-02-01
defaults: {compatible: house-model}
models:
  compatible:
    house-model: {input: 0.5, output: 1.5}
  openai:
    gpt-6-luna: {input: 7.0, output: 8.0}
"""


def test_the_shipped_list_is_dated_and_its_defaults_exist():
    book = shipped_models()
    assert dt.date(2026, 1, 1) < book.dated < dt.date(2027, 1, 1)
    for provider, model in book.defaults.items():
        assert book.find(provider, model)


def test_every_shipped_price_is_whole_and_plausible():
    for models in shipped_models().models.values():
        for spec in models.values():
            assert 0 < spec.cached < spec.input < spec.output
            assert spec.cache_write is None or spec.input < spec.cache_write < spec.output
            assert spec.max_output_tokens >= 16_384


def test_a_snapshot_is_priced_as_its_model():
    book = shipped_models()
    assert book.find("anthropic", "claude-haiku-4-5-20251001") == book.find("anthropic", "claude-haiku-4-5")
    assert book.find("openai", "gpt-6-luna-2026-09-22") == book.find("openai", "gpt-6-luna")
    assert book.find("openai", "gpt-6-luna-turbo") is None
    assert book.find("nobody", "gpt-6-luna") is None


def test_an_unknown_price_is_no_cost():
    assert ModelSpec().cost_usd(TokenUsage(input=5, output=5)) is None
    assert ModelSpec(input=1.0).cost_usd(TokenUsage(input=5, output=5)) is None


def test_an_answer_without_usage_has_no_known_cost():
    assert ModelSpec(input=1.0, output=1.0).cost_usd(TokenUsage()) is None
    assert ModelSpec(input=0.0, output=0.0).cost_usd(TokenUsage(input=1)) == 0.0


@given(st.integers(1, 10**7), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_cost_is_the_sum_of_its_parts(fresh, cached, written, output):
    spec = ModelSpec(input=2.0, cached=0.5, cache_write=2.5, output=8.0)
    usage = TokenUsage(input=fresh + cached + written, cached=cached, output=output, cache_write=written)
    expected = (fresh * 2.0 + cached * 0.5 + written * 2.5 + output * 8.0) / 1e6
    assert spec.cost_usd(usage) == pytest.approx(expected, abs=1e-9)


@given(
    st.integers(0, 5000),
    st.integers(0, 4096),
    st.floats(0, 1, allow_subnormal=False),
    st.floats(0, 1, allow_subnormal=False),
    st.floats(0, 1, allow_subnormal=False),
    st.booleans(),
    st.sampled_from([(p, m) for p, models in shipped_models().models.items() for m in models]),
)
def test_no_call_costs_more_than_its_worst_case(given_bytes, wanted, used, cached, written, batch, named):
    spec = shipped_models().find(*named)
    tokens = max(1, int((given_bytes + spec.overhead_tokens) * used))
    kept = int(tokens * cached)
    usage = TokenUsage(input=tokens, cached=kept, output=spec.output_limit(wanted), cache_write=int((tokens - kept) * written))
    assert spec.cost_usd(usage, batch=batch) <= spec.worst_case_usd(given_bytes, wanted, batch=batch)


def test_the_worst_case_is_the_dearest_input_and_the_whole_output_limit():
    spec = ModelSpec(input=2.0, cached=0.2, cache_write=2.5, output=10.0, overhead_tokens=100, thinking_tokens=1000, batch_discount=0.5)
    assert spec.worst_case_usd(900, 1000) == pytest.approx((1000 * 2.5 + 2000 * 10.0) / 1e6)
    assert spec.worst_case_usd(900, 1000, batch=True) == pytest.approx((1000 * 2.5 + 2000 * 10.0) / 2e6)
    assert ModelSpec(input=2.0).worst_case_usd(1, 1) is None


def test_batch_mode_costs_half_at_both_makers_and_what_it_costs_elsewhere():
    usage = TokenUsage(input=1000, cached=200, output=300)
    for provider, models in shipped_models().models.items():
        for model in models:
            spec = shipped_models().find(provider, model)
            assert spec.cost_usd(usage, batch=True) == pytest.approx(spec.cost_usd(usage) / 2)
    assert ModelSpec(input=1.0, output=2.0).cost_usd(usage, batch=True) == ModelSpec(input=1.0, output=2.0).cost_usd(usage)


def test_what_holds_for_a_maker_holds_for_unlisted_models_too():
    book = shipped_models()
    unlisted = book.resolve("anthropic", "claude-next")
    assert (unlisted.priced, unlisted.batch_discount, unlisted.thinking_tokens) == (False, 0.5, 4096)
    assert unlisted.overhead_tokens == book.find("anthropic", "claude-haiku-4-5").overhead_tokens
    local = book.resolve("compatible", "house-model")
    assert (local.priced, local.batch_discount, local.thinking_tokens) == (False, None, 4096)


def test_given_prices_replace_the_listed_ones_and_nothing_else():
    listed = shipped_models().find("openai", "gpt-6-astra")
    own = shipped_models().resolve("openai", "gpt-6-astra", parse_prices("input=1,output=2"))
    assert (own.input, own.cached, own.cache_write, own.output) == (1.0, None, None, 2.0)
    assert own.with_prices(listed) == listed
    assert (own.thinking_tokens, own.effort, own.batch_discount) == (4096, "low", 0.5)


def test_prices_from_the_command_line():
    assert parse_prices("input=0.5,output=1.5") == ModelSpec(input=0.5, output=1.5)
    spec = parse_prices(" output = 1e1 , input=0, cached=0.25,cache_write=3 ")
    assert (spec.input, spec.cached, spec.cache_write, spec.output) == (0.0, 0.25, 3.0, 10.0)
    assert spec.priced


@case_by_case(
    ("text", "fault"),
    [
        ("", "is not one of"),
        ("0.5", "is not one of"),
        ("input=0.5", "output missing"),
        ("cached=1", "input and output missing"),
        ("input=0.5,output=-1", "output must be a finite number, 0 or more"),
        ("input=nan,output=1", "input must be"),
        ("input=1,output=inf", "output must be"),
        ("input=cheap,output=1", "input is not a number"),
        ("input=1,output=2,input=3", "input is given twice"),
        ("input=1,output=2,thinking=3", "'thinking' is not one of input, cached, output, cache_write"),
        ("input=1,output=2,", "is not one of"),
    ],
)
def test_malformed_prices_are_refused_with_an_example(text, fault):
    with pytest.raises(UsageError) as caught:
        parse_prices(text)
    assert fault in caught.value.message
    assert caught.value.where == "--price"
    assert "input=0.5,output=1.5" in caught.value.remedy


def test_cached_tokens_cost_full_price_where_no_other_is_known():
    assert ModelSpec(input=2.0, output=8.0).cost_usd(TokenUsage(input=10**6, cached=10**6)) == pytest.approx(2.0)


def test_the_output_limit_keeps_to_the_model():
    assert ModelSpec(thinking_tokens=100, max_output_tokens=350).output_limit(300) == 350
    assert ModelSpec(thinking_tokens=100).output_limit(300) == 400


def write(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_file_wins_and_leaves_the_rest(tmp_path):
    book = load_models(write(tmp_path, OWN))
    assert book.dated == dt.date(2027, 2, 1)
    assert book.find("openai", "gpt-6-luna").input == 7.0
    assert book.find("openai", "gpt-6.1-terra") == shipped_models().find("openai", "gpt-6.1-terra")
    assert book.defaults["compatible"] == "house-model"
    assert book.defaults["openai"] == shipped_models().defaults["openai"]


def test_the_file_may_be_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PIILOOM_MODELS", str(write(tmp_path, OWN)))
    assert load_models().find("compatible", "house-model").output == 1.5
    monkeypatch.setenv("PIILOOM_MODELS", str(tmp_path / "nowhere.yaml"))
    with pytest.raises(ConfigError, match="PIILOOM_MODELS"):
        load_models()


@pytest.mark.parametrize(
    "text",
    [
        "models: [",
        "models: {openai: {m: {input: -1}}}\ndated: 2027-01-01",
        "models: {openai: {m: {input: .nan, output: 1}}}\ndated: 2027-01-01",
        "models: {openai: {m: {input: 1, output: .inf}}}\ndated: 2027-01-01",
        "models: {openai: {m: {input: yes, output: 1}}}\ndated: 2027-01-01",
        "models: {openai: {m: {input: 1, output: 1, batch_discount: 2}}}\ndated: 2027-01-01",
        "models: {openai: {m: {temperature: 1}}}\ndated: 2027-01-01",
        "dated: soon\nmodels: {}",
    ],
)
def test_a_malformed_file_names_the_place(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        load_models(write(tmp_path, text))
    assert caught.value.where.startswith("models.yaml:")


@pytest.mark.parametrize("price", ["-0.5", ".nan", "-.inf", "true", "'1.0'"])
def test_a_bad_price_is_named_by_file_line_and_key(tmp_path, price):
    text = f"dated: 2027-01-01\nmodels:\n  openai:\n    my-model:\n      input: 1.0\n      output: {price}\n"
    with pytest.raises(ConfigError) as caught:
        load_models(write(tmp_path, text))
    assert caught.value.where == "models.yaml:6"
    assert "models.openai.my-model.output" in caught.value.message
