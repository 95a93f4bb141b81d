"""How many calls are in flight: ramping up, refusals, recovery, refusals that mean nothing. In virtual time."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simulated_servers import Call, Capacity, FixedWindow, Server, lognormal, simulate
from benchmarks.virtual_time import clock
from piiloom.execution.limits.adaptive import AdaptiveLimit
from tests.longer import case_by_case, examples, mostly_long


def calls(count):
    return [Call()] * count


@pytest.mark.parametrize(
    ("count", "concurrency"), mostly_long([(1000, 64), (20_000, 256), (1000, 32), (200, 1)], quick={(1000, 64), (200, 1)})
)
def test_ramping_up_costs_less_than_two_percent(count, concurrency):
    ideal = -(-count // concurrency) * 0.2
    crowd = simulate(Server(), calls(count), concurrency=concurrency, callers=4 * concurrency)
    assert crowd.ended_at <= 1.02 * ideal


def test_the_limit_is_never_passed_while_it_ramps_up():
    seen = []

    class Watching(Server):
        def takes(self, now, tokens):
            seen.append((now, self.in_flight + 1))
            return True

    simulate(Watching(), calls(1000), concurrency=200, callers=500)
    assert max(level for _, level in seen) == 200
    assert max(level for at, level in seen if at < 0.001) <= 33


@case_by_case("refusal_s", [0.0, 0.002, 0.05])
@case_by_case("retry_after", [None, 0.05, 1.0])
def test_a_server_that_takes_sixteen_at_once(retry_after, refusal_s):
    server = Capacity(retry_after=retry_after, refusal_s=refusal_s)
    crowd = simulate(server, calls(1000))
    assert len(server.refusals) < 60
    assert crowd.ended_at < 1.35 * 12.5
    assert set(crowd.limits_between(1, 12)) <= {15, 16, 17, 18}


def test_refusals_leave_in_flight_what_was_accepted():
    server = Capacity()
    crowd = simulate(server, calls(1000))
    assert [at for at in server.refusals if at < 1.0] == [0.0] * 16
    assert set(crowd.limits_between(0, 1.0)) == {16}


def test_capacity_with_latencies_that_vary():
    server = Capacity(latency=lognormal(1, 0.2))
    crowd = simulate(server, calls(2000))
    assert len(server.refusals) < 60
    assert crowd.ended_at < 1.1 * 2000 / 16 * 0.2 * 1.133


@dataclass
class Changing(Capacity):
    """Takes other numbers at once as time goes by."""

    plan: list[tuple[float, int]] = field(default_factory=list)

    def takes(self, now, tokens):
        self.most = next(most for since, most in reversed(self.plan) if now >= since)
        return super().takes(now, tokens)


@pytest.mark.long
def test_a_server_that_got_better_is_soon_used_again():
    server = Changing(plan=[(0, 16), (20, 64)])
    crowd = simulate(server, calls(10**6), until=60)
    assert server.between(45, 60)[0] >= 0.95 * 15 * 64 / 0.2
    assert set(crowd.limits_between(50, 60)) == {64}


def test_a_server_that_got_worse_is_spared():
    server = Changing(plan=[(0, 64), (10, 8)])
    simulate(server, calls(10**6), until=60)
    assert server.between(12, 60)[0] >= 0.95 * 48 * 8 / 0.2
    assert server.between(0, 60)[2] < 2 * 64


@pytest.mark.long
@pytest.mark.parametrize("share", mostly_long([0.01, 0.1, 0.3], quick={0.3}))
def test_refusals_that_come_whatever_is_sent_do_not_stop_the_run(share):
    rng = random.Random(4)

    class Moody(Server):
        def takes(self, now, tokens):
            return rng.random() >= share

    server = Moody()
    simulate(server, calls(10**6), until=120)
    assert server.between(20, 120)[0] >= 0.8 * 100 * 64 / 0.2


def test_an_exhausted_rate_costs_no_throughput_and_little_concurrency():
    """Nothing declared, no headers: the server takes 600 a minute and says how long to wait."""

    @dataclass
    class Window(FixedWindow):
        async def call(self, tokens, stage=""):
            self.retry_after = 60 - (clock() + 17.3) % 60
            await super().call(tokens, stage)

    server = Window()
    crowd = simulate(server, (Call(tokens=1, estimated=1) for _ in range(10**6)), until=360)
    requests, _, refused = server.between(60, 360)
    assert requests >= 0.95 * 5 * 600
    assert refused < 0.05 * requests
    assert min(crowd.limits_between(60, 360)) > 20  # five would do


@pytest.mark.long
@settings(max_examples=examples(200), deadline=None)
@given(
    most=st.integers(1, 100),
    steps=st.lists(st.tuples(st.sampled_from(["start", "answer", "refuse", "fail"]), st.floats(0, 3), st.floats(0, 100)), max_size=300),
)
def test_the_limit_stays_between_one_and_the_ceiling(most, steps):
    limit, now, running = AdaptiveLimit(most), 0.0, []
    for what, pause, latency in steps:
        now += pause
        if what == "start" and limit.opens_at(now) <= now:
            running.append(limit.start(now))
        elif running and what == "answer":
            limit.answered(running.pop(0), now, latency)
        elif running and what == "refuse":
            limit.refused(running.pop(), now, wait_s=pause)
        elif running and what == "fail":
            limit.failed(running.pop())
        assert limit.in_flight == len(running)
        assert 1 <= limit.limit(now) <= most
    assert running or limit.opens_at(now) <= now
