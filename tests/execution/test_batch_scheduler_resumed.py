"""Batches outlive the process that sent them: whoever comes next takes them up, and pays for nothing twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from piiloom.corpus.store.call_events import load_open_batches, save_batches
from piiloom.corpus.store.database import Store
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import RunError
from piiloom.providers.batch_api import BatchLimits
from tests.execution.batch_sessions import RUN, batches, counting, entries, impatient, is_out, replies, sit, spent, until
from tests.fakes.llm_batches import BatchPlan
from tests.forked import Forked
from tests.longer import EXPLORE, mostly_long, usually

NAMES = ("openai", "anthropic")
# Each of these starts processes to kill.
KILLS = 12 if EXPLORE else 4
USUALLY_ONE = pytest.mark.parametrize("name", usually(NAMES, {"openai"}))
MOSTLY_ONE = pytest.mark.parametrize("name", mostly_long(NAMES, quick={"openai"}))
ROOT = Path(__file__).parents[2]


def begin(path, server, name, number, stages=("first", "second")):
    """A session in a process of its own."""
    return Forked([sys.executable, "-m", "tests.execution.batch_sessions", path, server.root, name, number, *stages])


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def soon(condition, timeout=30.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def paid_once(server, path, prompts):
    """The server's own list of what it answered is that of the journal, each prompt once."""
    assert server.batches.billed_prompts == dict.fromkeys(prompts, 1)
    assert len(replies(path)) == len(set(replies(path))) == len(prompts)


def both_stages(number):
    return [f"{stage} {n}" for stage in ("first", "second") for n in range(number)]


@pytest.mark.long
@USUALLY_ONE
def test_a_kill_during_the_wait_sends_nothing_twice(server, path, name):
    server.batches.plan = lambda nth: BatchPlan(polls=10_000 if nth == 0 else 2)
    process = begin(path, server, name, 30)
    soon(lambda: server.batches.sizes() == [30] and next(iter(server.batches.batches.values())).polls > 2)
    kill(process)
    assert [row.state for row in batches(path)] == ["submitted"]
    first = next(iter(server.batches.batches.values()))
    first.plan = BatchPlan(polls=first.polls + 2)
    found = sit(path, server, name, lambda session: session.items(range(30)))
    assert found == [[n, n] for n in range(30)]
    assert server.batches.sizes() == [30, 30]
    paid_once(server, path, both_stages(30))


@pytest.mark.long
@MOSTLY_ONE
def test_a_kill_before_the_provider_s_id_is_known_sends_nothing_twice(server, path, name):
    """The batch is made, the answer is on its way, and the process is gone: nobody but the provider knows of it."""
    server.batches.trouble = lambda operation, nth: "hang" if operation == "create" and nth == 0 else None
    process = begin(path, server, name, 12)
    soon(lambda: server.batches.sizes() == [12])
    kill(process)
    server.batches.let_go.set()
    (row,) = batches(path)
    assert (row.state, row.remote_id) == ("preparing", None)
    found = sit(path, server, name, lambda session: session.items(range(12)))
    assert found == [[n, n] for n in range(12)]
    assert server.batches.sizes() == [12, 12]
    paid_once(server, path, both_stages(12))


@pytest.mark.long
@USUALLY_ONE
def test_a_kill_before_anything_reached_the_provider(server, path, name):
    operation = "upload" if name == "openai" else "create"
    server.batches.trouble = lambda asked, _nth: "server_error" if asked == operation else None
    process = begin(path, server, name, 5)
    soon(lambda: server.batches.asked[operation] > 0)
    kill(process)
    assert [row.state for row in batches(path)] == ["preparing"]
    server.batches.trouble = lambda *_: None
    assert sit(path, server, name, lambda session: session.items(range(5))) == [[n, n] for n in range(5)]
    assert [row.state for row in batches(path)] == ["failed", "collected", "collected"]
    paid_once(server, path, both_stages(5))


@MOSTLY_ONE
def test_a_kill_while_results_are_collected_counts_them_once(server, path, name, monkeypatch):
    monkeypatch.setattr("piiloom.execution.batches.jobs._TOGETHER", 5)
    sent = impatient(first_poll_s=0.001)

    async def some(session):
        tasks = [asyncio.ensure_future(session.item(n, ["first"])) for n in range(40)]
        await until(lambda: session.totals.answered >= 10)
        session.batches._sender.cancel()
        for task in session.batches._out.values():  # as a kill would: at once, in the midst of the file
            task.cancel()
        return sum(task.done() for task in tasks)

    sit(path, server, name, some, policy=sent)
    assert [row.state for row in batches(path)] == ["ended"]
    kept = len(replies(path))
    assert 10 <= kept < 40
    assert sit(path, server, name, lambda session: session.items(range(40), ["first"])) == [[n] for n in range(40)]
    assert server.batches.sizes() == [40]
    paid_once(server, path, [f"first {n}" for n in range(40)])


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_results_that_nobody_asks_for_any_more_are_kept(server, path, name):
    leave_out(server, path, name)

    async def other_things(session):
        await until(lambda: not session.batches.out)
        return session.budget.reserved_usd, session.totals.answered

    assert sit(path, server, name, other_things) == (0.0, 6)
    paid_once(server, path, [f"first {n}" for n in range(6)])
    # And whoever asks later, in that session or another, gets them.
    assert sit(path, server, name, lambda session: session.items(range(6), ["first"])) == [[n] for n in range(6)]
    assert server.batches.sizes() == [6]


def test_a_reply_that_came_before_it_was_asked_for_is_held_against_the_schema_then(server, path):
    """Its fault has the words of one that comes after: they are told to the model, and another prompt would be another run."""
    server.batches.fate = lambda request: "bad_json_reply" if request.user == "first 2" else None
    usual = sit(path.with_name("usual.duckdb"), server, "openai", lambda session: session.items(range(6), ["first"]))
    leave_out(server, path, "openai")

    async def late(session):
        await until(lambda: not session.batches.out)
        return await session.items(range(6), ["first"])

    found = sit(path, server, "openai", late)
    assert [one for n, one in enumerate(found) if n != 2] == [[0], [1], [3], [4], [5]]
    again = sit(path, server, "openai", lambda session: session.items(range(6), ["first"]))
    assert {str(one[2]) for one in (usual, found, again)} == {"openai: the reply is not valid JSON (line 1, column 1)"}
    assert server.batches.sizes() == [6, 6]


def leave_out(server, path, name, number=6):
    """A session that ends while its batch is out."""

    async def leave(session):
        tasks = [asyncio.ensure_future(session.item(n, ["first"])) for n in range(number)]
        await until(lambda: is_out(session))
        for task in tasks:
            task.cancel()

    sit(path, server, name, leave, policy=impatient(first_poll_s=60.0))


@MOSTLY_ONE
def test_what_is_out_counts_against_the_budget_of_the_next_sitting(server, path, name):
    leave_out(server, path, name)
    worst = sum(entry["worst_usd"] for entry in entries(path, "sent"))

    async def ask(session):
        reserved = session.budget.reserved_usd
        return reserved, await session.items(range(7), ["first"])

    # Enough for what is out, not for one call more.
    reserved, found = sit(path, server, name, ask, budget_usd=spent(path) + worst / 6 * 0.9)
    assert reserved == pytest.approx(worst)
    assert found[:6] == [[n] for n in range(6)]
    assert isinstance(found[6], BudgetReached)


def test_another_address_is_refused_while_a_batch_is_out(server, path):
    leave_out(server, path, "openai")
    with Store.open(path) as store:
        (left,) = load_open_batches(store, RUN)
        save_batches(
            store, [type(left.row)(**{**{f: getattr(left.row, f) for f in left.row.__slots__}, "endpoint": "http://elsewhere/v1"})]
        )
    with pytest.raises(RunError, match="http://elsewhere/v1"):
        sit(path, server, "openai", lambda session: session.items(range(6), ["first"]))


@MOSTLY_ONE
def test_a_batch_that_the_provider_does_not_know_ends_the_run_and_stays(server, path, name):
    leave_out(server, path, name)
    kept = dict(server.batches.batches)
    server.batches.batches.clear()
    found = sit(path, server, name, lambda session: session.items(range(6), ["first"]))
    assert {type(one) for one in found} == {RunError}
    assert "--forget" in str(found[0])
    server.batches.batches |= kept
    assert sit(path, server, name, lambda session: session.items(range(6), ["first"])) == [[n] for n in range(6)]
    assert server.batches.sizes() == [6]


@MOSTLY_ONE
def test_results_that_were_deleted_are_charged_in_full_and_asked_for_again(server, path, name):
    leave_out(server, path, name)
    worst = sum(entry["worst_usd"] for entry in entries(path, "sent"))
    (batch,) = server.batches.batches.values()
    while batch.state not in {"completed", "ended"}:
        server.batches.look(batch)
    server.batches.lose_results(batch)
    assert sit(path, server, name, lambda session: session.items(range(6), ["first"])) == [[n] for n in range(6)]
    assert sum(entry["charge_usd"] for entry in entries(path, "failed")) == pytest.approx(worst)
    assert [row.state for row in batches(path)] == ["failed", "collected"]


@pytest.mark.long
@pytest.mark.parametrize("name", usually(NAMES, {"anthropic"}))
def test_kills_at_random_moments(path, name, keys):
    """Whenever the process dies, the next one goes on from what is at the provider: every prompt is answered once."""
    rng = random.Random(12)
    stages = [f"stage{number}" for number in range(8)]
    kills = 0
    with counting() as server:
        server.batches.plan = lambda _: BatchPlan(polls=12)
        while kills < KILLS:
            process = begin(path, server, name, 25, stages)
            began = server.batches.asked.total()
            soon(lambda: process.poll() is not None or server.batches.asked.total() > began)  # noqa: B023 - used at once
            time.sleep(rng.uniform(0, 0.15))
            if process.poll() is not None:
                break
            kill(process)
            kills += 1
        found = sit(path, server, name, lambda session: session.items(range(25), stages))
        assert found == [[n] * len(stages) for n in range(25)]
        paid_once(server, path, [f"{stage} {n}" for stage in stages for n in range(25)])
    assert kills >= KILLS // 2


@pytest.mark.long
def test_a_round_of_thousands_is_cut_into_batches(server, path):
    """Items by the thousand wait in one loop; the round is cut into batches and every answer finds its item."""
    limits = BatchLimits(requests=700, bytes=1_000_000)
    found = sit(path, server, "openai", lambda session: session.items(range(2000), ["first"]), limits=limits)
    assert found == [[n] for n in range(2000)]
    assert max(server.batches.sizes()) <= 700
