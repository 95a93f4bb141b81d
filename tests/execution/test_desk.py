"""One limiter and one budget for several processes: here several clients in one, over the same words."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.execution.desk.client import DeskClient
from piiloom.execution.desk.remote_limits import RemoteBudget, RemoteLimiter
from piiloom.execution.desk.server import Desk
from piiloom.execution.desk.words import DeskSettings, Reserve, Word
from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.watching.events import CallStarted
from piiloom.foundation.errors import RunError, UsageError
from piiloom.foundation.portable_errors import PortableError
from piiloom.providers.errors import RateLimited
from piiloom.providers.rate_headers import RateReport

CONCURRENCY = 4


class Pickling:
    """A link whose words are pickled on the way, as between processes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def post(self, client: str, asks: Any) -> Word:
        return copied(await self._desk.post(client, copied(asks)))

    async def poll(self, client: str) -> Word:
        return copied(await self._desk.poll(client))

    async def leave(self, client: str) -> float:
        return await self._desk.leave(client)

    async def stop(self) -> None:
        await self._desk.stop()

    async def look(self) -> Any:
        return copied(await self._desk.look())


def copied(word: Any) -> Any:
    return pickle.loads(pickle.dumps(word))  # noqa: S301 - our own


def desk_of(**options: Any) -> Desk:
    return Desk(DeskSettings(**{"concurrency": CONCURRENCY, **options}))


def client_of(desk: Desk, name: str = "a", **options: Any) -> DeskClient:
    return DeskClient(Pickling(desk), name, concurrency=CONCURRENCY, **options)


async def call(client: DeskClient, limit: float | None, worst: float, actual: float, under_way: list[int]) -> None:
    """Make one call as ``LiveCalls`` does."""
    reservation = await RemoteBudget(client, limit).reserve(worst)
    async with RemoteLimiter(client).slot(10, "situation") as slot:
        under_way.append(under_way[-1] + 1)
        await asyncio.sleep(0.001)
        under_way.append(under_way[-1] - 1)
        slot.answered(tokens=10, latency_s=0.001, stage="situation")
        reservation.settle(actual)


def test_clients_share_the_number_of_calls_in_flight():
    async def work() -> tuple[Desk, list[int]]:
        desk, under_way = desk_of(), [0]
        async with client_of(desk, "a") as one, client_of(desk, "b") as two:
            await asyncio.gather(*(call(client, None, 0.1, 0.1, under_way) for client in (one, two) for _ in range(20)))
        return desk, under_way

    desk, under_way = asyncio.run(work())
    assert 1 < max(under_way) <= CONCURRENCY
    assert desk.limiter.snapshot().in_flight == 0


@settings(max_examples=40, deadline=None)
@given(
    calls=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=30),
    limit=st.integers(1, 300),
)
def test_together_they_never_spend_more_than_the_budget(calls, limit):
    async def work() -> tuple[Desk, list[BaseException | None], float]:
        desk = desk_of(budget_usd=limit)
        clients = {name: client_of(desk, name) for name in "abc"}
        for client in clients.values():
            await client.__aenter__()
        jobs = [call(clients[name], limit, worst, worst * share, [0]) for name, worst, share in calls]
        outcomes = await asyncio.gather(*jobs, return_exceptions=True)
        for client in clients.values():
            await client.__aexit__(None, None, None)
        spent = sum([await desk.leave(name) for name in clients])
        return desk, outcomes, spent

    desk, outcomes, spent = asyncio.run(work())
    paid = sum(worst * share for (_, worst, share), outcome in zip(calls, outcomes, strict=True) if outcome is None)
    assert {type(outcome) for outcome in outcomes} <= {type(None), BudgetReached}
    assert desk.budget.spent_usd == pytest.approx(paid, abs=1e-9)
    assert spent == pytest.approx(paid, abs=1e-9)
    assert desk.budget.spent_usd <= limit
    assert desk.budget.reserved_usd == 0
    assert desk.limiter.snapshot().in_flight == 0


def test_what_a_dead_client_held_is_given_back_and_its_money_counts_as_spent():
    async def work() -> tuple[Desk, float]:
        desk = desk_of(concurrency=1, budget_usd=10.0)
        dead = client_of(desk, "dead")
        await dead.__aenter__()
        await RemoteBudget(dead, 10.0).reserve(3.0)
        await RemoteLimiter(dead).slot(10, "").__aenter__()
        waits = asyncio.ensure_future(RemoteLimiter(dead).slot(10, "").__aenter__())
        async with client_of(desk, "alive") as alive:
            enters = asyncio.ensure_future(RemoteLimiter(alive).slot(10, "").__aenter__())
            await asyncio.sleep(0.02)
            assert not enters.done()
            spent = await desk.leave("dead")
            await asyncio.wait_for(enters, 1)
            with pytest.raises(RunError, match="takes this process for dead"):
                await asyncio.wait_for(waits, 1)
            with pytest.raises(RunError):
                await RemoteBudget(dead, 10.0).reserve(1.0)
        await dead.__aexit__(None, None, None)
        return desk, spent

    desk, spent = asyncio.run(work())
    assert spent == desk.budget.spent_usd == 3.0
    assert desk.budget.reserved_usd == 0
    assert desk.limiter.snapshot().waiting == 0


def test_a_cancelled_wait_leaves_no_trace():
    async def work() -> Desk:
        desk = desk_of(concurrency=1, budget_usd=1.0)
        async with client_of(desk) as client:
            budget, limiter = RemoteBudget(client, 1.0), RemoteLimiter(client)
            held = await budget.reserve(0.9)
            slot = limiter.slot(10, "")
            await slot.__aenter__()
            waiting = [asyncio.ensure_future(budget.reserve(0.5)), asyncio.ensure_future(limiter.slot(10, "").__aenter__())]
            await asyncio.sleep(0.02)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            slot.failed()
            held.release()
            async with limiter.slot(10, ""):
                assert (await budget.reserve(1.0)) is not None
        return desk

    desk = asyncio.run(work())
    assert desk.limiter.snapshot().in_flight == 0
    # The last reservation was never ended by its client, which has left.
    assert desk.budget.spent_usd == 1.0


def test_a_refusal_brakes_all_and_headers_reach_the_limiter():
    async def work() -> tuple[float, float | None]:
        desk = desk_of()
        async with client_of(desk, "a") as one, client_of(desk, "b") as two:
            async with RemoteLimiter(one).slot(10, "") as slot:
                slot.refused(retry_after=5.0)
            RemoteLimiter(one).observe(RateReport(limit_requests=77.0))
            entering = asyncio.ensure_future(RemoteLimiter(two).slot(10, "").__aenter__())
            await asyncio.sleep(0.05)
            assert not entering.done()
            entering.cancel()
            await asyncio.gather(entering, return_exceptions=True)
            await asyncio.sleep(0.05)
            state = RemoteLimiter(two).snapshot()
            return state.braking_for_s, state.rpm

    braking, rpm = asyncio.run(work())
    assert 4.0 < braking <= 5.0
    assert rpm == 77.0


def test_denials_come_as_the_errors_they_are():
    async def work() -> list[BaseException]:
        desk = desk_of(budget_usd=1.0)
        async with client_of(desk) as client:
            budget = RemoteBudget(client, 1.0)
            return await asyncio.gather(budget.reserve(2.0), budget.reserve(None), return_exceptions=True)

    reached, unpriced = asyncio.run(work())
    assert isinstance(reached, BudgetReached)
    assert "budget of $1 is reached" in str(reached)
    assert "--budget-usd" in (reached.remedy or "")
    assert isinstance(unpriced, UsageError)


def test_a_stop_reaches_every_client_once_and_events_reach_the_driver():
    async def work() -> tuple[list[str], Any]:
        desk, stopped = desk_of(), []
        async with (
            client_of(desk, "a", on_stop=lambda: stopped.append("a")) as one,
            client_of(desk, "b", on_stop=lambda: stopped.append("b")),
        ):
            one.hear(CallStarted("situation", "1", 0))
            one.hear(CallStarted("situation", "2", 0))
            await desk.stop()
            await asyncio.sleep(0.15)
        return stopped, await desk.look()

    stopped, view = asyncio.run(work())
    assert sorted(stopped) == ["a", "b"]
    assert [event.item_id for event in view.events] == ["1", "2"]


def test_without_a_desk_nothing_may_be_sent():
    class Broken(Pickling):
        async def post(self, client: str, asks: Any) -> Word:
            raise ConnectionResetError

    async def work() -> None:
        async with DeskClient(Broken(desk_of()), "a", concurrency=1) as client:
            with pytest.raises(RunError, match="ConnectionResetError"):
                await RemoteLimiter(client).slot(10, "").__aenter__()
            with pytest.raises(RunError):
                await client.ask(Reserve(7, 1.0))

    asyncio.run(work())


def test_an_unlimited_budget_is_only_counted():
    async def work() -> tuple[float, float]:
        desk = desk_of()
        async with client_of(desk) as client:
            budget = RemoteBudget(client, None)
            (await budget.reserve(2.0)).settle(1.5)
            (await budget.reserve(2.0)).charge_in_full()
            (await budget.reserve(2.0)).release()
            ended = await budget.reserve(None)
            ended.release()
            ended.release()
            with pytest.raises(ValueError, match="ended already"):
                ended.settle(1.0)
        return (await desk.look()).state.spent_usd, await desk.leave("a")

    assert asyncio.run(work()) == (3.5, 3.5)


def test_errors_travel_whole():
    error = RateLimited("too many", retry_after=3.0, where="https://x", remedy="Wait")
    error.retries = 2
    found = copied(PortableError.of(error)).rebuilt()
    assert type(found) is RateLimited
    assert str(found) == str(error)
    assert (found.retry_after, found.retries) == (3.0, 2)
