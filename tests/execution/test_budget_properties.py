"""Whatever happens in whatever order, a budget is never passed, loses no money and leaves nobody waiting."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.execution.money.budget import Budget, BudgetReached, Reservation
from tests.longer import examples

DOLLARS = st.floats(min_value=0, max_value=0.02, allow_nan=False)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), DOLLARS),
        st.tuples(st.just("settle"), st.integers(0, 50), st.floats(0, 1)),
        st.tuples(st.just("release"), st.integers(0, 50)),
        st.tuples(st.just("charge"), st.integers(0, 50)),
        st.tuples(st.just("cancel"), st.integers(0, 50)),
        st.tuples(st.just("breathe")),
    ),
    max_size=60,
)
PICO = Fraction(1, 10**12)


class Play:
    """Plays steps on a budget and keeps books of its own, in exact fractions."""

    def __init__(self, limit: float) -> None:
        self.limit, self.budget = Fraction(limit), Budget(limit)
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.worst: dict[int, float] = {}
        self.open: dict[int, Reservation] = {}
        self.granted: list[int] = []
        self.turned_away: list[int] = []
        self.spent = Fraction(0)
        self._numbers = count()

    async def _call(self, number: int) -> None:
        try:
            self.open[number] = await self.budget.reserve(self.worst[number])
            self.granted.append(number)
        except BudgetReached:
            self.turned_away.append(number)

    async def step(self, name: str, *given: float) -> None:
        if name == "reserve":
            number = next(self._numbers)
            self.worst[number] = given[0]
            self.tasks[number] = asyncio.ensure_future(self._call(number))
        elif name == "breathe":
            await asyncio.sleep(0)
        elif name == "cancel":
            pending = [task for task in self.tasks.values() if not task.done()]
            if pending:
                pending[int(given[0]) % len(pending)].cancel()
        elif self.open:
            self.end(list(self.open)[int(given[0]) % len(self.open)], name, *given[1:])
        self.check()

    def end(self, number: int, how: str, share: float = 1.0) -> None:
        reservation = self.open.pop(number)
        if how == "settle":
            actual = self.worst[number] * share
            reservation.settle(actual)
            self.spent += Fraction(actual)
        elif how == "charge":
            reservation.charge_in_full()
            self.spent += Fraction(self.worst[number])
        else:
            reservation.release()

    def check(self) -> None:
        held = sum(Fraction(self.worst[number]) for number in self.open)
        assert self.spent + held <= self.limit
        assert Fraction(self.budget.spent_usd) + Fraction(self.budget.reserved_usd) <= self.limit + PICO

    async def finish(self) -> None:
        """End all that is open until nobody waits; fails if somebody waits for ever."""
        while not all(task.done() for task in self.tasks.values()):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            pending = [task for task in self.tasks.values() if not task.done()]
            assert self.open or not pending, "somebody waits although nothing is under way"
            if self.open:
                self.end(next(iter(self.open)), "release")
            self.check()
        for number in list(self.open):
            self.end(number, "charge")
        self.check()


@pytest.mark.long
@settings(max_examples=examples(300), deadline=None)
@given(st.floats(min_value=1e-6, max_value=0.1), STEPS)
def test_no_interleaving_passes_the_limit(limit, steps):
    async def main() -> None:
        play = Play(limit)
        for step in steps:
            await play.step(*step)
        await play.finish()
        assert play.budget.reserved_usd == 0
        assert abs(Fraction(play.budget.spent_usd) - play.spent) <= PICO * (len(steps) + 1)

    asyncio.run(main())


@settings(max_examples=50, deadline=None)
@given(st.lists(DOLLARS, min_size=1, max_size=30), st.lists(st.floats(0, 1), min_size=30, max_size=30), st.integers(1, 8))
def test_calls_are_served_in_the_order_they_came(worsts, shares, workers_ahead):
    """Before anybody is turned away, nobody overtakes: whoever is granted came before all that still wait."""

    async def main() -> None:
        play = Play(max(0.03, 1.5 * max(worsts)))
        for worst in worsts:
            await play.step("reserve", worst)
        settled = 0
        while not all(task.done() for task in play.tasks.values()):
            for _ in range(workers_ahead):
                await asyncio.sleep(0)
            if not play.turned_away:
                assert play.granted == sorted(play.granted) == list(range(len(play.granted)))
            if play.open:
                play.end(next(iter(play.open)), "settle", shares[settled % len(shares)])
                settled += 1
            play.check()
        for number in list(play.open):
            play.end(number, "release")

    asyncio.run(main())
