"""The benchmark's server does what its settings say, and counts it right: asked through the real openai SDK."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.llm.running import Server, serving
from benchmarks.llm.server_behaviour import WINDOW_S, SlidingWindow
from benchmarks.llm.server_settings import FAULT_KINDS, ServerSettings
from benchmarks.llm.server_wire import content_of

MESSAGES = "case-{:06d} of the series"


@contextmanager
def server(**settings: Any) -> Iterator[Server]:
    with serving(ServerSettings(**{"latency_s": 0.02, **settings})) as running:
        yield running


def ask(running: Server, cases: list[int], **options: Any) -> list[Any]:
    """Ask for all *cases* at once; replies and errors in order."""

    async def work() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="bench", max_retries=0, **options) as client:
            calls = [
                client.chat.completions.create(model="bench-1", messages=[{"role": "user", "content": MESSAGES.format(case)}])
                for case in cases
            ]
            return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(work())


def test_every_case_gets_its_own_reply_with_usage():
    with server() as running:
        replies = ask(running, [0, 1, 2])
        stats = running.ask("stats")
    assert [json.loads(reply.choices[0].message.content)["case"] for reply in replies] == ["case-000000", "case-000001", "case-000002"]
    assert all(reply.usage.completion_tokens == len(reply.choices[0].message.content) // 4 for reply in replies)
    assert stats["billed"] == [[f"case-00000{case}", "ok", 1] for case in range(3)]
    assert (stats["requests"], stats["answered"], stats["in_flight"], stats["billed_again"]) == (3, 3, 0, 0)


def test_the_responses_api_answers_too():
    with server() as running, openai.OpenAI(base_url=f"{running.url}/v1", api_key="bench") as client:
        reply = client.responses.create(model="bench-1", input=MESSAGES.format(7))
    assert json.loads(reply.output_text)["case"] == "case-000007"
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens


def test_a_case_paid_twice_is_counted_again():
    with server() as running:
        ask(running, [5, 5, 6])
        stats = running.ask("stats")
    assert (stats["billed_total"], stats["cases_billed"], stats["billed_again"]) == (3, 2, 1)


def test_more_than_it_takes_at_once_is_refused_at_once():
    with server(at_once=2, latency_s=0.3) as running:
        began = time.monotonic()
        replies = ask(running, list(range(6)))
        stats = running.ask("stats")
    refused = [reply for reply in replies if isinstance(reply, openai.RateLimitError)]
    assert len(refused) == 4
    assert all("retry-after" not in error.response.headers for error in refused)
    assert stats["outcomes"] == {"ok": 2, "full": 4}
    assert time.monotonic() - began >= 0.3


def test_refused_prompts_get_400_and_are_not_billed():
    with server(refused=("case-000001",)) as running:
        replies = ask(running, [0, 1])
        stats = running.ask("stats")
    assert isinstance(replies[1], openai.BadRequestError)
    assert stats["billed"] == [["case-000000", "ok", 1]]
    assert stats["sent"] == {"case-000000": 1, "case-000001": 1}


def test_rates_are_held_and_told():
    with server(rpm=3, tpm=100_000) as running:
        replies = ask(running, list(range(5)))
    refused = [reply for reply in replies if isinstance(reply, openai.RateLimitError)]
    assert len(refused) == 2
    assert all(50 < float(error.response.headers["retry-after"]) < 60.01 for error in refused)
    assert refused[0].response.headers["x-ratelimit-limit-requests"] == "3"
    assert refused[0].response.headers["x-ratelimit-remaining-requests"] == "0"


@pytest.mark.parametrize(
    ("fault", "error", "billed"),
    [
        ("rate_limit", openai.RateLimitError, 0),
        ("server_error", openai.InternalServerError, 0),
        ("cut", openai.APIConnectionError, 1),
        ("hang", openai.APITimeoutError, 1),
    ],
)
def test_faults_fail_as_they_say_and_bill_what_was_done(fault: str, error: type[Exception], billed: int):
    with server(faults={fault: 1.0}, hang_s=5.0) as running:
        (reply,) = ask(running, [0], timeout=0.5)
        stats = running.ask("stats")
    assert isinstance(reply, error)
    assert stats["billed_total"] == billed
    assert stats["outcomes"] == {fault: 1}


def test_bad_content_is_a_good_answer_with_half_the_json():
    with server(faults={"bad_content": 1.0}) as running:
        (reply,) = ask(running, [3])
    whole = content_of("case-000003", fenced=False)
    assert reply.choices[0].message.content == whole[: len(whole) // 2]


def test_a_bad_body_is_not_json():
    with server(faults={"bad_body": 1.0}) as running:
        (reply,) = ask(running, [3])
    assert isinstance(reply, Exception) or not hasattr(reply, "choices") or reply.choices is None


def test_settings_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="latency, sloth"):
        ServerSettings.from_json('{"latency": 1, "faults": {"sloth": 0.5}}')
    settings = ServerSettings(faults=dict.fromkeys(FAULT_KINDS, 0.1), refused=("case-000001",))
    assert ServerSettings.from_json(settings.to_json()) == settings


@given(
    limit=st.integers(1, 50),
    arrivals=st.lists(st.tuples(st.floats(0, 20), st.integers(1, 10)), max_size=60),
)
def test_no_window_of_a_minute_holds_more_than_the_limit(limit: int, arrivals: list[tuple[float, int]]):
    window, now, taken = SlidingWindow(limit), 0.0, []
    for gap, units in arrivals:
        now += gap
        wait = window.wait(now, units)
        if wait == 0:
            window.take(now, units)
            taken.append((now, units))
        elif units <= limit:
            # What it tells a caller to wait is enough.
            now += wait + 1e-6
            assert window.wait(now, units) == 0
    for at, _ in taken:
        assert sum(units for then, units in taken if at - WINDOW_S < then <= at) <= limit
