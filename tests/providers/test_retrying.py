"""How long, how often, and for what a call is sent again."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import ProviderError
from providers.errors import AuthFailed, BudgetExceeded, InvalidRequest, ProviderUnavailable, RateLimited, Refused
from providers.protocol import Completion, Provider
from providers.retrying import RetryingProvider, RetryPolicy
from tests.providers.provider_calls import make_call

DONE = Completion(text="{}", data={}, model="m")


class Scripted:
    """A provider that raises or answers as its script says."""

    name, model, endpoint, paid = "scripted", "m", "memory", True

    def __init__(self, *script: ProviderError | Completion) -> None:
        self.script = list(script)
        self.closed = False

    async def complete(self, call) -> Completion:
        step = self.script.pop(0)
        if isinstance(step, Completion):
            return step
        raise step

    async def aclose(self) -> None:
        self.closed = True


def drive(inner: Scripted, policy: RetryPolicy) -> tuple[object, list[float]]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    provider = RetryingProvider(inner, policy, rng=random.Random(5), sleep=sleep)

    async def work() -> object:
        try:
            return await provider.complete(make_call())
        except ProviderError as error:
            return error

    return asyncio.run(work()), waits


def test_it_is_a_provider_with_the_inner_ones_identity():
    inner = Scripted(DONE)
    provider = RetryingProvider(inner)
    assert isinstance(provider, Provider)
    assert (provider.name, provider.model, provider.endpoint, provider.paid) == ("scripted", "m", "memory", True)
    asyncio.run(provider.aclose())
    assert inner.closed


def test_retries_are_counted():
    result, waits = drive(Scripted(RateLimited("x"), ProviderUnavailable("y"), DONE), RetryPolicy())
    assert result.retries == 2
    assert len(waits) == 2


def test_waits_grow_and_are_capped():
    _, waits = drive(Scripted(*[ProviderUnavailable("x")] * 7), RetryPolicy(attempts=7, base_s=1, cap_s=8))
    for wait, longest in zip(waits, [1, 2, 4, 8, 8, 8], strict=True):
        assert longest / 2 <= wait <= longest


@pytest.mark.parametrize("error", [RateLimited, ProviderUnavailable])
def test_the_servers_wish_is_honoured(error):
    _, waits = drive(Scripted(error("x", retry_after=40.0), DONE), RetryPolicy(base_s=1, cap_s=8))
    assert 40.0 <= waits[0] <= 40.1


@pytest.mark.parametrize("error", [RateLimited, ProviderUnavailable])
def test_a_server_that_asks_for_too_long_is_not_waited_for(error):
    result, waits = drive(Scripted(error("x", retry_after=3600.0), DONE), RetryPolicy(patience_s=120))
    assert isinstance(result, error)
    assert waits == []


def test_giving_up_says_how_often_was_asked():
    result, _ = drive(Scripted(*[RateLimited("too many")] * 3), RetryPolicy(attempts=3))
    assert str(result) == "too many (asked 3 times)"


@pytest.mark.parametrize("error", [AuthFailed("x"), InvalidRequest("x"), BudgetExceeded("x"), Refused("x", completion=DONE)])
def test_what_no_retry_mends_is_raised_at_once(error):
    result, waits = drive(Scripted(error, DONE), RetryPolicy())
    assert result is error
    assert waits == []


def test_a_rejected_reply_keeps_the_count_of_what_came_before():
    result, _ = drive(Scripted(ProviderUnavailable("x"), Refused("y", completion=DONE)), RetryPolicy())
    assert result.completion.retries == 1


@given(st.integers(1, 200), st.floats(0.001, 10), st.floats(0.001, 100), st.integers())
def test_backoff_is_positive_and_capped(attempt, base, cap, seed):
    wait = RetryPolicy(base_s=base, cap_s=cap).backoff(attempt, random.Random(seed))
    assert 0 < wait <= cap


def test_calls_at_the_same_time_keep_their_own_counts():
    seen: dict[str, int] = {}

    class Flaky(Scripted):
        async def complete(self, call) -> Completion:
            await asyncio.sleep(0)
            count = seen[call.item_id] = seen.get(call.item_id, 0) + 1
            if count <= int(call.item_id) % 4:
                raise ProviderUnavailable("x")
            return DONE

    async def work() -> list[int]:
        provider = RetryingProvider(Flaky(), RetryPolicy(base_s=0.0001, cap_s=0.0002))
        calls = [provider.complete(replace(make_call(), item_id=str(i))) for i in range(40)]
        return [completion.retries for completion in await asyncio.gather(*calls)]

    assert asyncio.run(work()) == [i % 4 for i in range(40)]


def test_the_wrapper_costs_little():
    class Instant(Scripted):
        async def complete(self, call) -> Completion:
            return DONE

    async def work() -> float:
        provider, call = RetryingProvider(Instant()), make_call()
        started = time.perf_counter()
        for _ in range(500):
            await provider.complete(call)
        return (time.perf_counter() - started) / 500

    # 40 µs on the reference machine; the SDK's own share of a call is above 1,000 µs.
    assert min(asyncio.run(work()) for _ in range(5)) < 0.0005
