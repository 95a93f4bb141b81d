"""The hard limit on spending: who goes ahead, who waits, who is turned away."""

from __future__ import annotations

import asyncio
import math

import pytest

from piiloom.execution.money.budget import Budget, BudgetReached
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.errors import BudgetExceeded
from tests.longer import case_by_case


async def settled_tasks(turns: int = 5) -> None:
    """Let every task go as far as it can."""
    for _ in range(turns):
        await asyncio.sleep(0)


@case_by_case("limit", [0, 0.0, -1, -1e-9, math.nan, math.inf, 1e-13])
def test_a_budget_of_nothing_is_a_usage_error(limit):
    with pytest.raises(UsageError, match="finite number above 0") as caught:
        Budget(limit)
    assert caught.value.where == "--budget-usd"


def test_what_fits_goes_ahead_and_what_it_really_cost_is_booked():
    async def main() -> None:
        budget = Budget(1.0, spent_usd=0.25)
        first, second, third = [await budget.reserve(0.25) for _ in range(3)]
        assert (budget.spent_usd, budget.reserved_usd) == (0.25, 0.75)
        first.settle(0.1)
        second.release()
        third.charge_in_full()
        assert (budget.spent_usd, budget.reserved_usd) == (0.6, 0.0)
        (await budget.reserve(0.4)).charge_in_full()
        assert budget.spent_usd == budget.limit_usd == 1.0

    asyncio.run(main())


def test_decimals_that_floats_cannot_hold_add_up_exactly():
    async def main() -> None:
        budget = Budget(0.3)
        for reservation in [await budget.reserve(0.1) for _ in range(3)]:
            reservation.settle(0.1)
        many = Budget(1000.0)
        for _ in range(100_000):
            (await many.reserve(0.0001)).settle(0.0000001)
        assert (budget.spent_usd, many.spent_usd) == (0.3, 0.01)

    asyncio.run(main())


def test_amounts_are_rounded_so_that_none_slips_through():
    async def main() -> None:
        budget = Budget(1.00000000000099)  # the limit is rounded down, amounts are rounded up
        for _ in range(10):
            (await budget.reserve(0.0999999999991)).charge_in_full()
        assert budget.spent_usd == budget.limit_usd == 1.0
        with pytest.raises(BudgetReached):
            await budget.reserve(1e-30)

    asyncio.run(main())


def test_a_reservation_ends_once():
    async def main() -> None:
        budget = Budget(1.0)
        reservation = await budget.reserve(0.5)
        reservation.settle(0.2)
        reservation.release()  # for a ``finally``
        for end in (lambda: reservation.settle(0.1), reservation.charge_in_full):
            with pytest.raises(ValueError, match="has ended"):
                end()
        assert (budget.spent_usd, budget.reserved_usd) == (0.2, 0.0)

    asyncio.run(main())


@pytest.mark.parametrize("amount", [-0.1, math.nan, math.inf])
def test_what_is_no_amount_is_refused_and_changes_nothing(amount):
    async def main() -> None:
        budget = Budget(1.0)
        with pytest.raises(ValueError, match="not an amount"):
            await budget.reserve(amount)
        reservation = await budget.reserve(0.5)
        with pytest.raises(ValueError, match="not an amount"):
            reservation.settle(amount)
        reservation.charge_in_full()
        assert (budget.spent_usd, budget.reserved_usd) == (0.5, 0.0)

    asyncio.run(main())


def test_a_call_waits_while_calls_under_way_may_leave_enough():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = [await budget.reserve(0.5) for _ in range(2)]
        waiting = asyncio.ensure_future(budget.reserve(0.5))
        await settled_tasks()
        assert not waiting.done()
        under_way[0].settle(0.1)
        await settled_tasks()
        assert not waiting.done()  # 0.1 + 0.5 + 0.5 would be too much
        under_way[1].settle(0.1)
        reservation = await waiting
        assert math.isclose(budget.spent_usd + budget.reserved_usd, 0.7)
        reservation.release()

    asyncio.run(main())


def test_a_call_that_could_pass_the_limit_anyhow_is_turned_away_at_once():
    async def main() -> None:
        budget = Budget(1.0, spent_usd=0.6)
        under_way = await budget.reserve(0.3)
        with pytest.raises(BudgetReached, match="budget of \\$1 is reached") as caught:
            await budget.reserve(0.5)
        assert isinstance(caught.value, BudgetExceeded)
        assert isinstance(caught.value, ProviderError)
        assert "--budget-usd" in str(caught.value.remedy)
        under_way.settle(0.05)
        (await budget.reserve(0.3)).settle(0.3)  # what fits still goes ahead
        assert budget.spent_usd == 0.95

    asyncio.run(main())


def test_once_reached_nobody_new_waits():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = await budget.reserve(0.8)
        with pytest.raises(BudgetReached):
            await budget.reserve(1.1)
        with pytest.raises(BudgetReached):
            await asyncio.wait_for(budget.reserve(0.5), 1)
        small = await budget.reserve(0.2)
        for reservation in (under_way, small):
            reservation.release()

    asyncio.run(main())


def test_whoever_waits_is_turned_away_as_soon_as_nothing_can_help():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = await budget.reserve(0.8)
        waiting = [asyncio.ensure_future(budget.reserve(0.5)) for _ in range(3)]
        await settled_tasks()
        under_way.charge_in_full()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [BudgetReached] * 3
        assert (budget.spent_usd, budget.reserved_usd) == (0.8, 0.0)

    asyncio.run(main())


def test_first_come_first_served_also_for_a_dear_call_behind_which_cheap_ones_wait():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = [await budget.reserve(0.3) for _ in range(3)]
        order: list[str] = []

        async def call(name: str, worst: float) -> None:
            reservation = await budget.reserve(worst)
            order.append(name)
            await asyncio.sleep(0)
            reservation.release()

        tasks = [asyncio.ensure_future(call(name, worst)) for name, worst in (("dear", 0.9), ("cheap", 0.1), ("cheaper", 0.01))]
        await settled_tasks()
        assert order == []  # the cheap ones would fit, but the dear one would never get its turn
        for reservation in under_way:
            reservation.release()
        await asyncio.gather(*tasks)
        assert order == ["dear", "cheap", "cheaper"]

    asyncio.run(main())


def test_cancelling_a_waiting_call_frees_its_place_for_those_behind():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = await budget.reserve(0.5)
        dear, cheap = (asyncio.ensure_future(budget.reserve(worst)) for worst in (0.9, 0.4))
        await settled_tasks()
        assert not cheap.done()
        dear.cancel()
        (await asyncio.wait_for(cheap, 1)).release()
        under_way.release()
        assert (budget.spent_usd, budget.reserved_usd) == (0.0, 0.0)

    asyncio.run(main())


def test_a_call_cancelled_in_the_moment_it_is_granted_gives_its_money_back():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = await budget.reserve(1.0)
        waiting = asyncio.ensure_future(budget.reserve(0.7))
        await settled_tasks()
        under_way.release()  # grants it
        assert budget.reserved_usd == 0.7
        waiting.cancel()  # before it has run again
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert budget.reserved_usd == 0.0

    asyncio.run(main())


def test_a_call_cancelled_in_the_moment_it_is_turned_away_is_just_cancelled():
    async def main() -> None:
        budget = Budget(1.0)
        under_way = await budget.reserve(1.0)
        waiting = asyncio.ensure_future(budget.reserve(0.7))
        await settled_tasks()
        under_way.settle(0.9)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())


def test_without_a_limit_spending_is_counted_and_nobody_waits():
    async def main() -> None:
        budget = Budget(None, spent_usd=1.0)
        (await budget.reserve(1e9)).settle(2.0)
        (await budget.reserve(None)).settle(0.5)
        assert (budget.limit_usd, budget.spent_usd, budget.reserved_usd) == (None, 3.5, 0.0)

    asyncio.run(main())


def test_a_call_of_unknown_price_cannot_be_held_to_a_limit():
    async def main() -> None:
        with pytest.raises(UsageError, match="price of a call is unknown") as caught:
            await Budget(1.0).reserve(None)
        assert "--price" in str(caught.value.remedy)

    asyncio.run(main())
