"""A loopback AWS Comprehend: ``DetectPiiEntities``, signed as the SDK does it, and faults by the ordinal of a request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY_ID, SECRET = "AKIAEXAMPLEEXAMPLE00", "secret/0123456789+abcdefghijklmnop"
_EMAIL = re.compile(r"[\w.]+@[\w.]+")
_ERRORS = {
    "throttled": (400, "ThrottlingException"),
    "429": (429, "TooManyRequestsException"),
    "500": (500, "InternalServerException"),
    "503": (503, "ServiceUnavailable"),
    "expired": (400, "ExpiredTokenException"),
    "denied": (400, "AccessDeniedException"),
}


class AwsServer:
    """The server; a context manager. ``asked`` are the bodies that were taken."""

    def __init__(self, fault: Callable[[int], str | None] = lambda _: None) -> None:
        self.fault = fault
        self.asked: list[Mapping[str, Any]] = []
        self.requests = 0
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("_OwnHandler", (_Handler,), {"aws": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    aws: AwsServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        with self.aws.lock:
            self.aws.requests += 1
            fault = self.aws.fault(self.aws.requests)
        signed = self.headers.get("authorization", "")
        if not (signed.startswith(f"AWS4-HMAC-SHA256 Credential={KEY_ID}/") and "/comprehend/aws4_request" in signed):
            self._send(403, {"__type": "MissingAuthenticationToken"})
        elif self.headers["x-amz-target"] != "Comprehend_20171127.DetectPiiEntities":
            self._send(400, {"__type": "UnknownOperationException"})
        elif fault in _ERRORS:
            status, code = _ERRORS[fault]
            self._send(status, {"__type": code, "message": "quotes the text"})
        elif fault == "garbage":
            self._send(200, None)
        elif fault == "cut":
            self.send_response(200)
            self.send_header("content-length", "999")
            self.end_headers()
            self.close_connection = True
        else:
            self._answer(json.loads(body))

    def _answer(self, asked: Mapping[str, Any]) -> None:
        text = asked["Text"]
        if len(text.encode()) > 100_000:
            self._send(400, {"__type": "TextSizeLimitExceededException", "Message": f"too long: {text[:20]}"})
            return
        if "REFUSED" in text:
            self._send(400, {"__type": "InvalidRequestException", "Message": f"bad: {text}"})
            return
        with self.aws.lock:
            self.aws.asked.append(asked)
        shift = 1000 if "MISPLACED" in text else 0
        entities = [
            {"Score": 0.97, "Type": "EMAIL", "BeginOffset": found.start() + shift, "EndOffset": found.end() + shift}
            for found in _EMAIL.finditer(text)
        ]
        self._send(200, {"Entities": entities})

    def _send(self, status: int, body: object) -> None:
        data = b"<no json" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/x-amz-json-1.1")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
