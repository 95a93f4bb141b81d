"""Both makers' batch APIs through their own SDKs: the same requests and answers as single calls, in their own wrapping."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.providers.batch_api import BatchLimits, BatchRequest, BatchUnknown, belongs_to, custom_id
from piiloom.providers.errors import AuthFailed, InvalidRequest, ProviderUnavailable, RateLimited
from piiloom.providers.factory import make_batch_api, make_provider
from tests.fakes.llm_batches import BatchPlan
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import KEY, MODELS, make_call

BOTH = pytest.mark.parametrize("name", ["openai", "anthropic"])
RECENTLY = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def server():
    # A line separator within a text, as it stands: whoever cuts lines there breaks the JSON in two.
    with LLMServer(lambda request: {"sentence": f"one\u2028two é {request.user}"}) as running:
        yield running


@asynccontextmanager
async def batch_api(server, name, **options):
    url = server.anthropic_url if name == "anthropic" else server.openai_url
    provider = make_provider(name, model=MODELS[name], base_url=url)
    try:
        yield make_batch_api(provider, **options)
    finally:
        await provider.aclose()


def with_api(server, name, work):
    async def whole():
        async with batch_api(server, name) as api:
            return await work(api)

    return asyncio.run(whole())


def requests_for(api, calls, batch_id="b1"):
    return [BatchRequest(custom_id=custom_id(batch_id, n), body=api.body(call, call.render())) for n, call in enumerate(calls)]


async def ended(api, batch):
    for _ in range(50):
        if batch.state != "working":
            break
        batch = await api.look_up(batch.id)
    return batch


@BOTH
def test_a_request_in_a_batch_is_the_one_that_a_single_call_sends(server, name):
    call = make_call(seed=3)

    async def work(api):
        await api.create("b1", requests_for(api, [call]))
        await api._provider.complete(call)

    with_api(server, name, work)
    (batch,) = server.batches.batches.values()
    assert batch.entries[0].body == server.bodies[0]


@BOTH
def test_results_are_the_completions_of_single_calls_at_half_the_price(server, name):
    calls = [make_call(user=f"prompt {n}") for n in range(5)]

    async def work(api):
        batch = await ended(api, await api.create("b1", requests_for(api, calls)))
        found = {result.custom_id: result async for result in api.results(batch)}
        batched = [api.read(found[custom_id("b1", n)], call, latency_s=7.0) for n, call in enumerate(calls)]
        return list(found), batched, [await api._provider.complete(call) for call in calls]

    order, batched, single = with_api(server, name, work)
    assert order != sorted(order)
    assert [one.data for one in batched] == [{"sentence": f"one\u2028two é prompt {n}"} for n in range(5)]
    for ours, theirs in zip(batched, single, strict=True):
        assert ours == replace(theirs, cost_usd=ours.cost_usd, latency_s=7.0)
        assert ours.cost_usd == pytest.approx(theirs.cost_usd / 2)


@BOTH
def test_the_size_of_a_request_is_what_it_adds_to_the_batch(server, name):
    calls = [make_call(user="ä“\u2028 " * n) for n in range(1, 40)]

    async def work(api):
        requests = requests_for(api, calls)
        await api.create("b1", requests)
        return sum(api.size(request) for request in requests)

    size = with_api(server, name, work)
    sent = server.batches.received[-1] if name == "anthropic" else len(server.batches.files["file-0"])
    assert 0 <= sent - size <= 20


@pytest.mark.long
@BOTH
def test_a_batch_is_found_by_our_id_among_hundreds(server, name):
    async def work(api):
        await api.create("ours", requests_for(api, [make_call(), make_call()], "ours"))
        for n in range(130):
            await api.create(f"other{n}", requests_for(api, [make_call()] * (1 + n % 3), f"other{n}"))
        for batch in server.batches.batches.values():
            while batch.state not in {"completed", "ended"}:
                server.batches.look(batch)
        found = await api.find("ours", requests=2, since=RECENTLY, known=())
        none = await api.find("never", requests=2, since=RECENTLY, known=())
        later = await api.find("ours", requests=2, since=datetime.now(UTC) + timedelta(hours=1), known=())
        return found, none, later

    found, none, later = with_api(server, name, work)
    assert found.batch.id == next(iter(server.batches.batches))
    assert (none.batch, none.unsure, later.batch, later.unsure) == (None, 0, None, 0)


def test_an_anthropic_batch_under_way_may_be_ours_unless_its_id_is_known(server):
    server.batches.plan = lambda _: BatchPlan(polls=1000)

    async def work(api):
        other = await api.create("other", requests_for(api, [make_call()], "other"))
        unsure = await api.find("ours", requests=1, since=RECENTLY, known=())
        return unsure, await api.find("ours", requests=1, since=RECENTLY, known=[other.id])

    unsure, sure = with_api(server, "anthropic", work)
    assert (unsure.batch, unsure.unsure) == (None, 1)
    assert (sure.batch, sure.unsure) == (None, 0)


@BOTH
def test_a_cancelled_batch_keeps_what_was_done(server, name):
    server.batches.plan = lambda _: BatchPlan(polls=10)
    calls = [make_call(user=f"prompt {n}") for n in range(10)]

    async def work(api):
        batch = await api.create("b1", requests_for(api, calls))
        for _ in range(5):
            batch = await api.look_up(batch.id)
        cancelled = await api.cancel(batch.id)
        again = await api.cancel(batch.id)
        batch = await ended(api, again)
        fates = [result.fate async for result in api.results(batch)]
        return cancelled, batch, fates, await api.cancel(batch.id)

    cancelled, batch, fates, after = with_api(server, name, work)
    assert (cancelled.state, cancelled.cancelled) == ("working", True)
    assert (batch.state, batch.cancelled, batch.cut_short) == ("ended", True, True)
    assert set(fates) == {"answered", "cancelled"}
    assert after.state == "ended"
    assert fates.count("answered") == server.batches.billed_prompts.total()


@BOTH
@pytest.mark.parametrize(
    ("fate", "error"), [("invalid", InvalidRequest), ("server_error", ProviderUnavailable), ("rate_limit", RateLimited)]
)
def test_errors_of_requests_are_those_of_single_calls_and_quote_no_prompt(server, name, fate, error):
    server.batches.fate = lambda _: fate
    call = make_call()

    async def work(api):
        batch = await ended(api, await api.create("b1", requests_for(api, [call])))
        (result,) = [result async for result in api.results(batch)]
        for known in (call, None):
            with pytest.raises(error) as caught:
                api.read(result, known, latency_s=0.0)
            assert "plumber" not in str(caught.value)
            assert KEY not in str(caught.value)

    with_api(server, name, work)


@BOTH
def test_what_is_not_there_is_said_to_be_unknown(server, name):
    async def work(api):
        with pytest.raises(BatchUnknown, match="nothing-here"):
            await api.look_up("nothing-here")
        with pytest.raises(BatchUnknown):
            await api.cancel("nothing-here")
        batch = await ended(api, await api.create("b1", requests_for(api, [make_call()])))
        server.batches.lose_results(server.batches.batches[batch.id])
        batch = await api.look_up(batch.id)
        with pytest.raises(BatchUnknown):
            assert [result async for result in api.results(batch)] == []

    with_api(server, name, work)


@BOTH
def test_a_wrong_key_and_a_busy_server(server, name, monkeypatch):
    troubles = iter(["rate_limit", "server_error", "lost"])
    server.batches.trouble = lambda operation, _nth: next(troubles, None) if operation == "retrieve" else None

    async def busy(api):
        batch = await api.create("b1", requests_for(api, [make_call()]))
        for error in (RateLimited, ProviderUnavailable, ProviderUnavailable):
            with pytest.raises(error):
                await api.look_up(batch.id)

    with_api(server, name, busy)
    monkeypatch.setenv("OPENAI_API_KEY", "bad-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "bad-key")

    async def refused(api):
        with pytest.raises(AuthFailed):
            await api.create("b1", requests_for(api, [make_call()]))

    with_api(server, name, refused)


def test_a_line_of_results_that_is_no_json_costs_its_neighbours_nothing(server):
    calls = [make_call(user=f"prompt {n}") for n in range(4)]

    async def work(api):
        batch = await ended(api, await api.create("b1", requests_for(api, calls)))
        kept = server.batches.files[batch.files[0]].splitlines(keepends=True)
        server.batches.files[batch.files[0]] = b"".join([kept[0], b'{"custom_id": "b1-', b"\n", *kept[2:]])
        found = [result.fate async for result in api.results(batch)]
        server.batches.files[batch.files[0]] = b"".join(kept)[:-20]
        with pytest.raises(ProviderUnavailable, match="was cut short"):
            assert len([result async for result in api.results(batch)]) == 4
        return found

    assert with_api(server, "openai", work) == ["answered"] * 3


def test_the_makers_limits_hold_unless_smaller_ones_are_given(server):
    async def limits(name, **options):
        async with batch_api(server, name, **options) as api:
            return api.limits.requests, api.limits.bytes

    assert asyncio.run(limits("openai")) == (50_000, 200_000_000)
    assert asyncio.run(limits("anthropic")) == (100_000, 256_000_000)
    assert asyncio.run(limits("openai", limits=BatchLimits(requests=5, bytes=10))) == (5, 10)


def test_a_provider_without_batches_says_so(server):
    provider = make_provider("compatible", model="m", base_url=server.openai_url)
    with pytest.raises(UsageError, match="no batch API"):
        make_batch_api(provider)
    asyncio.run(provider.aclose())


def test_ids_of_requests_suit_both_makers():
    made = custom_id("piiloom-0123456789abcdef0123", 99_999)
    assert len(made) <= 64
    assert belongs_to("piiloom-0123456789abcdef0123", made)
    assert not belongs_to("piiloom-0123456789abcdef012", made)
