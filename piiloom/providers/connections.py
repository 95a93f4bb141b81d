"""HTTP connection pools for many concurrent calls: one connection per call in flight, in several small pools.

The SDKs' default client keeps 100 connections alive, so each call beyond 100 in flight opens a new one. Its single pool also
scans all connections twice a call, which with 1,024 connections costs more than the rest of the call.
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

# Requests in flight per pool. Scanning a pool of this size costs a few µs a call.
POOL_SIZE = 16
# Upper limit of the connect time-out in seconds, independent of how long a reply may take.
CONNECT_S = 15.0
# Environment variables from which httpx2 reads the trusted CA certificates; if unset, it uses its default.
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=1024)


def time_limits(timeout_s: float) -> httpx2.Timeout:
    """Return the HTTP time-outs for a request that may take *timeout_s* in total.

    The connect time-out is shorter, so that a failed connection can be distinguished from a slow reply.
    """
    return httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s / 2))


def wide_client(sdk_default: Callable[..., httpx2.AsyncClient]) -> httpx2.AsyncClient:
    """Build a client with *sdk_default* (the SDK's client class) that supports any number of calls in flight.

    If the environment sets proxies, the client handles them itself and uses a single pool.
    """
    return sdk_default(limits=_LIMITS) if getproxies() else sdk_default(transport=PooledTransport())


class PooledTransport(httpx2.AsyncBaseTransport):
    """HTTP transport with several connection pools of ``POOL_SIZE`` requests in flight each.

    A request goes to the first pool that is not full; a new pool is added if all are full.
    """

    def __init__(self) -> None:
        self._ssl = _ssl_context(*(os.environ.get(name) for name in _CERTIFICATES))
        self._pools: list[httpx2.AsyncHTTPTransport] = []
        self._busy: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send *request* through a pool. It counts as in flight until its response is closed."""
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
    """Return httpx2's default SSL context, shared by all clients, because loading the CA certificates takes 60 ms.

    The arguments are only the cache key: the values of the environment variables that determine the certificates.
    """
    return httpx2.create_ssl_context()


class _Watched(httpx2.AsyncByteStream):
    """Wrap *stream* and call *closed* once when it is closed."""

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
    """Return socket options for TCP keep-alive; without it a router may drop a connection that waits minutes for a reply."""
    wanted = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
    known = [(socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in wanted if hasattr(socket, name)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *known]
