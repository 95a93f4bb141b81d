"""Tries at one request: how often, and after which waits."""

from __future__ import annotations

import asyncio
import random

import pytest

from piiloom.execution.retrying import RetryPolicy
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable, RateLimited

POLICY = RetryPolicy(attempts=4, base_s=1.0, cap_s=3.0, patience_s=60.0, limited_s=0.0)


def tried(*outcomes):
    """What comes of a request with these outcomes, one a try, and the waits between them."""
    waits, reported, left = [], [], list(outcomes)

    async def sleep(seconds):
        waits.append(seconds)

    async def request():
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    tries = POLICY.tries(random.Random(7), sleep=sleep, before_sleep=lambda state: reported.append(state.upcoming_sleep))
    try:
        result = asyncio.run(tries(request))
    except Exception as error:  # noqa: BLE001 - any error is a result here
        result = error
    assert reported == waits
    return result, waits


def test_waits_grow_with_jitter_and_are_at_least_what_the_server_asks_for():
    result, waits = tried(ProviderUnavailable("away"), RateLimited("slow", retry_after=7.5), ProviderUnavailable("away"), "done")
    assert result == "done"
    assert 0.5 <= waits[0] <= 1.0
    assert waits[1] == 7.5
    assert 1.5 <= waits[2] <= 3.0  # four seconds, but for the cap


@pytest.mark.parametrize(
    ("outcomes", "retries"),
    [
        ([ProviderUnavailable("away") for _ in range(5)], 3),
        ([RateLimited("slow"), RateLimited("slow", retry_after=61.0), "never"], 1),
        ([InvalidRequest("no"), "never"], 0),
    ],
)
def test_the_last_error_is_raised_with_the_number_of_retries(outcomes, retries):
    result, waits = tried(*outcomes)
    assert result is outcomes[retries]
    assert (result.retries, len(waits)) == (retries, retries)


def test_other_errors_are_raised_as_they_are():
    fault = ValueError("a fault of ours")
    assert tried(ProviderUnavailable("away"), fault, "never")[0] is fault
