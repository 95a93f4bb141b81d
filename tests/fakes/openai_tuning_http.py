"""The fake fine-tuning server over HTTP on a loopback port: who is asked what, and what goes wrong on the way."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.fakes.llm_wire import BAD_KEY, BadCall, error_body, whole_body
from tests.fakes.openai_tuning import FakeJob, FakeTuning, Operation, Trouble, page

_INVALID = "invalid_request_error"
_ROOTS = {"files": ("files",), "fine_tuning": ("fine_tuning", "jobs")}
_NOT_DONE = {"rate_limit": (429, "rate_limit_exceeded"), "server_error": (500, "server_error")}


class TuningServer(FakeTuning):
    """The server; a context manager."""

    def __init__(self) -> None:
        super().__init__()
        self._http = _HttpServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL for the SDK."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: TuningServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _HttpServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        owner = self.server.owner
        data = whole_body(self)
        split = urlsplit(self.path)
        steps = split.path.strip("/").split("/")[1:]
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        try:
            self._check_key()
            operation = _operation(self.command, steps)
            trouble = owner.next_trouble(operation)
            if trouble == "never":
                owner.let_go.wait(30)
                self.close_connection = True
                return
            _refuse(trouble)
            with owner.lock:
                answer = self._answer(operation, steps, query, data)
                owner.done[operation] += 1
            self._send_or_lose(answer, trouble)
        except BadCall as bad:
            self._send(bad.status, error_body("openai", bad.kind, str(bad), code=bad.code))

    def _check_key(self) -> None:
        key = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if not key or key == BAD_KEY:
            raise BadCall(401, _INVALID, f"Incorrect API key provided: {key}", code="invalid_api_key")

    def _send_or_lose(self, answer: Mapping[str, Any], trouble: Trouble | None) -> None:
        if trouble == "hang":
            self.server.owner.let_go.wait(30)
        if trouble == "error_after":
            raise BadCall(500, "server_error", "something broke on the way back", code="server_error")
        if trouble in {"hang", "lost"}:
            self.close_connection = True
            return
        self._send(200, answer, half=trouble == "cut")

    def _send(self, status: int, body: Mapping[str, Any], *, half: bool = False) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", f"{self.server.owner.retry_after:g}")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if half else data)
        self.close_connection = self.close_connection or half

    def _answer(self, operation: Operation, steps: list[str], query: Mapping[str, str], data: bytes) -> Mapping[str, Any]:
        owner = self.server.owner
        after, limit = query.get("after"), int(query.get("limit", 10_000 if operation == "files" else 20))
        match operation:
            case "upload":
                return owner.upload(_multipart(self.headers["content-type"], data))
            case "create":
                return owner.create(json.loads(data))
            case "files":
                found = [owner.file_view(one) for one in owner.files.values() if not owner.hides]
                return page(found[::-1], after, limit)
            case "jobs":
                return page([owner.view(job) for job in owner.jobs.values() if not owner.hides][::-1], after, limit)
            case "file" | "delete":
                return self._file(operation, steps[1])
        job = owner.jobs.get(steps[2])
        if job is None or owner.hides:
            raise BadCall(404, _INVALID, f"Could not find fine tune: {steps[2]}", code="fine_tune_not_found")
        return self._job(operation, job, after, limit)

    def _file(self, operation: Operation, name: str) -> Mapping[str, Any]:
        owner = self.server.owner
        if name not in owner.files or owner.hides:
            raise BadCall(404, _INVALID, f"No such File object: {name}")
        if operation == "delete":
            del owner.files[name]
            return {"id": name, "object": "file", "deleted": True}
        return owner.file_view(owner.files[name])

    def _job(self, operation: Operation, job: FakeJob, after: str | None, limit: int) -> Mapping[str, Any]:
        owner = self.server.owner
        match operation:
            case "events":
                return page(job.events[::-1], after, limit)
            case "cancel":
                return owner.cancel(job)
            case "resume":
                return owner.resume(job)
        return owner.look(job)


_PATHS: tuple[tuple[str, str, Operation], ...] = (
    ("POST", "files", "upload"),
    ("GET", "files", "files"),
    ("GET", "files/*", "file"),
    ("DELETE", "files/*", "delete"),
    ("POST", "fine_tuning/jobs", "create"),
    ("GET", "fine_tuning/jobs", "jobs"),
    ("GET", "fine_tuning/jobs/*", "job"),
    ("GET", "fine_tuning/jobs/*/events", "events"),
    ("POST", "fine_tuning/jobs/*/cancel", "cancel"),
    ("POST", "fine_tuning/jobs/*/resume", "resume"),
)


def _operation(method: str, steps: list[str]) -> Operation:
    """The operation that a method and the steps of a path name; raises ``BadCall`` for any other."""
    path = "/".join("*" if number == len(_ROOTS.get(steps[0], ())) else step for number, step in enumerate(steps))
    for known_method, known_path, operation in _PATHS:
        if (known_method, known_path) == (method, path):
            return operation
    raise BadCall(404, _INVALID, f"Unknown request URL: {method} /v1/{'/'.join(steps)}")


def _refuse(trouble: Trouble | None) -> None:
    if trouble in _NOT_DONE:
        status, code = _NOT_DONE[trouble]
        raise BadCall(status, code, "trouble made by the test", code=code)


def _multipart(content_type: str, data: bytes) -> dict[str, tuple[str | None, bytes]]:
    """The fields of a form, each with the name of its file."""
    message = BytesParser(policy=HTTP).parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + data)
    found: dict[str, tuple[str | None, bytes]] = {}
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(part.get_param("name", header="content-disposition"))] = (part.get_filename(), content)
    return found
