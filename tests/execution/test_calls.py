"""Calls are kept before they are used, found again in every run, and never dropped once they are sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from piiloom.corpus.store.call_events import BatchRequestRow, BatchRow, CallEvent, save_batch_requests, save_batches, save_call_events
from piiloom.corpus.store.costs import journal_lines, open_sends, reply_costs, spending, unanswered_calls
from piiloom.execution.call_channel import close_open_sends
from piiloom.execution.call_entries import sent_entry
from piiloom.execution.watching.events import CallAnswered, CallFailed, CallReplayed, CallStarted
from piiloom.foundation.errors import RunError
from piiloom.providers.errors import AuthFailed, InvalidRequest, ProviderUnavailable, RateLimited, Refused
from piiloom.providers.protocol import SamplingSettings, TokenUsage
from tests.ended_calls import load_completions
from tests.execution.paid_channel import COST, PaidProvider, a_call, completion, events, kinds, new_run, on_channel, open_store


@pytest.fixture
def store():
    with open_store() as opened:
        yield opened


def answered(call):
    return {"n": int(call.item_id)}


def ask_all(numbers, **options):
    async def work(channel):
        return await asyncio.gather(*(channel.calls.complete(a_call(n, **options)) for n in numbers), return_exceptions=True)

    return work


def test_a_request_is_on_disk_before_it_is_sent_and_its_reply_before_it_is_used(store):
    run = new_run(store)

    def answer(call):
        return asked(call)

    async def asked(call):
        found = await channel_committer.ask(kinds)
        assert found == ["sent"]
        return {"n": 1}

    async def work(channel):
        nonlocal channel_committer
        channel_committer = channel.calls._committer
        await channel.calls.complete(a_call())
        assert await channel_committer.ask(kinds) == ["sent", "reply"]

    channel_committer = None
    on_channel(store, run, PaidProvider(answer), work)
    (_, sent), (_, reply) = events(store)
    assert (sent["try"], sent["user"], sent["schema_name"]) == (1, "count 0", "count")
    assert sent["worst_usd"] > COST
    assert store.rows("SELECT text FROM prompt_texts") == [("Be exact.",)]
    assert (reply["reply"], reply["cost_usd"], reply["input"], reply["output"]) == ('{"n": 1}', COST, 10, 5)


def test_a_second_run_finds_what_the_first_has_paid_for(store):
    first, second = new_run(store, "first"), new_run(store, "second")
    on_channel(store, first, PaidProvider(answered), ask_all(range(20)))
    provider = PaidProvider(answered)
    found = on_channel(store, second, provider, ask_all(range(25)))
    assert [answer.completion.data["n"] for answer in found] == list(range(25))
    assert sorted(int(call.item_id) for call in provider.calls) == [20, 21, 22, 23, 24]
    assert kinds(store, second).count("used") == 20
    assert spending(store, second).cost_usd == pytest.approx(5 * COST)


def test_what_a_batch_of_another_run_will_bring_is_not_paid_for_again(store):
    first, second = new_run(store, "first"), new_run(store, "second")
    on_channel(store, first, PaidProvider(lambda _: InvalidRequest("too long")), ask_all([0]))
    ((key,),) = store.rows("SELECT DISTINCT key FROM call_events")
    about = {"provider": "scripted", "endpoint": "test", "model": "script-1", "remote_id": "b_1", "created_at": "2026-11-01T10:00:00+00:00"}
    out = BatchRow(id="b", run_id=first, state="submitted", requests=1, **about)
    owed = {"stage": "counting", "item_id": "0", "attempt": 0, "worst_usd": 0.5}
    save_batches(store, [out])
    save_batch_requests(store, [BatchRequestRow(batch_id="b", run_id=first, custom_id="c", key=key, **owed)])
    provider = PaidProvider(answered)
    error, other = on_channel(store, second, provider, ask_all([0, 1]))
    assert (type(error), error.where) == (RunError, "first")
    assert "piiloom generate --resume first" in error.remedy
    assert other.completion.data == {"n": 1}
    save_batches(store, [replace(out, state="cancelled")])
    assert on_channel(store, second, provider, ask_all([0]))[0].completion.data == {"n": 0}


@pytest.mark.parametrize("change", [{"system": "Be bold."}, {"prompt": "number"}, {"attempt": 1}])
def test_nothing_stale_is_served_when_what_shapes_the_answer_changes(store, change):
    run = new_run(store)
    on_channel(store, run, PaidProvider(answered), ask_all([3]))
    provider = PaidProvider(answered)
    on_channel(store, run, provider, ask_all([3], **change))
    assert len(provider.calls) == 1


def test_the_key_of_a_call_is_what_it_was_when_older_stores_were_written(store):
    (answer,) = on_channel(store, new_run(store), PaidProvider(answered), ask_all([3]))
    assert answer.key == "4f2b49d6ed55f1586a0a8174a36742be7f2548be53a55f8b642290f9b796fb5b"


@pytest.mark.parametrize("given", [{"temperature": 0.5}, {"top_p": 0.5}, {"extra_body": {"top_k": 1}}])
def test_another_sampling_setting_is_another_draw(store, given):
    run = new_run(store)
    on_channel(store, run, PaidProvider(answered), ask_all([3]))
    provider = PaidProvider(answered)
    warmer = replace(a_call(3), settings=SamplingSettings(**given))

    async def work(channel):
        return await channel.calls.complete(warmer), await channel.calls.complete(a_call(3))

    on_channel(store, run, provider, work)
    assert provider.calls[0].settings == SamplingSettings(**given)
    assert len(provider.calls) == 1


def test_another_seed_is_another_draw(store):
    run = new_run(store)
    on_channel(store, run, PaidProvider(answered), ask_all([3]), seed=1)
    provider = PaidProvider(answered)
    on_channel(store, run, provider, ask_all([3]), seed=2)
    assert len(provider.calls) == 1


def test_an_unusable_reply_is_paid_kept_and_replayed_as_the_same_error(store):
    run = new_run(store)
    declined = Refused("declined", completion=completion({"n": 0}))
    (first,) = on_channel(store, run, PaidProvider(lambda _: declined), ask_all([0]))
    provider = PaidProvider(answered)
    (second,) = on_channel(store, run, provider, ask_all([0]))
    assert (type(first), str(first)) == (type(second), str(second)) == (Refused, "declined")
    assert provider.calls == []
    assert spending(store, run).cost_usd == pytest.approx(COST)


def test_each_try_is_accounted_for(store):
    run, script = new_run(store), [ProviderUnavailable("away"), RateLimited("slow down", retry_after=0.001), {"n": 0}]
    heard = []
    (answer,) = on_channel(store, run, PaidProvider(lambda _: script.pop(0)), ask_all([0]), sink=heard.append)
    assert answer.completion.retries == 2
    assert kinds(store) == ["sent", "failed", "sent", "failed", "sent", "reply"]
    assert [entry["code"] for kind, entry in events(store) if kind == "failed"] == ["unavailable", "rate_limited"]
    assert [type(event) for event in heard if isinstance(event, CallStarted | CallFailed | CallAnswered)] == [
        CallStarted,
        CallFailed,
        CallStarted,
        CallFailed,
        CallStarted,
        CallAnswered,
    ]


def test_a_refused_request_is_never_sent_again_and_costs_no_neighbour(store):
    run = new_run(store)

    def answer(call):
        return InvalidRequest("bad") if call.item_id == "7" else answered(call)

    provider = PaidProvider(answer)
    found = on_channel(store, run, provider, ask_all(range(64)))
    assert [n for n, one in enumerate(found) if isinstance(one, InvalidRequest)] == [7]
    assert len(provider.calls) == 64
    assert sum(row.reply is not None for row in load_completions(store, run)) == 63


def test_a_call_that_may_have_been_answered_is_charged_in_full(store):
    run, script = new_run(store), [ProviderUnavailable("cut", maybe_billed=True), {"n": 0}]
    on_channel(store, run, PaidProvider(lambda _: script.pop(0)), ask_all([0]))
    (_, sent), (_, failed), *_ = events(store)
    assert failed["code"] == "unknown_outcome"
    assert failed["charge_usd"] == sent["worst_usd"]
    spent = spending(store, run)
    assert (spent.charged_usd, spent.maybe_paid) == (sent["worst_usd"], 1)


def test_an_answer_that_does_not_say_what_it_used_counts_in_full_also_in_later_sittings(store):
    run = new_run(store)
    mute = replace(completion({"n": 0}), usage=TokenUsage(), cost_usd=None)
    left = on_channel(store, run, PaidProvider(lambda _: mute), lambda channel: asyncio.sleep(0, channel), budget_usd=5.0)
    assert left.budget.spent_usd == 0

    async def one(channel):
        await channel.calls.complete(a_call())
        return channel

    channel = on_channel(store, run, PaidProvider(lambda _: mute), one, budget_usd=5.0)
    worst = events(store)[0][1]["worst_usd"]
    spent = spending(store, run)
    assert (spent.answered, spent.unpriced, spent.cost_usd, spent.charged_usd) == (1, 1, 0.0, worst)
    assert channel.calls.totals.spent_usd == channel.budget.spent_usd == pytest.approx(worst)
    later = on_channel(store, run, PaidProvider(lambda _: mute), lambda channel: asyncio.sleep(0, channel), budget_usd=5.0)
    assert later.budget.spent_usd == pytest.approx(worst)
    assert (unanswered_calls(store, run)[0].charged_usd, reply_costs(store, run)[0].charged_usd) == (0, worst)
    assert journal_lines(store, run)[0].charged_usd == worst


def test_a_wrong_key_is_told_at_once(store):
    run = new_run(store)
    (error,) = on_channel(store, run, PaidProvider(lambda _: AuthFailed("no")), ask_all([0]))
    assert isinstance(error, AuthFailed)
    assert [entry["final"] for kind, entry in events(store) if kind == "failed"] == [True]


def test_what_is_under_way_when_the_run_stops_is_waited_for_and_kept(store):
    run, begun = new_run(store), asyncio.Event()

    async def slowly(call):
        begun.set()
        await asyncio.sleep(0.05)
        return answered(call)

    async def work(channel):
        tasks = [asyncio.ensure_future(channel.calls.complete(a_call(n))) for n in range(6)]
        await begun.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    provider = PaidProvider(slowly)
    on_channel(store, run, provider, work, concurrency=2)
    sent = len(provider.calls)
    assert 1 <= sent <= 2
    assert kinds(store).count("reply") == sent
    unsent = [entry["code"] for kind, entry in events(store) if kind == "failed"]
    assert unsent == ["not_sent"] * (kinds(store).count("sent") - sent)
    assert open_sends(store, run) == []
    assert spending(store, run).charged_usd == 0


@pytest.mark.parametrize("policy", [{"concurrency": 16}, {"concurrency": 16, "rpm": 1.0}, {"concurrency": 64}])
def test_a_kill_leaves_in_doubt_what_has_left_and_the_few_next_in_line(store, policy):
    run = new_run(store)
    at_the_kill = []

    async def work(channel):
        let_go = asyncio.Event()
        provider.held = let_go
        tasks = [asyncio.ensure_future(channel.calls.complete(a_call(n))) for n in range(2 * policy["concurrency"])]
        await asyncio.sleep(0.2)
        at_the_kill.append((len(provider.calls), len(await channel.calls._committer.ask(lambda store: open_sends(store, run)))))
        for task in tasks:
            task.cancel()
        let_go.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def held(call):
        await provider.held.wait()
        return answered(call)

    provider = PaidProvider(held)
    on_channel(store, run, provider, work, **policy)
    ((left, doubted),) = at_the_kill
    assert left <= doubted <= left + max(2, policy["concurrency"] // 4)
    assert open_sends(store, run) == []


def test_requests_of_a_killed_sitting_are_charged_once(store):
    run = new_run(store)
    entry = sent_entry(1, 0.25, __import__("datetime").datetime(2026, 1, 1))
    save_call_events(store, run, [CallEvent(key="0" * 64, kind="sent", stage="counting", item_id="0", attempt=0, entry=entry)])
    assert [send.worst_usd for send in close_open_sends(store, run)] == [0.25]
    assert close_open_sends(store, run) == []
    assert spending(store, run).charged_usd == 0.25
    heard = []
    on_channel(store, run, PaidProvider(answered), ask_all([0]), sink=heard.append)
    assert not any(isinstance(event, CallReplayed) for event in heard)
    assert spending(store, run).charged_usd == 0.25


@pytest.mark.parametrize(("timed_out", "limit"), [(True, 1), (False, 16)])
def test_an_answer_that_does_not_come_in_time_lowers_the_limit(store, timed_out, limit):
    failures = [ProviderUnavailable("no answer", maybe_billed=True, timed_out=timed_out)]

    async def work(channel):
        await channel.calls.complete(a_call())
        return channel.limiter.snapshot()

    state = on_channel(store, new_run(store), PaidProvider(lambda call: failures.pop() if failures else answered(call)), work)
    assert (state.limit, state.refused, state.in_flight) == (limit, 0, 0)
