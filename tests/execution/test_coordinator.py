"""One limiter and one budget for several processes: here several workers in one, behind a handle like Ray's."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.shared_limits import Coordinator, SharedLimits
from piiloom.foundation.errors import RunError, UsageError
from piiloom.foundation.portable_errors import PortableError
from piiloom.providers.errors import RateLimited
from piiloom.providers.rate_headers import RateReport
from tests.fakes.actors import Handle, copied
from tests.longer import case_by_case

CONCURRENCY = 4


def coordinator_of(**options: Any) -> Handle:
    return Handle(Coordinator(**{"concurrency": CONCURRENCY, **options}))


def limits_of(handle: Handle, worker: str = "a") -> SharedLimits:
    budget_usd = handle.actor.budget.limit_usd
    return SharedLimits(handle, worker, concurrency=CONCURRENCY, budget_usd=budget_usd)


async def call(limits: SharedLimits, worst: float, actual: float, under_way: list[int]) -> None:
    """Make one call as ``LiveCalls`` does."""
    reservation = await limits.reserve(worst)
    async with limits.slot(10, "situation") as slot:
        under_way.append(under_way[-1] + 1)
        await asyncio.sleep(0.001)
        under_way.append(under_way[-1] - 1)
        slot.answered(tokens=10, latency_s=0.001, stage="situation")
        reservation.settle(actual)


async def entering(limits: SharedLimits) -> asyncio.Task[Any]:
    """Ask for a slot, and give the request time to arrive."""
    task = asyncio.ensure_future(limits.slot(10).__aenter__())
    await asyncio.sleep(0.01)
    return task


def test_workers_share_the_number_of_calls_in_flight():
    async def work() -> tuple[Coordinator, list[int]]:
        handle, under_way = coordinator_of(), [0]
        both = limits_of(handle, "a"), limits_of(handle, "b")
        await asyncio.gather(*(call(limits, 0.1, 0.1, under_way) for limits in both for _ in range(20)))
        for limits in both:
            await limits.aclose()
        return handle.actor, under_way

    coordinator, under_way = asyncio.run(work())
    assert 1 < max(under_way) <= CONCURRENCY
    assert coordinator.limiter.snapshot().in_flight == 0


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    calls=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=30),
    limit=st.integers(1, 300),
)
def test_together_they_never_spend_more_than_the_budget(calls, limit):
    async def work() -> tuple[Coordinator, list[BaseException | None], float]:
        handle = coordinator_of(budget_usd=limit)
        workers = {name: limits_of(handle, name) for name in "abc"}
        jobs = [call(workers[name], worst, worst * share, [0]) for name, worst, share in calls]
        outcomes = await asyncio.gather(*jobs, return_exceptions=True)
        for limits in workers.values():
            await limits.aclose()
        return handle.actor, outcomes, sum([await handle.actor.release(name) for name in workers])

    coordinator, outcomes, spent = asyncio.run(work())
    paid = sum(worst * share for (_, worst, share), outcome in zip(calls, outcomes, strict=True) if outcome is None)
    assert {type(outcome) for outcome in outcomes} <= {type(None), BudgetReached}
    assert coordinator.budget.spent_usd == pytest.approx(paid, abs=1e-9)
    assert spent == pytest.approx(paid, abs=1e-9)
    assert coordinator.budget.spent_usd <= limit
    assert coordinator.budget.reserved_usd == 0
    assert coordinator.limiter.snapshot().in_flight == 0


def test_what_a_dead_worker_held_is_taken_back_and_its_money_counts_as_spent():
    async def work() -> tuple[Coordinator, float]:
        handle = coordinator_of(concurrency=1, budget_usd=10.0)
        dead, alive = limits_of(handle, "dead"), limits_of(handle, "alive")
        await dead.reserve(3.0)
        await dead.slot(10).__aenter__()
        waits, enters = await entering(dead), await entering(alive)
        assert not enters.done()
        spent = await handle.actor.release("dead")
        await asyncio.wait_for(enters, 1)
        with pytest.raises(RunError, match="has marked this worker as lost") as caught:
            await asyncio.wait_for(waits, 1)
        assert "Resume" in (caught.value.remedy or "")
        with pytest.raises(RunError):
            await dead.reserve(1.0)
        return handle.actor, spent

    coordinator, spent = asyncio.run(work())
    assert spent == coordinator.budget.spent_usd == 3.0
    assert coordinator.budget.reserved_usd == 0
    assert coordinator.limiter.snapshot().waiting == 0


def test_a_worker_that_was_released_while_it_closes_ends_at_once():
    async def work() -> Coordinator:
        handle = coordinator_of(budget_usd=1.0)
        limits = limits_of(handle)
        reservation = await limits.reserve(0.5)
        await handle.actor.release("a")
        reservation.settle(0.1)
        async with asyncio.timeout(1):
            await limits.aclose()
        return handle.actor

    assert asyncio.run(work()).budget.spent_usd == 0.5


def test_a_cancelled_wait_leaves_no_trace():
    async def work() -> Coordinator:
        handle = coordinator_of(concurrency=1, budget_usd=1.0)
        limits = limits_of(handle)
        held = await limits.reserve(0.9)
        slot = await limits.slot(10).__aenter__()
        waiting = [asyncio.ensure_future(limits.reserve(0.5)), await entering(limits)]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        slot.failed()
        held.release()
        async with limits.slot(10):
            (await limits.reserve(1.0)).release()
        await limits.aclose()
        return handle.actor

    coordinator = asyncio.run(work())
    assert (coordinator.limiter.snapshot().in_flight, coordinator.limiter.snapshot().waiting) == (0, 0)
    assert (coordinator.budget.reserved_usd, coordinator.budget.spent_usd) == (0, 0)


@case_by_case("turns", range(6))
def test_a_request_withdrawn_at_any_moment_costs_neither_a_request_nor_a_dollar(turns):
    """With one request a minute, a withdrawn slot that stayed charged would keep the next call waiting for that long."""

    async def work() -> Coordinator:
        handle = coordinator_of(rpm=1, budget_usd=1.0)
        limits = limits_of(handle)
        requests = [asyncio.ensure_future(limits.reserve(1.0)), asyncio.ensure_future(limits.slot(10).__aenter__())]
        for _ in range(turns):
            await asyncio.sleep(0)
        for request in requests:
            request.cancel()
        withdrawn = [isinstance(found, asyncio.CancelledError) for found in await asyncio.gather(*requests, return_exceptions=True)]
        if all(withdrawn):
            async with asyncio.timeout(1):
                await limits.reserve(1.0)
                await limits.slot(10).__aenter__()
        return handle.actor

    coordinator = asyncio.run(work())
    assert coordinator.limiter.snapshot().in_flight == 1
    assert coordinator.budget.reserved_usd == 1.0


def test_a_withdrawal_may_overtake_its_request():
    async def work() -> Coordinator:
        coordinator = Coordinator(concurrency=1)
        await coordinator.note("a", [("withdraw", (7,))])
        assert await coordinator.enter("a", 7, [], 10, "") is not None
        assert await coordinator.enter("a", 8, [], 10, "") is None
        return coordinator

    assert asyncio.run(work()).limiter.snapshot().in_flight == 1


def test_a_refusal_brakes_all_and_headers_reach_the_limiter():
    async def work() -> tuple[float, float | None]:
        handle = coordinator_of()
        one, two = limits_of(handle, "a"), limits_of(handle, "b")
        async with one.slot(10) as slot:
            slot.refused(retry_after=5.0)
        one.observe(RateReport(limit_requests=77.0))
        await one.aclose()
        enters = await entering(two)
        assert not enters.done()
        enters.cancel()
        with suppress(asyncio.CancelledError):
            await enters
        await two.refresh()
        return two.snapshot().braking_for_s, two.snapshot().rpm

    braking, rpm = asyncio.run(work())
    assert 4.0 < braking <= 5.0
    assert rpm == 77.0


def test_denials_come_as_the_errors_they_are():
    async def work() -> list[BaseException]:
        limits = limits_of(coordinator_of(budget_usd=1.0))
        return await asyncio.gather(limits.reserve(2.0), limits.reserve(None), return_exceptions=True)

    reached, unpriced = asyncio.run(work())
    assert isinstance(reached, BudgetReached)
    assert "budget of $1 is reached" in str(reached)
    assert "--budget-usd" in (reached.remedy or "")
    assert isinstance(unpriced, UsageError)


def test_without_a_coordinator_nothing_may_be_sent():
    async def work() -> None:
        handle = coordinator_of(concurrency=1, budget_usd=1.0)
        limits = limits_of(handle)
        slot = await limits.slot(10).__aenter__()
        waits = await entering(limits)
        handle.die()
        with pytest.raises(RunError, match="ActorDied") as caught:
            await waits
        assert caught.value.remedy == "Resume the run"
        slot.failed()
        with pytest.raises(RunError):
            await limits.reserve(0.1)
        async with asyncio.timeout(1):
            await limits.aclose()

    asyncio.run(work())


def test_an_unlimited_budget_is_only_counted():
    async def work() -> tuple[float, float, int]:
        handle = coordinator_of()
        limits = limits_of(handle)
        (await limits.reserve(2.0)).settle(1.5)
        (await limits.reserve(2.0)).charge_in_full()
        (await limits.reserve(2.0)).release()
        ended = await limits.reserve(None)
        ended.release()
        ended.release()
        with pytest.raises(ValueError, match="ended already"):
            ended.settle(1.0)
        await limits.aclose()
        return handle.actor.budget.spent_usd, await handle.actor.release("a"), handle.calls

    assert asyncio.run(work()) == (3.5, 3.5, 1)


@pytest.mark.parametrize(("budget_usd", "most"), [(None, 2), (10.0, 3)])
def test_a_call_takes_few_calls_of_the_coordinator(budget_usd, most):
    async def work() -> int:
        handle = coordinator_of(budget_usd=budget_usd)
        limits = limits_of(handle)
        for _ in range(50):
            await call(limits, 0.01, 0.01, [0])
        await limits.aclose()
        return handle.calls

    assert asyncio.run(work()) <= 50 * most


def test_errors_travel_whole():
    error = RateLimited("too many", retry_after=3.0, where="https://x", remedy="Wait")
    error.retries = 2
    found = copied(PortableError.of(error)).rebuilt()
    assert type(found) is RateLimited
    assert str(found) == str(error)
    assert (found.retry_after, found.retries) == (3.0, 2)
