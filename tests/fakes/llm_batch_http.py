"""The batch endpoints over HTTP: who is asked what, and what goes wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes import llm_batch_anthropic, llm_batch_openai
from tests.fakes.llm_batches import Answer, FakeBatches, Operation
from tests.fakes.llm_wire import BAD_KEY, BadCall, error_body, whole_body

_TROUBLES = {"rate_limit": (429, "rate_limit_error", "rate_limit_exceeded"), "server_error": (500, "api_error", "server_error")}


class Dropped(Exception):
    """The connection ends without a whole answer; ``answer`` is what would have been sent, of which half may be."""

    def __init__(self, answer: Answer, *, half: bool) -> None:
        super().__init__("dropped")
        self.answer = answer
        self.half = half


def serve_batches(handler: BaseHTTPRequestHandler, store: FakeBatches) -> bool:
    """Serve the request that *handler* has if it is for one of the batch endpoints; whether it was."""
    if not handler.path.split("?")[0].startswith(("/v1/files", "/v1/batches", "/v1/messages/batches")):
        return False
    headers = {name.lower(): value for name, value in handler.headers.items()}
    data = whole_body(handler)
    root = f"http://{headers['host']}"
    try:
        _send(handler, 200, _respond(store, handler.command, handler.path, headers, data, root).body)
    except BadCall as bad:
        api = "messages" if headers.get("anthropic-version") else "openai"
        _send(handler, bad.status, error_body(api, bad.kind, str(bad), code=bad.code))
    except Dropped as dropped:
        if dropped.half:
            _send(handler, 200, dropped.answer.body, half=True)
        handler.close_connection = True
    return True


def _send(handler: BaseHTTPRequestHandler, status: int, body: Mapping[str, Any] | bytes, *, half: bool = False) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2] if half else data)


def _respond(store: FakeBatches, method: str, path: str, headers: Mapping[str, str], data: bytes, root: str) -> Answer:
    """Do what the request says; raises ``BadCall`` where the real API would refuse it, ``Dropped`` to hang up."""
    key = headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix("Bearer ")
    if not key or key == BAD_KEY:
        raise BadCall(401, "authentication_error", "Incorrect API key provided", code="invalid_api_key")
    split = urlsplit(path)
    steps = split.path.strip("/").split("/")[1:]
    trouble = store.next_trouble(_operation(method, steps))
    if trouble in _TROUBLES:
        status, kind, code = _TROUBLES[trouble]
        raise BadCall(status, kind, "trouble made by the test", code=code)
    query = {name: values[0] for name, values in parse_qs(split.query).items()}
    with store.lock:
        store.received.append(len(data))
        if steps[0] == "messages":
            answer = llm_batch_anthropic.answer(store, method, steps[2:], query, data, root)
        elif steps[0] == "files":
            answer = llm_batch_openai.files(store, method, steps[1:], headers, data)
        else:
            answer = llm_batch_openai.answer(store, method, steps[1:], query, data)
    if trouble == "hang":
        store.let_go.wait(30)
    if trouble is not None:
        raise Dropped(answer, half=trouble == "cut")
    return answer


def _operation(method: str, steps: list[str]) -> Operation:
    last = steps[-1]
    if method == "POST":
        return "upload" if last == "files" else "cancel" if last == "cancel" else "create"
    return "results" if last in {"content", "results"} else "list" if last == "batches" else "retrieve"
