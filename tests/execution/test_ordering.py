"""Ordered concurrency: order, bounds, stops and errors."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.execution.ordering import OrderedRun, StopSignal


def run_ordered(delays, *, concurrency, accept, wanted, stop_at=None, fail_at=None):
    """Run one item per delay (in event-loop turns); *accept* says which results count towards *wanted*."""
    consumed, accepted, running, peak, started = [], [], 0, 0, []
    stop = StopSignal()

    async def work(index):
        nonlocal running, peak
        started.append(index)
        running += 1
        peak = max(peak, running)
        try:
            for _ in range(delays[index]):
                await asyncio.sleep(0)
            if index == fail_at:
                raise RuntimeError("broken")
            return index
        finally:
            running -= 1

    def consume(index):
        consumed.append(index)
        if accept(index):
            accepted.append(index)
        if index == stop_at:
            stop.request()

    run = OrderedRun(
        source=iter(range(len(delays))),
        work=work,
        consume=consume,
        still_wanted=lambda: wanted - len(accepted),
        concurrency=concurrency,
        stop=stop,
    )
    asyncio.run(run.run())
    return consumed, accepted, peak, started


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 9), st.integers(0, 40), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_results_come_in_source_order_and_none_is_started_in_vain(delays, concurrency, wanted, every):
    accept = lambda index: index % every == 0  # noqa: E731 - one line says it
    consumed, accepted, peak, started = run_ordered(delays, concurrency=concurrency, accept=accept, wanted=wanted)
    possible = [index for index in range(len(delays)) if accept(index)]
    assert consumed == list(range(len(consumed)))
    assert accepted == possible[:wanted]
    assert peak <= concurrency
    # Whatever was started was also consumed: nothing is paid for that nobody uses.
    assert sorted(started) == consumed


def test_the_same_items_are_accepted_at_every_concurrency():
    rng = random.Random(3)
    delays = [rng.randrange(12) for _ in range(80)]
    results = {tuple(run_ordered(delays, concurrency=c, accept=lambda i: i % 3 > 0, wanted=30)[1]) for c in (1, 2, 7, 64)}
    assert len(results) == 1


def test_a_slow_head_holds_back_a_bounded_number():
    delays = [400] + [0] * 200
    consumed, _, peak, started = run_ordered(delays, concurrency=4, accept=lambda _: True, wanted=201)
    assert consumed == list(range(201))
    assert started.index(16) > 0
    assert peak <= 4


def test_a_stop_ends_the_run_and_keeps_what_was_consumed():
    consumed, _, _, started = run_ordered([3] * 50, concurrency=5, accept=lambda _: True, wanted=50, stop_at=7)
    assert consumed[-1] >= 7
    assert len(started) < 50


def test_an_error_of_the_work_propagates():
    with pytest.raises(RuntimeError, match="broken"):
        run_ordered([1] * 20, concurrency=4, accept=lambda _: True, wanted=20, fail_at=9)
