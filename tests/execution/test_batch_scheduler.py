"""Batch mode: the same stages, in rounds of batches, at half the price, with whatever goes wrong at a provider."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.execution.batches.batch_scheduler import how_to_go_on
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import RunError
from piiloom.providers.batch_api import BatchLimits
from piiloom.providers.errors import AuthFailed, InvalidReply, InvalidRequest, ProviderUnavailable, Refused, Truncated
from piiloom.providers.factory import make_provider
from piiloom.providers.protocol import Message, TokenUsage
from tests.execution.batch_sessions import RUN, a_call, batches, counting, entries, impatient, is_out, replies, sit, spent, until
from tests.execution.batch_sessions import session as another_session
from tests.fakes.llm_batches import BatchPlan
from tests.longer import mostly_long
from tests.providers.provider_calls import MODELS

NAMES = ("openai", "anthropic")
BOTH = pytest.mark.parametrize("name", NAMES)
# What is ours and not the provider's way of batches.
MOSTLY_ONE = pytest.mark.parametrize("name", mostly_long(NAMES, quick={"openai"}))
SMALL = BatchLimits(requests=15, bytes=1_000_000)


def number_of(request):
    return int(request.user.split()[-1])


@BOTH
def test_items_go_through_their_stages_in_rounds(server, path, name):
    found = sit(path, server, name, lambda session: session.items(range(40)))
    assert found == [[n, n] for n in range(40)]
    assert server.batches.sizes() == [40, 40]
    assert server.requests == 0  # nothing was sent live
    assert [row.state for row in batches(path)] == ["collected"] * 2
    assert len(replies(path)) == len(set(replies(path))) == 80


@MOSTLY_ONE
def test_a_run_that_ends_with_the_last_answers_leaves_no_batch_out(server, path, name):
    async def work(session):
        await session.items(range(5), ["first"])
        await session.calls.drain()
        return session.batches.out

    assert sit(path, server, name, work) == []
    assert [row.state for row in batches(path)] == ["collected"]


@MOSTLY_ONE
def test_answers_are_counted_at_batch_prices(server, path, name):
    sit(path, server, name, lambda session: session.items(range(3), ["first"]))
    spec = make_provider(name, model=MODELS[name]).spec
    usage = TokenUsage(**{kind: entries(path, "reply")[0][kind] for kind in ("input", "cached", "cache_write", "output")})
    assert spent(path) == pytest.approx(sum(e["cost_usd"] for e in entries(path, "reply")))
    assert entries(path, "reply")[0]["cost_usd"] == pytest.approx(spec.cost_usd(usage) / 2)
    assert all(entry["batch"] is True for entry in entries(path, "reply"))


@MOSTLY_ONE
def test_the_journal_says_which_batch_carried_a_request(server, path, name):
    sit(path, server, name, lambda session: session.items(range(3), ["first"]))
    sent = entries(path, "sent")
    assert {entry["batch"] for entry in sent} == {batches(path)[0].id}
    assert sorted(entry["user"] for entry in sent) == ["first 0", "first 1", "first 2"]
    assert all(entry["worst_usd"] > 0 for entry in sent)


@MOSTLY_ONE
def test_a_round_is_split_by_the_number_of_requests(server, path, name):
    server.batches.max_requests = SMALL.requests
    found = sit(path, server, name, lambda session: session.items(range(40), ["first"]), limits=SMALL)
    assert found == [[n] for n in range(40)]
    assert sorted(server.batches.sizes(), reverse=True) == [15, 15, 10]


@MOSTLY_ONE
def test_a_round_is_split_by_its_size(server, path, name):
    # The server refuses what is larger than it allows, so that our count of bytes is held against what really goes up.
    server.batches.max_bytes = 12_000
    found = sit(path, server, name, lambda s: s.items(range(60), ["first"]), limits=BatchLimits(requests=1000, bytes=12_000))
    assert found == [[n] for n in range(60)]
    assert len(server.batches.sizes()) > 2


@MOSTLY_ONE
def test_what_an_expired_batch_left_undone_is_sent_again_and_nothing_else(server, path, name):
    server.batches.plan = lambda nth: BatchPlan(polls=4, expires_after=2 if nth == 0 else None)
    found = sit(path, server, name, lambda session: session.items(range(40), ["first"]))
    assert found == [[n] for n in range(40)]
    assert server.batches.sizes() == [40, 20]
    assert set(server.batches.billed_prompts.values()) == {1}
    assert {entry["try"] for entry in entries(path, "reply")} == {1, 2}
    assert sum(entry["charge_usd"] for entry in entries(path, "failed")) == 0


@MOSTLY_ONE
def test_requests_that_fail_within_a_batch(server, path, name):
    fates = {1: "invalid", 2: "server_error", 3: "rate_limit"}
    once = set()

    def fate(request):
        number = number_of(request)
        if number == 4 and number not in once:  # fails once, then works
            once.add(number)
            return "server_error"
        return fates.get(number)

    server.batches.fate = fate
    found = sit(path, server, name, lambda session: session.items(range(10), ["first"]))
    assert isinstance(found[1], InvalidRequest)
    assert isinstance(found[2], ProviderUnavailable)
    assert "sent 3 times" in str(found[2])
    assert [found[n] for n in (0, 4, 5, 6, 7, 8, 9)] == [[0], [4], [5], [6], [7], [8], [9]]
    assert server.batches.sizes() == [10, 3, 2]  # the invalid one is never sent again
    finals = [entry for entry in entries(path, "failed") if entry["final"]]
    assert sorted(entry["code"] for entry in finals) == ["invalid_request", "rate_limited", "unavailable"]


@MOSTLY_ONE
@pytest.mark.parametrize(("fate", "error"), [("refusal", Refused), ("truncation", Truncated), ("bad_json_reply", InvalidReply)])
def test_answers_that_cannot_be_used_are_paid_for_kept_and_not_asked_again(server, path, name, fate, error):
    server.batches.fate = lambda request: fate if number_of(request) == 1 else None
    found = sit(path, server, name, lambda session: session.items(range(3), ["first"]))
    assert isinstance(found[1], error)
    assert server.batches.sizes() == [3]
    assert len(replies(path)) == 3
    assert sum(entry["cost_usd"] for entry in entries(path, "reply")) == pytest.approx(spent(path))


def test_a_request_without_a_result_may_have_been_billed(server, path):
    gone = set()

    def fate(request):
        if number_of(request) == 2 and not gone:
            gone.add(2)
            return "missing"
        return None

    server.batches.fate = fate
    found = sit(path, server, "openai", lambda session: session.items(range(4), ["first"]))
    assert found == [[0], [1], [2], [3]]
    (failed,) = entries(path, "failed")
    assert (failed["maybe_billed"], failed["code"], failed["final"]) == (True, "unknown_outcome", False)
    assert failed["charge_usd"] > 0


@MOSTLY_ONE
@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "lost"])
def test_faults_on_the_way_lose_no_batch_and_make_none_twice(server, path, name, kind):
    """Every first request of every kind fails: uploads, making, look-ups, results."""
    server.batches.trouble = lambda _operation, nth: kind if nth == 0 else None
    found = sit(path, server, name, lambda session: session.items(range(8)))
    assert found == [[n, n] for n in range(8)]
    assert set(server.batches.billed_prompts.values()) == {1}
    assert server.batches.sizes() == [8, 8]


@BOTH
def test_results_that_come_cut_are_read_again(server, path, name):
    server.batches.trouble = lambda operation, nth: "cut" if operation == "results" and nth < 2 else None
    found = sit(path, server, name, lambda session: session.items(range(30), ["first"]))
    assert found == [[n] for n in range(30)]
    assert len(replies(path)) == len(set(replies(path))) == 30


@BOTH
def test_a_batch_whose_making_got_no_answer_is_found_and_not_made_again(server, path, name):
    server.batches.trouble = lambda operation, nth: "lost" if operation == "create" and nth == 0 else None
    found = sit(path, server, name, lambda session: session.items(range(5), ["first"]))
    assert found == [[n] for n in range(5)]
    assert server.batches.sizes() == [5]


@pytest.mark.long
def test_of_batches_that_look_alike_only_ours_is_taken(server, path, tmp_path):
    """Anthropic keeps no id of ours with a batch; another run's batch of the same size is out at the same time."""
    server.batches.plan = lambda nth: BatchPlan(polls=30 if nth == 0 else 4)
    server.batches.trouble = lambda operation, nth: "lost" if operation == "create" and nth == 1 else None
    other = tmp_path / "other.duckdb"

    async def both_runs(session):
        async with another_session(other, server, "anthropic") as second:
            theirs = asyncio.ensure_future(second.items(range(100, 105), ["first"]))
            await until(lambda: bool(server.batches.sizes()))
            return await session.items(range(5), ["first"]), await theirs

    ours, theirs = sit(path, server, "anthropic", both_runs)
    assert ours == [[n] for n in range(5)]
    assert theirs == [[n] for n in range(100, 105)]
    assert server.batches.sizes() == [5, 5]


def test_a_refused_line_costs_its_neighbours_nothing(server, path):
    server.batches.bad_line = lambda body: body["input"][0]["content"] == "first 3"
    found = sit(path, server, "openai", lambda session: session.items(range(6), ["first"]))
    assert isinstance(found[3], InvalidRequest)
    assert [found[n] for n in (0, 1, 2, 4, 5)] == [[0], [1], [2], [4], [5]]
    assert [row.state for row in batches(path)] == ["failed", "collected"]


def test_a_full_queue_is_waited_out_with_smaller_batches(server, path):
    server.batches.plan = lambda nth: BatchPlan(refused="token_limit_exceeded" if nth == 0 else None)
    found = sit(path, server, "openai", lambda session: session.items(range(10), ["first"]))
    assert found == [[n] for n in range(10)]
    assert server.batches.sizes() == [10, 5, 5]


@pytest.mark.long
def test_a_refused_remainder_waits_for_our_own_batches_and_makes_the_next_ones_no_smaller(server, path):
    server.batches.plan = lambda nth: BatchPlan(polls=40 if nth == 0 else 2, refused="token_limit_exceeded" if nth == 1 else None)
    found = sit(path, server, "openai", lambda session: session.items(range(18), ["first"]), limits=SMALL)
    assert found == [[n] for n in range(18)]
    assert server.batches.sizes() == [15, 3, 3]


def test_batches_grow_again_once_the_queue_has_room(server, path):
    async def two_rounds(session):
        return [await session.items(range(12), [stage]) for stage in ("first", "second")]

    server.batches.plan = lambda nth: BatchPlan(refused="token_limit_exceeded" if nth == 0 else None)
    assert sit(path, server, "openai", two_rounds) == [[[n] for n in range(12)]] * 2
    assert server.batches.sizes() == [12, 6, 6, 12]


@MOSTLY_ONE
def test_a_batch_refused_as_a_whole_ends_the_run_which_can_go_on(server, path, name):
    server.batches.plan = lambda nth: BatchPlan(refused="model_not_supported" if nth == 0 else None)
    found = sit(path, server, name, lambda session: session.items(range(4), ["first"]))
    assert {type(one) for one in found} == {RunError}
    assert [row.state for row in batches(path)] == ["failed"]
    server.batches.plan = lambda _: BatchPlan()
    assert sit(path, server, name, lambda session: session.items(range(4), ["first"])) == [[n] for n in range(4)]
    assert len(replies(path)) == 4


def test_no_money_ends_the_run(server, path):
    server.batches.plan = lambda _: BatchPlan(refused="billing_hard_limit_reached")
    found = sit(path, server, "openai", lambda session: session.items(range(2), ["first"]))
    assert "refused (billing_hard_limit_reached)" in str(found[0])
    assert found[0] is found[1]


@BOTH
def test_a_wrong_key_ends_the_run(server, path, name, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "bad-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "bad-key")
    found = sit(path, server, name, lambda session: session.items(range(2), ["first"]))
    assert {type(one) for one in found} == {AuthFailed}


@BOTH
def test_a_server_that_cannot_be_reached_ends_the_run_after_a_few_tries(path, name, keys):
    with counting() as gone:
        pass
    found = sit(path, gone, name, lambda session: session.items(range(2), ["first"]))
    assert {type(one) for one in found} == {RunError}
    assert [row.state for row in batches(path)] == ["preparing"]


def test_a_prompt_that_json_cannot_hold_is_refused_alone(server, path):
    lone = Message(role="user", content="first \ud800 7")

    async def work(session):
        bad = replace(a_call(7), render=lambda: [lone])
        return await asyncio.gather(session.item(1, ["first"]), session.calls.complete(bad), return_exceptions=True)

    first, second = sit(path, server, "openai", work)
    assert first == [1]
    assert isinstance(second, InvalidRequest)


@BOTH
def test_what_nobody_wants_any_more_is_not_sent(server, path, name):
    async def work(session):
        wanted = asyncio.ensure_future(session.items(range(3), ["first"]))
        unwanted = [asyncio.ensure_future(session.item(n, ["first"])) for n in (7, 8)]
        await until(lambda: session.batches.parked == 5)
        for task in unwanted:
            task.cancel()
        return await wanted, session.budget.reserved_usd

    found, reserved = sit(path, server, name, work)
    assert found == [[0], [1], [2]]
    assert server.batches.sizes() == [3]
    assert reserved == 0


def test_items_that_wait_for_each_other_do_not_hold_a_round_up(server, path):
    """One item asks for what all need (the topics of a pair, say); the others wait for it and not for a call."""

    async def work(session):
        shared = asyncio.ensure_future(session.calls.complete(a_call(99)))

        async def needing(number):
            session.open_items += 1
            await shared
            session.open_items -= 1
            return await session.item(number, ["second"])

        return await asyncio.gather(*(needing(n) for n in range(6)))

    assert sit(path, server, "openai", work) == [[n] for n in range(6)]
    assert server.batches.sizes() == [1, 6]


@pytest.mark.long
def test_a_stop_ends_the_waiting_at_once_and_leaves_the_batch_where_it_is(server, path):
    slow = impatient(first_poll_s=60.0, longest_poll_s=60.0)

    async def work(session):
        tasks = [asyncio.ensure_future(session.item(n, ["first"])) for n in range(5)]
        await until(lambda: is_out(session))
        for task in tasks:
            task.cancel()
        began = time.monotonic()
        await session.calls.drain()
        return time.monotonic() - began, session.batches.out

    took, out = sit(path, server, "anthropic", work, policy=slow)
    assert took < 30  # the next poll is 60 s away
    assert [(sight.row.requests, sight.total) for sight in out] == [(5, 5)]
    assert how_to_go_on(out, RUN).startswith("1 batch stays at anthropic")
    assert f"piiloom generate --resume {RUN}" in how_to_go_on(out, RUN)
    assert how_to_go_on([], RUN) == ""
    assert [row.state for row in batches(path)] == ["submitted"]
    assert sit(path, server, "anthropic", lambda session: session.items(range(5), ["first"])) == [[n] for n in range(5)]
    assert server.batches.sizes() == [5]


@pytest.mark.long
@MOSTLY_ONE
def test_a_budget_is_never_passed_and_what_fits_is_sent(server, path, name):
    sit(path, server, name, lambda session: session.items(range(1), ["first"]))
    worst, cost = entries(path, "sent")[0]["worst_usd"], spent(path)
    other = path.with_name("other.duckdb")
    limit = worst + cost * 6.5
    found = sit(other, server, name, lambda session: session.items(range(12), ["first"]), budget_usd=limit)
    done = [one for one in found if isinstance(one, list)]
    turned_away = [one for one in found if isinstance(one, BudgetReached)]
    assert len(done) + len(turned_away) == 12
    assert turned_away
    # What is left over would not have paid for one more call at its worst.
    assert limit - worst < spent(other) <= limit
    with Store.open(other) as store:
        assert spending(store, RUN).answered == len(done)
