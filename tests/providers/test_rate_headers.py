"""What responses say of rate limits: reading the headers, and hearing of them from a live provider."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.providers.errors import RateLimited
from piiloom.providers.factory import make_provider
from piiloom.providers.rate_headers import RateReport, read_rates, read_retry_after
from tests.fakes.llm_server import LLMServer
from tests.longer import case_by_case
from tests.providers.provider_calls import DATA, MODELS, NAMES, complete, loopback, make_call, mocked
from tests.providers.test_providers_requests import good

OPENAI = {
    "x-ratelimit-limit-requests": "600",
    "x-ratelimit-remaining-requests": "599",
    "x-ratelimit-reset-requests": "100ms",
    "x-ratelimit-limit-tokens": "60000",
    "x-ratelimit-remaining-tokens": "59000",
    "x-ratelimit-reset-tokens": "1s",
}
SAID = RateReport(
    limit_requests=600,
    remaining_requests=599,
    reset_requests_s=0.1,
    limit_tokens=60000,
    remaining_tokens=59000,
    reset_tokens_s=1.0,
)
DATE = "Sat, 21 Nov 2026 21:00:00 GMT"


def raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def anthropic(**windows: tuple[int, int, int]) -> dict[str, str]:
    """Anthropic's headers; each window is its limit, what remains, and the second of the minute when it is whole again."""
    headers = {"Date": DATE}
    for name, (limit, remaining, second) in windows.items():
        head = f"anthropic-ratelimit-{name.replace('_', '-')}"
        headers[f"{head}-limit"], headers[f"{head}-remaining"] = str(limit), str(remaining)
        headers[f"{head}-reset"] = f"2026-11-21T21:00:{second:02}Z"
    return headers


def test_openai_headers_in_any_case():
    assert read_rates(raw(OPENAI)) == SAID
    assert read_rates(raw({name.title(): value for name, value in OPENAI.items()})) == SAID


@case_by_case(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("120ms", 0.12),
        ("1h2m3s", 3723),
        ("2m59.56s", 179.56),
        ("1d", 86400),
        ("0s", 0),
        ("17", 17),
        ("0.25", 0.25),
    ],
)
def test_durations(text, seconds):
    report = read_rates(raw({"x-ratelimit-reset-tokens": text}))
    assert report is not None
    assert report.reset_tokens_s == pytest.approx(seconds)


@case_by_case("text", ["", "soon", "-3", "1x", "nan", "inf", "1e9", "s", "5 s", "2026-13-01T00:00:00Z", "2026-11-21", "9" * 400])
def test_what_makes_no_sense_is_left_out(text):
    headers = {f"x-ratelimit-{what}-requests": text for what in ("limit", "remaining", "reset")}
    assert read_rates(raw({**headers, "date": DATE})) == RateReport()


def test_no_limit_at_all():
    report = read_rates(raw({"x-ratelimit-limit-requests": "0", "x-ratelimit-limit-tokens": "-1"}))
    assert report == RateReport()
    assert read_rates(raw({"content-type": "application/json", "date": DATE})) is None
    assert read_rates([]) is None


def test_anthropic_resets_count_from_the_servers_own_clock():
    report = read_rates(raw(anthropic(requests=(50, 49, 1), tokens=(10_000, 9_000, 30))))
    assert report == RateReport(
        limit_requests=50, remaining_requests=49, reset_requests_s=1, limit_tokens=10_000, remaining_tokens=9_000, reset_tokens_s=30
    )


def test_of_anthropics_tokens_the_scarcest_binds_in_the_unit_of_the_whole():
    report = read_rates(raw(anthropic(tokens=(60_000, 45_000, 10), input_tokens=(50_000, 40_000, 12), output_tokens=(10_000, 1_000, 50))))
    assert report is not None
    assert (report.limit_tokens, report.remaining_tokens, report.reset_tokens_s) == (60_000, 6_000, 50)


def test_without_a_whole_the_limit_is_input_and_output_together():
    report = read_rates(raw(anthropic(input_tokens=(50_000, 25_000, 12), output_tokens=(10_000, 10_000, 50))))
    assert report is not None
    assert (report.limit_tokens, report.remaining_tokens, report.reset_tokens_s) == (60_000, 30_000, 12)


@given(st.integers(1, 10**7), st.integers(1, 10**6), st.data())
def test_the_limit_does_not_jump_and_what_is_left_is_within_it(given_limit, made_limit, data):
    limits = []
    for _ in range(3):
        left = data.draw(st.integers(0, given_limit)), data.draw(st.integers(0, made_limit))
        report = read_rates(raw(anthropic(input_tokens=(given_limit, left[0], 5), output_tokens=(made_limit, left[1], 6))))
        assert report is not None
        assert report.limit_tokens is not None
        assert report.remaining_tokens is not None
        limits.append(report.limit_tokens)
        assert 0 <= report.remaining_tokens <= report.limit_tokens
        assert (report.remaining_tokens == 0) == (0 in left)
    assert limits == [given_limit + made_limit] * 3


names = st.sampled_from([*OPENAI, *anthropic(requests=(1, 1, 1), output_tokens=(1, 1, 1)), "x-ratelimit-other"])


@given(st.lists(st.tuples(names, st.text(st.characters(max_codepoint=255), max_size=30)), max_size=12))
def test_any_headers_give_a_report_of_plausible_numbers_or_none(headers):
    report = read_rates([(name.encode(), value.encode("latin-1")) for name, value in headers])
    found = [] if report is None else [getattr(report, name) for name in RateReport.__slots__]
    assert all(value is None or 0 <= value < float("inf") for value in found)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text(max_size=30)))
def test_any_retry_after_is_a_wait_or_none(headers):
    wait = read_retry_after(headers)
    assert wait is None or 0 <= wait < float("inf")


@case_by_case("name", NAMES)
@case_by_case("status", [200, 400, 429, 500])
def test_a_provider_tells_of_every_response(name, status):
    heard: list[RateReport] = []
    provider = mocked(name, lambda _: httpx2.Response(status, json=good(name) if status == 200 else {}, headers=OPENAI))
    provider.on_rates = heard.append
    if status == 200:
        complete(provider)
    else:
        with pytest.raises(Exception, match=str(status)):
            complete(provider)
    assert heard == [SAID]


@pytest.mark.parametrize("name", NAMES)
def test_a_response_that_is_silent_on_rates_is_not_told_of(name):
    heard: list[RateReport] = []
    with LLMServer(lambda _: DATA) as server:
        provider = loopback(name, server)
        provider.on_rates = heard.append
        complete(provider)
    assert heard == []


@pytest.mark.parametrize("name", NAMES)
def test_other_paths_have_limits_of_their_own(name):
    heard: list[RateReport] = []

    async def work() -> None:
        provider = mocked(name, lambda _: httpx2.Response(200, json={"data": [], "id": MODELS[name]}, headers=OPENAI))
        provider.on_rates = heard.append
        await provider.ping()
        await provider.aclose()

    asyncio.run(work())
    assert heard == []


@pytest.mark.parametrize("name", NAMES)
def test_a_clients_own_hooks_stay(name):
    seen: list[str] = []

    async def hook(response: httpx2.Response) -> None:
        seen.append(f"status {response.status_code}")

    transport = httpx2.MockTransport(lambda _: httpx2.Response(429, json={}, headers={**OPENAI, "retry-after": "3"}))
    client = httpx2.AsyncClient(transport=transport, event_hooks={"response": [hook]})
    url = "http://llm.test" if name == "anthropic" else "http://llm.test/v1"
    provider = make_provider(name, model=MODELS[name], base_url=url, http_client=client)
    heard: list[RateReport] = []
    provider.on_rates = heard.append
    with pytest.raises(RateLimited) as caught:
        complete(provider, make_call())
    assert caught.value.retry_after == 3.0
    assert seen == ["status 429"]
    assert heard == [SAID]
