"""When a price has to be known before a call is made."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelSpec, check_priced, is_private, needs_prices
from tests.longer import case_by_case

UNPRICED = ModelSpec()
PRICED = ModelSpec(input=1.0, output=2.0)


@case_by_case(
    "url",
    [
        "http://localhost:11434/v1",
        "http://LOCALHOST./v1",
        "http://127.0.0.1:8000/v1",
        "http://127.8.9.1/v1",
        "http://[::1]:8000/v1",
        "http://[fe80::1%eth0]:8000/v1",
        "http://10.1.2.3/v1",
        "http://172.20.0.2:8000/v1",
        "http://192.168.1.20:8000/v1",
        "http://100.64.3.4/v1",
        "http://[fd12::1]/v1",
        "http://[::ffff:192.168.1.1]/v1",
        "http://0.0.0.0:8000/v1",
        "http://ollama:11434/v1",
        "http://gpu.local/v1",
        "http://vllm.prod.internal/v1",
    ],
)
def test_own_hardware_needs_no_price(url):
    assert is_private(url)
    assert not needs_prices("compatible", url, UNPRICED)
    check_priced("compatible", "m", url, UNPRICED, unpriced=False)


@case_by_case(
    "url",
    [
        None,
        "",
        "https://api.example.com/v1",
        "http://8.8.8.8/v1",
        "http://[2001:4860:4860::8888]/v1",
        "http://[::ffff:8.8.8.8]/v1",
        "http://localhost.example.com/v1",
        "http://127.0.0.1.example.com/v1",
        "http://user:pass@api.example.com/v1",
        "http://172.32.0.1/v1",
        "http://[broken/v1",
    ],
)
def test_what_others_charge_for_needs_one(url):
    assert not is_private(url)
    assert needs_prices("compatible", url, UNPRICED)
    assert not needs_prices("compatible", url, PRICED)


def test_a_makers_api_needs_a_price_wherever_it_is_reached():
    for provider in ("openai", "anthropic"):
        assert needs_prices(provider, "http://127.0.0.1:9/v1", UNPRICED)
        assert needs_prices(provider, None, ModelSpec(input=1.0))
        assert not needs_prices(provider, None, PRICED)


def test_an_unknown_price_is_refused_unless_it_is_accepted():
    with pytest.raises(UsageError, match="price of the model 'gpt-9' is unknown") as caught:
        check_priced("openai", "gpt-9", None, UNPRICED, unpriced=False)
    assert "--price" in caught.value.remedy
    assert "--unpriced" in caught.value.remedy
    check_priced("openai", "gpt-9", None, UNPRICED, unpriced=True)
    check_priced("openai", "gpt-9", None, PRICED, unpriced=False)


@pytest.mark.parametrize("unpriced", [True, False])
def test_a_budget_needs_prices_also_on_own_hardware(unpriced):
    url = "http://localhost:8000/v1"
    with pytest.raises(UsageError, match="a budget needs prices") as caught:
        check_priced("compatible", "local", url, UNPRICED, unpriced=unpriced, budget=True)
    assert caught.value.where == "--budget-usd"
    check_priced("compatible", "local", url, PRICED, unpriced=unpriced, budget=True)
