"""The benchmark's LLM server: OpenAI chat completions and Responses over asyncio, written for speed, counting everything.

    python -m benchmarks.llm.server --port 8123 --settings '{"latency_s": 0.2, "at_once": 16}'

``GET /control/stats`` gives all counts, ``GET /control/brief`` the few that a watcher polls. A request takes about 0.1 ms
of the server's CPU; the statistics say how late answers left, so that a slow server cannot pass for a slow client.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import os
import socket
import struct
import time

from .server_behaviour import Behaviour
from .server_settings import ServerSettings
from .server_tally import Tally
from .server_wire import case_of, content_of, error_body, reply_body, response

_HEAD_END = b"\r\n\r\n"


class Service:
    """What all connections share."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.behaviour = Behaviour(settings)
        self.tally = Tally()


class Connection(asyncio.Protocol):
    """One client connection: requests one after another, answers after the latency."""

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._service, self._loop = service, loop
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; small answers must not wait for each other."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        with contextlib.suppress(OSError):
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio names it so
        """Answers that are still due go nowhere; they stay billed."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Collect bytes until a request is whole."""
        self._buffer += data
        while (end := self._buffer.find(_HEAD_END)) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            method, path = self._buffer[:end].split(b" ", 2)[:2]
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._requested(method.decode(), path.decode(), body)

    def _requested(self, method: str, path: str, body: bytes) -> None:
        tally = self._service.tally
        if method == "POST" and path.endswith(("/chat/completions", "/responses")):
            self._complete(path, body)
        elif path == "/control/brief":
            self._write(response(200, json.dumps(tally.brief()).encode()))
        elif path == "/control/stats":
            self._write(response(200, json.dumps(tally.full()).encode()))
        elif path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": "bench-1", "object": "model", "created": 0, "owned_by": "bench"}]}
            self._write(response(200, json.dumps(listed).encode()))
        else:
            self._write(response(404, error_body(404, "Not Found", "not_found")))

    def _complete(self, path: str, body: bytes) -> None:
        service, tally, now = self._service, self._service.tally, time.monotonic()
        case = case_of(body)
        content = content_of(case, fenced=b"```json" in body)
        # The tokens of a prompt as providers count them, near enough: its JSON is a little longer than its text.
        prompt_tokens = len(body) // 4
        outcome, wait = service.behaviour.decide(now, case, prompt_tokens + len(content) // 4, tally.in_flight)
        tally.arrived(now, case, outcome, prompt_tokens + len(content) // 4)
        headers = service.behaviour.rate_headers(now)
        if outcome in {"full", "over_rate", "rate_limit"}:
            retry = f"retry-after: {wait + 0.001:.3f}\r\n" if wait else ""  # never a moment too early
            self._write(response(429, error_body(429, "Rate limit reached", "rate_limit_exceeded"), headers + retry))
        elif outcome == "refused":
            self._write(response(400, error_body(400, "Invalid prompt: flagged by policy", "invalid_prompt"), headers))
        elif outcome == "server_error":
            self._write(response(500, error_body(500, "The server had an error", "server_error"), headers))
        else:
            tally.started()
            latency = service.settings.hang_s if outcome == "hang" else service.settings.latency_s
            if outcome == "bad_content":
                content = content[: len(content) // 2]
            whole = reply_body(path, "bench-1", tally.requests, content, prompt_tokens)
            due = self._loop.time() + latency
            self._loop.call_at(due, self._answer, outcome, whole, headers, due)

    def _answer(self, outcome: str, whole: bytes, headers: str, due: float) -> None:
        # Counted before it leaves: a client that has its answer may look at the counts at once.
        self._service.tally.ended(time.monotonic(), due, lost=outcome == "hang")
        if outcome == "hang":
            self._reset()
        elif outcome == "cut":
            self._write(response(200, whole, headers)[: -len(whole) // 2])
            self._loop.call_later(0.005, self._reset)
        elif outcome == "bad_body":
            self._write(response(200, b"<html><body>502 upstream</body></html>", headers))
        else:
            self._write(response(200, whole, headers))

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _reset(self) -> None:
        """Close with RST, as a router that dies does."""
        if self._transport is not None:
            with contextlib.suppress(OSError):
                linger = struct.pack("ii", 1, 0)
                self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._transport.abort()


async def serve(settings: ServerSettings, port: int, parent: int | None) -> None:
    """Serve until killed, or until process *parent* is gone; the first line on standard output is the port."""
    loop = asyncio.get_running_loop()
    service = Service(settings)
    server = await loop.create_server(lambda: Connection(service, loop), "127.0.0.1", port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    gc.freeze()
    async with server:
        while parent is None or os.getppid() == parent:  # noqa: ASYNC110 - no event tells of a parent that was killed
            await asyncio.sleep(1)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (a free one when not given)")
    parser.add_argument("--settings", default="{}", help="JSON of server_settings.ServerSettings")
    parser.add_argument("--parent", type=int, help="end when this process, which started the server, is gone")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(ServerSettings.from_json(arguments.settings), arguments.port, arguments.parent))


if __name__ == "__main__":
    main()
