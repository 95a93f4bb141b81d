"""The limiter as its users see it: slots, order, pauses, and tasks that are cancelled."""

from __future__ import annotations

import asyncio
import random
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.virtual_time import clock, run_virtually
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.limits.rate_buckets import RetryAfterPause
from piiloom.providers.rate_headers import RateReport


def virtual(**limits) -> Limiter:
    return Limiter(clock=clock, **{"concurrency": 4, **limits})


async def hold(limiter, seconds=1.0, starts=None, name=None):
    async with limiter.slot(10) as slot:
        if starts is not None:
            starts.append((clock(), name))
        await asyncio.sleep(seconds)
        slot.answered(tokens=10, latency_s=seconds, stage="draft")


def test_no_more_calls_are_in_flight_than_allowed_and_they_start_in_order():
    async def run():
        limiter, starts = virtual(concurrency=3), []
        await asyncio.gather(*(hold(limiter, 1.0, starts, name) for name in range(9)))
        return starts

    assert run_virtually(run()) == [(float(name // 3), name) for name in range(9)]


def test_a_slot_is_free_as_soon_as_its_outcome_is_told():
    async def run():
        limiter = virtual(concurrency=1)
        async with limiter.slot(1) as first:
            first.answered(tokens=1, latency_s=0.1, stage="draft")
            async with asyncio.timeout(1), limiter.slot(1):
                return limiter.snapshot().in_flight

    assert run_virtually(run()) == 1


def test_a_block_that_is_left_without_an_outcome_gives_its_slot_back():
    async def run():
        limiter = virtual(concurrency=1)
        with pytest.raises(ZeroDivisionError):
            async with limiter.slot(1):
                raise ZeroDivisionError
        return limiter.snapshot()

    state = run_virtually(run())
    assert (state.in_flight, state.refused) == (0, 0)


def test_only_the_first_outcome_counts():
    async def run():
        limiter = virtual()
        async with limiter.slot(1) as slot:
            slot.refused(retry_after=None)
            slot.answered(tokens=1, latency_s=0.1, stage="draft")
            slot.refused(retry_after=None)
        return limiter.snapshot()

    state = run_virtually(run())
    assert (state.in_flight, state.refused) == (0, 1)


def test_a_pause_holds_everyone_and_lets_go_one_after_the_other():
    pause, now, starts = RetryAfterPause(), 0.0, []
    pause.begin(5.0, now, calls=20, round_trip_s=1.0)
    pause.begin(1.0, now, calls=20, round_trip_s=1.0)  # a shorter one does not shorten it
    assert pause.left_s(1.0) == 4.0
    for _ in range(20):
        now = pause.ready_at(now)
        pause.started(now)
        starts.append(now)
    assert min(starts) >= 5.0
    assert max(starts) <= 5.2
    assert len(set(starts)) == 20
    assert pause.ready_at(6.0) == 6.0


def test_retry_after_holds_all_and_not_only_the_call_that_was_refused():
    async def run():
        limiter, starts = virtual(concurrency=8), []
        async with limiter.slot(1) as slot:
            slot.refused(retry_after=3.0)
        await asyncio.gather(*(hold(limiter, 1.0, starts) for _ in range(8)))
        return [at for at, _ in starts]

    assert min(run_virtually(run())) >= 3.0


def test_refused_without_a_word_and_nothing_in_flight_it_backs_off_longer_each_time():
    async def run():
        limiter, starts = virtual(), []
        for _ in range(6):
            async with limiter.slot(1) as slot:
                starts.append(clock())
                slot.refused(retry_after=None)
        return [later - earlier for earlier, later in pairwise(starts)]

    waits = run_virtually(run())
    assert waits[0] >= 0.1
    assert all(later >= 1.9 * earlier for earlier, later in pairwise(waits))


def test_a_time_out_lowers_the_limit_and_is_no_refusal():
    async def run():
        limiter = virtual(concurrency=4)
        async with limiter.slot(1), limiter.slot(1), limiter.slot(1) as third:
            third.failed(timed_out=True)
        return limiter.snapshot()

    state = run_virtually(run())
    assert (state.limit, state.in_flight, state.refused) == (2, 0, 0)


def test_rates_in_the_state_are_the_lower_of_declared_and_told():
    async def run():
        limiter = virtual(rpm=500)
        limiter.observe(RateReport(limit_requests=600, limit_tokens=90_000))
        before = limiter.snapshot()
        limiter.observe(RateReport(limit_requests=100))
        return before, limiter.snapshot()

    before, after = run_virtually(run())
    assert (before.rpm, before.tpm) == (500, 90_000)
    assert (after.rpm, after.tpm) == (100, 90_000)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"rpm": 0}, {"tpm": -1}, {"rpm": float("nan")}, {"tpm": float("inf")}])
def test_limits_that_would_let_nothing_through_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limiter(**{"concurrency": 4, **wrong})


def test_a_cancelled_first_in_line_does_not_stop_the_others():
    async def run():
        limiter, starts = virtual(concurrency=1), []
        tasks = [asyncio.ensure_future(hold(limiter, 1.0, starts, name)) for name in range(4)]
        await asyncio.sleep(0.5)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return starts, limiter.snapshot()

    starts, state = run_virtually(run())
    assert starts == [(0.0, 0), (1.0, 2), (2.0, 3)]
    assert (state.in_flight, state.waiting) == (0, 0)


def test_cancelled_in_the_instant_of_admission_gives_back_its_slot_and_its_tokens():
    async def run():
        limiter, starts = virtual(concurrency=1, tpm=6_000), []
        async with limiter.slot(10) as slot:
            second = asyncio.ensure_future(hold(limiter, 1.0, starts, "second"))
            third = asyncio.ensure_future(hold(limiter, 1.0, starts, "third"))
            await asyncio.sleep(1.0)
            slot.answered(tokens=10, latency_s=1.0, stage="draft")
            second.cancel()  # admitted by now, but it cannot know yet
            in_flight = limiter.snapshot().in_flight
        await asyncio.gather(second, third, return_exceptions=True)
        return in_flight, starts, limiter.snapshot().in_flight

    assert run_virtually(run()) == (1, [(1.0, "third")], 0)


def test_no_timer_is_left_when_everyone_has_gone():
    async def run():
        limiter = virtual(rpm=6)
        tasks = [asyncio.ensure_future(hold(limiter)) for _ in range(5)]
        await asyncio.sleep(1.5)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert run_virtually(run()) == []


def test_a_limiter_survives_the_loop_that_it_was_used_in():
    limiter = Limiter(concurrency=2, rpm=60_000)

    async def three_at_once():
        async with limiter.slot(1), limiter.slot(1), limiter.slot(1):
            raise AssertionError("there are only two")

    async def once():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(three_at_once(), 0.01)
        async with limiter.slot(1) as slot:
            slot.answered(tokens=1, latency_s=0.001, stage="draft")
        return limiter.snapshot().in_flight

    assert [asyncio.run(once()), asyncio.run(once())] == [0, 0]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), rates=st.sampled_from([{}, {"rpm": 600}, {"tpm": 30_000}, {"rpm": 900, "tpm": 60_000}]))
def test_whatever_happens_to_calls_nothing_is_lost(seed, rates):
    """Random work, outcomes and cancellations at random moments: at the end all is free and a call starts."""
    rng = random.Random(seed)
    most = rng.randint(1, 12)

    async def call(limiter, seen):
        async with limiter.slot(rng.randint(1, 400)) as slot:
            seen.append(limiter.snapshot().in_flight)
            await asyncio.sleep(rng.choice([0.0, 0.05, 0.5]))
            outcome = rng.random()
            if outcome < 0.6:
                slot.answered(tokens=rng.choice([None, 0, rng.randint(1, 900)]), latency_s=0.1, stage=rng.choice("ab"))
            elif outcome < 0.8:
                slot.refused(retry_after=rng.choice([None, 0.0, 0.2]))

    async def run():
        limiter, seen = virtual(concurrency=most, **rates), []
        tasks = [asyncio.ensure_future(call(limiter, seen)) for _ in range(80)]
        for task in rng.sample(tasks, 30):
            await asyncio.sleep(rng.choice([0.0, 0.0, 0.01, 0.2]))
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await hold(limiter)
        return seen, results, limiter.snapshot()

    seen, results, state = run_virtually(run())
    assert all(result is None or isinstance(result, asyncio.CancelledError) for result in results)
    assert max(seen) <= most
    assert (state.in_flight, state.waiting) == (0, 0)


@pytest.mark.long
def test_in_real_time_calls_keep_to_the_rate_and_the_concurrency():
    async def run():
        limiter, most = Limiter(concurrency=8, rpm=3_000), 0

        async def call():
            nonlocal most
            async with limiter.slot(5, "draft") as slot:
                most = max(most, limiter.snapshot().in_flight)
                sent = time.monotonic()
                await asyncio.sleep(0.02)
                slot.answered(tokens=5, latency_s=time.monotonic() - sent, stage="draft")

        began = time.monotonic()
        await asyncio.gather(*(call() for _ in range(95)))
        return time.monotonic() - began, most

    took, most = asyncio.run(run())
    # 3,000 a minute are 50 a second; the burst is not a second's worth.
    assert took >= (95 - 45 - 1) / 50
    assert took < 60  # it does come to an end; a busy machine takes longer than the 1.9 s of the rate
    assert most <= 8
