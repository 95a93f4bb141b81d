"""Servers that refuse nothing and queue: seen by their latency, and told from calls that merely vary or became slow."""

from __future__ import annotations

import asyncio
import heapq
import random

import pytest

from benchmarks.simulated_servers import Call, Queueing, Server, lognormal, simulate
from benchmarks.virtual_time import clock
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
        [(*server, varies) for varies in (False, True) for server in [(64, 16, 0.2), (256, 16, 0.2), (128, 16, 5.0), (32, 4, 1.0)]],
        quick={(64, 16, 0.2, False), (256, 16, 0.2, True), (128, 16, 5.0, False), (32, 4, 1.0, True)},
    ),
)
def test_concurrency_falls_to_what_the_server_works_on_without_losing_throughput(concurrency, workers, latency, varies):
    server = Queueing(workers=workers, latency=lognormal(3, latency) if varies else lambda: latency)
    count = 300 * workers
    ideal = count / workers * latency * (MEAN_OF_LOGNORMAL if varies else 1.0)
    crowd = simulate(server, calls(count), concurrency=concurrency, callers=4 * concurrency)
    assert crowd.ended_at <= 1.06 * ideal
    late = crowd.limits_between(crowd.ended_at / 3, crowd.ended_at)
    assert 0.9 * workers <= mean(late) <= 2 * workers


@pytest.mark.parametrize("seed", mostly_long(range(12), quick=range(3)))
def test_ordinary_variance_costs_nothing(seed):
    rng = random.Random(seed)
    latencies = [0.2 * rng.lognormvariate(0, 0.5) for _ in range(3000)]
    remaining = iter(latencies)
    crowd = simulate(Server(latency=lambda: next(remaining)), calls(3000))
    assert crowd.ended_at <= 1.02 * without_limiter(latencies, 64)


@pytest.mark.parametrize("seed", mostly_long(range(3), quick={1}))
def test_stages_that_differ_and_change_are_no_queue(seed):
    rng = random.Random(seed)
    medians = {"topics": 0.2, "draft": 5.0, "judge": 0.6, "spans": 2.0}

    class Staged(Server):
        async def work(self, stage):
            await asyncio.sleep(medians[stage] * rng.lognormvariate(0, 0.5))

    early, late = ["topics", "judge"], ["draft", "spans", "judge"]
    stages = [Call(stage=rng.choice(early if index < 3000 else late)) for index in range(8000)]
    crowd = simulate(Staged(), stages)
    assert mean(crowd.limits_between(0, crowd.ended_at)) > 62


@pytest.mark.long
@pytest.mark.parametrize("factor", [2.5, 5.0])
def test_a_server_that_became_slower_is_no_queue(factor):
    varying = lognormal(3, 0.2, 0.3)
    server = Server(latency=lambda: varying() * (factor if clock() > 20 else 1.0))
    crowd = simulate(server, calls(10**6), until=100)
    assert mean(crowd.limits_between(40, 100)) > 60


@pytest.mark.long
def test_a_server_that_gets_more_workers_is_used():
    server = Queueing(workers=8)
    crowd = simulate(server, calls(1200))
    assert mean(crowd.limits_between(15, 30)) < 20

    class Growing(Queueing):
        async def work(self, stage):
            if clock() > 30 and self.workers == 8:
                self.workers = 48
                self._busy = asyncio.Semaphore(48)
            await super().work(stage)

    server = Growing(workers=8)
    crowd = simulate(server, calls(10**6), until=90)
    assert server.between(70, 90)[0] >= 0.9 * 20 * 48 / 0.2
