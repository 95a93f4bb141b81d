"""Rates per minute against servers that enforce them in their own ways, in virtual time."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simulated_servers import Bucket, Call, FixedWindow, Server, SlidingWindow, lognormal, simulate
from benchmarks.virtual_time import clock, run_virtually
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.limits.rate_buckets import RateBucket, TokenRatios
from piiloom.providers.rate_headers import RateReport
from tests.longer import mostly_long

RPM, TPM = 600, 60_000


def calls(mean, *, factor=1.0, sigma=0.4, seed=1, wobble=None):
    """Calls without end that take *mean* tokens or so.

    Each is estimated at *factor* times the mean, as if lengths were a matter of luck; with *wobble*, at *factor* times what
    it takes, give or take that share.
    """
    rng = random.Random(seed)
    while True:
        tokens = max(1, round(mean * rng.lognormvariate(-(sigma**2) / 2, sigma)))
        guess = mean if wobble is None else tokens * rng.uniform(1 - wobble, 1 + wobble)
        yield Call(estimated=max(1, round(guess * factor)), tokens=tokens)


def used_and_refused(server, begin=60, end=360):
    """The used part of the limit that binds, and the part of the calls that was refused, after a minute of warm-up."""
    requests, tokens, refused = server.between(begin, end)
    minutes = (end - begin) / 60
    return max(requests / (minutes * RPM), tokens / (minutes * TPM)), refused / (requests + refused)


KINDS = (SlidingWindow, FixedWindow, Bucket)
FACTORS = (0.3, 1.0, 3.0)


# The quick ones: short calls and long ones, guessed too short and too long, and each kind of server.
@pytest.mark.parametrize(
    ("kind", "mean", "factor"),
    mostly_long(product(KINDS, [80, 300], FACTORS), quick={(SlidingWindow, 300, 0.3), (FixedWindow, 300, 3.0), (Bucket, 300, 0.3)}),
)
def test_the_allowed_rate_is_used_and_hardly_a_call_refused(kind, mean, factor):
    server = kind(latency=lognormal(2, 1.0), retry_after=1.0)
    simulate(server, calls(mean, factor=factor), until=360, rpm=RPM, tpm=TPM)
    used, refused = used_and_refused(server)
    assert used >= 0.95
    assert refused < 0.01


@pytest.mark.parametrize(
    ("kind", "factor"), mostly_long(product(KINDS, FACTORS), quick={(SlidingWindow, 0.3), (FixedWindow, 3.0), (Bucket, 1.0)})
)
def test_one_call_a_second_is_a_lump_and_keeps_to_the_rate_too(kind, factor):
    server = kind(latency=lognormal(2, 1.0), retry_after=1.0)
    simulate(server, calls(1000, factor=factor, wobble=0.15), until=360, rpm=RPM, tpm=TPM)
    used, refused = used_and_refused(server)
    assert used >= 0.95
    assert refused < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_lumps_of_unforeseen_size_cost_a_little(seed):
    server = SlidingWindow(latency=lognormal(seed, 1.0), retry_after=1.0)
    simulate(server, calls(1000, seed=seed), until=360, rpm=RPM, tpm=TPM)
    used, refused = used_and_refused(server)
    assert used >= 0.94
    assert refused < 0.02


@pytest.mark.parametrize("seed", mostly_long(range(3), quick={0}))
def test_both_limits_at_once_and_short_calls(seed):
    server = SlidingWindow(latency=lognormal(seed, 0.2), retry_after=1.0)
    simulate(server, calls(TPM / RPM, factor=2.5, seed=seed), until=360, rpm=RPM, tpm=TPM)
    requests, _, refused = server.between(60, 360)
    assert requests / (5 * RPM) >= 0.95
    assert refused <= 0.01 * requests


def test_a_bucket_that_holds_two_seconds_worth_is_not_overrun():
    server = Bucket(latency=lognormal(2, 1.0), retry_after=1.0, depth_s=2.0)
    simulate(server, calls(100), until=360, rpm=RPM, tpm=TPM)
    requests, _, refused = server.between(0, 360)
    assert requests >= 0.95 * 6 * RPM
    assert refused < 0.01 * requests


def test_it_does_not_begin_with_a_minutes_worth():
    server = Server()
    simulate(server, calls(10), until=10, rpm=RPM, tpm=TPM)
    assert server.between(0, 1)[0] <= 2 * RPM / 60
    starts = [at for at, _ in server.accepted if at >= 1]
    assert max(later - earlier for earlier, later in pairwise(starts)) < 0.12  # evenly: one each 0.1 s


@pytest.mark.parametrize("rpm", [3, 10, 60])
def test_small_limits_are_kept_to_the_call(rpm):
    server = SlidingWindow(rpm=rpm, tpm=1e9)
    simulate(server, calls(10), until=900, rpm=rpm)
    requests, _, refused = server.between(0, 900)
    assert refused == 0
    assert requests >= 0.95 * 15 * rpm


def test_a_call_larger_than_the_bucket_and_than_the_minute_gets_through():
    server = Server()
    crowd = simulate(server, [Call(tokens=t, estimated=t) for t in (5_000, 90_000, 100, 70_000, 100)], tpm=60_000)
    assert len(server.accepted) == 5
    assert crowd.ended_at < 300


def test_limits_are_learnt_from_headers():
    class Telling(SlidingWindow):
        limiter: Limiter | None = None

        async def work(self, stage):
            await super().work(stage)
            oldest = self._recent[0][0] if self._recent else clock()
            left = self.rpm - len(self._recent)
            self.limiter.observe(
                RateReport(
                    limit_requests=self.rpm, remaining_requests=left, reset_requests_s=60 - (clock() - oldest), limit_tokens=self.tpm
                )
            )

    async def run():
        server, limiter = Telling(rpm=300, retry_after=1.0), Limiter(concurrency=64, clock=clock)
        server.limiter = limiter
        sent = calls(10)

        async def caller():
            for call in sent:
                async with limiter.slot(call.estimated) as slot:
                    began = clock()
                    await server.call(call.tokens)
                    slot.answered(tokens=round(call.tokens), latency_s=clock() - began, stage="draft")
                if clock() > 360:
                    return

        await asyncio.gather(*(caller() for _ in range(100)))
        return server, limiter.snapshot()

    server, state = run_virtually(run())
    assert (state.rpm, state.tpm) == (300, TPM)
    assert server.refusals == []
    assert server.between(60, 360)[0] >= 0.95 * 1500


def test_what_is_left_of_a_fixed_window_is_not_overdrawn():
    async def run():
        limiter = Limiter(concurrency=8, clock=clock)
        limiter.observe(RateReport(limit_requests=600, remaining_requests=0, reset_requests_s=12))
        async with limiter.slot(1):
            held = clock()
        limiter.observe(RateReport(limit_requests=600, remaining_requests=0, reset_requests_s=60))
        async with limiter.slot(1):
            return held, clock() - held

    held, refilling = run_virtually(run())
    assert held == pytest.approx(12, abs=0.01)  # 12 s to the end of a window: nothing comes before
    assert 0 < refilling < 2  # 60 s to a full bucket: the first calls' worth comes soon


def test_a_later_report_lifts_the_hold():
    async def run():
        limiter = Limiter(concurrency=8, clock=clock)
        limiter.observe(RateReport(remaining_tokens=0, reset_tokens_s=300))
        asyncio.get_running_loop().call_later(5, limiter.observe, RateReport(remaining_tokens=50_000, reset_tokens_s=1))
        async with limiter.slot(1):
            return clock()

    assert run_virtually(run()) == pytest.approx(5, abs=0.01)


@pytest.mark.long
def test_a_server_that_allows_less_than_declared_is_used_all_the_same():
    server = SlidingWindow(rpm=540, retry_after=1.0)
    simulate(server, calls(10), until=600, rpm=600)
    requests, _, refused = server.between(300, 600)
    assert requests >= 0.95 * 5 * 540
    assert refused <= 0.08 * requests  # of 600 a minute it would refuse a tenth


@settings(max_examples=50, deadline=None)
@given(
    limit=st.integers(1, 400),
    steps=st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 50)), min_size=1, max_size=150),
)
def test_no_sixty_seconds_hold_more_than_the_limit(limit, steps):
    """Whatever the rhythm in which calls come: each starts when it may, and no window is overdrawn."""
    bucket, now, taken = RateBucket(float(limit)), 0.0, []
    for pause, share in steps:
        now += pause
        need = min(share * limit / 50, float(limit))
        for _ in range(1000):
            at = bucket.ready_at(need, now)
            if at <= now:
                break
            now = at + 1e-6
        else:
            pytest.fail("a call never got through")
        bucket.take(need, now)
        taken.append((now, need))
        recent = sum(amount for at, amount in taken if at > now - 60)
        assert recent <= limit * (1 + 1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), factor=st.floats(0.1, 10))
def test_estimates_are_corrected_to_what_a_stage_takes(seed, factor):
    rng, ratios = random.Random(seed), TokenRatios()
    for _ in range(300):
        estimated = rng.randint(100, 5_000)
        ratios.learn(estimated, factor * estimated * rng.uniform(0.5, 1.5), "draft")
        ratios.learn(estimated, estimated, "judge")
    assert ratios.corrected(1_000, "draft") == pytest.approx(1_000 * factor, rel=0.2)
    assert ratios.corrected(1_000, "judge") == pytest.approx(1_000)
    assert min(factor, 1) * 900 < ratios.corrected(1_000, "a new stage") < max(factor, 1) * 1_100
    assert ratios.corrected(0, "draft") == 1
