"""The lines that send a split to OpenAI's fine-tuning, from docs/exports.md, with the real SDK against a loopback server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.formats.base import ReadOptions, ReadTally, WriteOptions
from piiloom.corpus.formats.registry import get_format, get_readable_format
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.docs.pages import ROOT, blocks_of

pytestmark = pytest.mark.long  # the SDK takes a second to load

RECORDS = [
    Record(
        id=f"r{number}",
        context=f"I am Ann, and <name> is no marker; {number} of us 👩‍🚀 have asthma.",
        question="Who is it?",
        spans=(Span(id="s1", start=5, end=8, entity_type="name", relevance="high"),),
    )
    for number in range(12)
]


class _FineTuning(BaseHTTPRequestHandler):
    """Takes a file and makes a job of it, as the API reference describes both."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/files":
            parts = {part.get_param("name", header="content-disposition"): part for part in _parts(self.headers["Content-Type"], body)}
            server.content = parts["file"].get_payload(decode=True)
            purpose = parts["purpose"].get_payload().strip()
            answer = {"id": "file-1", "object": "file", "bytes": len(server.content), "created_at": 0, "filename": "train.jsonl"}
            answer |= {"purpose": purpose, "status": "processed"}
        else:
            server.job = json.loads(body)
            answer = {"id": "ftjob-1", "object": "fine_tuning.job", "created_at": 0, "model": server.job["model"], "organization_id": "o"}
            answer |= {
                "result_files": [],
                "status": "queued",
                "training_file": server.job["training_file"],
                "seed": 1,
                "hyperparameters": {},
            }
        server.paths.append(self.path)
        payload = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Write no log."""


def _parts(content_type: str, body: bytes) -> Iterator[Any]:
    message = BytesParser(EmailMessage).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    yield from message.iter_parts()


@pytest.fixture
def server() -> Iterator[Any]:
    running: Any = ThreadingHTTPServer(("127.0.0.1", 0), _FineTuning)
    running.paths = []
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def test_the_lines_of_the_page_send_the_split_as_it_is(server: Any, tmp_path: Path) -> None:
    (lines,) = [block.text for block in blocks_of(ROOT / "docs" / "exports.md") if "fine_tuning.jobs.create" in block.text]
    split = tmp_path / "outputs" / "v1" / "openai" / "train.jsonl"
    split.parent.mkdir(parents=True)
    get_format("openai").write(RECORDS, split, WriteOptions(taxonomy=shipped_taxonomy()))
    local = {"OPENAI_API_KEY": "sk-LOOPBACK-0", "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"}
    subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, env=os.environ | local, check=True, timeout=120)
    assert server.paths == ["/v1/files", "/v1/fine_tuning/jobs"]
    assert server.content == split.read_bytes()
    assert server.job["training_file"] == "file-1"
    sent = tmp_path / "sent.jsonl"
    sent.write_bytes(server.content)
    back = list(get_readable_format("openai").read(sent, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert list(map(marked, back)) == list(map(marked, RECORDS))


def marked(record: Any) -> object:
    """What a row holds of a record."""
    return record.context, record.question, [(span.start, span.end, span.entity_type, span.relevance) for span in record.spans]
