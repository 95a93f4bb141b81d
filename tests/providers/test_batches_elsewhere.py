"""Batches at servers that nobody here wrote. Optional: a test is skipped where its server is not installed.

``@copilotkit/aimock`` (npm, MIT): ``npm install @copilotkit/aimock`` anywhere, and its ``node_modules/.bin`` on the PATH (or
in ``PIILOOM_TEST_SERVERS``). It has OpenAI's files and batches; every answer is the same canned text.
``mock-ai-api`` (PyPI, MIT): ``pip install mock-ai-api`` into an environment of its own, and its ``bin`` likewise. It has
Anthropic's message batches, which it ends only when somebody fetches their results.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from piiloom.providers.errors import InvalidReply, ProviderUnavailable
from piiloom.providers.factory import make_provider
from tests.execution.batch_sessions import batches, entries, replies, sit
from tests.providers.provider_calls import MODELS, make_call
from tests.providers.test_batches import ended, make_batch_api, requests_for

pytestmark = pytest.mark.long
CANNED = "Mock batch completion"


class Elsewhere:
    """Where a session finds its provider."""

    def __init__(self, root: str) -> None:
        self.anthropic_url = root
        self.openai_url = f"{root}/v1"


def executable(name, how):
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PIILOOM_TEST_SERVERS", ""), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed: {how}")
    return found


@contextmanager
def running(command, port):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 30
            while True:
                assert process.poll() is None
                assert time.monotonic() < deadline
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield Elsewhere(f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def aimock(tmp_path):
    program = executable("llmock", "npm install @copilotkit/aimock, then put node_modules/.bin on the PATH")
    (tmp_path / "fixtures").mkdir()
    port = free_port()
    with running([program, "--port", str(port), "--fixtures", str(tmp_path / "fixtures"), "--log-level", "silent"], port) as server:
        yield server


@pytest.fixture
def mock_ai_api():
    program = executable("mock-ai-api", "pip install mock-ai-api into an environment of its own, then put its bin on the PATH")
    ports = free_port(), free_port()
    with running([program, "--openai-port", str(ports[0]), "--anthropic-port", str(ports[1])], ports[1]) as server:
        yield server


def test_waves_through_aimock(aimock, tmp_path):
    """Upload, create, look up, fetch: all as aimock has it. Its canned text is no JSON, so each reply is paid, kept and unusable."""
    path = tmp_path / "store.duckdb"
    found = sit(path, aimock, "openai", lambda session: session.items(range(25), ["first"]))
    assert {type(one) for one in found} == {InvalidReply}
    assert len(replies(path)) == 25
    assert {entry["reply"] for entry in entries(path, "reply")} == {CANNED}
    assert [row.state for row in batches(path)] == ["collected"]


def test_aimock_finds_our_batch_by_its_metadata_and_cancels_it(aimock):
    async def work():
        provider = make_provider("openai", model=MODELS["openai"], base_url=aimock.openai_url)
        api = make_batch_api(provider)
        try:
            made = await api.create("b1", requests_for(api, [make_call(), make_call()]))
            found = await api.find("b1", requests=2, since=datetime.now(UTC) - timedelta(hours=1), known=())
            cancelled = await ended(api, await api.cancel(made.id))
            return made, found, cancelled, [result async for result in api.results(cancelled)]
        finally:
            await provider.aclose()

    made, found, cancelled, results = asyncio.run(work())
    assert found.batch is not None
    assert found.batch.id == made.id
    assert (cancelled.state, cancelled.cut_short, results) == ("ended", True, [])


@pytest.mark.parametrize("outcome", ["expired", "failed"])
def test_batches_that_come_to_nothing_at_aimock(aimock, tmp_path, monkeypatch, outcome):
    """An expired batch has no files there; a failed one has an error file. Either way each request is sent again, three times."""
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-AIMock-Batch-Outcome: {outcome}")
    path = tmp_path / "store.duckdb"
    found = sit(path, aimock, "openai", lambda session: session.items(range(4), ["first"]))
    assert {type(one) for one in found} == {ProviderUnavailable}
    assert len(batches(path)) == 3
    assert replies(path) == []


def test_waves_through_mock_ai_api(mock_ai_api, tmp_path):
    path = tmp_path / "store.duckdb"

    async def work(session):
        async def fetch_results():
            """What ends a batch there."""
            async with httpx2.AsyncClient(base_url=mock_ai_api.anthropic_url) as client:
                while True:
                    listed = await client.get("/v1/messages/batches")
                    for batch in listed.json()["data"]:
                        await client.get(f"/v1/messages/batches/{batch['id']}/results")
                    await asyncio.sleep(0.05)

        fetching = asyncio.ensure_future(fetch_results())
        try:
            return await session.items(range(6), ["first"])
        finally:
            fetching.cancel()

    found = sit(path, mock_ai_api, "anthropic", work)
    assert {type(one) for one in found} == {InvalidReply}
    assert len(replies(path)) == 6
    assert [row.state for row in batches(path)] == ["collected"]
