"""Prices, limits and the user's own models file."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import ConfigError
from providers.prices import ModelSpec, load_models, shipped_models
from providers.protocol import TokenUsage

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
    assert book.find("anthropic", "claude-haiku-4-5-20251001") is book.find("anthropic", "claude-haiku-4-5")
    assert book.find("openai", "gpt-6-luna-2026-09-22") is book.find("openai", "gpt-6-luna")
    assert book.find("openai", "gpt-6-luna-turbo") is None
    assert book.find("nobody", "gpt-6-luna") is None


def test_an_unknown_price_is_no_cost():
    assert ModelSpec().cost_usd(TokenUsage(input=5, output=5)) is None
    assert ModelSpec(input=1.0).cost_usd(TokenUsage(input=5, output=5)) is None


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_cost_is_the_sum_of_its_parts(fresh, cached, written, output):
    spec = ModelSpec(input=2.0, cached=0.5, cache_write=2.5, output=8.0)
    usage = TokenUsage(input=fresh + cached + written, cached=cached, output=output)
    expected = (fresh * 2.0 + cached * 0.5 + written * 2.5 + output * 8.0) / 1e6
    assert spec.cost_usd(usage, cache_write=written) == pytest.approx(expected, abs=1e-9)


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
        "models: {openai: {m: {temperature: 1}}}\ndated: 2027-01-01",
        "dated: soon\nmodels: {}",
    ],
)
def test_a_malformed_file_names_the_place(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        load_models(write(tmp_path, text))
    assert caught.value.where.startswith("models.yaml") or "models.yaml:" in caught.value.where
