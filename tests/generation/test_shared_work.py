"""Work that several items share is done once."""

from __future__ import annotations

import asyncio

import pytest

from piiloom.generation.stage import SharedWork


def test_it_is_done_once_and_everyone_gets_it():
    done = []

    async def make():
        await asyncio.sleep(0)
        done.append(1)
        return len(done)

    async def all_of_them():
        shared = SharedWork()
        first = await asyncio.gather(*(shared.once("text 3", make, among=2) for _ in range(2)))
        return first, await shared.once("text 3", make, among=2)

    assert asyncio.run(all_of_them()) == ([1, 1], 2)


def test_everyone_gets_its_error():
    async def make():
        raise ValueError("no")

    async def all_of_them():
        shared = SharedWork()
        return await asyncio.gather(*(shared.once("a", make, among=2) for _ in range(2)), return_exceptions=True)

    assert [str(error) for error in asyncio.run(all_of_them())] == ["no", "no"]


@pytest.mark.parametrize("cancelled", [1, 2])
def test_it_goes_on_for_whoever_still_waits(cancelled):
    ended = []

    async def make():
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        ended.append("done")
        return 1

    async def some_of_them():
        shared = SharedWork()
        tasks = [asyncio.ensure_future(shared.once("a", make, among=3)) for _ in range(2)]
        await asyncio.sleep(0)
        for task in tasks[:cancelled]:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
        return found

    found = asyncio.run(some_of_them())
    assert [isinstance(one, asyncio.CancelledError) for one in found] == [True, cancelled == 2]
    assert ended == (["done"] if cancelled == 1 else ["cancelled"])
