"""How the providers' connections are kept: as many as there are calls in flight, in pools small enough to be quick.

The SDKs' own client keeps 100 connections alive, so that with more calls in flight each further one connects anew; and its
one pool looks at every connection twice a call, which with 1,024 of them costs more than all the rest of a call together.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import cast
from urllib.request import getproxies

import httpx2

# One pool's connections. A pool this small costs a few µs a call; a run of no more in flight shares one.
POOL_SIZE = 16
# A server that does not take a connection within this time is not there; how long an answer takes says nothing about it.
CONNECT_S = 15.0
# What httpx2 takes the authorities that it trusts from; without them from where the system keeps its own.
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=1024)


def time_limits(timeout_s: float) -> httpx2.Timeout:
    """The limits of one request that takes *timeout_s* in all: connecting has a shorter one, so that the two can be told apart."""
    return httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s / 2))


def wide_client(sdk_default: Callable[..., httpx2.AsyncClient]) -> httpx2.AsyncClient:
    """The client that *sdk_default* makes, for any number of calls in flight.

    Where the environment names proxies, the client is left to find them for itself, with one pool.
    """
    return sdk_default(limits=_LIMITS) if getproxies() else sdk_default(transport=PooledTransport())


class PooledTransport(httpx2.AsyncBaseTransport):
    """Connection pools of ``POOL_SIZE``, as many as there are requests in flight for; the first with room takes a request."""

    def __init__(self) -> None:
        self._ssl = _ssl_context(*(os.environ.get(name) for name in _CERTIFICATES))
        self._pools: list[httpx2.AsyncHTTPTransport] = []
        self._busy: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send *request* through a pool; it counts as in flight until its response is closed."""
        index = next((index for index, busy in enumerate(self._busy) if busy < POOL_SIZE), len(self._busy))
        if index == len(self._busy):
            self._pools.append(httpx2.AsyncHTTPTransport(verify=self._ssl, limits=_LIMITS, socket_options=_socket_options()))
            self._busy.append(0)
        self._busy[index] += 1
        try:
            response = await self._pools[index].handle_async_request(request)
        except BaseException:
            self._busy[index] -= 1
            raise
        response.stream = _Watched(cast("httpx2.AsyncByteStream", response.stream), lambda: self._free(index))
        return response

    async def aclose(self) -> None:
        """Close every pool."""
        for pool in self._pools:
            await pool.aclose()

    def _free(self, index: int) -> None:
        self._busy[index] -= 1


@lru_cache(maxsize=2)
def _ssl_context(*_certificates: str | None) -> ssl.SSLContext:
    """httpx2's own context, which no client changes: reading the authorities' certificates takes 60 ms, so all clients share one."""
    return httpx2.create_ssl_context()


class _Watched(httpx2.AsyncByteStream):
    """*stream*, telling *closed* when it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, closed: Callable[[], None]) -> None:
        self._stream = stream
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        closed, self._closed = self._closed, None
        if closed is not None:
            closed()
        await self._stream.aclose()


def _socket_options() -> list[tuple[int, int, int]]:
    """Signs of life on connections that wait for an answer: without, a router may forget one after some minutes of silence."""
    wanted = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
    known = [(socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in wanted if hasattr(socket, name)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *known]
