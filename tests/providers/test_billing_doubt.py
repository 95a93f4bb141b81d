"""After which failures a call may have been paid for, and after which it was certainly not."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.factory import make_provider
from tests.fakes.llm_server import Fault, LLMServer
from tests.longer import mostly_long
from tests.providers.provider_calls import DATA, MODELS, NAMES, complete, make_call, mocked
from tests.providers.test_providers_requests import good

each_provider = pytest.mark.parametrize("name", NAMES)


def failure_at(name: str, root: str, *, timeout_s: float = 5.0) -> ProviderUnavailable:
    provider = make_provider(name, model=MODELS[name], base_url=root if name == "anthropic" else f"{root}/v1", timeout_s=timeout_s)
    with pytest.raises(ProviderUnavailable) as caught:
        complete(provider)
    return caught.value


@contextmanager
def resetting_server(after: bytes) -> Iterator[str]:
    """A server that reads a request, answers with *after*, and resets the connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(after)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join(5)
        listener.close()


@each_provider
def test_a_refused_connection_costs_nothing(name):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    failure = failure_at(name, f"http://127.0.0.1:{port}")
    assert "cannot be reached" in failure.message
    assert not failure.maybe_billed


@each_provider
def test_an_unknown_host_costs_nothing(name, monkeypatch):
    async def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", unknown)
    failure = failure_at(name, "http://llm.invalid")
    assert "cannot be reached" in failure.message
    assert not failure.maybe_billed


@each_provider
def test_a_failed_handshake_costs_nothing(name):
    with LLMServer(lambda _: DATA) as server:
        failure = failure_at(name, server.root.replace("http://", "https://"))
        assert server.requests == 0
    assert not failure.maybe_billed


@each_provider
@pytest.mark.parametrize("error", [httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError])
def test_what_fails_before_the_request_is_sent_costs_nothing(name, error):
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise error("x", request=request)

    with pytest.raises(ProviderUnavailable, match="cannot be reached") as caught:
        complete(mocked(name, handler))
    assert not caught.value.maybe_billed


@each_provider
@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_an_error_status_costs_nothing_and_says_whether_the_server_has_too_much_to_do(name, status):
    with pytest.raises(ProviderUnavailable) as caught:
        complete(mocked(name, lambda _: httpx2.Response(status, json={}, headers={"retry-after": "7"})))
    assert not caught.value.maybe_billed
    assert caught.value.overloaded == (status in {503, 529})
    assert caught.value.retry_after == 7.0


@each_provider
@pytest.mark.parametrize("kind", mostly_long(["cut", "bad_json_body", "timeout"], quick={"timeout"}))
def test_an_answer_that_got_lost_may_have_been_paid(name, kind):
    with LLMServer(lambda _: DATA, lambda _: Fault(kind=kind, seconds=2)) as server:
        failure = failure_at(name, server.root, timeout_s=0.5)
    assert failure.maybe_billed
    assert (failure.overloaded, failure.timed_out) == (False, kind == "timeout")


@each_provider
@pytest.mark.parametrize("after", [b"", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"])
def test_a_reset_may_have_been_paid(name, after):
    with resetting_server(after) as root:
        assert failure_at(name, root).maybe_billed


@each_provider
@pytest.mark.parametrize(
    "error", [httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError]
)
def test_what_fails_once_the_request_may_have_left_may_have_been_paid(name, error):
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise error("x", request=request)

    with pytest.raises(ProviderUnavailable) as caught:
        complete(mocked(name, handler))
    assert caught.value.maybe_billed


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress"])
def test_a_response_that_came_to_nothing_may_have_been_paid(status):
    with pytest.raises(ProviderUnavailable) as caught:
        complete(mocked("openai", lambda _: httpx2.Response(200, json=good("openai", status=status))), make_call())
    assert caught.value.maybe_billed
