"""Servers that refuse nothing and queue: only calls that come too late speak against the number in flight."""

from __future__ import annotations

import asyncio
import heapq
import random

import pytest

from benchmarks.simulated_servers import Call, Queueing, Server, lognormal, simulate
from tests.longer import mostly_long

MEAN_OF_LOGNORMAL = 1.133  # of median 1 and sigma 0.5


def calls(count):
    return [Call()] * count


def mean(values):
    return sum(values) / len(values)


def without_limiter(latencies, concurrency):
    """When the last of *latencies* ends with always *concurrency* in flight."""
    ends = [0.0] * concurrency
    for latency in latencies:
        heapq.heappush(ends, heapq.heappop(ends) + latency)
    return max(ends)


@pytest.mark.parametrize(
    ("concurrency", "workers", "latency", "varies"),
    mostly_long(
        [(*server, varies) for varies in (False, True) for server in [(64, 16, 0.2), (256, 16, 0.2), (32, 4, 1.0)]],
        quick={(64, 16, 0.2, False), (32, 4, 1.0, True)},
    ),
)
def test_a_queue_that_answers_in_time_costs_no_throughput(concurrency, workers, latency, varies):
    server = Queueing(workers=workers, latency=lognormal(3, latency) if varies else lambda: latency)
    count = 300 * workers
    ideal = count / workers * latency * (MEAN_OF_LOGNORMAL if varies else 1.0)
    crowd = simulate(server, calls(count), concurrency=concurrency, callers=4 * concurrency)
    assert crowd.ended_at <= 1.06 * ideal


@pytest.mark.parametrize(("workers", "latency"), [(4, 12.0), (2, 20.0), (1, 25.0)])
def test_fewer_are_sent_to_a_queue_in_which_calls_come_too_late(workers, latency):
    """32 at once wait in a queue of 60 s and more; an answer that nobody waits for any more is lost."""
    varying = lognormal(1, latency, 0.2)
    server = Queueing(workers=workers, latency=varying)
    count = 60 * workers
    crowd = simulate(server, calls(count), concurrency=32, callers=64, time_limit_s=60.0)
    fits = 60 / latency * workers
    late = crowd.limits_between(crowd.ended_at / 3, crowd.ended_at)
    assert 1 <= mean(late) <= 1.1 * fits
    assert crowd.ended_at <= 1.3 * count / workers * latency
    assert crowd.timed_out <= 32 + 0.4 * count  # those of the beginning, and probes


@pytest.mark.parametrize("seed", mostly_long(range(12), quick=range(3)))
def test_ordinary_variance_costs_nothing(seed):
    rng = random.Random(seed)
    latencies = [0.2 * rng.lognormvariate(0, 0.5) for _ in range(3000)]
    remaining = iter(latencies)
    crowd = simulate(Server(latency=lambda: next(remaining)), calls(3000))
    assert crowd.ended_at <= 1.02 * without_limiter(latencies, 64)


@pytest.mark.long
def test_a_few_calls_that_hang_hardly_lower_the_limit():
    rng = random.Random(1)

    class Hanging(Server):
        async def work(self, stage):
            await asyncio.sleep(1000.0 if rng.random() < 0.001 else 0.2)

    crowd = simulate(Hanging(), calls(10_000), time_limit_s=10.0)
    assert mean(crowd.limits_between(crowd.ended_at / 3, crowd.ended_at)) > 50
