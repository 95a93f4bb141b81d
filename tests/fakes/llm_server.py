"""A loopback LLM server: OpenAI Responses, OpenAI chat completions and Anthropic Messages over real HTTP.

A test gives an ``answer`` (from a ``Request`` to the JSON data of the reply, or its plain text) and, if it wants trouble, a ``schedule``
(from the request's ordinal to a ``Fault`` or None)::

    with LLMServer(lambda request: {"sentence": "…"}, schedule=seeded_faults(7, {"rate_limit": 0.1})) as server:
        make_provider("openai", base_url=server.openai_url, …)

The server holds requests to what the real APIs take: sampling parameters, a missing key or output limit, and an open
schema are answered with 400 or 401, so that a test cannot pass with a request the makers would refuse.
``answer`` runs in server threads, several at a time.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from piiloom.providers.protocol import TokenUsage
from tests.fakes.llm_batch_http import serve_batches
from tests.fakes.llm_batches import FakeBatches
from tests.fakes.llm_faults import DELIVERED, FAULT_KINDS, LOST, Fault, FaultKind, Schedule, seeded_faults
from tests.fakes.llm_formats import Manner
from tests.fakes.llm_wire import (
    BadCall,
    Request,
    as_text,
    asks_for_json,
    error_body,
    is_probe,
    read_request,
    reply_body,
    usage_of,
    whole_body,
)

__all__ = ["DELIVERED", "FAULT_KINDS", "LOST", "Fault", "FaultKind", "LLMServer", "LogEntry", "Request", "Schedule", "seeded_faults"]

Answer = Callable[[Request], Mapping[str, Any] | str]
PROSE = "Happy to help! Well, that would be Paris, as far as I know."
BARE = Request(api="chat", model="local-model", system="", user="", schema_name="", schema={}, ordinal=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One request and what became of it: ``outcome`` is "ok", a fault kind, or "rejected" (our own 400, 401, 404)."""

    ordinal: int
    api: str
    schema_name: str
    outcome: str
    usage: TokenUsage = field(default_factory=TokenUsage)


class LLMServer:
    """The server; a context manager. Its counters may be read at any time.

    ``probes`` are the bodies of requests that ask which format is taken (``piiloom.providers.compatible_api``); they count as nothing else.
    ``probe_fault`` says which of them (counted from 1) fail with a 500.
    ``chat_manner`` says what becomes of a ``response_format``; a server that ignores it answers prose, unless the prompt asks for JSON.
    ``chat_formats`` are the ``response_format`` types that chat completions take; others get a 400 as vLLM words it.
    ``latency_s`` is how long every answer takes.
    """

    def __init__(
        self,
        answer: Answer,
        schedule: Schedule | None = None,
        *,
        latency_s: float = 0.0,
        chat_formats: frozenset[str] = frozenset({"json_schema", "json_object"}),
        models: tuple[str, ...] = (),
        refuse: Callable[[Request], bool] = lambda _: False,
        chat_manner: Manner | None = None,
        probe_fault: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self.answer = answer
        self.schedule = schedule or (lambda _: None)
        self.latency_s = latency_s
        self.chat_formats = chat_formats
        self.models = models
        self.refuse = refuse
        self.chat_manner = chat_manner
        self.probe_fault = probe_fault
        self.probes: list[Mapping[str, Any]] = []
        # Models that the server says it has not got, whatever is asked of them.
        self.missing: set[str] = set()
        self.batches = FakeBatches(lambda request: self.answer(request))  # noqa: PLW0108 - a test may change the answer
        self.stopping = threading.Event()
        self.crashes: list[BaseException] = []
        self._lock = threading.Lock()
        self._next = 0
        self._log: list[LogEntry] = []
        self._bodies: list[Mapping[str, Any]] = []
        self._http = _HttpServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving (requests kept waiting end at once); raise the first exception that ``answer`` let through."""
        self.stopping.set()
        self.batches.let_go.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.crashes:
            raise self.crashes[0]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The base URL for the openai and compatible providers."""
        return f"{self.root}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL for the anthropic provider."""
        return self.root

    @property
    def requests(self) -> int:
        """How many completion requests have come in."""
        with self._lock:
            return self._next

    @property
    def log(self) -> list[LogEntry]:
        """Every request that has been answered, in the order of the answers."""
        with self._lock:
            return list(self._log)

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """The JSON body of every completion request."""
        with self._lock:
            return list(self._bodies)

    @property
    def outcomes(self) -> Counter[str]:
        """How many requests ended how."""
        return Counter(entry.outcome for entry in self.log)

    @property
    def billed(self) -> Counter[str]:
        """Replies that were delivered and have to be paid, by outcome."""
        return Counter({kind: count for kind, count in self.outcomes.items() if kind in DELIVERED})

    @property
    def billed_usage(self) -> list[TokenUsage]:
        """The tokens of every answer that was made, also of those that never arrived whole."""
        return [entry.usage for entry in self.log if entry.outcome in DELIVERED | LOST]

    @property
    def delivered_usage(self) -> list[TokenUsage]:
        """The tokens of every answer that arrived."""
        return [entry.usage for entry in self.log if entry.outcome in DELIVERED]

    def take_ordinal(self, body: Mapping[str, Any]) -> int:
        """Count a request in; its ordinal, from 0."""
        with self._lock:
            self._bodies.append(body)
            self._next += 1
            return self._next - 1

    def note(self, entry: LogEntry) -> None:
        with self._lock:
            self._log.append(entry)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, owner: LLMServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests; anything else is a fault of the test and told at ``close``."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.owner.crashes.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536
    server: _HttpServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Nothing on stderr."""

    def parse_request(self) -> bool:
        """Take requests as a proxy gets them, too, with the whole URL in the first line: any host's name then leads here."""
        read = super().parse_request()
        if read and self.path.startswith("http://"):
            self.path = "/" + self.path.split("/", 3)[3]
        return read

    def do_GET(self) -> None:
        if serve_batches(self, self.server.owner.batches):
            return
        models = self.server.owner.models
        listed = {"object": "list", "data": [{"id": name, "object": "model", "type": "model"} for name in models], "has_more": False}
        name = self.path.rsplit("/models/", 1)[-1]
        if self.path.startswith("/v1/models/") and name in models:
            self._send(200, {"id": name, "object": "model", "type": "model", "display_name": name})
        elif self.path.split("?")[0] == "/v1/models" and models:
            self._send(200, listed)
        else:
            self._send(404, error_body(self._api(), "not_found_error", f"The model '{name}' does not exist", code="model_not_found"))

    def do_POST(self) -> None:
        if serve_batches(self, self.server.owner.batches):
            return
        owner = self.server.owner
        body = json.loads(whole_body(self) or b"{}")
        if is_probe(body):
            self._answer_probe(body)
            return
        ordinal = owner.take_ordinal(body)
        try:
            request = self._read(body, ordinal)
        except BadCall as bad:
            owner.note(LogEntry(ordinal=ordinal, api=self._api(), schema_name="", outcome="rejected"))
            self._send(bad.status, error_body(self._api(), bad.kind, str(bad), code=bad.code))
            return
        if request is None:
            self._send(200, reply_body(BARE, PROSE, "ok"))
            return
        if body.get("model") in owner.missing:
            owner.note(LogEntry(ordinal=ordinal, api=request.api, schema_name=request.schema_name, outcome="rejected"))
            said = f"The model '{body['model']}' does not exist"
            self._send(404, error_body(request.api, "not_found_error", said, code="model_not_found"))
            return
        if owner.refuse(request):
            owner.note(LogEntry(ordinal=ordinal, api=request.api, schema_name=request.schema_name, outcome="rejected"))
            self._send(400, error_body(request.api, "invalid_request_error", "this prompt is not taken", code="invalid_prompt"))
            return
        fault = owner.schedule(ordinal)
        # Noted before the answer leaves: a client that has it may look at the counters at once.
        outcome = fault.kind if fault else "ok"
        made = self._made(request, outcome) if outcome in DELIVERED | LOST else None
        usage = usage_of(made) if made else TokenUsage()
        if owner.latency_s:
            time.sleep(owner.latency_s)
        owner.note(LogEntry(ordinal=ordinal, api=request.api, schema_name=request.schema_name, outcome=outcome, usage=usage))
        self._respond(request, fault, json.dumps(made, ensure_ascii=False).encode())

    def _read(self, body: dict[str, Any], ordinal: int) -> Request | None:
        """The request in *body*; None where this server ignores the format that was wanted, and nothing else asks for JSON."""
        owner = self.server.owner
        if owner.chat_manner is not None and owner.chat_manner(body.get("response_format")) == "ignored":
            body = {name: value for name, value in body.items() if name != "response_format"}
            if not asks_for_json(body):
                return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        return read_request(self.path, headers, body, ordinal, owner.chat_formats)

    def _answer_probe(self, body: dict[str, Any]) -> None:
        owner = self.server.owner
        owner.probes.append(body)
        number = len(owner.probes)
        try:
            request = self._read(body, number)
        except BadCall as bad:
            self._send(bad.status, error_body("chat", bad.kind, str(bad), code=bad.code))
            return
        if owner.probe_fault(number):
            self._send(500, error_body("chat", "server_error", "something broke"))
        else:
            self._send(200, reply_body(request or BARE, json.dumps({"capital": "Paris"}) if request else PROSE, "ok"))

    def _api(self) -> str:
        return "messages" if self.headers.get("anthropic-version") else "openai"

    def _made(self, request: Request, kind: str) -> dict[str, Any]:
        """The body of the answer, whether it arrives or not."""
        data = "{}" if kind == "refusal" else as_text(self.server.owner.answer(request))
        return reply_body(request, data, kind)

    def _respond(self, request: Request, fault: Fault | None, whole: bytes) -> None:
        kind = fault.kind if fault else "ok"
        if fault and kind in {"rate_limit", "quota", "server_error", "overloaded"}:
            self._refuse(request.api, fault)
            return
        if fault and kind == "timeout":
            self.server.owner.stopping.wait(fault.seconds)
            self.close_connection = True
        elif kind == "cut":
            self._headers(200, len(whole))
            self.wfile.write(whole[: len(whole) // 2])
            self.close_connection = True
        else:
            self._send_bytes(200, whole[:-2] if kind == "bad_json_body" else whole)

    def _refuse(self, api: str, fault: Fault) -> None:
        if fault.kind == "rate_limit":
            body = error_body(api, "rate_limit_error", "slow down", code="rate_limit_exceeded")
            self._send(429, body, {"retry-after": f"{fault.retry_after:g}"})
        elif fault.kind == "quota":
            self._send(429, error_body(api, "insufficient_quota", "You exceeded your current quota", code="insufficient_quota"))
        elif fault.kind == "overloaded":
            self._send(529, error_body(api, "overloaded_error", "Overloaded", code="overloaded"))
        else:
            self._send(500, error_body(api, "api_error", "something broke", code="server_error"))

    def _send(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), headers)

    def _send_bytes(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._headers(status, len(data), headers)
        self.wfile.write(data)

    def _headers(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
