"""Building providers: names, keys, URLs, and what must not be imported or shown."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys

import httpx2
import pytest

from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.addresses import Redactor, public_url
from piiloom.providers.errors import AuthFailed, ProviderUnavailable
from piiloom.providers.factory import make_provider
from piiloom.providers.protocol import Provider
from tests.fakes.llm_server import Fault, LLMServer
from tests.longer import case_by_case
from tests.providers.provider_calls import DATA, KEY, MODELS, NAMES, PROMPT, complete, loopback, mocked

each_provider = pytest.mark.parametrize("name", NAMES)


def close(provider: Provider) -> None:
    asyncio.run(provider.aclose())


def test_importing_the_factory_imports_no_sdk():
    code = "import sys, piiloom.providers.factory; print([m for m in ('openai', 'anthropic', 'httpx2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@each_provider
def test_what_a_run_records_of_a_provider(name):
    provider = make_provider(name, model=MODELS[name], base_url="https://user:pass@llm.test:8443/v1/?key=abcdef")
    try:
        assert isinstance(provider, Provider)
        assert (provider.name, provider.model, provider.paid) == (name, MODELS[name], True)
        assert provider.endpoint == "https://llm.test:8443/v1"
    finally:
        close(provider)


@pytest.mark.parametrize(
    ("name", "model", "endpoint"),
    [("openai", "gpt-6-luna", "https://api.openai.com/v1"), ("anthropic", "claude-haiku-5-5", "https://api.anthropic.com")],
)
def test_defaults(name, model, endpoint):
    provider = make_provider(name)
    try:
        assert (provider.model, provider.endpoint) == (model, endpoint)
    finally:
        close(provider)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UsageError, match="openai, anthropic, compatible"):
        make_provider("opanai")


@pytest.mark.parametrize(("name", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_variable(name, variable, value, monkeypatch):
    monkeypatch.delenv(variable)
    if value is not None:
        monkeypatch.setenv(variable, value)
    with pytest.raises(AuthFailed, match=variable):
        make_provider(name)


def test_a_variable_that_was_named_must_be_set():
    with pytest.raises(AuthFailed, match="MY_KEY"):
        make_provider("compatible", model="m", base_url="http://localhost:1/v1", api_key_env="MY_KEY")


@pytest.mark.parametrize("key", ["sk-two words", "sk-line\nbreak", "sk-schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(AuthFailed, match="OPENAI_API_KEY") as caught:
        make_provider("openai")
    assert key[3:] not in str(caught.value)


def test_compatible_needs_a_model_and_a_url():
    with pytest.raises(UsageError, match="--model"):
        make_provider("compatible", base_url="http://localhost:1/v1")
    with pytest.raises(UsageError, match="--base-url"):
        make_provider("compatible", model="m")


@case_by_case("url", ["localhost:8000", "ftp://host/v1", "http://", "/v1", "http://host:port/v1", "user:secretpass@host"])
def test_a_malformed_url_is_refused_unseen(url):
    with pytest.raises(UsageError, match="absolute http or https") as caught:
        make_provider("compatible", model="m", base_url=url)
    assert "secretpass" not in str(caught.value)


def test_public_url():
    assert public_url("https://u:p@h.test:8443/v1/?q=1#f") == "https://h.test:8443/v1"
    assert public_url("http://[::1]:8000/v1") == "http://[::1]:8000/v1"


@each_provider
def test_closing_closes_the_clients_connections(name):
    provider = mocked(name, lambda _: httpx2.Response(500))
    close(provider)
    assert provider.client.is_closed()


@each_provider
def test_the_key_is_in_no_log_not_even_at_debug_level(name, caplog, monkeypatch):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    for logger in ("openai", "anthropic", "httpx2", "httpcore2", "httpx2.client", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=logger)
    with LLMServer(lambda _: DATA, lambda ordinal: Fault(kind="server_error") if ordinal == 0 else None) as server:
        with pytest.raises(ProviderUnavailable):
            complete(loopback(name, server))
        complete(loopback(name, server))
    assert len(caplog.records) > 5
    assert KEY not in caplog.text
    assert not any(KEY in str(record.__dict__) for record in caplog.records)


@each_provider
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_the_server_echoes_is_not_shown(name, status, monkeypatch):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", KEY)

    def echo(request: httpx2.Request) -> httpx2.Response:
        key = request.headers.get("x-api-key") or request.headers["authorization"]
        return httpx2.Response(status, json={"error": {"message": f"you sent {key}", "code": key}})

    with pytest.raises(ProviderError) as caught:
        complete(mocked(name, echo))
    assert KEY not in repr(caught.value) + str(caught.value)


def test_the_redactor_shortens_flattens_and_shows_nothing_of_itself():
    redactor = Redactor([KEY, "", "abc"])
    assert redactor.presentable(f"line one\n  {KEY} abc") == "line one … abc"
    assert len(redactor.presentable("word " * 500)) == 240
    assert KEY not in repr(redactor)
    assert "prompt" in redactor.presentable(f"in {PROMPT.upper()}", prompt=[PROMPT])
