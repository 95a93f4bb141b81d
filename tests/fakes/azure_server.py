"""A loopback Azure AI Language: jobs of PII detection that behave as documented, and misbehave as a test says.

Texts are searched for e-mail addresses, so each document's findings are known. Faults are given by the ordinal of a request ("post" and
"get" counted apart), or stand in a text: "POISON" makes a request of several fail as a whole, "REFUSED" a document, "LEFT-OUT" is missing
from the first answer that should have it, "NEVER" from all.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY = "azure-key-0123456789"
_EMAIL = re.compile(r"[\w.]+@[\w.]+")


class AzureServer:
    """The server; a context manager. ``posts`` are the bodies that were taken, ``counts`` what was answered, by kind and status."""

    def __init__(self, fault: Callable[[str, int], str | None] = lambda _kind, _ordinal: None, *, polls: int = 2) -> None:
        self.fault, self.polls = fault, polls
        self.posts: list[Mapping[str, Any]] = []
        self.counts: Counter[str] = Counter()
        self.jobs: dict[str, dict[str, Any]] = {}
        self.left_out: set[str] = set()
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("_OwnHandler", (_Handler,), {"azure": self}))
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

    def results(self, documents: list[dict[str, str]]) -> dict[str, Any]:
        """What a job of *documents* finds."""
        found, errors = [], []
        for one in documents:
            text = one["text"]
            if "REFUSED" in text:
                errors.append({"id": one["id"], "error": {"code": "InvalidArgument", "innererror": {"code": "UnsupportedLanguageCode"}}})
            elif "NEVER" in text or ("LEFT-OUT" in text and text not in self.left_out):
                self.left_out.add(text)
            else:
                entities = [
                    {"text": m[0], "category": "Email", "offset": m.start(), "length": len(m[0]), "confidenceScore": 0.9}
                    for m in _EMAIL.finditer(text)
                ]
                if "MISPLACED" in text:
                    entities = [{**one, "offset": one["offset"] + 1} for one in entities]
                found.append({"id": one["id"], "entities": entities, "warnings": [], "redactedText": ""})
        results = {"documents": found, "errors": errors, "modelVersion": "2025-01-01"}
        return {"items": [{"kind": "PiiEntityRecognitionLROResults", "taskName": "pii", "status": "succeeded", "results": results}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    azure: AzureServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        with self.azure.lock:
            self.azure.counts["post"] += 1
            fault = self.azure.fault("post", self.azure.counts["post"])
        if self._failed(fault):
            return
        asked = json.loads(body)
        documents = asked["analysisInput"]["documents"]
        task = asked["tasks"][0]
        sound = (
            "/language/analyze-text/jobs?api-version=" in self.path
            and task["kind"] == "PiiEntityRecognition"
            and task["parameters"]["stringIndexType"] == "UnicodeCodePoint"
            and 1 <= len(documents) <= 5
            and sum(len(one["text"]) for one in documents) <= 125_000
        )
        if not sound or any("POISON" in one["text"] for one in documents):
            self._send(400, {"error": {"code": "InvalidRequest", "message": f"quotes {documents[0]['text']}"}})
            return
        with self.azure.lock:
            self.azure.posts.append(asked)
            job = f"job-{len(self.azure.jobs)}"
            self.azure.jobs[job] = {"polls": 0, "documents": documents, "fault": fault}
        host = "http://192.0.2.1" if fault == "elsewhere" else self.azure.url
        self._send(202, None, {"operation-location": f"{host}/language/analyze-text/jobs/{job}?api-version=x"})

    def do_GET(self) -> None:
        with self.azure.lock:
            self.azure.counts["get"] += 1
            fault = self.azure.fault("get", self.azure.counts["get"])
            job = self.azure.jobs.get(self.path.partition("?")[0].rpartition("/")[2])
            if job is not None:
                job["polls"] += 1
        if self._failed(fault):
            return
        if job is None or job["fault"] == "expired":
            self._send(404, {"error": {"code": "NotFound"}})
        elif job["fault"] in {"failed", "cancelled"}:
            self._send(200, {"status": job["fault"], "errors": [{"code": "InternalServerError"}]})
        elif job["polls"] < self.azure.polls:
            self._send(200, {"status": "notStarted" if job["polls"] == 1 else "running", "tasks": {}})
        elif job["fault"] == "garbage":
            self._send(200, {"status": "succeeded", "tasks": {"items": [None, {"results": "?"}]}})
        else:
            with self.azure.lock:
                tasks = self.azure.results(job["documents"])
            self._send(200, {"status": "partiallyCompleted" if job["fault"] else "succeeded", "tasks": tasks})

    def _failed(self, fault: str | None) -> bool:
        if self.headers.get("ocp-apim-subscription-key") != KEY:
            self._send(401, {"error": {"code": "401"}})
        elif fault == "cut":
            self.send_response(200)
            self.send_header("content-length", "999")
            self.end_headers()
            self.wfile.write(b"{")
            self.close_connection = True
        elif fault is not None and fault.isdigit():
            self._send(int(fault), {"error": {"code": "Trouble"}}, {"retry-after": "0"} if fault == "429" else {})
        else:
            return False
        return True

    def _send(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        with self.azure.lock:
            self.azure.counts[f"{self.command.lower()} {status}"] += 1
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "content-type": "application/json", "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
