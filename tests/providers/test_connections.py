"""Connections: as many as calls in flight, used again, and given back whatever happens."""

from __future__ import annotations

import asyncio

import httpx2
import openai
import pytest

from piiloom.providers.connections import POOL_SIZE, PooledTransport, time_limits, wide_client
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.factory import make_provider
from tests.fakes.llm_server import Fault, LLMServer
from tests.longer import mostly_long
from tests.providers.provider_calls import DATA, MODELS, NAMES, complete, make_call

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def connections(transport: PooledTransport) -> list[object]:
    return [connection for pool in transport._pools for connection in pool._pool.connections]


def test_every_call_in_flight_has_a_connection_and_the_next_round_needs_no_new_one():
    wide = 3 * POOL_SIZE + 8
    transport = PooledTransport()

    async def round_of(client: httpx2.AsyncClient, url: str) -> list[int]:
        answers = await asyncio.gather(*(client.get(f"{url}/v1/models") for _ in range(wide)))
        return [answer.status_code for answer in answers]

    async def work(url: str) -> None:
        async with httpx2.AsyncClient(transport=transport, timeout=30) as client:
            assert await round_of(client, url) == [200] * wide
            first = connections(transport)
            assert await round_of(client, url) == [200] * wide
            assert len(transport._pools) == 4
            assert len(first) <= wide
            assert set(connections(transport)) == set(first)
            await client.get(f"{url}/v1/models")
        assert transport._busy == [0] * 4
        assert connections(transport) == []

    with LLMServer(lambda _: DATA, models=("m",)) as server:
        asyncio.run(work(server.root))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", mostly_long(["cut", "bad_json_body", "server_error", "timeout"], quick={"cut", "timeout"}))
def test_a_call_that_fails_gives_its_place_back(name, kind):
    async def work(server: LLMServer) -> list[int]:
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        provider = make_provider(name, model=MODELS[name], base_url=url, timeout_s=0.5)
        transport = provider.client._client._transport
        try:
            with pytest.raises(ProviderUnavailable):
                await provider.complete(make_call())
            return transport._busy
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, lambda _: Fault(kind=kind, seconds=3)) as server:
        assert asyncio.run(work(server)) == [0]


def test_a_call_that_is_cancelled_gives_its_place_back():
    async def work(server: LLMServer) -> list[int]:
        provider = make_provider("openai", base_url=server.openai_url)
        task = asyncio.create_task(provider.complete(make_call()))
        await asyncio.wait({task}, timeout=0.5)
        assert server.requests == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        busy = provider.client._client._transport._busy
        await provider.aclose()
        return busy

    with LLMServer(lambda _: DATA, lambda _: Fault(kind="timeout", seconds=3)) as server:
        assert asyncio.run(work(server)) == [0]


def test_a_server_that_cannot_be_reached_takes_no_place():
    async def work() -> list[int]:
        transport = PooledTransport()
        async with httpx2.AsyncClient(transport=transport) as client:
            with pytest.raises(httpx2.ConnectError):
                await client.get("http://127.0.0.1:9/")
        return transport._busy

    assert asyncio.run(work()) == [0]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "all_proxy"])
def test_a_proxy_of_the_environment_is_used(variable, monkeypatch):
    with LLMServer(lambda _: DATA) as proxy:
        monkeypatch.setenv(variable, proxy.root)
        provider = make_provider("openai", base_url="http://llm.invalid/v1")
        complete(provider)  # the fake server answers for any host
        assert proxy.requests == 1


def test_the_sdks_own_choices_are_kept():
    async def work() -> bool:
        client = wide_client(openai.DefaultAsyncHttpxClient)
        try:
            return client.follow_redirects
        finally:
            await client.aclose()

    assert asyncio.run(work())


def test_connecting_has_less_time_than_the_whole():
    assert time_limits(60.0) == httpx2.Timeout(60.0, connect=15.0)
    assert time_limits(0.5) == httpx2.Timeout(0.5, connect=0.25)
